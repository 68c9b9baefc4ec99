/* SPDX-License-Identifier: MIT */
/*
 * What the formats in JSON share: a cursor over the input's window, the object
 * around the events, metadata, and the salvage of damaged files.
 *
 * A format says under which key its events stand and how their list is read;
 * json_read() does the rest and calls it at that list.
 */
#ifndef TL_DECODE_JSON_TRACE_H
#define TL_DECODE_JSON_TRACE_H

#include "cmd/tl-decode/decode.h"
#include "cmd/tl-decode/json/salvage.h"

struct json_trace;

struct json_format {
	const char *name;  /* the source's fact "format" */
	struct str events; /* the key of the list */
	/* the list may stand alone, and then lack its closing bracket */
	bool is_bare;
	bool may_lack; /* an object without the list has no events */
	/* The list, cursor behind its bracket, to behind the closing one; when
	 * salvaging perhaps at a record among garbage, and once more. */
	void (*read)(struct json_trace *t, bool may_be_open);
	/* Frees t->reader, if the source ended within read(). */
	void (*release)(struct json_trace *t);
	/* Another member, besides being passed on as metadata; or NULL. */
	void (*on_member)(
	    struct source_state *s, struct str key, const struct value *v);
	const struct salvage_rules *rules;
};

struct json_trace {
	struct source_state *s;
	struct json json;  /* over the window of s->in */
	struct json value; /* over one value there */
	const struct json_format *format;
	void *reader;            /* the format's, while its list is read */
	struct salvage *salvage; /* NULL: none, damage ends the program */
	bool is_lost;            /* the reader can't go on: salvage */
	/* private */
	bool has_events;
	struct buf key, text; /* of the member at hand */
};

/* The first byte behind white space, 0: this is no JSON text. */
unsigned char json_first(struct str head);
/* The whole input, by this format, or another that has the key of a list. */
void json_read(struct source_state *s, const struct json_format *format);
/* The format whose events stand under the key, or NULL: in format.c. */
const struct json_format *format_of_key(struct str key);

/* ---- for formats ---- */

/*
 * What is wrong ends the program; or, when salvaging, the reading, with is_lost
 * set: a function that returns bool returns false then and ever after, as at
 * the end of a container.
 */

/* After JSON_BAD as above; after JSON_MORE makes the window grow. */
bool trace_retry(struct json_trace *t, enum json_status status) USE_RESULT;
void trace_die(struct json_trace *t, const char *reason);
/* White space away; false: the file ends here. */
bool trace_more_slow(struct json_trace *t) USE_RESULT;
static inline bool USE_RESULT
trace_more(struct json_trace *t)
{
	json_space(&t->json);
	return LIKELY(t->json.p < t->json.end) || trace_more_slow(t);
}
/* The same; dies at the end. The byte there. */
unsigned char trace_peek(struct json_trace *t);
void trace_open(struct json_trace *t, unsigned char open, const char *what);
/* In a list: true when another element follows. */
bool trace_element(struct json_trace *t, bool first) USE_RESULT;
/* In an object: the same; its key, unescaped, and the cursor at its value. */
bool trace_member(struct json_trace *t, bool first, struct buf *key) USE_RESULT;
/* In a list of records: the next one, whole. */
bool trace_record(
    struct json_trace *t, bool first, struct str *text) USE_RESULT;
/* The whole value at the cursor, until the cursor moves. */
bool trace_span(struct json_trace *t, struct str *text) USE_RESULT;
/* Any value as a fact or metadata; text in *text (minified for lists). */
bool trace_value(
    struct json_trace *t, struct buf *text, struct value *v) USE_RESULT;
/* Between records: the window before the cursor is done with. */
void trace_pass(struct json_trace *t);

/* ---- for salvaging ---- */

/* The next record; its text as a window of its own in t->json. */
bool trace_salvage_record(struct json_trace *t, bool first, bool is_bare,
    struct str *text) USE_RESULT;

#endif
