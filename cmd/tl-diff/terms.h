/* SPDX-License-Identifier: MIT */
/*
 * What the time of a step on the clock became, and of what.
 *
 * Steps of one kind are compared: the median step before with the median step
 * after. Its time is the sum of its parts, so the differences of the parts add
 * up to that of the step. The median of an even number is the mean of the
 * middle two, so times are kept twice as long.
 */
#ifndef TL_DIFF_TERMS_H
#define TL_DIFF_TERMS_H

#include "cmd/tl-diff/clock.h"
#include "cmd/tl-diff/diff.h"
#include "trace/noise.h"

struct term {
	uint8_t part;
	bool is_named; /* of idle time of this cause, what the host spent in */
	uint32_t name; /* this event */
	int64_t twice_ns[NSIDES];
	/* a step of the median, and what of this it was in longest; or NULL */
	const struct step_time *step[NSIDES];
	const struct step_piece *piece[NSIDES];
	struct noise noise;
	bool is_known; /* how it varies */
	bool is_noise; /* or no difference */
};

/* Steps of one kind that both sides have. */
struct step_group {
	uint32_t kind;
	uint64_t n[NSIDES];
	int64_t all_ns; /* of both sides */
	/* in terms: TERM_STEP, TERM_BUSY, TERM_OPENED if there is any, parts
	 * by size of their difference, each with what the host spent it in */
	uint32_t first, end;
};

struct clock_changes {
	struct step_times side[NSIDES];
	VEC(struct step_group) groups; /* that with most time first */
	VEC(struct term) terms;
};

struct changes;

const char *term_word(const struct term *t);
/* Once all runs are read. */
void terms_find(struct changes *c);
void terms_free(struct clock_changes *k);

/* One of those that add up to a step's time. */
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

/* The event of a side to look at, or NULL. */
static inline const struct uid *
term_uid(const struct term *t, int side)
{
	const struct step_piece *p = t->piece[side];

	if (t->part == TERM_STEP)
		return t->step[side]->has_uid ? &t->step[side]->uid : NULL;
	return p != NULL && p->has_uid ? &p->uid : NULL;
}

/* Of the steps with most time; NULL: the sides have none of one kind. */
static inline const struct term *
terms_main(const struct clock_changes *k, unsigned part)
{
	return k->groups.n > 0
	    ? &k->terms.v[k->groups.v[0].first + part - TERM_STEP]
	    : NULL;
}

#endif
