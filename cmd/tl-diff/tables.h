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

/*
 * A table of events while it grows, run by run. Of several runs the first
 * columns tell which one of before a row is about.
 */
struct listing {
	struct table *table;
	struct table_dest *dest, own;
	struct column *columns;
	const struct run *run;
};
#define RUN_COLUMNS                                            \
	{ "rank", NULL, COL_INT, UNIT_NONE, COL_DETAIL, 0 },   \
	{                                                      \
		"src", NULL, COL_INT, UNIT_NONE, COL_DETAIL, 0 \
	}
#define NRUN_COLUMNS 2
/* A row's cells behind those. */
struct cell *listing_row(struct listing *l);

/* Cells that several tables have. */
#define ARG_CELLS 4
extern const struct column arg_columns[ARG_CELLS];
void cells_of_args(const struct strings *st, const struct op_args *a,
    struct cell cells[ARG_CELLS]);
/* Of an op; all INTERN_NONE of others and of NONE. */
const struct op_args *args_of_node(const struct run *r, uint32_t at);
struct str source_word(int side);
/* The modules of an op, joined, or the nearest one; "root" without any. */
void put_modules(const struct diff *d, const struct diff_row *s, struct buf *b);
struct str module_parent(const struct diff *d, const struct diff_row *s);

/* stats-rows.c: diff_stats and what is grouped from it */
extern const struct column stats_columns[];
extern const size_t stats_ncolumns;
void stats_list(struct listing *l, const struct diff *d);

/* unique.c */
extern const struct column unique_columns[];
extern const size_t unique_ncolumns;
void unique_list(struct listing *l, const struct diff *d);
/* Rows of the summary; unordered until sorted. */
struct unique_row {
	uint32_t stat; /* the first of them */
	uint64_t n;
	int64_t sum_ns;
};
struct unique {
	VEC(struct unique_row) rows;
};
void unique_find(const struct diff *d, struct unique *u);
void unique_sort(const struct diff *d, struct unique *u);

/* lca.c */
extern const struct column lca_columns[];
extern const size_t lca_ncolumns;
void lca_list(struct listing *l, const struct diff *d);

/* inline.c */
extern const struct column inline_columns[];
extern const size_t inline_ncolumns;
void inline_list(struct listing *l, const struct diff *d);

/* uids.c */
extern const struct column uids_columns[];
extern const size_t uids_ncolumns;
void uids_list(struct listing *l, const struct diff *d);

/* A text as a string of JSON. */
void json_string(struct buf *b, struct str s);

#endif
