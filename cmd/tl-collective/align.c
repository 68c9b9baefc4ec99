/* SPDX-License-Identifier: MIT */
/*
 * Matches collectives of two ranks when one misses some and nothing numbers
 * them: the cheapest way through both sequences. Leaving one out costs a gap;
 * two equal ones may match, at a cost that grows with the time between their
 * ends, as all ranks leave a collective together. So a run of equal ones is cut
 * where one is missing.
 */
#include "cmd/tl-collective/job.h"

#include <stdlib.h>

#define BAND_SLACK 64 /* elements missing or added that are found */

enum { STEP_BOTH, STEP_BASE, STEP_SEQ };

/* The usual distance of ends, counted from the front or from the back,
 * whichever varies less, and its variation. */
static int64_t
usual_offset(const struct align_item *base, size_t nbase,
    const struct align_item *seq, size_t nseq)
{
	size_t n = nbase < nseq ? nbase : nseq;
	int64_t *v = xmalloc(n * sizeof *v + 1);
	int64_t best = 0, least = INT64_MAX;

	for (int from_back = 0; from_back < 2 && n > 0; from_back++) {
		size_t b = from_back ? nbase - n : 0;
		size_t s = from_back ? nseq - n : 0;
		int64_t middle, spread;

		for (size_t i = 0; i < n; i++)
			v[i] = seq[s + i].end_ns - base[b + i].end_ns;
		middle = median_i64(v, n);
		for (size_t i = 0; i < n; i++)
			v[i] = llabs(v[i] - middle);
		spread = median_i64(v, n);
		if (spread < least) {
			least = spread;
			best = middle;
		}
	}
	free(v);
	return best;
}

/* Half the usual time between ends. */
static int64_t
gap_cost(const struct align_item *base, size_t n)
{
	int64_t *v = xmalloc(n * sizeof *v + 1), cost;

	if (n < 2) {
		free(v);
		return 1000;
	}
	for (size_t i = 1; i < n; i++)
		v[i - 1] = llabs(base[i].end_ns - base[i - 1].end_ns);
	cost = median_i64(v, n - 1) / 2;
	free(v);
	return cost > 1 ? cost : 1;
}

struct lattice {
	size_t width; /* width of the band */
	int64_t low;  /* column 0 of row i is base element i + low */
	int64_t *cost, *above;
	uint8_t *steps;
};

static void
fill_row(struct lattice *l, const struct align_item *base, size_t nbase,
    const struct align_item *s, size_t i, int64_t offset, int64_t gap)
{
	const int64_t far = INT64_MAX / 4;
	uint8_t *steps = l->steps + i * l->width;

	for (size_t c = 0; c < l->width; c++) {
		int64_t b = (int64_t)i + l->low + (int64_t)c;
		int64_t best = far, v;

		steps[c] = STEP_SEQ;
		if (b < 0 || b > (int64_t)nbase) {
			l->cost[c] = far;
			continue;
		}
		if (i == 0 && b == 0)
			best = 0;
		if (i > 0 && c + 1 < l->width &&
		    (v = l->above[c + 1] + gap) < best)
			best = v;
		if (c > 0 && b > 0 && (v = l->cost[c - 1] + gap) < best) {
			best = v;
			steps[c] = STEP_BASE;
		}
		if (i > 0 && b > 0 && base[b - 1].sig == s[i - 1].sig) {
			int64_t d = llabs(
			    s[i - 1].end_ns - base[b - 1].end_ns - offset);

			/* never more than leaving both out */
			v = l->above[c] + (d < 2 * gap ? d : 2 * gap - 1);
			if (v <= best) {
				best = v;
				steps[c] = STEP_BOTH;
			}
		}
		l->cost[c] = best < far ? best : far;
	}
}

static void
walk_back(const struct lattice *l, size_t nbase, size_t nseq, int64_t *of)
{
	size_t i = nseq;
	int64_t b = (int64_t)nbase;

	while (i > 0) {
		int64_t c = b - (int64_t)i - l->low;

		switch (l->steps[i * l->width + (size_t)c]) {
		case STEP_BOTH: of[--i] = --b; break;
		case STEP_BASE: b--; break;
		default: of[--i] = -1; break;
		}
	}
}

void
align_sequences(const struct align_item *base, size_t nbase,
    const struct align_item *seq, size_t nseq, int64_t *of)
{
	int64_t offset = usual_offset(base, nbase, seq, nseq);
	int64_t gap = gap_cost(base, nbase);
	int64_t diff = (int64_t)nbase - (int64_t)nseq;
	struct lattice l = { .low = (diff < 0 ? diff : 0) - BAND_SLACK };

	l.width = (size_t)(llabs(diff) + 2 * BAND_SLACK + 1);
	l.cost = xmalloc(l.width * sizeof *l.cost);
	l.above = xmalloc(l.width * sizeof *l.above);
	l.steps = xmalloc((nseq + 1) * l.width);
	for (size_t i = 0; i <= nseq; i++) {
		int64_t *swap = l.above;

		l.above = l.cost;
		l.cost = swap;
		fill_row(&l, base, nbase, seq, i, offset, gap);
	}
	walk_back(&l, nbase, nseq, of);
	free(l.cost);
	free(l.above);
	free(l.steps);
}
