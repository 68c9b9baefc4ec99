/* SPDX-License-Identifier: MIT */
/*
 * slow: latencies of a series that are slower than usual, in episodes or
 * scattered. Usual is the median of the logarithms; their scatter is that of
 * the faster half, which slow ones do not widen.
 */
#ifndef TL_COLLECTIVE_SLOW_H
#define TL_COLLECTIVE_SLOW_H

#include "base/base.h"

#define SLOW_LEAST 8 /* fewer are no series */

/* An episode of slow ones; or all outside of episodes: scattered. */
struct slow_run {
	size_t first, last, n; /* indices in the series; number of slow ones */
	double ns, excess_ns;  /* sum, and excess over the usual */
	bool is_scattered;
};

struct slowness {
	double usual_ns, total_ns;
	VEC(struct slow_run) runs; /* episodes in order, then scattered ones */
	VEC(uint32_t) run_of;      /* of each latency: run + 1, or 0 */
};

/* Logarithm of the usual latency. */
double slow_usual(const int64_t *ns, size_t n);
/*
 * like_ns: usual latency of others that do the same, or NAN; used for a series
 * of which most are slow, and some are not.
 */
void slow_find(struct slowness *s, const int64_t *ns, size_t n, double like_ns);
void slow_free(struct slowness *s);

#endif
