/* SPDX-License-Identifier: MIT */
/* By how much clocks run fast, from what strata's residuals do over time. */
#include "cmd/tl-collective/solver.h"

#include <math.h>
#include <stdlib.h>

#define SPAN_LEAST_NS 1000000000
#define TIES_LEAST 20
#define ROUNDS 16
#define PLAIN 3 /* of these: strong drift is no outlier */
#define SETTLED_NS 200.0
#define MATTERS_NS 10000.0
#define LOOK_NS (MATTERS_NS / 4) /* at first sight */
#define U_LEAST 4.0
#define DRIFT_MAX 1e-3 /* no clock is that bad */

static bool
may_drift(const struct solver *k, uint32_t no)
{
	for (size_t i = k->clocks_from[no]; i < k->clocks_from[no + 1]; i++)
		if (k->out[k->clocks[i]].nties < TIES_LEAST)
			return false;
	return k->spans[no] >= SPAN_LEAST_NS;
}

/* What strata say of drift still, against the first clock; the largest. */
static double
find_slopes(struct island *p)
{
	double most = 0;

	for (size_t i = 0; i < p->ties.n; i++) {
		/* in ns a second, as the system is solved to so many ns */
		p->value[i] = p->ties.v[i].slope * 1e9;
		p->w[i] = p->ties.v[i].slope_w;
	}
	system_solve(&p->sys, p->value, p->x);
	for (size_t i = p->clocks.n; i-- > 0;) {
		p->x[i] = (p->x[i] - p->x[0]) / 1e9;
		most = fmax(most, fabs(p->x[i]));
	}
	return most;
}

/* How far that moves ends; of most jobs by so little that nothing is to do. */
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

/* Whether any drifts by what matters, all against the zero. */
static bool
judge_drift(struct solver *k, uint32_t no)
{
	double zero, most = 0, half_span = (double)k->spans[no] / 2;
	bool is_kept = false;
	struct island p;

	island_open(k, &p, no);
	(void)island_join(k, &p);
	zero = island_mean_of_zero(&p, k->drift);
	for (size_t i = 0; i < p.clocks.n; i++)
		most = fmax(most, fabs(k->drift[p.clocks.v[i]] -= zero));
	for (size_t i = 0; i < p.ties.n; i++)
		p.w[i] = p.ties.v[i].slope_v > 0 ? 1 / p.ties.v[i].slope_v : 0;
	if (most < DRIFT_MAX && most * half_span > MATTERS_NS)
		system_variance(&p.sys, p.zero, p.v);
	for (size_t i = 0; i < p.clocks.n; i++) {
		uint32_t c = p.clocks.v[i];

		k->drift_v[c] = p.v[i];
		is_kept |= fabs(k->drift[c]) * half_span >
		    fmax(MATTERS_NS, U_LEAST * sqrt(p.v[i]) * half_span);
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

void
find_drift(struct solver *k)
{
	bool *may = xcalloc(k->nislands + 1, sizeof *may), any = false;

	for (uint32_t i = 0; i < k->nislands; i++)
		any |= may[i] = may_drift(k, i) && look(k, i) > LOOK_NS;
	for (int round = 0; any && round < ROUNDS; round++) {
		double most = 0;

		solve_strata(k, round < PLAIN, true);
		for (uint32_t i = 0; i < k->nislands; i++)
			if (may[i])
				most = fmax(most, add_drift(k, i));
		if (most < SETTLED_NS && round >= PLAIN)
			break;
	}
	if (any)
		solve_strata(k, false, true);
	for (uint32_t i = 0; i < k->nislands; i++)
		if (!may[i] || !judge_drift(k, i))
			forget_drift(k, i);
	if (any)
		solve_strata(k, false, false);
	free(may);
}
