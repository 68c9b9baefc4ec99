/* SPDX-License-Identifier: MIT */
/*
 * Tables of GPU events and of the points at which the trees part. Each is a
 * list of fields, its rows are events or groups of them, and a field says what
 * a group has.
 */
#ifndef TL_DIFF_EVENTS_H
#define TL_DIFF_EVENTS_H

#include "cmd/tl-diff/diff.h"
#include "sink/group.h"

enum rows_of {
	ROWS_EVENTS, /* diff_stats */
	ROWS_ALIKE,  /* those that differ only in time, point and event */
	ROWS_POINTS, /* those of one point */
	ROWS_NODES,  /* uid_map: nodes of the merged tree */
	NROWS_OF,
};

#define ROWS_MAX_COLUMNS 24
/* A table's columns; how many. Two tell which run of before a row is about. */
size_t rows_columns(enum rows_of of, struct column out[ROWS_MAX_COLUMNS]);
#define NRUN_COLUMNS 2
/* Appends the rows of a pair of runs. */
void rows_list(struct table *t, enum rows_of of, const struct diff *d);

/* Of an op; all INTERN_NONE of others and of NONE. */
const struct op_args *args_of_node(const struct side *r, uint32_t at);
/* tables.c: what is the same on both sides once, else "before | after". */
struct cell cell_of_sides(
    struct table *t, const struct dict *st, uint32_t before, uint32_t after);
#endif
