/* SPDX-License-Identifier: MIT */
#include "trace/step.h"

#include <stdlib.h>

static int
by_start(const void *x, const void *y)
{
	const struct step_span *a = x, *b = y;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

void
steps_sort(struct step_span *v, size_t n)
{
	if (n > 1)
		qsort(v, n, sizeof *v, by_start);
	for (size_t i = 0; i < n; i++)
		v[i].reach_ns = i > 0 && v[i - 1].reach_ns > v[i].end_ns
		    ? v[i - 1].reach_ns
		    : v[i].end_ns;
}

int64_t
steps_at(const struct step_span *v, size_t n, int64_t ts_ns)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (v[mid].start_ns <= ts_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo > 0 && v[lo - 1].reach_ns > ts_ns; lo--)
		if (ts_ns < v[lo - 1].end_ns)
			return v[lo - 1].number;
	return WALK_NO_STEP;
}
