/* SPDX-License-Identifier: MIT */
/* Statistics of values: --agg-metrics. */
#include "cmd/tl-collective/collective.h"

#include <math.h>

#include "trace/stat.h"

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
	if (!str_starts(word, STR("p")) ||
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
	const char *list = op->arg;
	struct str word;

	set->aggs.n = 0;
	while (str_next(&list, ',', &word))
		if (!agg_of_word(word, vec_add(&set->aggs)))
			die_usage("option '%s': '%.*s' is none of mean, std, "
				  "min, median, max, pNN",
			    op->name, (int)word.len, word.p);
}

double
agg_of(const struct agg *a, struct values *of)
{
	struct stat_real s;
	double at = a->q * ((double)of->n - 1);
	size_t i;

	stat_of_reals(&s, of->v, of->n);
	if (a->kind != AGG_QUANTILE || of->n == 0)
		return a->kind == AGG_STD ? s.std : s.mean;
	i = (size_t)at;
	return i + 1 >= of->n
	    ? of->v[of->n - 1]
	    : of->v[i] + (of->v[i + 1] - of->v[i]) * (at - (double)i);
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
