/* SPDX-License-Identifier: MIT */
/* Statistics of values. */
#include "cmd/tl-collective/collective.h"

#include <math.h>

#include "trace/stat.h"

void
value_add(struct values *to, double v)
{
	if (v - v == 0)
		vec_push(to, v);
}

double
values_stat(struct values *of, double stat)
{
	struct stat_real s;
	double at = stat * ((double)of->n - 1);
	size_t i;

	stat_of_reals(&s, of->v, of->n);
	if (of->n == 0 || stat == STAT_MEAN)
		return s.mean;
	if (stat == STAT_STD)
		return s.std;
	i = (size_t)at;
	return i + 1 >= of->n
	    ? of->v[of->n - 1]
	    : of->v[i] + (of->v[i + 1] - of->v[i]) * (at - (double)i);
}

/* Moves the kth smallest to its place (Hoare's selection). */
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

/* For an even number the mean of the middle two, rounded down. */
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
