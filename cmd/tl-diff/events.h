/* SPDX-License-Identifier: MIT */
/*
 * Tables of GPU events and of points where the trees differ. Each is a list of
 * fields; its rows are events or groups of them.
 */
#ifndef TL_DIFF_EVENTS_H
#define TL_DIFF_EVENTS_H

#include "cmd/tl-diff/diff.h"
#include "sink/group.h"

enum rows_of {
	ROWS_EVENTS, /* diff_stats */
	ROWS_ALIKE,  /* joined where only time, point and event differ */
	ROWS_POINTS, /* joined by point */
	ROWS_NODES,  /* uid_map: nodes of the merged tree */
	NROWS_OF,
};

#define ROWS_MAX_COLUMNS 24
/* A table's columns and their number; the first two name the run of before. */
size_t rows_columns(enum rows_of of, struct column out[ROWS_MAX_COLUMNS]);
#define NRUN_COLUMNS 2
/* Appends the rows of a pair of runs. */
void rows_list(struct table *t, enum rows_of of, const struct diff *d);

/* Arguments of an op; all INTERN_NONE for others and for NONE. */
const struct op_args *args_of_node(const struct side *r, uint32_t at);
/* tables.c: the value of both sides, or "before | after". */
struct cell cell_of_sides(
    struct table *t, const struct dict *st, uint32_t before, uint32_t after);
#endif
