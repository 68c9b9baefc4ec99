/* SPDX-License-Identifier: MIT */
/* Statistics of values: --agg-metrics. */
#include "cmd/tl-collective/collective.h"

#include <math.h>
#include <stdlib.h>

static const struct agg known[] = {
	{ AGG_MEAN, 0, "mean" },
	{ AGG_STD, 0, "std" },
	{ AGG_QUANTILE, 0, "min" },
	{ AGG_QUANTILE, 0.5, "median" },
	{ AGG_QUANTILE, 1, "max" },
};

static bool
agg_of_word(struct str word, struct agg *a)
{
	double p;

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (str_eq(word, str_of(known[i].word))) {
			*a = known[i];
			return true;
		}
	if (word.len < 2 || word.p[0] != 'p' ||
	    !num_double((struct str){ word.p + 1, word.len - 1 }, &p) ||
	    p < 0 || p > 100)
		return false;
	*a = (struct agg){ AGG_QUANTILE, p / 100,
		arena_str(arena_create(), word).p };
	return true;
}

void
agg_parse(const struct optparse *op, struct settings *set)
{
	const char *p = op->arg;

	set->aggs.n = 0;
	for (;;) {
		size_t n = strcspn(p, ", ");
		struct agg a;

		if (!agg_of_word((struct str){ p, n }, &a))
			die_usage("option '%s': '%.*s' is none of mean, std, "
				  "min, median, max, pNN",
			    op->name, (int)n, p);
		vec_push(&set->aggs, a);
		if (p[n] == '\0')
			return;
		p += n + 1;
	}
}

static int
by_double(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

void
sort_doubles(double *v, size_t n)
{
	if (n > 1)
		qsort(v, n, sizeof *v, by_double);
}

double
quantile_sorted(const double *v, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;

	if (i + 1 >= n)
		return v[n - 1];
	return v[i] + (v[i + 1] - v[i]) * (at - (double)i);
}

static double
mean_of(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return sum / (double)n;
}

static double
deviation(const double *v, size_t n)
{
	double mean = mean_of(v, n), sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	return n > 1 ? sqrt(sum / (double)(n - 1)) : NAN;
}

double
agg_of(const struct agg *a, const double *v, size_t n)
{
	double *sorted, result;

	if (n == 0)
		return NAN;
	if (a->kind != AGG_QUANTILE)
		return a->kind == AGG_MEAN ? mean_of(v, n) : deviation(v, n);
	sorted = xmalloc(n * sizeof *sorted);
	memcpy(sorted, v, n * sizeof *sorted);
	sort_doubles(sorted, n);
	result = quantile_sorted(sorted, n, a->q);
	free(sorted);
	return result;
}

/* The kth smallest comes to its place (Hoare's selection). */
static int64_t
select_i64(int64_t *v, size_t n, size_t k)
{
	size_t lo = 0, hi = n - 1;

	while (lo < hi) {
		int64_t pivot = v[lo + (hi - lo) / 2];
		size_t i = lo, j = hi;

		for (;;) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			int64_t swap = v[i];

			v[i++] = v[j];
			v[j--] = swap;
		}
		if (v[j] > pivot)
			j--;
		if (k <= j)
			hi = j;
		else
			lo = j + 1;
	}
	return v[k];
}

/* Of an even number the mean of the two in the middle, towards the lower. */
int64_t
median_i64(int64_t *v, size_t n)
{
	int64_t high = select_i64(v, n, n / 2), low = INT64_MIN;

	if (n % 2 == 1)
		return high;
	for (size_t i = 0; i < n / 2; i++)
		if (v[i] > low)
			low = v[i];
	return low + (int64_t)(((uint64_t)high - (uint64_t)low) / 2);
}
