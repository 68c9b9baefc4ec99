/* SPDX-License-Identifier: MIT */
/* hlo-shape: the arrays of a shape in HLO's notation: "bf16[16,32]{1,0}", or
 * those of a tuple. */
#ifndef TL_TRACE_HLO_SHAPE_H
#define TL_TRACE_HLO_SHAPE_H

#include "base/base.h"

#define HLO_DIMS_MAX 64
/* Larger than any count. */
#define HLO_UNKNOWN INT64_MIN

struct hlo_array {
	struct str type;
	int64_t dims[HLO_DIMS_MAX];
	int64_t order[HLO_DIMS_MAX]; /* dimensions, fastest first */
	size_t ndims, norder;        /* norder 0: as in dims, last fastest */
	int64_t nelems;
	int64_t bytes; /* 0: of a type that holds none, such as a token */
};

/* Takes the next array off the text; false: none left. */
bool hlo_next_array(struct str *shape, struct hlo_array *a) USE_RESULT;

#endif
