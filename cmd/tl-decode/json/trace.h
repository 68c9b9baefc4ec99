/* SPDX-License-Identifier: MIT */
/*
 * Shared by formats in JSON: a cursor over the window, the object around the
 * events, metadata, salvage. A format names the key of its list of events and
 * reads that; json_read() does the rest.
 */
#ifndef TL_DECODE_JSON_TRACE_H
#define TL_DECODE_JSON_TRACE_H

#include "cmd/tl-decode/decode.h"
#include "cmd/tl-decode/json/salvage.h"

struct json_trace;

struct json_format {
	const char *name;  /* the fact "format" */
	struct str events; /* the key of the list */
	/* the list may be bare, and then lack its closing bracket */
	bool is_bare;
	bool may_lack; /* an object without the list has no events */
	/*
	 * Reads the list from its bracket to its end; when salvaging it may
	 * begin at a record among garbage, and be called again.
	 */
	void (*read)(struct json_trace *t, bool may_be_open);
	/* Frees t->reader if reading stopped within read(). */
	void (*release)(struct json_trace *t);
	/* Takes another member, which also becomes metadata; or NULL. */
	void (*on_member)(
	    struct source_state *s, struct str key, const struct value *v);
	const struct salvage_rules *rules;
};

struct json_trace {
	struct source_state *s;
	struct json json;  /* over the window of s->in */
	struct json value; /* over one value */
	const struct json_format *format;
	void *reader;            /* the format's, during read() */
	struct salvage *salvage; /* NULL: damage ends the program */
	bool is_lost;            /* the reader cannot go on */
	/* private */
	bool has_events;
	struct buf key, text; /* of the current member */
};

/* The first byte after white space; 0: no JSON. */
unsigned char json_first(struct str head);
/* Reads the input by this format, or by another whose key comes first. */
void json_read(struct source_state *s, const struct json_format *format);
/* The format of events under this key, or NULL: in format.c. */
const struct json_format *format_of_key(struct str key);

/* ---- for formats ---- */

/*
 * A fault ends the program; when salvaging it ends the reading: is_lost is set,
 * and functions that return bool return false from then on, as at the end of a
 * container.
 */

/* After JSON_BAD as above; after JSON_MORE enlarges the window. */
bool trace_retry(struct json_trace *t, enum json_status status) USE_RESULT;
void trace_die(struct json_trace *t, const char *reason);
/* Skips white space; false: end of file. */
bool trace_more_slow(struct json_trace *t) USE_RESULT;
static inline bool USE_RESULT
trace_more(struct json_trace *t)
{
	json_space(&t->json);
	return LIKELY(t->json.p < t->json.end) || trace_more_slow(t);
}
/* The next byte; ends the program at the end. */
unsigned char trace_peek(struct json_trace *t);
void trace_open(struct json_trace *t, unsigned char open, const char *what);
/* In a list: whether another element follows. */
bool trace_element(struct json_trace *t, bool first) USE_RESULT;
/* In an object: the same; gets the unescaped key, cursor at its value. */
bool trace_member(struct json_trace *t, bool first, struct buf *key) USE_RESULT;
/* In a list of records: the next whole one. */
bool trace_record(
    struct json_trace *t, bool first, struct str *text) USE_RESULT;
/* The value at the cursor, valid until that moves. */
bool trace_span(struct json_trace *t, struct str *text) USE_RESULT;
/* Any value as fact or metadata; text in *text, minified for lists. */
bool trace_value(
    struct json_trace *t, struct buf *text, struct value *v) USE_RESULT;
/* Between records: releases the window before the cursor. */
void trace_pass(struct json_trace *t);

/* ---- for salvaging ---- */

/* The next record, as a window of its own in t->json. */
bool trace_salvage_record(struct json_trace *t, bool first, bool is_bare,
    struct str *text) USE_RESULT;

#endif
