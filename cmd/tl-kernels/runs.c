/* SPDX-License-Identifier: MIT */
#include "cmd/tl-kernels/runs.h"
#include "trace/stat.h"

/* A run and its places: order[low] .. order[high - 1]. */
struct candidate {
	uint32_t low, high, length;
	uint32_t first; /* its first place */
	uint32_t count; /* free places, as last counted */
	int64_t weight;
};

/*
 * The text is the symbols, with a symbol of its own for each break. Its places
 * are sorted by the max symbols that begin there; common[i] is how many of
 * these places i - 1 and i of that order share.
 */
struct finder {
	const uint32_t *symbols;
	const int64_t *weights;
	uint32_t n, min, max;
	VEC(uint32_t) text, symbol_at; /* of each place in the text */
	VEC(uint32_t) order, rank, other, counts;
	VEC(uint8_t) common;
	VEC(int64_t) sums; /* of the weights in front of a symbol */
	VEC(uint64_t) taken;
	VEC(int64_t) sorted; /* places of one candidate, as symbols */
	VEC(struct candidate) heap;
};

/* ---- the order of places ---- */

static void
make_text(struct finder *f, uint32_t nsymbols)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		bool is_end = i + 1 == f->n || f->weights[i] == RUNS_BREAK;

		vec_push(&f->text, f->symbols[i]);
		vec_push(&f->symbol_at, i);
		vec_push(&f->sums, sum);
		if (!is_end) {
			stat_add(&sum, f->weights[i]);
			continue;
		}
		vec_push(&f->text, nsymbols++);
		vec_push(&f->symbol_at, i);
	}
	vec_push(&f->sums, sum);
	vec_reserve(
	    &f->counts, (nsymbols > f->text.n ? nsymbols : f->text.n) + 1);
	f->counts.n = (nsymbols > f->text.n ? nsymbols : f->text.n) + 1;
}

/* Sorts other into order by rank, stably. */
static void
sort_by_rank(struct finder *f)
{
	uint32_t n = (uint32_t)f->text.n, sum = 0;

	memset(f->counts.v, 0, f->counts.n * sizeof *f->counts.v);
	for (uint32_t i = 0; i < n; i++)
		f->counts.v[f->rank.v[i]]++;
	for (size_t i = 0; i < f->counts.n; i++) {
		uint32_t count = f->counts.v[i];

		f->counts.v[i] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t place = f->other.v[i];

		f->order.v[f->counts.v[f->rank.v[place]]++] = place;
	}
}

/* Ranks by twice as many symbols as before; half: the number before. */
static void
rank_anew(struct finder *f, uint32_t half)
{
	uint32_t n = (uint32_t)f->text.n, rank = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t a = f->order.v[i], b = i > 0 ? f->order.v[i - 1] : a;
		bool is_same = f->rank.v[a] == f->rank.v[b] &&
		    (a == b ||
			(a + half < n && b + half < n &&
			    f->rank.v[a + half] == f->rank.v[b + half]));

		rank += !is_same;
		f->other.v[a] = rank;
	}
	memcpy(f->rank.v, f->other.v, n * sizeof *f->rank.v);
}

static void
sort_places(struct finder *f)
{
	uint32_t n = (uint32_t)f->text.n;

	for (uint32_t i = 0; i < n; i++) {
		vec_push(&f->order, i);
		vec_push(&f->other, i);
		vec_push(&f->rank, f->text.v[i]);
	}
	sort_by_rank(f);
	for (uint32_t half = 1; half < f->max; half *= 2) {
		uint32_t at = 0;

		/* by the rank half further on; past the end comes first */
		for (uint32_t i = n > half ? n - half : 0; i < n; i++)
			f->other.v[at++] = i;
		for (uint32_t i = 0; i < n; i++)
			if (f->order.v[i] >= half)
				f->other.v[at++] = f->order.v[i] - half;
		sort_by_rank(f);
		rank_anew(f, half);
	}
}

static void
find_common(struct finder *f)
{
	vec_push(&f->common, 0);
	for (size_t i = 1; i < f->text.n; i++) {
		const uint32_t *a = f->text.v + f->order.v[i - 1];
		const uint32_t *b = f->text.v + f->order.v[i];
		uint8_t n = 0;

		/* the last symbol of the text is no other's */
		while (n < f->max && a[n] == b[n])
			n++;
		vec_push(&f->common, n);
	}
}

/* ---- candidates ---- */

/* Whether the symbols before the places differ. */
static bool
is_open_left(const struct finder *f, uint32_t low, uint32_t high)
{
	uint32_t place = f->order.v[low];

	for (uint32_t i = low; i < high; i++) {
		uint32_t other = f->order.v[i];

		if (other == 0 || place == 0 ||
		    f->text.v[other - 1] != f->text.v[place - 1])
			return true;
	}
	return false;
}

static void
sort_own(struct finder *f, const struct candidate *c)
{
	f->sorted.n = 0;
	for (uint32_t i = c->low; i < c->high; i++)
		vec_push(&f->sorted, f->symbol_at.v[f->order.v[i]]);
	sort_i64(f->sorted.v, f->sorted.n);
}

/* Whether one of the symbols is in a chosen run. */
static bool
is_taken(const struct finder *f, uint32_t first, uint32_t length)
{
	uint64_t bits = f->taken.v[first / 64] >> first % 64;

	if (first % 64 != 0)
		bits |= f->taken.v[first / 64 + 1] << (64 - first % 64);
	return (bits & (~UINT64_C(0) >> (64 - length))) != 0;
}

