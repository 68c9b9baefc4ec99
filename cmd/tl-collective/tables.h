/* SPDX-License-Identifier: MIT */
/*
 * The tables, each as its columns and a function that fills its rows, and what
 * several of them share.
 */
#ifndef TL_COLLECTIVE_TABLES_H
#define TL_COLLECTIVE_TABLES_H

#include "cmd/tl-collective/job.h"

/* A table whose columns are made as it goes. */
struct columns {
	VEC(struct column) list;
	struct arena *mem;
};

/* Columns at the end of a table where the nodes are known. */
enum {
	WITH_NODE_ID = 1,
	WITH_NODE_SPAN = 2,
	WITH_NODE = WITH_NODE_ID | WITH_NODE_SPAN,
};

struct table_def {
	const char *name;
	/* in -d; NULL: always */
	bool (*is_wanted)(const struct job *j);
	const struct column *columns; /* all, or those before more's */
	size_t ncolumns;
	/* adds columns that depend on the job; NULL: none */
	void (*more)(const struct job *j, struct columns *c);
	unsigned nodes;   /* WITH_ */
	bool is_streamed; /* its rows are printed as they come */
	void (*fill)(struct job *j, struct table *t);
};

/* Of a static list of columns. */
#define COLUMNS(list) \
	.columns = (list), .ncolumns = sizeof(list) / sizeof *(list)

extern const struct table_def *const table_defs[];
extern const size_t ntable_defs;

void print_table(
    const struct table_def *def, struct job *j, struct table_dest *d);

extern const struct table_def table_long, table_summary_long,
    table_coll_analysis, table_sync, table_sync_ranks, table_summary_sync,
    table_straggler_summary, table_all2allv, table_all2allv_ranks,
    table_summary_all2allv, table_heatmap, table_groups, table_cause,
    table_bandwidth, table_clocks, table_missing;

#define WIDE_RANKS 16 /* more have no column each, unless --wide */
bool is_wide(const struct job *j);
bool has_sync(const struct job *j);
bool has_all2allv(const struct job *j);

/* ---- columns ---- */

#define MB 1048576.0
/* A column with this id, label, and of times and sizes the label's unit. */
#define TEXT(id, label)                              \
	{                                            \
		id, label, COL_TEXT, UNIT_NONE, 0, 0 \
	}
#define INT(id, label)                              \
	{                                           \
		id, label, COL_INT, UNIT_NONE, 0, 0 \
	}
#define REAL(id, label)                              \
	{                                            \
		id, label, COL_REAL, UNIT_NONE, 0, 0 \
	}
#define BOOL(id, label)                              \
	{                                            \
		id, label, COL_BOOL, UNIT_NONE, 0, 0 \
	}
#define COUNTS(id, label)                            \
	{                                            \
		id, label, COL_INT, UNIT_COUNT, 0, 0 \
	}
#define PCT(id, label)                                  \
	{                                               \
		id, label, COL_REAL, UNIT_PERCENT, 0, 0 \
	}
#define US(id, label)                               \
	{                                           \
		id, label, COL_INT, UNIT_NS, 0, 1e3 \
	}
#define REAL_US(id, label)                           \
	{                                            \
		id, label, COL_REAL, UNIT_NS, 0, 1e3 \
	}
#define BYTES(id, label)                              \
	{                                             \
		id, label, COL_INT, UNIT_BYTES, 0, MB \
	}

void columns_put(struct columns *c, const struct column *list, size_t n);
/* The list once more for each rank, as rank_N_ID. */
void columns_of_ranks(struct columns *c, const struct job *j,
    const struct column *list, size_t n);
/* A column for each statistic, as ID_WORD. */
void columns_of_aggs(struct columns *c, const struct column *of,
    const struct agg *aggs, size_t naggs);

/* ---- cells ---- */

struct cell cell_str(struct str s); /* p NULL: empty */
struct cell cell_num(bool has, int64_t v);
struct cell cell_bytes(int64_t bytes); /* -1: empty */
/* The group's name as this rank has it. */
struct cell cell_group(const struct job *j, const struct sig *s);
struct cell id_cell(const struct job *j, const struct coll *c, struct table *t);
/* A quantile of sorted values; of none empty. */
struct cell cell_quantile(const double *v, size_t n, double q);
/* As the file has it. */
struct cell cell_start(const struct job *j, const struct rec *r);
/* Each statistic of the values; how many these are. */
size_t put_aggs(struct cell *row, const struct agg *aggs, size_t naggs,
    const double *v, size_t n);
/* Those of WITH_NODE; nothing where nodes are not known. */
void put_node_id(struct cell *c, const struct job *j, int64_t rank);
/* intra_node, inter_node or unknown. */
void put_node_span(struct cell *c, const struct job *j, uint32_t group);

#endif
