/* SPDX-License-Identifier: MIT */
/* Statistics; stat.h has the method. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/stat.h"

/* Bits of doubles to integers of the same order, and back. */
static void
turn(int64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] < 0)
			v[i] ^= INT64_MAX;
}

/* Without values: NAN. */
static void
sort_reals(double *v, size_t n)
{
	int64_t *keys = xmalloc(n * sizeof *keys);

	memcpy(keys, v, n * sizeof *keys);
	turn(keys, n);
	sort_i64(keys, n);
	turn(keys, n);
	memcpy(v, keys, n * sizeof *keys);
	free(keys);
}

double
stat_quantile(const int64_t *v, size_t n, double q)
{
	double at, part;
	size_t i;

	if (n == 0)
		return NAN;
	at = (double)(n - 1) * q;
	i = (size_t)at;
	if (i + 1 >= n)
		return (double)v[n - 1];
	part = at - (double)i;
	return (double)v[i] + part * ((double)v[i + 1] - (double)v[i]);
}

void
stat_of(struct stats *s, int64_t *v, size_t n)
{
	long double mean, squares = 0;
	size_t mid = n / 2;

	*s = (struct stats){ n, 0, 0, 0, NAN, NAN, NAN, NAN, NAN, NAN };
	if (n == 0)
		return;
	sort_i64(v, n);
	for (size_t i = 0; i < n; i++)
		stat_add(&s->sum, v[i]);
	s->min = v[0];
	s->max = v[n - 1];
	mean = (long double)s->sum / (long double)n;
	for (size_t i = 0; i < n; i++) {
		long double d = (long double)v[i] - mean;

		squares += d * d;
	}
	s->mean = (double)mean;
	s->median = n % 2 == 1
	    ? (double)v[mid]
	    : (double)(((long double)v[mid - 1] + (long double)v[mid]) / 2);
	s->p95 = stat_quantile(v, n, 0.95);
	s->p99 = stat_quantile(v, n, 0.99);
	s->std_all = sqrt((double)(squares / (long double)n));
	if (n > 1)
		s->std = sqrt((double)(squares / (long double)(n - 1)));
}

void
stat_of_reals(struct stat_real *s, double *v, size_t n)
{
	long double sum = 0, mean, squares = 0;
	size_t m = 0;

	*s = (struct stat_real){ 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
	for (size_t i = 0; i < n; i++)
		if (!isnan(v[i]))
			v[m++] = v[i];
	if (m == 0)
		return;
	s->n = m;
	sort_reals(v, m);
	for (size_t i = 0; i < m; i++)
		sum += (long double)v[i];
	mean = sum / (long double)m;
	for (size_t i = 0; i < m; i++) {
		long double d = (long double)v[i] - mean;

		squares += d * d;
	}
	s->sum = (double)sum;
	s->min = v[0];
	s->max = v[m - 1];
	s->mean = (double)mean;
	s->median = m % 2 == 1 ? v[m / 2] : (v[m / 2 - 1] + v[m / 2]) / 2;
	s->std_all = sqrt((double)(squares / (long double)m));
	if (m > 1)
		s->std = sqrt((double)(squares / (long double)(m - 1)));
}

double
stat_round2(double x)
{
	char text[400];
	double v = x, hundreds = x * 100, rest;
	int n;

	/* Unless it is near a half, the product's error does not matter. */
	if (!signbit(hundreds) && hundreds < 1e9) {
		rest = hundreds - floor(hundreds) - 0.5;
		if (fabs(rest) > 1e-6)
			return floor(hundreds + 0.5) / 100;
	}
	n = snprintf(text, sizeof text, "%.2f", x);
	if (n > 0 && !num_double((struct str){ text, (size_t)n }, &v))
		v = x;
	return v;
}
