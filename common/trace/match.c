/* SPDX-License-Identifier: MIT */
/* Blocks of iterations, and the nearest pairs of them. */
#include "trace/match.h"

/* ---- blocks ---- */

static uint32_t
process_of(const struct match_side *s, size_t i)
{
	return s->process != NULL ? s->process[i] : 0;
}

/* Whether an iteration continues the run (not empty). */
static bool
goes_on(const struct match_side *s, size_t first, size_t i)
{
	return i < s->n && s->v[i].phase == s->v[first].phase &&
	    process_of(s, i) == process_of(s, first);
}

/* A single decode step says nothing about steady decoding. */
static size_t
least_run(uint8_t phase)
{
	switch (phase) {
	case PHASE_PREFILL:
	case PHASE_MIXED: return 1;
	case PHASE_DECODE: return 2;
	default: return SIZE_MAX;
	}
}

static void
see_names(struct match_block *b, const struct iteration *v)
{
	b->has_sqsk = b->has_load = true;
	for (size_t i = 0; i < b->n; i++) {
		b->has_sqsk &= v[i].has_sqsk;
		b->has_load &= v[i].has_load;
	}
}

/* The remainder of a long run is no block. */
static void
cut_run(struct match_side *s, size_t first, size_t n, size_t num_steps)
{
	size_t size = num_steps > 0 && num_steps < n ? num_steps : n;

	for (size_t at = first; at + size <= first + n; at += size) {
		struct match_block b = { .first = (uint32_t)at,
			.n = (uint32_t)size,
			.run_n = (uint32_t)n,
			.process = process_of(s, at),
			.phase = s->v[at].phase };

		see_names(&b, s->v + at);
		vec_push(&s->blocks, b);
	}
}

void
match_blocks_find(struct match_side *s, size_t num_steps)
{
	s->blocks.n = 0;
	for (size_t first = 0, end; first < s->n; first = end) {
		for (end = first + 1; goes_on(s, first, end); end++)
			continue;
		if (end - first >= least_run(s->v[first].phase))
			cut_run(s, first, end - first, num_steps);
	}
}

/* ---- distances ---- */

static uint64_t
difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static uint64_t
add(uint64_t a, uint64_t b)
{
	return b <= UINT64_MAX - a ? a + b : UINT64_MAX;
}

size_t
match_nloads(enum phase phase, bool is_approx)
{
	if (phase != PHASE_DECODE)
		return MATCH_LOADS;
	return is_approx ? 1 : 2;
}

/* The most important first. */
static uint64_t
load_of(const struct iteration *it, enum phase phase, size_t i)
{
	const int64_t decode[] = { it->g_sq, it->g_sk };
	const int64_t others[MATCH_LOADS] = { it->context_requests,
		it->generation_requests, it->c_sq, it->g_sq };
	int64_t load = phase == PHASE_DECODE ? decode[i] : others[i];

	return load > 0 ? (uint64_t)load : 0;
}

/* a / n against b / m. */
static int
compare_means(uint64_t a, uint32_t n, uint64_t b, uint32_t m)
{
	uint64_t x = a / n, y = b / m;

	if (x == y) {
		x = a % n * m;
		y = b % m * n;
	}
	return (x > y) - (x < y);
}

static int
compare(const struct match *a, const struct match *b)
{
	for (size_t i = 0; i < MATCH_LOADS; i++) {
		int c = compare_means(a->sums[i], a->n, b->sums[i], b->n);

		if (c != 0)
			return c;
	}
	if (a->run_n != b->run_n)
		return a->run_n > b->run_n ? -1 : 1;
	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	for (int s = 0; s < MATCH_SIDES; s++)
		if (a->block[s] != b->block[s])
			return a->block[s] < b->block[s] ? -1 : 1;
	return 0;
}

/* ---- the nearest ---- */

/* A block that may be one of a pair, with the sums of its first two loads. */
struct candidate {
	uint32_t n, block;
	uint64_t sums[2];
};

struct search {
	const struct match_side *sides;
	enum phase phase;
	size_t nloads, top;
	VEC(struct candidate) others; /* of the second side, see by_load */
	uint32_t most_run_n;          /* of them */
	match_list *to;
	size_t first; /* in to */
};

static int
by_load(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	for (size_t i = 0; i < 2; i++)
		if (a->sums[i] != b->sums[i])
			return a->sums[i] < b->sums[i] ? -1 : 1;
	return (a->block > b->block) - (a->block < b->block);
}

static bool
is_eligible(const struct search *f, int side, uint32_t block,
    const struct match_rules *rules)
{
	const struct match_block *b = &f->sides[side].blocks.v[block];

	return b->phase == f->phase &&
	    (rules->is_approx ? b->has_load : b->has_sqsk);
}

