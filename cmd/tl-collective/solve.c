/* SPDX-License-Identifier: MIT */
/* From ends to clocks: strata, drift, islands, their zeroes. */
#include "cmd/tl-collective/solve.h"

#include <math.h>
#include <stdlib.h>

#define ALIKE_NS 25000.0 /* clocks of the zero are that near */
#define HOST_NS 20000.0  /* clocks of one host that agree, and in ... */
#define HOST_U 4.0       /* ... uncertainties */
#define DRIFT_SPAN_NS 1000000000
#define DRIFT_TIES 20
#define DRIFT_ROUNDS 16
#define DRIFT_PLAIN 3 /* of these: strong drift is no outlier */
#define DRIFT_SETTLED_NS 200.0
#define DRIFT_MATTERS_NS 10000.0
#define DRIFT_U 4.0
#define DRIFT_MAX 1e-3 /* no clock is that bad */

struct solver {
	const struct solve_job *job;
	struct solved_clock *out;
	size_t n; /* clocks */
	int64_t *guess, middle_ns;
	double *drift, *drift_v, *offset, *offset_v;
	uint32_t *island, *same; /* clock that stands for a host's */
	size_t nislands, nties;
	struct tie *ties;
	size_t *first; /* tie of each stratum */
};

static uint32_t
ranks_of(const struct solver *k, size_t clock)
{
	return k->job->nranks != NULL ? k->job->nranks[clock] : 1;
}

/* Of hostile times a difference may have no int64. */
static int64_t
whole_ns(double ns)
{
	if (!(fabs(ns) < (double)INT64_MAX))
		return ns > 0 ? INT64_MAX : INT64_MIN;
	return (int64_t)llround(ns);
}

static bool
counts(const struct tie *t)
{
	return !isinf(t->v);
}

/* ---- strata ---- */

/* From the first end to the last, as far as is known of clocks. */
static void
find_span(
    const struct solver *k, uint32_t island, int64_t *middle, int64_t *span)
{
	int64_t low = INT64_MAX, high = INT64_MIN;

	for (size_t i = 0; i < k->job->nstrata; i++) {
		const struct solve_stratum *s = &k->job->strata[i];

		for (size_t e = 0; e < s->n * s->ncolls; e++) {
			uint32_t c = s->clocks[e % s->n];
			int64_t end = s->ends[e];

			if (end == END_NONE ||
			    (island != CLOCK_ISLAND_NONE &&
				k->island[c] != island) ||
			    __builtin_sub_overflow(end, k->guess[c], &end))
				continue;
			low = end < low ? end : low;
			high = end > high ? end : high;
		}
	}
	*span = 0;
	*middle = low == INT64_MAX ? 0 : low / 2 + high / 2;
	if (low != INT64_MAX && __builtin_sub_overflow(high, low, span))
		*span = INT64_MAX;
}

static void
solve_strata(struct solver *k, bool is_plain, bool wants_slope)
{
	struct stratum_rules rules = { k->guess, k->drift, k->middle_ns,
		is_plain, wants_slope };

	for (size_t i = 0; i < k->job->nstrata; i++)
		stratum_solve(&k->job->strata[i], (uint32_t)i, &rules,
		    k->ties + k->first[i]);
}

static uint32_t
root_of(uint32_t *up, uint32_t c)
{
	while (up[c] != c)
		c = up[c] = up[up[c]];
	return c;
}

/* Clocks that ties join, numbered by their first. */
static void
find_islands(struct solver *k)
{
	uint32_t *up = xmalloc(k->n * sizeof *up), *no;
	uint64_t *nties = xcalloc(k->n, sizeof *nties);

	for (uint32_t c = 0; c < k->n; c++)
		up[c] = c;
	for (size_t i = 0; i < k->job->nstrata; i++) {
		uint32_t first = CLOCK_ISLAND_NONE;

		for (size_t t = k->first[i]; t < k->first[i + 1]; t++) {
			uint32_t c = k->same[k->ties[t].clock];

			if (!counts(&k->ties[t]))
				continue;
			nties[k->ties[t].clock] += k->ties[t].n;
			if (first == CLOCK_ISLAND_NONE)
				first = c;
			up[root_of(up, c)] = root_of(up, first);
		}
	}
	no = xmalloc(k->n * sizeof *no);
	memset(no, 0xff, k->n * sizeof *no);
	k->nislands = 0;
	for (uint32_t c = 0; c < k->n; c++) {
		uint32_t root = root_of(up, k->same[c]);

		k->island[c] = CLOCK_ISLAND_NONE;
		k->out[c].nties = nties[c];
		if (nties[c] < CLOCK_TIES_MIN)
			continue;
		if (no[root] == CLOCK_ISLAND_NONE)
			no[root] = (uint32_t)k->nislands++;
		k->island[c] = no[root];
	}
	free(no);
	free(up);
	free(nties);
}

