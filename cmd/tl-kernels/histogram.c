/* SPDX-License-Identifier: MIT */
/*
 * How long short kernels are: bins of equal width from the shortest to the
 * longest of them, half-open but for the last. When all are as long, the range
 * is half a microsecond to either side.
 */
#include <stdlib.h>

#include "cmd/tl-kernels/plan.h"

#define HALF_NS 500

bool
is_short(const struct kernels *k, const struct kernel *one)
{
	return one->dur_ns < k->set->short_ns;
}

/* What is counted: all kernels of a source. */
struct bins {
	uint32_t recording;
	int64_t low, high;
	int64_t *counts;
	bool any;
};

static void
find_range(struct bins *b, const struct kernels *k)
{
	b->low = INT64_MAX;
	b->high = INT64_MIN;
	for (size_t i = 0; i < k->list.n; i++) {
		const struct kernel *one = &k->list.v[i];

		if (one->recording != b->recording || !is_short(k, one))
			continue;
		b->any = true;
		b->low = one->dur_ns < b->low ? one->dur_ns : b->low;
		b->high = one->dur_ns > b->high ? one->dur_ns : b->high;
	}
	if (b->any && b->low == b->high) {
		b->low -= HALF_NS;
		b->high += HALF_NS;
	}
}

static size_t
bin_of(const struct bins *b, int64_t dur_ns, int64_t nbins)
{
	__extension__ __int128 at =
	    (__int128)(dur_ns - b->low) * nbins / (b->high - b->low);

	return at >= nbins ? (size_t)nbins - 1 : (size_t)at;
}

static void
put_bins(struct table *t, const struct plan *p, const struct kernels *k,
    const struct bins *b)
{
	int64_t n = k->set->nbins;
	double width = (double)(b->high - b->low) / (double)n;

	for (int64_t i = 0; i < n; i++) {
		struct cell *row = table_row(t);
		const struct sink_source *r =
		    &k->recordings.list.v[b->recording];

		for (size_t c = 0; c < p->n; c++)
			switch (p->fields[c]) {
			case F_RANK: row[c] = cell_int(r->rank); break;
			case F_SRC: row[c] = cell_int(r->no); break;
			case F_BIN_START:
				row[c] = cell_real(
				    (double)b->low + (double)i * width);
				break;
			case F_BIN_END:
				row[c] = cell_real(i + 1 == n ? (double)b->high
							      : (double)b->low +
					    (double)(i + 1) * width);
				break;
			default: row[c] = cell_int(b->counts[i]); break;
			}
	}
}

void
histogram_print(
    struct table_dest *dest, const struct kernels *k, const struct plan *p)
{
	struct table *t = table_create(p->kind->name, p->columns, p->n);

	for (uint32_t r = 0; r < k->recordings.list.n; r++) {
		struct bins b = { .recording = r };

		find_range(&b, k);
		if (!b.any)
			continue;
		b.counts = xcalloc((size_t)k->set->nbins, sizeof *b.counts);
		for (size_t i = 0; i < k->list.n; i++) {
			const struct kernel *one = &k->list.v[i];

			if (one->recording == r && is_short(k, one))
				b.counts[bin_of(
				    &b, one->dur_ns, k->set->nbins)]++;
		}
		put_bins(t, p, k, &b);
		free(b.counts);
	}
	table_print_summary(t, dest);
	table_destroy(t);
}
