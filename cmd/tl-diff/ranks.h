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

/* What became slower or faster within a rank: a row of it, a step. */
struct rank_row {
	int64_t ns;
	uint32_t name[NSIDES];
	bool is_no_op;
};

#define RANK_ROWS 3

struct rank_change {
	int64_t rank;
	int64_t run_ns[NSIDES];  /* compute, all of it */
	int64_t unit_ns[NSIDES]; /* of a step; without steps, all of it */
	uint64_t nsteps[NSIDES];
	int64_t steps_ns[NSIDES]; /* compute in these */
	int64_t out_ns[NSIDES];   /* in the first step, where it is no sample */
	/* of a step, by what first steps differ: how they vary is not known */
	int64_t first_ns;
	double structure;     /* in the difference: calls more or less */
	int64_t structure_ns; /* the same, rounded */
	int64_t judged_ns;    /* beyond noise, and structure */
	struct noise noise;
	bool is_known; /* how it varies */
	bool is_named; /* beyond noise */
	bool is_alone; /* and not as the other ranks do */
	/* of one that differs: rows beyond noise that do so its way, largest
	 * first */
	struct rank_row rows[RANK_ROWS];
	size_t nrows; /* all of them */
};

struct rank_changes {
	VEC(struct rank_change) list;
	bool has_steps; /* each, on both sides */
	bool is_known;  /* how some of them vary */
};

struct changes;

/* Or runs or sequences. */
static inline bool
samples_are_steps(const struct settings *set)
{
	return set->by == BY_OP || set->per == PER_STEP;
}

/* Whether samples are steps of ranks. */
static inline bool
ranks_are_judged(const struct settings *set)
{
	return set->pair == PAIR_RANK && samples_are_steps(set);
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
/* Whether some rank differs beyond noise. */
bool ranks_differ(const struct changes *c);
/* Who differs, and the slowest before and after. */
void ranks_notes(const struct changes *c, struct table *t);

/* ---- rank-rows.c ---- */

/* Of each rank: calls more or less, which are no noise. */
void rank_rows_structure(struct changes *c);
/* The rows of a run that differs, judged among themselves. */
void rank_rows_find(
    struct changes *c, uint32_t run, const struct noise_row *whole);

#endif
