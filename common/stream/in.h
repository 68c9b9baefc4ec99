/* SPDX-License-Identifier: MIT */
/*
 * A helper is another program of ours run in front of a reader: it gets the
 * bytes of an input and its standard output is read instead. Private to this
 * area.
 */
#ifndef TL_STREAM_IN_H
#define TL_STREAM_IN_H

#include "io/io.h"

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
/* Waits. A failed helper ends this program; one with doubts leaves a doubt. */
void helper_finish(struct helper *h);
/* Its output ended early: waits and says so, or returns when it is innocent. */
void helper_blame(struct helper *h);
/* Nobody reads on: waits without a judgement. */
void helper_abandon(struct helper *h);

#endif
