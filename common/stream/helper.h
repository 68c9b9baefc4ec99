/* SPDX-License-Identifier: MIT */
/* helper: another program of ours run before a reader. */
#ifndef TL_STREAM_HELPER_H
#define TL_STREAM_HELPER_H

#include "io/io.h"

/*
 * A helper gets the bytes of an input; the reader reads its standard output
 * instead.
 */
struct helper;

/*
 * Runs program on the rest of in, which the helper then owns. words are its
 * options, NULL at the end; NULL: none.
 */
struct helper *helper_start(
    const char *program, char *const *words, struct in *in);
/* Options for a tl-graft as helper: stream_pseudo_models(). */
char *const *helper_pseudo_words(void);
/* The helper's output; the reader closes it. */
struct in *helper_output(struct helper *h);
/* Waits. A failed helper ends this program; a helper's warnings are passed
 * on. */
void helper_finish(struct helper *h);
/* Its output ended early: waits and reports it; returns if it did not fail. */
void helper_blame(struct helper *h);
/* Nobody reads its output any more: waits, ignores how it ends. */
void helper_abandon(struct helper *h);
/* Waits silently; returns its exit status, as child_wait(). */
int helper_wait(struct helper *h);

#endif
