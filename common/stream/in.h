/* SPDX-License-Identifier: MIT */
/* Internals of readers and their helpers. Private to this area. */
#ifndef TL_STREAM_IN_H
#define TL_STREAM_IN_H

#include "stream/helper.h"
#include "stream/ndjson.h"

/* The private part of struct stream_in: open.c makes it, in.c reads with it. */
struct stream_dec {
	struct in *in;
	struct helper *helper; /* the program before this one, or NULL */
	bool own_strings;
	char *name;
	bool is_ndjson;
	enum want want;
	bool in_block;
	bool ended;
	uint64_t line; /* NDJSON only */
	struct decoder bin;
	struct ndjson_dec nd;
};

/* Dies with the stream's name, the byte and, for NDJSON, the line. */
noreturn void stream_die_at(
    const struct stream_in *s, uint64_t at, const char *reason);
/* Dies: the input ends before its end record. */
noreturn void stream_die_cut(const struct stream_in *s);

/* The next line of NDJSON without its newline; moves in->p past it. */
struct str stream_next_line(struct stream_in *s);

/* ---- skipped.c ---- */

/* Warns of GPU work that its ids do not link, and of begin events without an
 * end, if the source has the facts. */
void stream_tell_links(const char *name, const struct source *source);
/* Warns of host events that are in no tree. */
void stream_tell_tree(const char *name, const struct source *source);

#endif
