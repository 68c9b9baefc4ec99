/* SPDX-License-Identifier: MIT */
/* Between read.c, which reads tables, and what takes their rows. */
#ifndef TL_SUMMARY_TAKE_H
#define TL_SUMMARY_TAKE_H

#include "reader/reader.h"

#include "cmd/tl-summary/summary.h"

/* The row at hand. Columns that a table does not have are empty cells. */
struct line {
	const struct head *head;
	const struct val *cells;
};

/* ---- line.c: cells, by their columns' ids ---- */

const struct val *line_cell(const struct line *l, const char *id);
/* Empty text where there is none; a number as it was written in ours. */
struct str line_text(struct figures *f, const struct line *l, const char *id);
double line_real(const struct line *l, const char *id); /* 0: none */
int64_t line_int(const struct line *l, const char *id);
bool line_lacks(const struct line *l, const char *id);

/* Adds times; a sum that is too large ends the program. */
void take_add(int64_t *sum, int64_t v);
bool take_ends_with(struct str s, const char *end);
/* Calls of the runtime own work that has no op; they have no shapes. */
bool take_is_call(struct str name);

/* ---- take.c, roof.c ---- */

typedef void take_fn(struct figures *f, const struct line *l);

take_fn take_roofline; /* of unified_perf_summary */

/* The tables by name, in the order in which they are read; NULL ends it. */
struct input {
	const char *name;
	take_fn *take;
};
extern const struct input inputs[];

/* The one of this name, made when missing; valid until the next call. */
struct tally *tally_of(struct figures *f, struct tallies *t, struct str name);

#endif
