/* SPDX-License-Identifier: MIT */
/* What a table of tl-ops consists of: between tables.c and rows.c. */
#ifndef TL_OPS_PLAN_H
#define TL_OPS_PLAN_H

#include "cmd/tl-ops/ops.h"

enum field {
	F_RANK,
	F_SRC,
	F_NAME,
	F_OVERLAP_NAMES,
	F_CATEGORY,
	F_PARENT_MODULE,
	F_PROCESS,
	F_LABEL,
	F_THREAD,
	F_DIMS,
	F_TYPES,
	F_STRIDES,
	F_CONCRETE,
	F_NUM_KERNELS,
	F_MODULE,
	F_ANNOTATION,
	F_STEP,
	F_RECOMPUTE,
	F_COUNT,
	F_OP_COUNT,
	F_FIRST,
	F_LAUNCHING,
	F_DIRECT,
	F_DIRECT_SUM,
	F_SUBTREE_SUM,
	F_SUBTREE_MEAN_ALL,
	F_DIRECT_MS,
	F_SUBTREE_MS,
	F_CATEGORIES,
	F_STACK_FIRST,
	F_DIRECT_MEAN,
	F_SUBTREE_MEAN,
	F_DIRECT_MEDIAN,
	F_SUBTREE_MEDIAN,
	F_DIRECT_STD,
	F_SUBTREE_STD,
	F_DIRECT_MIN,
	F_SUBTREE_MIN,
	F_DIRECT_MAX,
	F_SUBTREE_MAX,
	F_EX_UID,
	F_STACK,
	F_DETAILS,
	F_TRUNC,
	F_OVERLAP,
	F_OVERLAP_TRUNC,
	F_PCT_MEAN,
	F_PCT_MEDIAN,
	F_PCT_STD,
	F_PCT_MIN,
	F_PCT_MAX,
	F_SELF,
	F_TOTAL,
	F_TOTAL_MEAN,
	F_SHARE_BUSY,
	F_SHARE_SELF,
	F_SHARE,
	F_CUMULATIVE,
	F_FIELDS
};

enum about_table {
	OF_LAUNCHERS,
	OF_OVERLAP,
	OF_ALL_OPS,
	OF_CPU,
};

struct kind_of_table {
	const char *name;
	enum by by; /* BY_COUNT: what --by says */
	enum about_table about;
	const enum field *figures;
};

/* A table to be printed: its grouping and columns. */
struct plan {
	const struct kind_of_table *kind;
	struct grouping how;
	struct column columns[F_FIELDS + 1];
	enum field fields[F_FIELDS + 1];
	size_t n;
};

/* Appends the group's rows, all of them, and prints. */
void rows_print(
    struct table_dest *dest, const struct ops *g, const struct plan *p);

#endif
