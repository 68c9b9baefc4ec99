/* SPDX-License-Identifier: MIT */
/*
 * json: reading JSON at memory speed, and writing it.
 *
 * A struct json is a cursor over a window of bytes followed by IN_PAD zeros
 * (see io.h). Nothing here reads input, prints or exits. A function returns
 * JSON_OK and moves the cursor; or JSON_MORE if the window ends before the
 * value does and eof is unset; or JSON_BAD with error and where set. After
 * JSON_MORE the caller gets more bytes and starts over from a place it
 * remembers. Readers start over from the last complete record, which is small
 * compared to the window.
 *
 * Accepts RFC 8259 and, as values, NaN, Infinity and -Infinity.
 * tests/golden/json/DECISIONS.md decides each case that the RFC leaves open.
 *
 * Two ways to read. The token puller checks the whole grammar:
 *
 *	json_start(&j, bytes, len);
 *	if (json_bom(&j) == JSON_OK)
 *		while ((t = json_next(&j)) > JSON_T_END)
 *			...
 *
 * The primitives below it (json_space, json_string, json_number, json_span) are
 * for readers that know what to expect and check the grammar themselves.
 */
#ifndef TL_JSON_H
#define TL_JSON_H

#include "io/io.h"

#define JSON_MAX_DEPTH 10000

enum json_status {
	JSON_OK = 0,
	JSON_MORE,
	JSON_BAD,
};

enum json_num_type {
	JSON_INT,  /* i */
	JSON_UINT, /* u: 2^63 .. 2^64-1 */
	JSON_DEC,  /* dec: has a point or exponent, at most 18 digits, and
	            * num_put_dec() prints the same value */
	JSON_TEXT, /* anything else: text */
};

struct json_num {
	enum json_num_type type;
	int64_t i;
	uint64_t u;
	struct dec dec;
	struct str text; /* always set */
};

struct json {
	const unsigned char *p;
	const unsigned char *end;
	bool eof;                   /* nothing follows end */
	const char *error;          /* after JSON_BAD: what is wrong ... */
	const unsigned char *where; /* ... and at which byte */
	/* the token just read: see json_next() */
	struct str raw; /* KEY, STRING: text between the quotes, as written;
	                   NUMBER and NAN: its text */
	bool escaped;   /* raw holds backslashes: see json_unescape() */
	struct json_num num; /* NUMBER */
	/* private to json_next() */
	uint32_t depth;
	uint8_t state;
	uint64_t kinds[(JSON_MAX_DEPTH + 63) / 64]; /* bit: 1 = object */
};

/* Over the whole text (eof set): len bytes followed by IN_PAD zeros. */
void json_start(struct json *j, const void *bytes, size_t len);

/*
 * At the start of a text: skips a UTF-8 byte order mark, refuses UTF-16 and
 * UTF-32 by name.
 */
enum json_status json_bom(struct json *j) USE_RESULT;

/* Records JSON_BAD at this byte, or JSON_MORE if it is the window's end and
 * more may come. Also for readers' own grammar errors. */
enum json_status json_fail(
    struct json *j, const unsigned char *where, const char *error);

/* ---- tokens ---- */

enum json_token {
	JSON_T_MORE = -2,
	JSON_T_BAD = -1,
	JSON_T_END = 0, /* one complete value was read */
	JSON_T_OBJECT,
	JSON_T_OBJECT_END,
	JSON_T_ARRAY,
	JSON_T_ARRAY_END,
	JSON_T_KEY,
	JSON_T_STRING,
	JSON_T_NUMBER,
	JSON_T_TRUE,
	JSON_T_FALSE,
	JSON_T_NULL,
	JSON_T_NAN, /* NaN, Infinity, -Infinity */
};

/*
 * The next token of one JSON value. JSON_T_MORE leaves the cursor before the
 * token: repeat the call with a larger window (raw of earlier tokens may have
 * moved). Strings are validated: escapes, control characters, UTF-8. After the
 * value it returns JSON_T_END and stays there; whether other text may follow is
 * up to the caller.
 */
enum json_token json_next(struct json *j);
/* Whether the innermost open container is an object (else a list). */
static inline bool
json_in_object(const struct json *j)
{
	return j->kinds[(j->depth - 1) / 64] >> (j->depth - 1) % 64 & 1;
}

