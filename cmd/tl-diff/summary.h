/* SPDX-License-Identifier: MIT */
/* What changed, in sentences: notes of a table, those of ops and of kernels. */
#ifndef TL_DIFF_SUMMARY_H
#define TL_DIFF_SUMMARY_H

#include "cmd/tl-diff/figures.h"

struct summary {
	const struct settings *set;
	const struct figures *figures;
	const struct dict *dict;
	const char *what;                /* a row is about: "op" */
	VEC(const struct figure *) rows; /* with a name; the largest first */
};

/* The whole difference, and how much of it a few rows make up. */
void summary_whole(const struct summary *s, struct table *t);
/* Rows that only one side has, and those within noise. */
void summary_rows(const struct summary *s, struct table *t);
/*
 * "WHAT: before 2 (1.2 ms), after 3 (1.3 ms)"; nothing where both are 0. Of
 * several runs or steps it says that these are sums.
 */
void summary_tally(const struct summary *s, struct table *t,
    const struct tally *tally, const char *what);
/* That a run of one side has more steps than one of the other. */
void summary_steps(const struct summary *s, struct table *t);

#endif
