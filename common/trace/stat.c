/* SPDX-License-Identifier: MIT */
/* What many numbers come to; trace.h has the method. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/stat.h"

/* ---- order ---- */

#define SORT_RUN 8

static void
insert_run(int64_t *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		int64_t x = v[i];
		size_t k = i;

		for (; k > 0 && x < v[k - 1]; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

/* na numbers in order, and nb behind them, to out. */
static void
merge(const int64_t *a, size_t na, size_t nb, int64_t *out)
{
	const int64_t *b = a + na, *a_end = b, *b_end = b + nb;

	while (a < a_end && b < b_end) {
		bool is_b = *b < *a;

		*out++ = is_b ? *b : *a;
		b += is_b;
		a += !is_b;
	}
	memcpy(out, a, (size_t)(a_end - a) * sizeof *a);
	memcpy(out + (a_end - a), b, (size_t)(b_end - b) * sizeof *b);
}

/* Runs of twice the length from pairs of runs. */
static void
merge_runs(const int64_t *from, size_t n, size_t run, int64_t *to)
{
	for (size_t i = 0; i < n; i += 2 * run) {
		size_t na = n - i < run ? n - i : run, rest = n - i - na;

		merge(from + i, na, rest < run ? rest : run, to + i);
	}
}

/*
 * Most sets are in order already, or small. The others take half the work of
 * qsort(), which calls for each comparison.
 */
static void
sort(int64_t *v, size_t n)
{
	int64_t *room, *from = v, *to, *swap;
	size_t i = 1;

	while (i < n && v[i - 1] <= v[i])
		i++;
	if (i >= n)
		return;
	for (i = 0; i < n; i += SORT_RUN)
		insert_run(v + i, n - i < SORT_RUN ? n - i : SORT_RUN);
	if (n <= SORT_RUN)
		return;
	to = room = xmalloc(n * sizeof *room);
	for (size_t run = SORT_RUN; run < n; run *= 2) {
		merge_runs(from, n, run, to);
		swap = from;
		from = to;
		to = swap;
	}
	if (from != v)
		memcpy(v, from, n * sizeof *v);
	free(room);
}

/* A double's bits as an integer of the same order, and back. */
static int64_t
turn(int64_t bits)
{
	return bits < 0 ? bits ^ INT64_MAX : bits;
}

/* None is NAN. */
static void
sort_reals(double *v, size_t n)
{
	int64_t *keys, key;

	if (n < 2)
		return;
	keys = xmalloc(n * sizeof *keys);
	for (size_t i = 0; i < n; i++) {
		memcpy(&key, &v[i], sizeof key);
		keys[i] = turn(key);
	}
	sort(keys, n);
	for (size_t i = 0; i < n; i++) {
		key = turn(keys[i]);
		memcpy(&v[i], &key, sizeof key);
	}
	free(keys);
}

/* ---- figures ---- */

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

	*s = (struct stats){ n, 0, 0, 0, NAN, NAN, NAN, NAN };
	if (n == 0)
		return;
	sort(v, n);
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

	/* Unless it is near a half, the product's error decides nothing. */
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
