/* SPDX-License-Identifier: MIT */
/*
 * Durations of short kernels: bins of equal width from the shortest to the
 * longest, half-open but for the last; 0.5 us to either side if all are equal.
 */
#include <stdlib.h>

#include "cmd/tl-kernels/kernels.h"

#define HALF_NS 500
#define NCOLUMNS 3 /* start, end, count, after rank or source */

bool
is_short(const struct kernels *k, const struct kernel *one)
{
	return one->length == 0 && one->dur_ns < k->short_ns;
}

/* All kernels of a source. */
struct bins {
	uint32_t source;
	int64_t low, high;
	int64_t *counts;
	bool any;
};

static void
find_range(struct bins *b, const struct kernels *k)
{
	b->low = INT64_MAX;
	b->high = INT64_MIN;
	for (size_t i = 0; i < k->sink.records.n; i++) {
		const struct kernel *one = sink_record(&k->sink, i);

		if (one->rec.source != b->source || !is_short(k, one))
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

static struct cell
bin_cell(const struct bins *b, size_t column, int64_t i, int64_t n)
{
	double low = (double)b->low,
	       width = (double)(b->high - b->low) / (double)n;

	switch (column) {
	case 0: return cell_real(low + (double)i * width);
	case 1:
		return cell_real(i + 1 == n ? (double)b->high
					    : low + (double)(i + 1) * width);
	default: return cell_int(b->counts[i]);
	}
}

static void
put_bins(struct table *t, const struct sink_plan *p, const struct kernels *k,
    const struct bins *b)
{
	size_t lead = p->fields.n - NCOLUMNS;

	for (int64_t i = 0; i < k->nbins; i++) {
		struct cell *row = table_row(t);

		if (lead > 0)
			row[0] =
			    sink_lead_cell(&k->sink, b->source, p->fields.v[0]);
		for (size_t c = 0; c < NCOLUMNS; c++)
			row[lead + c] = bin_cell(b, c, i, k->nbins);
	}
}

void
histogram_print(struct sink *s, const struct sink_plan *p)
{
	const struct kernels *k = kernels_of(s);
	struct table *t = table_create(p->name, p->columns.v, p->columns.n);

	for (uint32_t r = 0; r < s->sources.list.n; r++) {
		struct bins b = { .source = r };

		find_range(&b, k);
		if (!b.any)
			continue;
		b.counts = xcalloc((size_t)k->nbins, sizeof *b.counts);
		for (size_t i = 0; i < s->records.n; i++) {
			const struct kernel *one = sink_record(s, i);

			if (one->rec.source == r && is_short(k, one))
				b.counts[bin_of(&b, one->dur_ns, k->nbins)]++;
		}
		put_bins(t, p, k, &b);
		free(b.counts);
	}
	table_print_summary(t, &s->dest);
	table_destroy(t);
}
