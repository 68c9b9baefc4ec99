/* SPDX-License-Identifier: MIT */
/*
 * Where step times change for good.
 *
 * The medians of up to 8 steps in front and 8 from a step on must differ by
 * more than 5 % of the median step and 4.5 times the median difference of
 * successive steps. Of neighbours that do, the one counts at which the
 * distances from the two medians are least, against those from one median of
 * both.
 */
#include "cmd/tl-steps/steps.h"

#include <math.h>

#define WINDOW 8 /* steps on either side */
#define LEAST 4
#define SHARE 0.05
#define DEVIATIONS 4.5

/* Sum of the distances from the median; sets the median. */
static double
distances(const int64_t *v, size_t n, double *median)
{
	int64_t room[2 * WINDOW];
	struct stats stats;
	double sum = 0;

	memcpy(room, v, n * sizeof *v);
	stat_of(&stats, room, n);
	*median = stats.median;
	for (size_t i = 0; i < n; i++)
		sum += fabs((double)v[i] - stats.median);
	return sum;
}

static double
least_change(const int64_t *v, size_t n, double median)
{
	VEC(int64_t) steps = { 0 };
	struct stats stats;

	for (size_t i = 1; i < n; i++)
		vec_push(&steps,
		    v[i] > v[i - 1] ? v[i] - v[i - 1] : v[i - 1] - v[i]);
	stat_of(&stats, steps.v, steps.n);
	vec_free(&steps);
	return fmax(SHARE * median, DEVIATIONS * stats.median);
}

/* How much better two medians fit than one at this step; 0: no change. */
static double
gain_at(const int64_t *v, size_t n, size_t at, double least)
{
	size_t from = at > WINDOW ? at - WINDOW : 0;
	size_t to = n - at > WINDOW ? at + WINDOW : n;
	double before, behind, all;
	double split = distances(v + from, at - from, &before) +
	    distances(v + at, to - at, &behind);
	double whole = distances(v + from, to - from, &all);

	return fabs(behind - before) > least ? whole - split : 0;
}

size_t
changes_find(uint32_t *at, const int64_t *v, size_t n, double median)
{
	VEC(double) gains = { 0 };
	double least;
	size_t nfound = 0;

	if (n < 2 * LEAST)
		return 0;
	least = least_change(v, n, median);
	for (size_t i = 0; i < n; i++)
		vec_push(&gains,
		    i < LEAST || n - i < LEAST ? 0 : gain_at(v, n, i, least));
	for (size_t i = LEAST; i + LEAST <= n; i++) {
		bool is_most = gains.v[i] > 0;

		/* the first of equals */
		for (size_t k = i > WINDOW ? i - WINDOW : 0;
		     is_most && k < n && k <= i + WINDOW; k++)
			is_most = k < i ? gains.v[k] < gains.v[i]
					: gains.v[k] <= gains.v[i];
		if (is_most)
			at[nfound++] = (uint32_t)i;
	}
	vec_free(&gains);
	return nfound;
}
