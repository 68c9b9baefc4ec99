/* SPDX-License-Identifier: MIT */
/*
 * overrun: GPU events in the order of their GPU streams. One runs them one
 * after the other, so an event that ends behind the end of the next one is too
 * long.
 */
#ifndef TL_TRACE_OVERRUN_H
#define TL_TRACE_OVERRUN_H

#include "trace/host.h"

/* Longer ones, and what is so long before all others, can't be. */
#define IMPOSSIBLE_NS (INT64_C(86400) * 1000000000)
#define IMPOSSIBLE_HOLE_NS (INT64_C(3600) * 1000000000)

/* How far two times may be apart that are the same, if all times have this
 * divisor: ends and starts are rounded. */
int64_t overrun_tolerance(uint64_t divisor);
/* By GPU stream, then by time. */
void overrun_order(const struct host_gpu **v, size_t n);
/* How long a and b, which is the next one, run at a time; not above 0: never.
 */
int64_t overrun_shared(const struct host_gpu *a, const struct host_gpu *b);
/* Whether a ends when b has ended already. */
bool overrun_is(
    const struct host_gpu *a, const struct host_gpu *b, int64_t tolerance);

#endif