/* Skips, and validates, the rest of the value whose OBJECT or ARRAY token was
 * just read; after a KEY, the member's value. */
enum json_status json_skip(struct json *j) USE_RESULT;

/* ---- lists ---- */

struct json_item {
	enum json_token type;
	struct str text;
};
typedef VEC(struct json_item) json_items;

/*
 * The items of a list, or the keys and values of an object in turn, if that is
 * the whole text. Strings are decoded, all else stays JSON text. Texts live in
 * mem. False, and no items: it is neither.
 */
bool json_split(json_items *out, struct arena *mem, struct str text) USE_RESULT;
/* The value of the first member of this name, or NULL. */
const struct json_item *json_member(const json_items *of, struct str name);
/* Its text; empty if missing or null. */
struct str json_member_text(const json_items *of, struct str name);

/* ---- primitives ---- */

/* Skips white space: the cursor is then at another byte, or at end (a zero). */
static inline void json_space(struct json *j);
void json_space_slow(struct json *j);

/*
 * The first quote, backslash or control character from p on: the scan of every
 * string. Reads up to IN_PAD bytes past it.
 */
static inline const unsigned char *scan_string(const unsigned char *p);
/* The portable version, for tests to compare with. */
const unsigned char *scan_string_portable(const unsigned char *p);

/*
 * At a quote: returns the text between the quotes, moves past the string. Skips
 * escapes and does not check UTF-8: json_unescape() or json_check_string()
 * does, once per distinct text.
 */
static inline enum json_status json_string(
    struct json *j, struct str *raw, bool *escaped) USE_RESULT;
/* The rest of it, from hit on, where scan_string() stopped at no quote. */
enum json_status json_string_slow(struct json *j, const unsigned char *hit,
    struct str *raw, bool *escaped) USE_RESULT;
/*
 * Validates the text of a string as written and appends it decoded, as UTF-8. A
 * lone surrogate becomes three bytes (WTF-8), so that it can be written back.
 * False sets *error and *at (offset in raw).
 */
bool json_unescape(
    struct str raw, struct buf *out, const char **error, size_t *at) USE_RESULT;
/* Validates only. */
bool json_check_string(
    struct str raw, const char **error, size_t *at) USE_RESULT;
/* Validates UTF-8 only (for a text without backslashes). */
bool json_check_utf8(struct str raw, size_t *at) USE_RESULT;
/* A text as UTF-8, in *scratch if not valid: bad bytes become U+FFFD. */
struct str json_as_utf8(struct str s, struct buf *scratch);

/* At a digit or minus: a number; -0 is JSON_TEXT. Exact: no doubles. */
static inline enum json_status json_number(
    struct json *j, struct json_num *num) USE_RESULT;
enum json_status json_number_slow(
    struct json *j, struct json_num *num) USE_RESULT;

/*
 * At any value: its extent, by brackets and quotes alone. Its content is not
 * validated any further (json_minify() does that).
 */
enum json_status json_span(struct json *j, struct str *raw) USE_RESULT;
/* Past the bracket that matches the one at p, or NULL if end comes first. */
const unsigned char *scan_brackets(
    const unsigned char *p, const unsigned char *end);
const unsigned char *scan_brackets_portable(
    const unsigned char *p, const unsigned char *end);

/*
 * Validates one value and appends it without white space; string and number
 * texts stay as written. depth is the number of containers open around it.
 * White space around it is allowed. False sets *error and *at (offset in raw)
 * and appends nothing.
 */
bool json_minify(struct str raw, unsigned depth, struct buf *out,
    const char **error, size_t *at) USE_RESULT;
/*
 * The same for the value whose OBJECT or ARRAY token was just read from a whole
 * text; depth more containers are around that. The cursor moves past it. False:
 * j has the error, and nothing was appended.
 */
bool json_copy(struct json *j, unsigned depth, struct buf *out) USE_RESULT;

/* ---- writing ---- */

/* A JSON string with its quotes. Escapes control characters, quote and
 * backslash; all else stays. Bytes that are not UTF-8 become U+FFFD, three-byte
 * surrogates \ud800 again. */
void json_put_string(struct buf *b, struct str s);
void json_put_i64(struct buf *b, int64_t v);

#include "json/fast.h"

#endif
