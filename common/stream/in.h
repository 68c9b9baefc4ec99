/* SPDX-License-Identifier: MIT */
/* A reader inside, and its helpers. Private to this area. */
#ifndef TL_STREAM_IN_H
#define TL_STREAM_IN_H

#include "stream/helper.h"
#include "stream/ndjson.h"

/* What a struct stream_in hides: open.c makes it, in.c reads with it. */
struct stream_dec {
	struct in *in;
	struct helper *helper; /* the program in front, or NULL */
	bool own_strings;
	char *name;
	bool is_ndjson;
	enum want want;
	bool in_block;
	bool ended;
	uint64_t line; /* of NDJSON */
	struct decoder bin;
	struct ndjson_dec nd;
};

/* Dies with the stream's name, the byte and, of NDJSON, the line. */
noreturn void stream_die_at(
    const struct stream_in *s, uint64_t at, const char *reason);
/* Its bytes end before its end record. */
noreturn void stream_die_cut(const struct stream_in *s);

/* The next line of NDJSON without its newline; in->p is moved behind it. */
struct str stream_next_line(struct stream_in *s);

/* ---- skipped.c ---- */

/* Warns of GPU work that could not be linked for the ids it has, and of begins
 * without their end, if the source has the facts. */
void stream_tell_links(const char *name, const struct source *source);
/* Of host events that are in no tree. */
void stream_tell_tree(const char *name, const struct source *source);

#endif
