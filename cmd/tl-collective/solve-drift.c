/* SPDX-License-Identifier: MIT */
/* Drift of clocks, from residuals of strata over time. */
#include "cmd/tl-collective/solver.h"

#include <math.h>
#include <stdlib.h>

#include "trace/noise.h"

#define SPAN_LEAST_NS 1000000000
#define TIES_LEAST 20
#define SECOND 1e9 /* solutions are exact to so many ns */
#define SETTLED_NS 200.0
#define MATTERS_NS 10000.0
#define LOOK_NS (MATTERS_NS / 4) /* for a first look */
#define U_LEAST 4.0
#define FALSE_MOST 0.01 /* chance that a job without drift shows one */
#define FREEDOM 15      /* degrees of freedom, of 12 ends each */
#define DRIFT_MAX 1e-3  /* no clock is worse */

static bool
may_drift(const struct solver *k, uint32_t no)
{
	for (size_t i = k->clocks_from[no]; i < k->clocks_from[no + 1]; i++)
		if (k->out[k->clocks[i]].nties < TIES_LEAST)
			return false;
	return k->spans[no] >= SPAN_LEAST_NS;
}

/* The largest drift that strata show still, against the first clock. */
static double
find_slopes(struct island *p)
{
	double most = 0;

	for (size_t i = 0; i < p->ties.n; i++) {
		p->value[i] = p->ties.v[i].slope * SECOND;
		p->w[i] = p->ties.v[i].slope_w;
	}
	system_solve(&p->sys, p->value, p->x);
	for (size_t i = p->clocks.n; i-- > 0;) {
		p->x[i] = (p->x[i] - p->x[0]) / SECOND;
		most = fmax(most, fabs(p->x[i]));
	}
	return most;
}

/* By how much drift moves ends; in most jobs too little to matter. */
static double
look(struct solver *k, uint32_t no)
{
	struct island p;
	double most;

	island_open(k, &p, no);
	most = find_slopes(&p);
	island_close(&p);
	return most * (double)k->spans[no] / 2;
}

static double
add_drift(struct solver *k, uint32_t no)
{
	struct island p;
	double most;

	island_open(k, &p, no);
	most = find_slopes(&p);
	for (size_t i = 0; i < p.clocks.n; i++)
		k->drift[p.clocks.v[i]] += p.x[i];
	island_close(&p);
	return most * (double)k->spans[no] / 2;
}

/*
 * Drift must exceed so many uncertainties: of many clocks one is far off by
 * chance.
 */
static double
least_u(size_t nclocks)
{
	double low = U_LEAST, high = 1000,
	       wide = noise_quantile(FREEDOM) / 1.96;

	while (high - low > 1e-3) {
		double u = (low + high) / 2;

		if (noise_student(u * wide, FREEDOM) * (double)nclocks >
		    FALSE_MOST)
			low = u;
		else
			high = u;
	}
	return low;
}

/*
 * Weighs by variance; one that happens to be low is raised to the common one,
 * as it would count most.
 */
static void
weigh_slopes(struct island *p)
{
	double all = 0, n = 0;

	for (size_t i = 0; i < p->ties.n; i++) {
		const struct tie *t = &p->ties.v[i];

		if (t->slope_w <= 0 || isinf(t->slope_v))
			continue;
		all += t->slope_v * t->slope_w;
		n++;
	}
	for (size_t i = 0; i < p->ties.n; i++) {
		const struct tie *t = &p->ties.v[i];
		double v = t->slope_v;

		if (n > 0 && t->slope_w > 0)
			v = fmax(v, all / n / t->slope_w);
		p->w[i] = v > 0 ? 1 / (v * SECOND * SECOND) : 0;
	}
}

/* Whether any clock drifts by what matters, against the zero. */
static bool
judge_drift(struct solver *k, uint32_t no)
{
	double zero, most = 0, half_span = (double)k->spans[no] / 2, least;
	bool is_kept = false;
	struct island p;

	island_open(k, &p, no);
	(void)island_join(k, &p);
	zero = island_mean_of_zero(&p, k->drift);
	for (size_t i = 0; i < p.clocks.n; i++)
		most = fmax(most, fabs(k->drift[p.clocks.v[i]] -= zero));
	weigh_slopes(&p);
	if (most < DRIFT_MAX && most * half_span > MATTERS_NS)
		system_variance(&p.sys, p.zero, p.v);
	least = least_u(p.clocks.n);
	for (size_t i = 0; i < p.clocks.n; i++) {
		uint32_t c = p.clocks.v[i];

		k->drift_v[c] = p.v[i] / (SECOND * SECOND);
		is_kept |= fabs(k->drift[c]) * half_span >
		    fmax(MATTERS_NS, least * sqrt(k->drift_v[c]) * half_span);
	}
	island_close(&p);
	return is_kept && most < DRIFT_MAX;
}

static void
forget_drift(struct solver *k, uint32_t no)
{
	for (size_t i = k->clocks_from[no]; i < k->clocks_from[no + 1]; i++)
		k->drift[k->clocks[i]] = k->drift_v[k->clocks[i]] = 0;
}

/*
 * First all ends weigh the same, as strong drift is no outlier. Then far ends
 * pull no more than others, which has one solution from any start: of a clock
 * with few ends a late one turns the first line so far that the biweight would
 * keep the few that cross it, and be sure of them.
 */
static const struct phase {
	enum end_weights weights;
	int least, most; /* rounds */
} phases[] = {
	{ WEIGH_ALIKE, 3, 3 },
	{ WEIGH_BOUNDED, 1, 16 },
	{ WEIGH_BIWEIGHT, 1, 16 },
};

static void
settle(struct solver *k, const struct phase *p, const bool *may)
{
	for (int round = 1; round <= p->most; round++) {
		double most = 0;

		solve_strata(k, p->weights, true);
		for (uint32_t i = 0; i < k->nislands; i++)
			if (may[i])
				most = fmax(most, add_drift(k, i));
		if (most < SETTLED_NS && round >= p->least)
			break;
	}
}

void
find_drift(struct solver *k)
{
	bool *may = xcalloc(k->nislands + 1, sizeof *may);
	bool is_long = false, any = false;

	for (uint32_t i = 0; i < k->nislands; i++)
		is_long |= may[i] = may_drift(k, i);
	if (is_long)
		solve_strata(k, WEIGH_BOUNDED, true);
	for (uint32_t i = 0; i < k->nislands; i++)
		any |= may[i] = may[i] && look(k, i) > LOOK_NS;
	for (size_t i = 0; any && i < sizeof phases / sizeof *phases; i++)
		settle(k, &phases[i], may);
	if (any)
		solve_strata(k, WEIGH_BIWEIGHT, true);
	for (uint32_t i = 0; i < k->nislands; i++)
		if (!may[i] || !judge_drift(k, i))
			forget_drift(k, i);
	if (is_long)
		solve_strata(k, WEIGH_BIWEIGHT, false);
	free(may);
}
