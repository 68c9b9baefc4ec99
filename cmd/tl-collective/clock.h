/* SPDX-License-Identifier: MIT */
/*
 * The ranks' clocks: strata.c hands the job's collectives to the solver,
 * causality.c proves without it that clocks are off, clock.c judges and removes
 * offset and drift if asked.
 */
#ifndef TL_COLLECTIVE_CLOCK_H
#define TL_COLLECTIVE_CLOCK_H

#include "cmd/tl-collective/job.h"
#include "cmd/tl-collective/solve.h"

/* ---- strata.c ---- */

/* All ranks leave it together, and they are on more than one clock. */
bool coll_tells_time(const struct job *j, const struct coll *c);

struct strata {
	struct solve_stratum *v;
	size_t n, cap;
};
void strata_make(const struct job *j, struct strata *out);
void strata_free(struct strata *s);

/* Resolution of each rank's times. */
int64_t *clock_ticks(const struct job *j);

/* ---- clock.c ---- */

/* Uncertainty of a clock, at either end of the job. */
double clock_u_ns(const struct rank_info *i);
/* The time on the island's clock, as far as the rank's is known. */
int64_t clock_true(const struct rank_info *i, int64_t ns);
struct causality;
/* From the collectives as they are matched now. */
void clocks_solve(struct job *j, struct causality *c);

/* ---- causality.c ---- */

/*
 * No rank leaves a collective before the last one has come: if one does, a
 * clock is off, or it is not one collective. Counted as recorded, and by the
 * solution for ranks whose clocks are known.
 */
struct causality {
	size_t n, nbefore; /* groups for which it is proven */
	struct {
		size_t n, nbefore, nafter;
	} * of; /* of each group */
	/* collectives that do the same, where the solution breaks most */
	size_t nworst, nworst_broken;
	uint32_t worst; /* the first of them */
};

void causality_find(const struct job *j, struct causality *c);
/* Whether they are enough for a proof. */
bool causality_is_broken(size_t n, size_t nbroken);

/* ---- alike.c ---- */

/* Finds ranks whose clocks agree, as on one host. */
void clocks_find_alike(struct job *j);
/* Appends ranks whose clocks are off: "3; 8-15 alike". */
void put_off(struct buf *b, const struct job *j);

/* ---- shift.c ---- */

/*
 * Where collectives of a group end before they start on solved clocks: moves a
 * rank's matches by one, if that mends them, and solves the clocks again.
 */
void shifts_find(struct job *j, struct causality *c);

#endif
