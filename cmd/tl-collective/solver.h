/* SPDX-License-Identifier: MIT */
/*
 * The solver inside (see solve.h), in the order of the work: solve.c has strata
 * and islands, solve-drift.c drift, solve-island.c offsets and the zero,
 * solve-host.c the clocks of one host.
 */
#ifndef TL_COLLECTIVE_SOLVER_H
#define TL_COLLECTIVE_SOLVER_H

#include "cmd/tl-collective/solve.h"

struct solver {
	const struct solve_job *job;
	struct solved_clock *out;
	size_t n; /* clocks */
	int64_t *guess, middle_ns;
	double *drift, *drift_v, *offset, *offset_v;
	uint32_t *island, *same; /* clock that stands for a host's */
	struct tie *ties;
	size_t nties, *first; /* tie of each stratum */
	bool is_again;        /* strata were solved before */
	/* of each island: when, its clocks, its ties in the order of strata */
	size_t nislands;
	int64_t *middles, *spans;
	uint32_t *clocks, *of_island;
	size_t *clocks_from, *ties_from;
	uint32_t *at; /* of a clock among those of the island at hand */
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

/* One island as a system: the clocks that stand for others are none of it. */
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
 * Offsets, and their zero: it is where most ranks are, of equally many where
 * the lowest is; not the median, which may lie between two hosts, and not one
 * rank's noise. By what offsets' variances grow, see join_clocks().
 */
double island_join(struct solver *k, struct island *p);
double island_mean_of_zero(const struct island *p, const double *of);
/* Offsets of an island's clocks, from its ties. */
void solve_island(struct solver *k, uint32_t no);

/* ---- solve-drift.c, solve-host.c ---- */

void find_drift(struct solver *k);
/*
 * Clocks of one host become one if their own offsets agree; else each keeps its
 * own, and from_host_ns says by how much they differ. True: some became one.
 */
bool join_hosts(struct solver *k);

#endif
