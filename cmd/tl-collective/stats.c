/* SPDX-License-Identifier: MIT */
/* Statistics of values: --agg-metrics. */
#include "cmd/tl-collective/collective.h"

#include <math.h>
#include <stdlib.h>

static const char *const words[] = {
	[AGG_MEAN] = "mean",
	[AGG_MEDIAN] = "median",
	[AGG_STD] = "std",
	[AGG_VAR] = "var",
	[AGG_MIN] = "min",
	[AGG_MAX] = "max",
	[AGG_SUM] = "sum",
	[AGG_COUNT] = "count",
	[AGG_FIRST] = "first",
	[AGG_LAST] = "last",
	[AGG_NUNIQUE] = "nunique",
	[AGG_PROD] = "prod",
};

static bool
agg_of_word(struct str word, struct agg *a)
{
	double p;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_eq(word, str_of(words[i]))) {
			*a = (struct agg){ (enum agg_kind)i, 0, words[i] };
			return true;
		}
	if (word.len > 1 && word.p[0] == 'p' &&
	    num_double((struct str){ word.p + 1, word.len - 1 }, &p) &&
	    p >= 0 && p <= 100) {
		char *text = xmalloc(word.len + 1);

		memcpy(text, word.p, word.len);
		text[word.len] = '\0';
		*a = (struct agg){ AGG_QUANTILE, p / 100, text };
		return true;
	}
	return false;
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
			die_usage("option '%s': '%.*s' is none of mean, "
				  "median, std, var, min, max, sum, count, "
				  "first, last, nunique, prod, pNN",
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
of_sorted(const struct agg *a, const double *v, size_t n)
{
	double *copy = xmalloc(n * sizeof *copy), result;
	size_t unique = 1;

	memcpy(copy, v, n * sizeof *copy);
	sort_doubles(copy, n);
	for (size_t i = 1; i < n; i++)
		unique += copy[i] != copy[i - 1];
	switch (a->kind) {
	case AGG_NUNIQUE: result = (double)unique; break;
	case AGG_MEDIAN:
		result =
		    n % 2 ? copy[n / 2] : (copy[n / 2 - 1] + copy[n / 2]) / 2;
		break;
	default: result = quantile_sorted(copy, n, a->q); break;
	}
	free(copy);
	return result;
}

static double
variance(const double *v, size_t n)
{
	double mean = 0, sum = 0;

	if (n < 2)
		return NAN;
	for (size_t i = 0; i < n; i++)
		mean += v[i];
	mean /= (double)n;
	for (size_t i = 0; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	return sum / (double)(n - 1);
}

double
agg_of(const struct agg *a, const double *v, size_t n)
{
	double r;

	if (a->kind == AGG_COUNT)
		return (double)n;
	if (n == 0)
		return a->kind == AGG_SUM || a->kind == AGG_NUNIQUE ? 0
		    : a->kind == AGG_PROD                           ? 1
								    : NAN;
	switch (a->kind) {
	case AGG_STD: return sqrt(variance(v, n));
	case AGG_VAR: return variance(v, n);
	case AGG_FIRST: return v[0];
	case AGG_LAST: return v[n - 1];
	case AGG_MEDIAN:
	case AGG_NUNIQUE:
	case AGG_QUANTILE: return of_sorted(a, v, n);
	default: break;
	}
	r = a->kind == AGG_SUM || a->kind == AGG_MEAN ? 0
	    : a->kind == AGG_PROD                     ? 1
						      : v[0];
	for (size_t i = 0; i < n; i++)
		switch (a->kind) {
		case AGG_MIN: r = v[i] < r ? v[i] : r; break;
		case AGG_MAX: r = v[i] > r ? v[i] : r; break;
		case AGG_PROD: r *= v[i]; break;
		default: r += v[i]; break;
		}
	return a->kind == AGG_MEAN ? r / (double)n : r;
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
