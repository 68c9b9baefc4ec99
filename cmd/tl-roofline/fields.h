/* SPDX-License-Identifier: MIT */
/* Columns: each an entry of roof_columns[], most of them without any code. */
#ifndef TL_ROOFLINE_FIELDS_H
#define TL_ROOFLINE_FIELDS_H

#include "cmd/tl-roofline/roof.h"

/* Numbers of a call; sums are kept of those of ns alone. */
enum { M_BUSY, M_HOST, M_TBS, M_TFLOPS, M_PCT, M_SIM_PCT, M_OVER, M_COUNT };
/* A further sum of a group: of those that differ in the overlap only. */
#define SUM_ALL 3

enum field {
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
	F_PARAMS_KEY, /* of sheets, which have a column for each of them */
	F_EX_UID,
	F_COUNT,
	F_HOST_SUM,
	SINK_STATS(F_HOST),
	F_GFLOPS,
	F_MIB,
	F_INTENSITY,
	F_SPEC,
	F_BOUND,
	SINK_STATS(F_TBS),
	SINK_STATS(F_TFLOPS),
	F_KERNEL_SUM,
	SINK_STATS(F_KERNEL),
	F_DIFF_RATIO,
	F_DIFF,
	F_DIFF_COUNT,
	F_DIFF_IDS,
	F_DIFF_NAMES,
	F_DIFF_BEFORE,
	F_DIFF_AFTER,
	F_SIM,
	F_SIM_PCT,
	F_ROOF,
	F_ROOF_US,
	SINK_STATS(F_PCT),
	F_LOST,
	F_DETAILS,
	F_TRUNC,
	F_OVERLAP,
	F_OVERLAP_TRUNC,
	SINK_STATS(F_OVER),
	F_PARAMS,
	F_HAS_MODEL,
	F_REASON,
	F_ENTRY,
	F_STACK,
	F_SHARE,
	F_CUMULATIVE,
};

#endif
