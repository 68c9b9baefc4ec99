/* SPDX-License-Identifier: MIT */
/* What a table of tl-kernels consists of: between tables.c and rows.c. */
#ifndef TL_KERNELS_PLAN_H
#define TL_KERNELS_PLAN_H

#include "cmd/tl-kernels/kernels.h"

enum field {
	F_RANK,
	F_SRC,
	F_UID,
	F_CATEGORY,
	F_PARENT,
	F_KERNEL,
	F_NAME,
	F_CLASS,
	F_OP_CLASS,
	F_STREAM,
	F_DIMS,
	F_TYPES,
	F_STRIDES,
	F_CONCRETE,
	F_MODULE,
	F_MODULE_UID,
	F_MODULE_KERNELS,
	F_MODULE_BUSY,
	F_PCT_MODULE,
	F_GRID,
	F_BLOCK,
	F_COUNT,
	F_SUM,
	F_MEAN,
	F_MEDIAN,
	F_STD,
	F_MIN,
	F_MAX,
	F_SHARE,
	F_SHARE_TOTAL,
	F_CUMULATIVE,
	F_GFLOPS,
	F_TFLOPS,
	F_TILE,
	F_PCT_TILE,
	F_PCT_WAVE,
	F_PCT_ROOF,
	F_TS,
	F_DUR,
	F_DELAY,
	F_DEV,
	F_CORR,
	F_DISPATCH,
	F_GRID_X,
	F_GRID_Y,
	F_GRID_Z,
	F_BLOCK_X,
	F_BLOCK_Y,
	F_BLOCK_Z,
	F_AGENT,
	F_TID,
	F_BIN_START,
	F_BIN_END,
	F_BIN_COUNT,
	F_FIELDS
};

/* A column and its name in the reference's table. */
struct figure {
	enum field field;
	const char *label; /* NULL: that of the field */
};

enum about_table {
	OF_ALL,
	OF_SHORT,
	OF_HISTOGRAM,
};

/* Which sources a table is for, where two have the same name. */
enum source_kind {
	FOR_ANY,
	FOR_OPS,
	FOR_ROCPROF,
};

struct kind_of_table {
	const char *name;
	enum by by;
	enum about_table about;
	enum source_kind source;
	const struct figure *figures; /* ended by F_FIELDS */
	bool in_dir;                  /* it is one of the reference's */
	bool is_summary;
};

struct plan {
	const struct kind_of_table *kind;
	struct column columns[F_FIELDS + 1];
	enum field fields[F_FIELDS + 1];
	size_t n;
};

/* rows.c: all rows of a table, and prints it. */
void rows_print(
    struct table_dest *dest, const struct kernels *k, const struct plan *p);
/* histogram.c */
void histogram_print(
    struct table_dest *dest, const struct kernels *k, const struct plan *p);

bool is_short(const struct kernels *k, const struct kernel *one);

#endif