/* ---- one island as a system ---- */

struct part_of {
	struct system sys;
	tie_vec ties;
	VEC(uint32_t) clocks; /* all, those of the system first */
	uint32_t *clock, *stratum;
	double *w, *x, *zero, *v, *value;
};

static void
part_open(struct solver *k, struct part_of *p, uint32_t island)
{
	uint32_t *at = xmalloc(k->n * sizeof *at), nstrata = 0;

	*p = (struct part_of){ 0 };
	for (uint32_t c = 0; c < k->n; c++)
		if (k->island[c] == island && k->same[c] == c) {
			at[c] = (uint32_t)p->clocks.n;
			vec_push(&p->clocks, c);
		}
	p->clock = xmalloc(k->nties * sizeof *p->clock + 1);
	p->stratum = xmalloc(k->nties * sizeof *p->stratum + 1);
	for (size_t i = 0; i < k->nties; i++) {
		const struct tie *t = &k->ties[i];

		if (!counts(t) || k->island[t->clock] != island)
			continue;
		nstrata += p->ties.n == 0 ||
		    p->ties.v[p->ties.n - 1].stratum != t->stratum;
		p->clock[p->ties.n] = at[k->same[t->clock]];
		p->stratum[p->ties.n] = nstrata;
		vec_push(&p->ties, *t);
	}
	p->w = xcalloc(p->ties.n + 1, sizeof *p->w);
	p->value = xcalloc(p->ties.n + 1, sizeof *p->value);
	p->x = xcalloc(p->clocks.n + 1, sizeof *p->x);
	p->zero = xcalloc(p->clocks.n + 1, sizeof *p->zero);
	p->v = xcalloc(p->clocks.n + 1, sizeof *p->v);
	p->sys = (struct system){ .n = p->clocks.n,
		.nties = p->ties.n,
		.nstrata = nstrata,
		.ties = p->ties.v,
		.clock = p->clock,
		.stratum = p->stratum,
		.w = p->w };
	free(at);
}

static void
part_close(struct part_of *p)
{
	vec_free(&p->ties);
	vec_free(&p->clocks);
	free(p->clock);
	free(p->stratum);
	free(p->w);
	free(p->value);
	free(p->x);
	free(p->zero);
	free(p->v);
}

struct place {
	double offset;
	uint32_t at, first;
};

