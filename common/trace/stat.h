/* SPDX-License-Identifier: MIT */
/*
 * stat: statistics of many numbers.
 *
 * The method, for all programs: the sum of integers is exact (beyond int64 the
 * program ends). The mean is the sum divided once. The median is the middle
 * one, for an even count the mean of the middle two. A quantile q is at
 * (n - 1) q in order, linear between its neighbours (numpy's "linear").
 * Deviations are summed from the mean in long double. Undefined results are
 * NAN: all of none, the sample deviation (n - 1) of one.
 */
#ifndef TL_TRACE_STAT_H
#define TL_TRACE_STAT_H

#include "base/base.h"

struct stats {
	size_t n;
	int64_t sum, min, max;
	double mean, median, p95, p99;
	double std;     /* of a sample: n - 1 */
	double std_all; /* of all there are: n */
};

/* The same for doubles; skips NANs. */
struct stat_real {
	size_t n;
	double sum, min, max, mean, median, std, std_all;
};

/* Sorts v. */
void stat_of(struct stats *s, int64_t *v, size_t n);
void stat_of_reals(struct stat_real *s, double *v, size_t n);
/* v is sorted; 0 <= q <= 1. */
double stat_quantile(const int64_t *v, size_t n, double q);
/* To two decimals, half to even of the exact value, as Python's round(x, 2). */
double stat_round2(double x);

/* A sum of times; overflow ends the program. */
static inline void
stat_add(int64_t *sum, int64_t v)
{
	if (UNLIKELY(__builtin_add_overflow(*sum, v, sum)))
		die("times add up to more than 292 years");
}

#endif
