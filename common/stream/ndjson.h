/* SPDX-License-Identifier: MIT */
/*
 * ndjson: lines of tl-stream(5) to items and back; private to this area. Pure,
 * as wire.h.
 */
#ifndef TL_STREAM_NDJSON_H
#define TL_STREAM_NDJSON_H

#include "stream/from-json.h"
#include "stream/wire.h"

/* Appends lines, each with its newline. */
void ndjson_put_header(
    struct buf *b, unsigned marks, const struct prov *prov, size_t nprov);
void ndjson_put_event(
    struct buf *b, const struct dict *st, const struct event *ev);
void ndjson_put_source(struct buf *b, const struct source *s);
void ndjson_put_meta(struct buf *b, const struct meta *m);
void ndjson_put_section(struct buf *b, enum section s);
void ndjson_put_end(
    struct buf *b, uint64_t nevents, uint32_t nsources, unsigned marks);
/* A value as lossless JSON. */
void value_put_json(struct buf *b, const struct value *v);
/* The same in a line: integers beyond 2^53 become tagged strings. */
void ndjson_put_value(struct buf *b, const struct value *v);
/* Words for the bits that are set, "bit9" for one without a word. */
void words_put(struct buf *b, uint32_t bits, const char *const words[],
    const char *between);
/* The same as a list. */
void ndjson_put_bits(struct buf *b, uint32_t bits, const char *const words[]);

/* The words of the roles: the members of an event that they set. */
extern const char *const role_words[ROLE_COUNT];
/* Kinds whose dev and gpu_stream may be process and thread. */
#define KINDS_ON_GPU                                                       \
	(KINDS_GPU | KIND_BIT(KIND_GPU_ANNOTATION) | KIND_BIT(KIND_SYNC) | \
	    KIND_BIT(KIND_GPU_EVENT))
/* The default role of an entry. */
enum role ndjson_default_role(enum group group, struct str key, enum kind kind);

/* Entries of one group and their values, encoded. */
struct ndjson_group {
	VEC(struct entry) entries;
	struct buf vals;
};

/* The members of an event line, until the line is complete. */
struct ndjson_event {
	struct shape shape;
	struct track track;
	struct value on_gpu[ROLE_COUNT]; /* dev, gpu_stream, corr, ext */
	uint32_t has_role;               /* bit: the line has this member */
	bool dev_pid, stream_tid;        /* set in the line */
	bool has_id, has_kind;
	struct str roles; /* raw */
	unsigned ngroups; /* groups of the line, in its order */
	uint8_t order[GROUP_DUPTOP + 1];
};

/* Lines to items; results are named as in struct decoder. */
struct ndjson_dec {
	struct dict *st;
	const char *error;
	size_t at; /* offset of the error in the line */
	struct event ev;
	struct source source;
	struct meta meta;
	enum section section;
	unsigned marks; /* edited is added if the end has other counts */
	VEC(struct prov) prov;
	bool has_header;
	/* Whether to check parents in a tree section; set by default. */
	bool check_tree;
	uint64_t nevents;
	/* private */
	uint64_t nnamed; /* lines that name a source */
	struct json *j;
	enum json_token t; /* the current token; the cursor is past it */
	const char *line;
	char message[200];
	unsigned last_key;       /* lines have their keys in the same order */
	struct track last_track; /* usually the next event's, too */
	uint32_t last_track_no;
	bool has_last_track;
	int64_t version, end_events, end_sources;
	struct prov one_prov;
	struct ndjson_event e;
	struct ndjson_group groups[GROUP_DUPTOP + 1];
	struct ndjson_group all;
	VEC(struct fact) facts;
	struct arena *mem;
	size_t mark; /* size of mem after the header */
	struct buf scratch;
	VEC(struct uid) stack; /* ancestors in a tree section */
	uint32_t stack_src;
	bool in_tree;
};

void ndjson_start(struct ndjson_dec *d, struct dict *st);
/*
 * Reads a line without its newline; p[len] is a newline or zero, and IN_PAD
 * readable bytes follow. An empty line gives DEC_BLOCK_END.
 */
