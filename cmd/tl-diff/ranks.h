/* SPDX-License-Identifier: MIT */
/*
 * --pair rank: each rank's compute against its own before.
 *
 * Ranks run alike, so steps of all show how much a step varies. Communication
 * waits for others and is not a rank's own.
 */
#ifndef TL_DIFF_RANKS_H
#define TL_DIFF_RANKS_H

#include "cmd/tl-diff/diff.h"
#include "trace/noise.h"

/* A row within a rank that became slower or faster, per step. */
struct rank_row {
	int64_t ns;
	uint32_t name[NSIDES];
	bool is_no_op;
};

#define RANK_ROWS 3

struct rank_change {
	int64_t rank;
	int64_t run_ns[NSIDES];  /* all compute */
	int64_t unit_ns[NSIDES]; /* per step; without steps, all */
	uint64_t nsteps[NSIDES];
	int64_t steps_ns[NSIDES]; /* compute in steps */
	int64_t out_ns[NSIDES];   /* in the first step, if it is no sample */
	/* per step, by first steps, of unknown noise */
	int64_t first_ns;
	/* part of the difference: added or removed calls */
	double structure;
	int64_t structure_ns; /* rounded */
	int64_t judged_ns;    /* beyond noise, or structure */
	struct noise noise;
	bool is_known; /* its noise is known */
	bool is_named; /* beyond noise */
	bool is_alone; /* most ranks do not differ so */
	/* of a rank that differs: its rows beyond noise in the same direction,
	 * largest first */
	struct rank_row rows[RANK_ROWS];
	size_t nrows; /* how many there are */
};

struct rank_changes {
	VEC(struct rank_change) list;
	bool has_steps; /* of each rank, on both sides */
	bool is_known;  /* the noise of some is known */
};

struct changes;

/* Else they are runs or sequences. */
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

/* Adds the current run of a side. */
void ranks_add(struct changes *c, int side, const struct side *r);
/* After times are sorted. */
void ranks_find(struct changes *c);
/* Whether some rank differs beyond noise. */
bool ranks_differ(const struct changes *c);
/* Adds notes on who differs, and on the slowest before and after. */
void ranks_notes(const struct changes *c, struct table *t);

/* ---- rank-rows.c ---- */

/* Added or removed calls of each rank, which are no noise. */
void rank_rows_structure(struct changes *c);
/* Rows of a rank that differs, judged among themselves. */
void rank_rows_find(
    struct changes *c, uint32_t run, const struct noise_row *whole);

#endif
