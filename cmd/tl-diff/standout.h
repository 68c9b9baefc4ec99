/* SPDX-License-Identifier: MIT */
/*
 * A step that took much more compute than the others of its run and phase. It
 * is no difference of the sides, but readers of one want to know.
 *
 * First steps often do, as they load code and choose algorithms. Where they do
 * on both sides, they are no samples of the others, whose changes they would
 * hide. They repeat each other over runs, which judge them; with one run a side
 * their noise is unknown.
 */
#ifndef TL_DIFF_STANDOUT_H
#define TL_DIFF_STANDOUT_H

#include "cmd/tl-diff/diff.h"

struct changes;

struct standout {
	bool is_set;
	int side;
	int64_t step, rank; /* rank: with --pair rank */
	uint64_t run, nothers;
	int64_t ns, excess_ns; /* excess over the median of the others */
	int64_t row_ns;        /* part of it in the row that grew most */
	uint32_t name[NSIDES];
};

/* First steps that are judged apart. */
struct warmup {
	bool is_set;
	bool is_judged; /* over runs */
	/* mean compute of first steps, and of the median others */
	int64_t ns[NSIDES], others_ns[NSIDES];
	struct standout most[NSIDES]; /* first step whose row grew most */
};

/* After all rows, before samples are joined to runs. */
void standout_find(struct changes *c);
void standout_note(const struct changes *c, struct table *t);

/* ---- first.c ---- */

struct family;
struct judge;

/* Judges times of first steps, if they repeat each other; before families. */
void first_judge(struct judge *j);
/* Adds their part to a family, after its rows. */
void first_add(struct family *f);
void first_note(const struct changes *c, struct table *t);

#endif
