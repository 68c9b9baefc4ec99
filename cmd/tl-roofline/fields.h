/* SPDX-License-Identifier: MIT */
/* Columns: entries of roof_columns[], most of them without code. */
#ifndef TL_ROOFLINE_FIELDS_H
#define TL_ROOFLINE_FIELDS_H

#include "cmd/tl-roofline/roof.h"

/* Measures of a call; only those in ns have sums. */
enum { M_BUSY, M_HOST, M_TBS, M_TFLOPS, M_PCT, M_OVER, M_COUNT };
/* Tables of calls by phase and by step. */
#define PHASES_NAME "roofline_by_phase"
#define STEPS_NAME "roofline_by_step"
/* A further sum, over groups that differ only in what overlaps. */
#define SUM_ALL 3

/* Columns that depend on options, and those of overlap tables. */
enum {
	ONLY_OVERLAP = 1,
	ONLY_DIFF,
	ONLY_NUM_KERNELS,
	ONLY_RECOMPUTE,
	ONLY_STACK,
};

/* Cells computed in roof_cell(). */
enum {
	C_HOST_SUM,
	C_LOST,
	C_REASON,
	C_GFLOPS, /* from the model */
	C_MIB,
	C_INTENSITY,
	C_SPEC,
	C_BOUND,
	C_ROOF,
	C_ROOF_TFLOPS, /* from the op's compute spec */
	C_ROOF_TBS,
	C_ROOF_US,
	C_ABOVE,
	C_PARAMS,
	C_MODELLED, /* first one of a phase */
	C_COMPUTE,
	C_MEMORY,
	C_REACHED,
	C_WALL, /* first one of a window, to C_MFU_REASON */
	C_MODEL_FLOP,
	C_HARDWARE_FLOP,
	C_PEAK,
	C_MFU,
	C_HFU,
	C_UNMODELLED,
	C_TOKENS_S,
	C_MFU_REASON,
	C_DIFF_RATIO, /* first one of --diff */
	C_DIFF,
	C_DIFF_COUNT,
	C_DIFF_IDS,
	C_DIFF_NAMES,
	C_DIFF_BEFORE,
	C_DIFF_AFTER,
};

#endif
