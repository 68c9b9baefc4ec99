/* SPDX-License-Identifier: MIT */
/*
 * --pair rank: what each rank's compute became, against its own before.
 *
 * Ranks run alike, so steps of all of them say how much a step varies. Work
 * that waits for others, communication, is not a rank's own.
 */
#ifndef TL_DIFF_RANKS_H
#define TL_DIFF_RANKS_H

#include "cmd/tl-diff/diff.h"
#include "trace/noise.h"

struct rank_change {
	int64_t rank;
	int64_t run_ns[NSIDES];  /* compute, all of it */
	int64_t unit_ns[NSIDES]; /* of a step; without steps, all of it */
	uint64_t nsteps[NSIDES];
	double structure;     /* in the difference: calls more or less */
	int64_t structure_ns; /* the same, rounded */
	int64_t judged_ns;    /* beyond noise, and structure */
	struct noise noise;
	bool is_known; /* how it varies */
	bool is_named; /* beyond noise */
};

struct rank_changes {
	VEC(struct rank_change) list;
	bool has_steps; /* each, on both sides */
	bool is_known;  /* how some of them vary */
};

struct changes;

/* Whether samples are steps of ranks. */
static inline bool
ranks_are_judged(const struct settings *set)
{
	return set->pair == PAIR_RANK &&
	    (set->by == BY_OP || set->per == PER_STEP);
}

static inline int64_t
rank_diff(const struct rank_change *r)
{
	return r->unit_ns[1] - r->unit_ns[0];
}

/* The run at hand of a side. */
void ranks_add(struct changes *c, int side, const struct side *r);
/* Once times are sorted. */
void ranks_find(struct changes *c);
/* Who differs, and the slowest before and after. */
void ranks_notes(const struct changes *c, struct table *t);

#endif
