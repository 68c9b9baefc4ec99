/* SPDX-License-Identifier: MIT */
/* helper: another program of ours in front of a reader. */
#ifndef TL_STREAM_HELPER_H
#define TL_STREAM_HELPER_H

#include "io/io.h"

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
/* Waits, and says nothing: its exit status, as child_wait() has it. */
int helper_wait(struct helper *h);

#endif
