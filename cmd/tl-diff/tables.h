/* SPDX-License-Identifier: MIT */
/* The tables of tl-diff. */
#ifndef TL_DIFF_TABLES_H
#define TL_DIFF_TABLES_H

#include "cmd/tl-diff/diff.h"

struct ops;
struct kernels;
struct tables;

/* All that has been found, for the tables. */
struct found {
	struct settings *set;
	struct ops *ops;
	struct kernels *kernels;
};

/* What --table and --by ask for is checked, before anything is read. */
void tables_check(struct settings *set);
struct tables *tables_create(struct settings *set);
/* Rows of events, of each run of before once; several: it may have more. */
void tables_add(struct tables *t, const struct diff *d, bool several);
/* After the last; it is gone then. */
void tables_finish(struct tables *t, const struct found *f);

#endif
