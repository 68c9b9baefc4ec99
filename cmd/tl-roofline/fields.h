/* SPDX-License-Identifier: MIT */
/* Columns: each an entry of roof_columns[], most of them without any code. */
#ifndef TL_ROOFLINE_FIELDS_H
#define TL_ROOFLINE_FIELDS_H

#include "cmd/tl-roofline/roof.h"

/* Numbers of a call; sums are kept of those of ns alone. */
enum { M_BUSY, M_HOST, M_TBS, M_TFLOPS, M_PCT, M_OVER, M_COUNT };
/* The tables of calls by the phase of serving, and by step. */
#define PHASES_NAME "roofline_by_phase"
#define STEPS_NAME "roofline_by_step"
/* A further sum of a group: of those that differ in the overlap only. */
#define SUM_ALL 3

/* Columns of options, and of tables with overlaps. */
enum {
	ONLY_OVERLAP = 1,
	ONLY_DIFF,
	ONLY_NUM_KERNELS,
	ONLY_RECOMPUTE,
	ONLY_STACK,
};

/* Cells that are made in roof_cell(). */
enum {
	C_HOST_SUM,
	C_LOST,
	C_REASON,
	C_GFLOPS, /* of the model */
	C_MIB,
	C_INTENSITY,
	C_SPEC,
	C_BOUND,
	C_ROOF,
	C_ROOF_TFLOPS, /* of the op's compute spec */
	C_ROOF_TBS,
	C_ROOF_US,
	C_ABOVE,
	C_PARAMS,
	C_MODELLED, /* of a phase */
	C_COMPUTE,
	C_MEMORY,
	C_REACHED,
	C_WALL, /* to C_MFU_REASON: of its windows */
	C_MODEL_FLOP,
	C_HARDWARE_FLOP,
	C_PEAK,
	C_MFU,
	C_HFU,
	C_UNMODELLED,
	C_TOKENS_S,
	C_MFU_REASON,
	C_DIFF_RATIO, /* of --diff, to the last */
	C_DIFF,
	C_DIFF_COUNT,
	C_DIFF_IDS,
	C_DIFF_NAMES,
	C_DIFF_BEFORE,
	C_DIFF_AFTER,
};

#endif
