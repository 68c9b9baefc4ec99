/* SPDX-License-Identifier: MIT */
/* One island: system, zero, offsets. */
#include "cmd/tl-collective/solver.h"

#include <math.h>
#include <stdlib.h>

#define ALIKE_NS 25000.0 /* how near clocks of the zero are */

void
island_open(struct solver *k, struct island *p, uint32_t no)
{
	uint32_t nstrata = 0;
	size_t n, nties;

	*p = (struct island){ .no = no };
	for (size_t i = k->clocks_from[no]; i < k->clocks_from[no + 1]; i++) {
		uint32_t c = k->clocks[i];

		if (k->same[c] != c)
			continue;
		k->at[c] = (uint32_t)p->clocks.n;
		vec_push(&p->clocks, c);
	}
	nties = k->ties_from[no + 1] - k->ties_from[no];
	p->clock = xmalloc(nties * sizeof *p->clock + 1);
	p->stratum = xmalloc(nties * sizeof *p->stratum + 1);
	for (size_t i = k->ties_from[no]; i < k->ties_from[no + 1]; i++) {
		const struct tie *t = &k->ties[k->of_island[i]];

		nstrata += p->ties.n == 0 ||
		    p->ties.v[p->ties.n - 1].stratum != t->stratum;
		p->clock[p->ties.n] = k->at[k->same[t->clock]];
		p->stratum[p->ties.n] = nstrata;
		vec_push(&p->ties, *t);
	}
	n = p->clocks.n;
	p->room = xcalloc(3 * nties + 3 * n + 1, sizeof *p->room);
	p->w = p->room;
	p->r = p->w + nties;
	p->value = p->r + nties;
	p->x = p->value + nties;
	p->zero = p->x + n;
	p->v = p->zero + n;
	p->sys = (struct system){ .n = n,
		.nties = nties,
		.nstrata = nstrata,
		.ties = p->ties.v,
		.clock = p->clock,
		.stratum = p->stratum,
		.w = p->w,
		.r = p->r };
}

void
island_close(struct island *p)
{
	vec_free(&p->ties);
	vec_free(&p->clocks);
	free(p->clock);
	free(p->stratum);
	free(p->room);
}

/* ---- zero ---- */

struct place {
	double offset;
	uint32_t at, clock;
};

static int
by_offset(const void *x, const void *y)
{
	const struct place *a = x, *b = y;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->clock > b->clock) - (a->clock < b->clock);
}

/* A set of clocks that are alike, from one on: number of ranks, lowest rank. */
struct alike_clocks {
	size_t from, end, i; /* range by offset; the clock */
	uint64_t nranks;
	uint32_t lowest;
};

static bool
is_in(const struct solver *k, const struct place *a, const struct place *b,
    double half_span)
{
	return fabs(k->drift[a->clock] - k->drift[b->clock]) * half_span <=
	    ALIKE_NS;
}

static void
count(const struct solver *k, const struct place *list, double half_span,
    struct alike_clocks *a)
{
	a->nranks = 0;
	a->lowest = UINT32_MAX;
	for (size_t m = a->from; m < a->end; m++) {
		uint32_t c = list[m].clock;

		if (!is_in(k, &list[m], &list[a->i], half_span))
			continue;
		a->nranks += ranks_of(k, c);
		a->lowest = c < a->lowest ? c : a->lowest;
	}
}

static bool
has_drift(const struct solver *k, const struct island *p)
{
	for (size_t i = 0; i < p->clocks.n; i++)
		if (k->drift[p->clocks.v[i]] != 0)
			return true;
	return false;
}

