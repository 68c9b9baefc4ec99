/* SPDX-License-Identifier: MIT */
/*
 * overrun: GPU events by GPU stream. A stream runs them one at a time, so an
 * event that ends after the next one's end is too long.
 */
#ifndef TL_TRACE_OVERRUN_H
#define TL_TRACE_OVERRUN_H

#include "trace/host.h"

/* Longer durations are errors, and so is such a gap before all others. */
#define IMPOSSIBLE_NS (INT64_C(86400) * 1000000000)
#define IMPOSSIBLE_HOLE_NS (INT64_C(3600) * 1000000000)

/* How far apart equal times may be if all times have this divisor: ends and
 * starts are rounded. */
int64_t overrun_tolerance(uint64_t divisor);
/* By GPU stream, then by time. */
void overrun_order(const struct host_gpu **v, size_t n);
/* How long a and b, the next one, overlap; 0 or less: not at all. */
int64_t overrun_shared(const struct host_gpu *a, const struct host_gpu *b);
/* Whether a ends after b's end. */
bool overrun_is(
    const struct host_gpu *a, const struct host_gpu *b, int64_t tolerance);

#endif
