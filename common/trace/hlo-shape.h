/* SPDX-License-Identifier: MIT */
/* hlo-shape: the arrays of a shape as HLO writes it: "bf16[16,32]{1,0}", or
 * those of a tuple. */
#ifndef TL_TRACE_HLO_SHAPE_H
#define TL_TRACE_HLO_SHAPE_H

#include "base/base.h"

#define HLO_DIMS_MAX 64
/* More than can be counted. */
#define HLO_UNKNOWN INT64_MIN

struct hlo_array {
	struct str type;
	int64_t dims[HLO_DIMS_MAX];
	int64_t order[HLO_DIMS_MAX]; /* dimensions, the fastest first */
	size_t ndims, norder;        /* norder 0: as dims, the last first */
	int64_t nelems;
	int64_t bytes; /* 0: of a type that holds none, such as a token */
};

/* Takes the next array off the text; false: there is none. */
bool hlo_next_array(struct str *shape, struct hlo_array *a) USE_RESULT;

#endif