static void
find_zero(const struct solver *k, struct island *p)
{
	double half_span = (double)k->spans[p->no] / 2;
	size_t n = p->clocks.n;
	struct place *list = xmalloc(n * sizeof *list);
	struct alike_clocks best = { 0 }, at = { 0 };
	bool drifts = has_drift(k, p);

	for (uint32_t i = 0; i < n; i++)
		list[i] = (struct place){ k->offset[p->clocks.v[i]], i,
			p->clocks.v[i] };
	stable_sort(list, n, sizeof *list, by_offset);
	for (size_t i = 0; i < n; i++) {
		struct alike_clocks was = at;

		at.i = i;
		while (list[at.from].offset < list[i].offset - ALIKE_NS)
			at.from++;
		while (at.end < n &&
		    list[at.end].offset <= list[i].offset + ALIKE_NS)
			at.end++;
		if (i > 0 && !drifts && at.from == was.from &&
		    at.end == was.end)
			continue;
		count(k, list, half_span, &at);
		if (at.nranks > best.nranks ||
		    (at.nranks == best.nranks && at.lowest < best.lowest))
			best = at;
	}
	for (size_t m = best.from; m < best.end; m++)
		if (is_in(k, &list[m], &list[best.i], half_span))
			p->zero[list[m].at] =
			    (double)ranks_of(k, list[m].clock) /
			    (double)best.nranks;
	free(list);
}

double
island_mean_of_zero(const struct island *p, const double *of)
{
	double sum = 0;

	for (size_t i = 0; i < p->clocks.n; i++)
		sum += p->zero[i] * of[p->clocks.v[i]];
	return sum;
}

/* ---- offsets ---- */

/* By how much strata disagree about each clock, weighted. */
static void
put_residuals(struct solver *k, const struct island *p)
{
	double *sum = xcalloc(2 * p->clocks.n + 1, sizeof *sum);
	double *weight = sum + p->clocks.n;

	for (size_t i = 0; i < p->ties.n; i++) {
		sum[p->clock[i]] += p->w[i] * p->r[i] * p->r[i];
		weight[p->clock[i]] += p->w[i];
	}
	for (size_t i = 0; i < p->clocks.n; i++)
		k->out[p->clocks.v[i]].residual_ns =
		    weight[i] > 0 ? sqrt(sum[i] / weight[i]) : 0;
	free(sum);
}

/* Relates offsets to the zero; middle is in the zero's time, not the
 * guess's. */
static void
put_clocks(struct solver *k, const struct island *p, double zero)
{
	int64_t middle = k->middles[p->no];

	if (!num_add(middle, k->guess[p->clocks.v[0]], &middle) ||
	    !num_add(middle, whole_ns(zero), &middle))
		middle = k->middles[p->no];
	for (size_t i = k->clocks_from[p->no]; i < k->clocks_from[p->no + 1];
	     i++) {
		uint32_t c = k->clocks[i], same = k->same[c];
		struct solved_clock *o = &k->out[c];

		o->offset_ns = whole_ns(k->offset[same]);
		o->u_ns = sqrt(k->offset_v[same]);
		o->drift = k->drift[same];
		o->u_drift = sqrt(k->drift_v[same]);
		o->residual_ns = k->out[same].residual_ns;
		o->island = p->no;
		o->span_ns = k->spans[p->no];
		o->middle_ns = middle;
	}
}

double
island_join(struct solver *k, struct island *p)
{
	const uint32_t *clocks = p->clocks.v;
	double growth;

	join_clocks(&p->sys, p->x, &growth);
	for (size_t i = 0; i < p->clocks.n; i++)
		k->offset[clocks[i]] = p->x[i] +
		    ends_between(k->guess[clocks[i]], k->guess[clocks[0]]);
	find_zero(k, p);
	return growth;
}

void
solve_island(struct solver *k, uint32_t no)
{
	double growth, zero, slow;
	struct island p;

	island_open(k, &p, no);
	growth = island_join(k, &p);
	system_variance(&p.sys, p.zero, p.v);
	zero = island_mean_of_zero(&p, k->offset);
	slow = island_mean_of_zero(&p, k->drift);
	for (size_t i = 0; i < p.clocks.n; i++) {
		uint32_t c = p.clocks.v[i];

		k->offset[c] -= zero;
		k->offset_v[c] = p.v[i] * growth;
		k->drift[c] -= slow;
	}
	put_residuals(k, &p);
	put_clocks(k, &p, zero);
	island_close(&p);
}
