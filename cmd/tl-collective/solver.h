/* SPDX-License-Identifier: MIT */
/*
 * Inside the solver (see solve.h): solve.c has strata and islands,
 * solve-drift.c drift, solve-island.c offsets and zero, solve-host.c the clocks
 * of one host.
 */
#ifndef TL_COLLECTIVE_SOLVER_H
#define TL_COLLECTIVE_SOLVER_H

#include "cmd/tl-collective/solve.h"

struct solver {
	const struct solve_job *job;
	struct solved_clock *out;
	size_t n; /* number of clocks */
	int64_t *guess, middle_ns;
	double *drift, *drift_v, *offset, *offset_v;
	uint32_t *island, *same; /* same: clock that stands for its host's */
	struct tie *ties;
	size_t nties, *first; /* ties of each stratum */
	bool is_again;        /* strata have been solved once */
	/* of each island: time, clocks, ties by stratum */
	size_t nislands;
	int64_t *middles, *spans;
	uint32_t *clocks, *of_island;
	size_t *clocks_from, *ties_from;
	uint32_t *at; /* index of a clock in the current island */
};

static inline bool
tie_counts(const struct tie *t)
{
	return !isinf(t->v);
}

static inline uint32_t
ranks_of(const struct solver *k, size_t clock)
{
	return k->job->nranks != NULL ? k->job->nranks[clock] : 1;
}

/* ---- solve.c ---- */

void solve_strata(struct solver *k, enum end_weights weights, bool wants_slope);

/* ---- solve-island.c ---- */

/* An island as a system, without clocks that others stand for. */
struct island {
	uint32_t no;
	struct system sys;
	VEC(struct tie) ties;
	VEC(uint32_t) clocks;
	uint32_t *clock, *stratum;
	double *room, *w, *r, *value, *x, *zero, *v;
};

void island_open(struct solver *k, struct island *p, uint32_t no);
void island_close(struct island *p);
/*
 * Solves offsets and their zero, which is where most ranks are, ties: the
 * lowest rank; not the median, which may lie between two hosts, nor one noisy
 * rank. Returns the growth of variances, see join_clocks().
 */
double island_join(struct solver *k, struct island *p);
double island_mean_of_zero(const struct island *p, const double *of);
/* Offsets of an island's clocks from its ties. */
void solve_island(struct solver *k, uint32_t no);

/* ---- solve-drift.c, solve-host.c ---- */

void find_drift(struct solver *k);
/*
 * Joins clocks of one host if their own offsets agree; else each keeps its own,
 * and from_host_ns has the distance. True: some were joined.
 */
bool join_hosts(struct solver *k);

#endif
