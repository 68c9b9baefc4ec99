/* SPDX-License-Identifier: MIT */
/*
 * Step times before and after, and their parts.
 *
 * Steps of one kind are compared, median with median. A step's time is the sum
 * of its parts, so their differences add up to the step's. The median of an
 * even number is the mean of the middle two, so times are kept doubled.
 */
#ifndef TL_DIFF_TERMS_H
#define TL_DIFF_TERMS_H

#include "cmd/tl-diff/clock.h"
#include "cmd/tl-diff/diff.h"
#include "trace/noise.h"

struct term {
	uint8_t part;
	bool is_named; /* of idle time of this cause, the part */
	uint32_t name; /* of this event */
	int64_t twice_ns[NSIDES];
	/* a step of the median with the longest such event, or NULL */
	const struct step_time *step[NSIDES];
	const struct step_piece *piece[NSIDES];
	struct noise noise;
	bool is_known; /* its noise is known */
	bool is_noise; /* or equal */
};

/* Steps of a kind that both sides have. */
struct step_group {
	uint32_t kind;
	uint64_t n[NSIDES];
	int64_t all_ns; /* total of both sides */
	/* of the median step, doubled: the GPU waits for what is not recorded
	 */
	int64_t twice_lost_ns[NSIDES];
	bool is_lost; /* it is too much to compare the steps */
	/* range of terms: TERM_STEP, TERM_BUSY, TERM_OPENED if any, then parts
	 * by size of their difference, each followed by its events */
	uint32_t first, end;
};

struct clock_changes {
	struct step_times side[NSIDES];
	VEC(struct step_group) groups; /* that with most time first */
	VEC(struct term) terms;
	size_t nunpaired; /* steps without GPU events on one side */
};

struct changes;

const char *term_word(const struct term *t);
/* After all runs. */
void terms_find(struct changes *c);
void terms_free(struct clock_changes *k);

/* Whether it is one of the terms that add up to the step. */
static inline bool
is_part(const struct term *t)
{
	return t->part < PART_COUNT && !t->is_named;
}

static inline int64_t
term_twice_diff(const struct term *t)
{
	return t->twice_ns[1] - t->twice_ns[0];
}

static inline bool
is_mostly_lost(const struct step_group *g, const struct term *step, int side)
{
	return g->twice_lost_ns[side] >= step->twice_ns[side] / 2;
}

/* Whether there are steps to compare, those with most time. */
static inline bool
terms_compare(const struct clock_changes *k)
{
	return k->groups.n > 0 && !k->groups.v[0].is_lost;
}

/* The event of a side to look at, or NULL. */
static inline const struct uid *
term_uid(const struct term *t, int side)
{
	const struct step_piece *p = t->piece[side];

	if (t->part == TERM_STEP)
		return t->step[side]->has_uid ? &t->step[side]->uid : NULL;
	return p != NULL && p->has_uid ? &p->uid : NULL;
}

/* A term of the kind with most time; NULL: no kind in common. */
static inline const struct term *
terms_main(const struct clock_changes *k, unsigned part)
{
	return k->groups.n > 0
	    ? &k->terms.v[k->groups.v[0].first + part - TERM_STEP]
	    : NULL;
}

#endif
