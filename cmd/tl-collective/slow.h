/* SPDX-License-Identifier: MIT */
/*
 * slow: which of a series of latencies are slower than usual, in episodes or
 * scattered over all of it. Usual is the median of their logarithms, and how
 * much they scatter is that of the faster half: slow ones don't widen it.
 */
#ifndef TL_COLLECTIVE_SLOW_H
#define TL_COLLECTIVE_SLOW_H

#include "base/base.h"

#define SLOW_LEAST 8 /* fewer are no series */

/* Slow ones close together; or all that are in none such: scattered. */
struct slow_run {
	size_t first, last, n; /* places in the series; how many are slow */
	double ns, excess_ns;  /* their sum, and that over the usual */
	bool is_scattered;
};

struct slowness {
	double usual_ns, total_ns;
	VEC(struct slow_run) runs; /* episodes in order, then scattered ones */
	VEC(uint32_t) run_of;      /* of each latency its run + 1, or 0 */
};

/* The logarithm of the usual latency. */
double slow_usual(const int64_t *ns, size_t n);
/*
 * like_ns: what is usual of others that do the same, or NAN. It stands for a
 * series of which most are slow, and some are not.
 */
void slow_find(struct slowness *s, const int64_t *ns, size_t n, double like_ns);
void slow_free(struct slowness *s);

#endif