static struct candidate
candidate_of(const struct search *f, int side, uint32_t block)
{
	const struct match_block *b = &f->sides[side].blocks.v[block];
	struct candidate c = { .n = b->n, .block = block };

	for (size_t k = 0; k < 2 && k < f->nloads; k++)
		for (uint32_t i = 0; i < b->n; i++)
			c.sums[k] = add(c.sums[k],
			    load_of(
				&f->sides[side].v[b->first + i], f->phase, k));
	return c;
}

static struct match
pair_of(const struct search *f, uint32_t a, uint32_t b)
{
	const struct match_block *x = &f->sides[0].blocks.v[a];
	const struct match_block *y = &f->sides[1].blocks.v[b];
	struct match m = { .block = { a, b },
		.n = x->n,
		.run_n = x->run_n < y->run_n ? x->run_n : y->run_n };

	for (size_t k = 0; k < f->nloads; k++)
		for (uint32_t i = 0; i < x->n; i++)
			m.sums[k] = add(m.sums[k],
			    difference(load_of(&f->sides[0].v[x->first + i],
					   f->phase, k),
				load_of(&f->sides[1].v[y->first + i], f->phase,
				    k)));
	return m;
}

static bool
is_near(const struct search *f, const struct match *m)
{
	return f->to->n - f->first < f->top ||
	    compare(m, &f->to->v[f->to->n - 1]) < 0;
}

static void
take(struct search *f, const struct match *m)
{
	size_t at;

	if (!is_near(f, m))
		return;
	if (f->to->n - f->first == f->top)
		f->to->n--;
	vec_push(f->to, *m);
	for (at = f->to->n - 1;
	     at > f->first && compare(m, &f->to->v[at - 1]) < 0; at--)
		f->to->v[at] = f->to->v[at - 1];
	f->to->v[at] = *m;
}

/*
 * Whether a pair with this candidate, or one further from a, may be among the
 * nearest: no distance is less than the difference of the sums. The second sum
 * counts only if the first is equal: further out it can have any value.
 */
static bool
may_be_near(const struct search *f, const struct candidate *a,
    const struct candidate *b)
{
	uint32_t run_n = f->sides[0].blocks.v[a->block].run_n;
	struct match m = { .block = { a->block, 0 },
		.n = a->n,
		.run_n = run_n < f->most_run_n ? run_n : f->most_run_n };

	m.sums[0] = difference(a->sums[0], b->sums[0]);
	if (m.sums[0] == 0)
		m.sums[1] = difference(a->sums[1], b->sums[1]);
	return is_near(f, &m);
}

/* The candidates from one to the other, in either direction, as long as they
 * may be near. */
static void
scan(struct search *f, const struct candidate *a, size_t from, size_t to)
{
	while (from != to) {
		const struct candidate *b =
		    &f->others.v[from < to ? from++ : --from];
		struct match m;

		if (!may_be_near(f, a, b))
			return;
		m = pair_of(f, a->block, b->block);
		take(f, &m);
	}
}

/* From the candidate with the same load outwards; false: none is as long. */
static bool
search(struct search *f, const struct candidate *a)
{
	const struct candidate *v = f->others.v;
	size_t n = f->others.n, first, low, at, high, end;

	bisect(first, n, i, v[i].n < a->n);
	bisect(end, n, i, v[i].n <= a->n);
	bisect(low, n, i,
	    v[i].n < a->n || (v[i].n == a->n && v[i].sums[0] < a->sums[0]));
	bisect(high, n, i,
	    v[i].n < a->n || (v[i].n == a->n && v[i].sums[0] <= a->sums[0]));
	bisect(at, n, i, by_load(&v[i], a) < 0);
	if (first == end)
		return false;
	scan(f, a, at, high);
	scan(f, a, at, low);
	scan(f, a, high, end);
	scan(f, a, low, first);
	return true;
}

static void
find_others(struct search *f, const struct match_rules *rules)
{
	const struct match_side *s = &f->sides[1];

	for (uint32_t i = 0; i < s->blocks.n; i++) {
		if (!is_eligible(f, 1, i, rules))
			continue;
		vec_push(&f->others, candidate_of(f, 1, i));
		if (s->blocks.v[i].run_n > f->most_run_n)
			f->most_run_n = s->blocks.v[i].run_n;
	}
	stable_sort(f->others.v, f->others.n, sizeof *f->others.v, by_load);
}

void
match_find(match_list *to, const struct match_side *sides, enum phase phase,
    const struct match_rules *rules, struct match_tally *tally)
{
	struct search f = { .sides = sides,
		.phase = phase,
		.nloads = match_nloads(phase, rules->is_approx),
		.top = rules->top,
		.to = to,
		.first = to->n };

	*tally = (struct match_tally){ 0 };
	find_others(&f, rules);
	for (uint32_t i = 0; i < sides[0].blocks.n; i++) {
		struct candidate a;

		if (!is_eligible(&f, 0, i, rules))
			continue;
		tally->blocks++;
		a = candidate_of(&f, 0, i);
		tally->with_candidate += search(&f, &a);
	}
	vec_free(&f.others);
}