static int
by_offset(const void *x, const void *y)
{
	const struct place *a = x, *b = y;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

/*
 * Zero is where most ranks are, of equally many where the lowest is: not the
 * median, which may lie between two hosts, and not one rank's noise.
 */
static void
find_zero(const struct solver *k, struct part_of *p, double half_span)
{
	size_t n = p->clocks.n, from = 0, best = 0;
	struct place *list = xmalloc(n * sizeof *list);
	uint64_t most = 0;
	uint32_t lowest = UINT32_MAX;

	for (uint32_t i = 0; i < n; i++)
		list[i] = (struct place){ k->offset[p->clocks.v[i]], i,
			p->clocks.v[i] };
	stable_sort(list, n, sizeof *list, by_offset);
	for (int pass = 0; pass < 2; pass++) {
		from = 0;
		for (size_t i = pass == 0 ? 0 : best; i < n; i++) {
			double drift = k->drift[list[i].first];
			uint64_t nranks = 0;
			uint32_t first = UINT32_MAX;

			while (list[from].offset < list[i].offset - ALIKE_NS)
				from++;
			for (size_t m = from; m < n &&
			     list[m].offset <= list[i].offset + ALIKE_NS;
			     m++) {
				uint32_t c = list[m].first;

				if (fabs(k->drift[c] - drift) * half_span >
				    ALIKE_NS)
					continue;
				nranks += ranks_of(k, c);
				first = c < first ? c : first;
				if (pass == 1)
					p->zero[list[m].at] = ranks_of(k, c);
			}
			if (pass == 0 &&
			    (nranks > most ||
				(nranks == most && first < lowest))) {
				most = nranks;
				lowest = first;
				best = i;
			}
			if (pass == 1)
				break;
		}
	}
	for (size_t i = 0; i < n; i++)
		p->zero[i] /= (double)most;
	free(list);
}

static double
mean_of_zero(const struct part_of *p, const double *of)
{
	double sum = 0;

	for (size_t i = 0; i < p->clocks.n; i++)
		sum += p->zero[i] * of[p->clocks.v[i]];
	return sum;
}

/* ---- drift ---- */

static bool
may_drift(const struct solver *k, uint32_t island, int64_t span)
{
	for (size_t c = 0; c < k->n; c++)
		if (k->island[c] == island && k->out[c].nties < DRIFT_TIES)
			return false;
	return span >= DRIFT_SPAN_NS;
}

/* Adds what strata say of drift still; the largest step. */
static double
add_drift(struct solver *k, uint32_t island)
{
	struct part_of p;
	double most = 0;

	part_open(k, &p, island);
	for (size_t i = 0; i < p.ties.n; i++) {
		/* in ns a second, as the system is solved to so many ns */
		p.value[i] = p.ties.v[i].slope * 1e9;
		p.w[i] = p.ties.v[i].slope_w;
	}
	system_solve(&p.sys, p.value, p.x);
	for (size_t i = 0; i < p.clocks.n; i++) {
		p.x[i] /= 1e9;
		most = fmax(most, fabs(p.x[i] - p.x[0]));
		k->drift[p.clocks.v[i]] += p.x[i] - p.x[0];
	}
	part_close(&p);
	for (uint32_t c = 0; c < k->n; c++)
		if (k->island[c] == island)
			k->drift[c] = k->drift[k->same[c]];
	return most;
}

/* Whether any drifts by what matters, all against the zero. */
static bool
judge_drift(struct solver *k, uint32_t island, double half_span)
{
	struct part_of p;
	bool is_kept = false, is_absurd = false;
	double growth, zero;

	part_open(k, &p, island);
	join_clocks(&p.sys, p.x, &growth);
	for (size_t i = 0; i < p.clocks.n; i++)
		k->offset[p.clocks.v[i]] = p.x[i];
	find_zero(k, &p, half_span);
	zero = mean_of_zero(&p, k->drift);
	for (size_t i = 0; i < p.ties.n; i++)
		p.w[i] = p.ties.v[i].slope_v > 0 ? 1 / p.ties.v[i].slope_v : 0;
	system_variance(&p.sys, p.zero, p.v);
	for (size_t i = 0; i < p.clocks.n; i++) {
		uint32_t c = p.clocks.v[i];
		double moved = fabs(k->drift[c] -= zero) * half_span;

		k->drift_v[c] = p.v[i];
		is_absurd |= !(fabs(k->drift[c]) < DRIFT_MAX);
		is_kept |= moved >
		    fmax(DRIFT_MATTERS_NS, DRIFT_U * sqrt(p.v[i]) * half_span);
	}
	part_close(&p);
	return is_kept && !is_absurd;
}

static void
find_drift(struct solver *k)
{
	int64_t middle, *spans = xcalloc(k->nislands + 1, sizeof *spans);
	bool *may = xcalloc(k->nislands + 1, sizeof *may), any = false;

	for (uint32_t i = 0; i < k->nislands; i++) {
		find_span(k, i, &middle, &spans[i]);
		any |= may[i] = may_drift(k, i, spans[i]);
	}
	for (int round = 0; any && round < DRIFT_ROUNDS; round++) {
		double most = 0;

		solve_strata(k, round < DRIFT_PLAIN, true);
		for (uint32_t i = 0; i < k->nislands; i++)
			if (may[i])
				most = fmax(most,
				    add_drift(k, i) * (double)spans[i] / 2);
		if (most < DRIFT_SETTLED_NS && round >= DRIFT_PLAIN)
			break;
	}
	if (any)
		solve_strata(k, false, true);
	for (uint32_t i = 0; i < k->nislands; i++) {
		bool is_kept =
		    may[i] && judge_drift(k, i, (double)spans[i] / 2);

		for (size_t c = 0; c < k->n && !is_kept; c++)
			if (k->island[c] == i)
				k->drift[c] = k->drift_v[c] = 0;
	}
	if (any)
		solve_strata(k, false, false);
	free(spans);
	free(may);
}

/* ---- offsets ---- */

static void
solve_island(struct solver *k, uint32_t island)
{
	int64_t middle, span;
	struct part_of p;
	double growth, zero, slow;

	find_span(k, island, &middle, &span);
	part_open(k, &p, island);
	join_clocks(&p.sys, p.x, &growth);
	for (size_t i = 0; i < p.clocks.n; i++)
		k->offset[p.clocks.v[i]] = p.x[i] +
		    ends_between(
			k->guess[p.clocks.v[i]], k->guess[p.clocks.v[0]]);
	find_zero(k, &p, (double)span / 2);
	system_variance(&p.sys, p.zero, p.v);
	zero = mean_of_zero(&p, k->offset);
	slow = mean_of_zero(&p, k->drift);
	for (size_t i = 0; i < p.clocks.n; i++) {
		uint32_t c = p.clocks.v[i];

		k->offset[c] -= zero;
		k->offset_v[c] = p.v[i] * growth;
		k->drift[c] -= slow;
	}
	for (uint32_t c = 0; c < k->n; c++) {
		uint32_t same = k->same[c];
		struct solved_clock *o = &k->out[c];

		if (k->island[c] != island)
			continue;
		k->offset[c] = k->offset[same];
		k->offset_v[c] = k->offset_v[same];
		k->drift[c] = k->drift[same];
		o->offset_ns = whole_ns(k->offset[c]);
		o->u_ns = sqrt(k->offset_v[c]);
		o->drift = k->drift[c];
		o->u_drift = sqrt(k->drift_v[c]);
		o->island = island;
		o->span_ns = span;
		/* from here on against the zero, not the guess
		 */
		if (!num_add(middle, k->guess[p.clocks.v[0]], &o->middle_ns) ||
		    !num_add(o->middle_ns, whole_ns(zero), &o->middle_ns))
			o->middle_ns = middle;
	}
	part_close(&p);
}

/* ---- hosts ---- */

/*
 * Clocks of one host become one if their own offsets agree; else each keeps its
 * own, and from_host_ns says by how much they differ. True: some became one.
 */
static bool
join_hosts(struct solver *k)
{
	bool any = false;

	for (uint32_t c = 0; c < k->n && k->job->hosts != NULL; c++) {
		uint32_t host = k->job->hosts[c];
		double sum = 0, nranks = 0;
		bool is_first = true, agree = true;

		if (host == CLOCK_HOST_NONE ||
		    k->island[c] == CLOCK_ISLAND_NONE)
			continue;
		for (uint32_t o = 0; o < k->n; o++)
			if (k->job->hosts[o] == host &&
			    k->island[o] == k->island[c]) {
				is_first &= o >= c;
				sum += k->offset[o];
				nranks++;
			}
		if (!is_first || nranks < 2)
			continue;
		for (uint32_t o = 0; o < k->n; o++)
			if (k->job->hosts[o] == host &&
			    k->island[o] == k->island[c])
				agree &= fabs(k->offset[o] - sum / nranks) <=
				    fmax(
					HOST_NS, HOST_U * sqrt(k->offset_v[o]));
		for (uint32_t o = c; o < k->n; o++)
			if (k->job->hosts[o] == host &&
			    k->island[o] == k->island[c]) {
				double others =
				    (sum - k->offset[o]) / (nranks - 1);

				if (agree)
					k->same[o] = c;
				else
					k->out[o].from_host_ns =
					    whole_ns(k->offset[o] - others);
			}
		any |= agree;
	}
	return any;
}

static void
solve_islands(struct solver *k)
{
	for (uint32_t i = 0; i < k->nislands; i++)
		solve_island(k, i);
}

void
solve_clocks(const struct solve_job *job, struct solved_clock *out)
{
	struct solver k = { .job = job, .out = out, .n = job->nclocks };
	int64_t span;

	if (job->nclocks == 0)
		return;
	k.guess = xcalloc(k.n, sizeof *k.guess);
	k.drift = xcalloc(k.n, sizeof *k.drift);
	k.drift_v = xcalloc(k.n, sizeof *k.drift_v);
	k.offset = xcalloc(k.n, sizeof *k.offset);
	k.offset_v = xcalloc(k.n, sizeof *k.offset_v);
	k.island = xmalloc(k.n * sizeof *k.island);
	k.same = xmalloc(k.n * sizeof *k.same);
	k.first = xcalloc(job->nstrata + 1, sizeof *k.first);
	for (uint32_t c = 0; c < k.n; c++) {
		k.same[c] = c;
		out[c] = (struct solved_clock){ .island = CLOCK_ISLAND_NONE };
	}
	for (size_t i = 0; i < job->nstrata; i++)
		k.first[i + 1] = k.nties += job->strata[i].n;
	k.ties = xcalloc(k.nties + 1, sizeof *k.ties);
	clocks_guess(job, k.guess);
	find_span(&k, CLOCK_ISLAND_NONE, &k.middle_ns, &span);
	solve_strata(&k, false, false);
	find_islands(&k);
	find_drift(&k);
	solve_islands(&k);
	if (join_hosts(&k))
		solve_islands(&k);
	free(k.guess);
	free(k.drift);
	free(k.drift_v);
	free(k.offset);
	free(k.offset_v);
	free(k.island);
	free(k.same);
	free(k.first);
	free(k.ties);
}
