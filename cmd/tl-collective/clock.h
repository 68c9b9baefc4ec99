/* SPDX-License-Identifier: MIT */
/*
 * The ranks' clocks: strata.c gives the job's collectives to the solver,
 * causality.c proves without it that clocks are off, clock.c judges and, where
 * asked for, takes offsets and drift out.
 */
#ifndef TL_COLLECTIVE_CLOCK_H
#define TL_COLLECTIVE_CLOCK_H

#include "cmd/tl-collective/job.h"
#include "cmd/tl-collective/solve.h"

/* ---- strata.c ---- */

/* All its ranks leave it together, and not all of them are on one clock. */
bool coll_tells_time(const struct job *j, const struct coll *c);

struct strata {
	struct solve_stratum *v;
	size_t n, cap;
};
void strata_make(const struct job *j, struct strata *out);
void strata_free(struct strata *s);

/* Of each rank's times. */
int64_t *clock_ticks(const struct job *j);

/* ---- clock.c ---- */

/* How well a clock is known, at either end of the job. */
double clock_u_ns(const struct rank_info *i);
/* On the clock of the island, by what is known of the rank's. */
int64_t clock_true(const struct rank_info *i, int64_t ns);
struct causality;
/* Of the collectives as they are matched now. */
void clocks_solve(struct job *j, struct causality *c);

/* ---- causality.c ---- */

/*
 * No rank leaves a collective before the last one has come: where one does, its
 * clock is off, or the collective is no such one. As recorded, and by the
 * solution, for those whose clocks are all known.
 */
struct causality {
	size_t n, nbefore; /* of those groups where it is proven */
	struct {
		size_t n, nbefore, nafter;
	} * of; /* each group */
	/* of those that do the same, where most are broken by the solution */
	size_t nworst, nworst_broken;
	uint32_t worst; /* the first of them */
};

void causality_find(const struct job *j, struct causality *c);
/* Enough of them for a proof. */
bool causality_is_broken(size_t n, size_t nbroken);

/* ---- alike.c ---- */

/* Which ranks have clocks that agree, as those of one host do. */
void clocks_find_alike(struct job *j);
/* "3; 8-15 alike": those whose clocks are off. */
void put_off(struct buf *b, const struct job *j);

/* ---- shift.c ---- */

/*
 * Where collectives of a group end before they start on solved clocks: matches
 * a rank's one later or earlier, if that mends them, and solves clocks anew.
 */
void shifts_find(struct job *j, struct causality *c);

#endif
