/* SPDX-License-Identifier: MIT */
/* A reader inside, and its helpers. Private to this area. */
#ifndef TL_STREAM_IN_H
#define TL_STREAM_IN_H

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

/* Warns of GPU work that could not be linked for the ids it has, if the source
 * has the facts. */
void stream_tell_links(const char *name, const struct source *source);

/* ---- helper.c ---- */

/*
 * A helper is another program of ours run in front of a reader: it gets the
 * bytes of an input and its standard output is read instead.
 */
struct helper;

/*
 * Runs program on what is left of in, which the helper owns from now on, with
 * words (ended by NULL, or NULL: none) for options.
 */
struct helper *helper_start(
    const char *program, char *const *words, struct in *in);
/* Words for a tl-graft in front: stream_pseudo_models(). */
char *const *helper_pseudo_words(void);
/* What the helper writes; closed by the reader. */
struct in *helper_output(struct helper *h);
/* Waits. A failed helper ends this program; one with warnings leaves a warning.
 */
void helper_finish(struct helper *h);
/* Its output ended early: waits and says so, or returns when it is innocent. */
void helper_blame(struct helper *h);
/* Nobody reads on: waits without a judgement. */
void helper_abandon(struct helper *h);

#endif
