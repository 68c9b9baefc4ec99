/* SPDX-License-Identifier: MIT */
/*
 * Host events of one thread in the order of a tree: a natural merge sort.
 * Profilers write a thread's events in a few ascending runs (ops, frames,
 * runtime calls), so two or three merges do; runs shorter than MIN_RUN are
 * made that long by insertion.
 */
#include "trace/store-inside.h"

#define MIN_RUN 16

static void
insert(const struct held *items, uint32_t *v, size_t sorted, size_t n)
{
	for (size_t i = sorted; i < n; i++) {
		uint32_t x = v[i];
		size_t k = i;

		for (; k > 0 && item_before(items, x, v[k - 1]); k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

/* The ends of the ascending runs of v. */
static void
find_runs(const struct held *items, uint32_t *v, size_t n, u32_vec *ends)
{
	size_t from = 0, i;

	while (from < n) {
		for (i = from + 1; i < n; i++)
			if (!item_before(items, v[i - 1], v[i]))
				break;
		if (i - from < MIN_RUN && i < n) {
			size_t most = n - from < MIN_RUN ? n - from : MIN_RUN;

			insert(items, v + from, i - from, most);
			i = from + most;
		}
		vec_push(ends, (uint32_t)i);
		from = i;
	}
}

static void
merge(const struct held *items, const uint32_t *a, size_t na, const uint32_t *b,
    size_t nb, uint32_t *out)
{
	const uint32_t *a_end = a + na, *b_end = b + nb;

	while (a < a_end && b < b_end)
		*out++ = item_before(items, *b, *a) ? *b++ : *a++;
	memcpy(out, a, (size_t)(a_end - a) * sizeof *a);
	memcpy(out + (a_end - a), b, (size_t)(b_end - b) * sizeof *b);
}

void
sort_items(
    const struct held *items, uint32_t *order, size_t n, u32_big *scratch)
{
	u32_vec ends = { 0 };
	uint32_t *from = order, *to, *swap;

	find_runs(items, order, n, &ends);
	if (ends.n <= 1) {
		vec_free(&ends);
		return;
	}
	big_reserve(scratch, n);
	if (scratch->n < n)
		scratch->n = n; /* for store_note_peak() */
	to = scratch->v;
	while (ends.n > 1) {
		size_t start = 0, kept = 0;

		for (size_t r = 0; r < ends.n; r += 2) {
			size_t mid = ends.v[r];
			size_t end = r + 1 < ends.n ? ends.v[r + 1] : mid;

			merge(items, from + start, mid - start, from + mid,
			    end - mid, to + start);
			ends.v[kept++] = (uint32_t)end;
			start = end;
		}
		ends.n = kept;
		swap = from;
		from = to;
		to = swap;
	}
	if (from != order)
		memcpy(order, from, n * sizeof *order);
	vec_free(&ends);
}