static void
take(struct finder *f, uint32_t first, uint32_t length)
{
	for (uint32_t i = first; i < first + length; i++)
		f->taken.v[i / 64] |= UINT64_C(1) << i % 64;
}

/* Counts its free places, from the left, and appends them to a list if any. */
static void
count_places(
    struct finder *f, struct candidate *c, run_place_vec *places, uint32_t run)
{
	int64_t end = 0;

	sort_own(f, c);
	c->first = (uint32_t)f->sorted.v[0];
	c->count = 0;
	c->weight = 0;
	for (size_t i = 0; i < f->sorted.n; i++) {
		uint32_t first = (uint32_t)f->sorted.v[i];

		if (first < end || is_taken(f, first, c->length))
			continue;
		end = (int64_t)first + c->length;
		c->count++;
		c->weight +=
		    f->sums.v[first + c->length - 1] - f->sums.v[first];
		if (places != NULL)
			vec_push(places,
			    ((struct run_place){ run, first, c->length }));
	}
	for (size_t i = 0; places != NULL && i < c->count; i++)
		take(f, places->v[places->n - 1 - i].first, c->length);
}

/* What overlaps its own next place is cut to its period, but not below min. */
static void
cut_to_period(struct finder *f, struct candidate *c)
{
	uint32_t period = c->length;

	sort_own(f, c);
	for (size_t i = 1; i < f->sorted.n; i++) {
		int64_t d = f->sorted.v[i] - f->sorted.v[i - 1];

		if (d < period)
			period = (uint32_t)d;
	}
	if (period >= f->min)
		c->length = period;
}

/* The heavier one; of equal ones more that is saved, then the first. */
static bool
is_before(const struct candidate *a, const struct candidate *b)
{
	uint64_t saved_a = (uint64_t)a->count * (a->length - 1);
	uint64_t saved_b = (uint64_t)b->count * (b->length - 1);

	if (a->weight != b->weight)
		return a->weight > b->weight;
	if (saved_a != saved_b)
		return saved_a > saved_b;
	return a->first != b->first ? a->first < b->first
				    : a->length > b->length;
}

static void
sink_down(struct finder *f, size_t i)
{
	struct candidate *v = f->heap.v;
	struct candidate c = v[i];

	for (size_t kid; (kid = 2 * i + 1) < f->heap.n; i = kid) {
		if (kid + 1 < f->heap.n && is_before(&v[kid + 1], &v[kid]))
			kid++;
		if (!is_before(&v[kid], &c))
			break;
		v[i] = v[kid];
	}
	v[i] = c;
}

static void
add_candidate(struct finder *f, uint32_t low, uint32_t high, uint32_t length)
{
	struct candidate c = { .low = low, .high = high, .length = length };

	if (length < f->min || !is_open_left(f, low, high))
		return;
	cut_to_period(f, &c);
	count_places(f, &c, NULL, 0);
	if (c.count >= 2)
		vec_push(&f->heap, c);
}

/*
 * Places of equal symbols, as many as do not overlap: a stack of open ones in
 * the order of places.
 */
static void
find_candidates(struct finder *f)
{
	VEC(struct candidate) open = { 0 };

	for (uint32_t i = 1; i <= f->text.n; i++) {
		uint32_t common = i < f->text.n ? f->common.v[i] : 0;
		uint32_t low = i - 1;

		while (open.n > 0 && open.v[open.n - 1].length > common) {
			low = open.v[--open.n].low;
			add_candidate(f, low, i, open.v[open.n].length);
		}
		if (common > 0 &&
		    (open.n == 0 || open.v[open.n - 1].length < common))
			vec_push(&open,
			    ((struct candidate){
				.low = low, .length = common }));
	}
	vec_free(&open);
	for (size_t i = f->heap.n / 2; i-- > 0;)
		sink_down(f, i);
}

/* Weights only fall as symbols are taken: one that is still the heaviest when
 * it is counted again is the heaviest of all. */
static uint32_t
choose(struct finder *f, run_place_vec *places)
{
	uint32_t nruns = 0;

	while (f->heap.n > 0 && nruns < RUNS_ROWS_MAX) {
		struct candidate *top = &f->heap.v[0], was = *top;

		count_places(f, top, NULL, 0);
		if (top->count < 2) {
			*top = f->heap.v[--f->heap.n];
		} else if (top->count == was.count &&
		    top->weight == was.weight) {
			count_places(f, top, places, nruns++);
			*top = f->heap.v[--f->heap.n];
		}
		if (f->heap.n > 0)
			sink_down(f, 0);
	}
	return nruns;
}

uint32_t
runs_find(const uint32_t *symbols, uint32_t nsymbols, const int64_t *weights,
    uint32_t n, uint32_t min, uint32_t max, run_place_vec *places)
{
	struct finder f = { .symbols = symbols,
		.weights = weights,
		.n = n,
		.min = min,
		.max = max };
	uint32_t nruns = 0;

	if (n > 0) {
		make_text(&f, nsymbols);
		sort_places(&f);
		find_common(&f);
		for (uint32_t i = 0; i < n / 64 + 2; i++)
			vec_push(&f.taken, 0);
		find_candidates(&f);
		nruns = choose(&f, places);
	}
	vec_free(&f.text);
	vec_free(&f.symbol_at);
	vec_free(&f.order);
	vec_free(&f.rank);
	vec_free(&f.other);
	vec_free(&f.counts);
	vec_free(&f.common);
	vec_free(&f.sums);
	vec_free(&f.taken);
	vec_free(&f.sorted);
	vec_free(&f.heap);
	return nruns;
}