enum dec_status ndjson_line(struct ndjson_dec *d, const char *p, size_t len);
void ndjson_free(struct ndjson_dec *d);

/* ---- between the ndjson-*.c that read ---- */

/*
 * A line is read token by token. A function that reads a value finds its first
 * token in d->t and leaves its last one there.
 */

/* The next token; false: an error. */
bool ndjson_next(struct ndjson_dec *d) USE_RESULT;
/* The first byte of the current token, for errors. */
const void *ndjson_here(const struct ndjson_dec *d);

/* An event line; the current token is its first key. */
enum dec_status ndjson_event(struct ndjson_dec *d);
/* All members were read: builds d->ev. */
bool ndjson_finish_event(struct ndjson_dec *d) USE_RESULT;
/* A member with a known key, and its reader. */
struct ndjson_field {
	struct str key;
	bool (*get)(struct ndjson_dec *d, const char *key, void *to);
	size_t at;       /* of the target */
	uint16_t has;    /* the flag that the event then has: HAS_ */
	bool takes_null; /* otherwise null means absent */
};
/* clang-format off */
#define NDJSON_FIELD(word, getter, member, bits) \
	{ .key = STR_INIT(word), .get = (getter), \
	    .at = offsetof(struct ndjson_dec, member), .has = (bits) }
#define NDJSON_FIELD_NULL(word, getter, member) \
	{ .key = STR_INIT(word), .get = (getter), \
	    .at = offsetof(struct ndjson_dec, member), .takes_null = true }
/* clang-format on */

struct ndjson_fields {
	const char *where; /* for error messages */
	const struct ndjson_field *v;
	unsigned n;
};
/*
 * For ndjson_members(), with a struct ndjson_fields: an unknown member is an
 * error unless it is the user's own.
 */
bool ndjson_known(
    struct ndjson_dec *d, struct str key, const void *fields) USE_RESULT;

/* Records the error and its place; false, for returning. */
bool ndjson_fail(struct ndjson_dec *d, const void *where, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
/* The current string or key, in the line or in scratch. */
struct str ndjson_key(struct ndjson_dec *d);
/* The same for a string; any other token is an error. */
bool ndjson_get_text(struct ndjson_dec *d, struct str *s) USE_RESULT;
/*
 * Any value. If intern is set, STR, JSON and NUM are interned (long ones become
 * STRX and JSONX), else inline. Inline text is in the line or in scratch, until
 * the next call.
 */
bool ndjson_get_value(
    struct ndjson_dec *d, bool intern, struct value *v) USE_RESULT;
/* An integer, plain or tagged, from min to max. */
bool ndjson_get_int(struct ndjson_dec *d, const char *member, int64_t min,
    int64_t max, int64_t *v) USE_RESULT;
/* Readers of fields: a bool, a source, a number from 0 on, a text. */
bool ndjson_get_bool(
    struct ndjson_dec *d, const char *member, void *to) USE_RESULT;
bool ndjson_get_src(
    struct ndjson_dec *d, const char *member, void *to) USE_RESULT;
bool ndjson_get_count(
    struct ndjson_dec *d, const char *member, void *to) USE_RESULT;
/* Converts a list of words or "bitN" to bits. */
bool ndjson_get_bits(struct ndjson_dec *d, const char *member,
    const char *const words[], uint32_t *bits) USE_RESULT;
/* An event: its number, or "id.inst". */
bool ndjson_get_uid(
    struct ndjson_dec *d, const char *member, void *to) USE_RESULT;
/* Skips any value. */
bool ndjson_skip(struct ndjson_dec *d) USE_RESULT;
/* Whether the current token begins a list; if not, records an error. */
bool ndjson_list(struct ndjson_dec *d) USE_RESULT;
/* Moves to its next element; false: at its end, or an error was recorded. */
bool ndjson_element(struct ndjson_dec *d) USE_RESULT;
/* Calls member for each member of an object, with its value as current token.
 * The current token must be the object's start or its first key. */
bool ndjson_members(struct ndjson_dec *d,
    bool (*member)(struct ndjson_dec *d, struct str key, const void *arg),
    const void *arg) USE_RESULT;

#endif
