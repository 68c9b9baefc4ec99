/* SPDX-License-Identifier: MIT */
/* What a table consists of: between tables.c and rows.c. */
#ifndef TL_ROOFLINE_PLAN_H
#define TL_ROOFLINE_PLAN_H

#include "cmd/tl-roofline/roof.h"

enum field {
	F_RANK,
	F_SRC,
	F_NAME,
	F_OVERLAP_NAMES,
	F_CATEGORY,
	F_PROCESS,
	F_LABEL,
	F_THREAD,
	F_DIMS,
	F_TYPES,
	F_STRIDES,
	F_CONCRETE,
	F_NUM_KERNELS,
	F_RECOMPUTE,
	F_EX_UID,
	F_COUNT,
	F_HOST_SUM,
	F_HOST_MEAN,
	F_HOST_STD,
	F_HOST_MEDIAN,
	F_HOST_MIN,
	F_HOST_MAX,
	F_GFLOPS,
	F_MIB,
	F_INTENSITY,
	F_SPEC,
	F_BOUND,
	F_TBS_MEAN,
	F_TBS_MEDIAN,
	F_TBS_STD,
	F_TBS_MIN,
	F_TBS_MAX,
	F_TFLOPS_MEAN,
	F_TFLOPS_MEDIAN,
	F_TFLOPS_STD,
	F_TFLOPS_MIN,
	F_TFLOPS_MAX,
	F_KERNEL_MEAN,
	F_KERNEL_MEDIAN,
	F_KERNEL_STD,
	F_KERNEL_MIN,
	F_KERNEL_MAX,
	F_KERNEL_SUM,
	F_DIFF_RATIO,
	F_DIFF,
	F_DIFF_COUNT,
	F_DIFF_IDS,
	F_DIFF_NAMES,
	F_DIFF_BEFORE,
	F_DIFF_AFTER,
	F_SIM,
	F_SIM_TFLOPS,
	F_SIM_TBS_MEAN,
	F_SIM_TBS_MEDIAN,
	F_SIM_TBS_STD,
	F_SIM_TBS_MIN,
	F_SIM_TBS_MAX,
	F_SIM_PCT_MEAN,
	F_SIM_PCT_MEDIAN,
	F_SIM_PCT_STD,
	F_SIM_PCT_MIN,
	F_SIM_PCT_MAX,
	F_ROOF,
	F_ROOF_US,
	F_PCT_MEAN,
	F_PCT_MEDIAN,
	F_PCT_STD,
	F_PCT_MIN,
	F_PCT_MAX,
	F_LOST,
	F_DETAILS,
	F_TRUNC,
	F_OVERLAP,
	F_OVERLAP_TRUNC,
	F_OVER_MEAN,
	F_OVER_MEDIAN,
	F_OVER_STD,
	F_OVER_MIN,
	F_OVER_MAX,
	F_PARAMS,
	F_HAS_MODEL,
	F_REASON,
	F_ENTRY,
	F_STACK,
	F_SHARE,
	F_CUMULATIVE,
	F_PARAM, /* one of a sheet's */
	F_FIELDS
};

#define PLAN_MAX 512 /* columns; a sheet with more parameters loses them */

/* A table to be printed: its grouping and columns. */
struct plan {
	struct str name;
	struct grouping how;
	struct column columns[PLAN_MAX];
	enum field fields[PLAN_MAX];
	struct str params[PLAN_MAX]; /* the name of an F_PARAM */
	size_t n;
};

/* The rows of a table, and prints it. */
void rows_print(
    struct table_dest *dest, struct roof_state *g, const struct plan *p);

#endif
