/* SPDX-License-Identifier: MIT */
/* Judges which differences are noise: of rows over all runs, and of a rank. */
#ifndef TL_DIFF_JUDGE_H
#define TL_DIFF_JUDGE_H

#include "cmd/tl-diff/changes.h"

struct judge {
	struct changes *c;
	VEC(double) values;         /* of the current stratum */
	struct noise_row *rows;     /* by row */
	double independent[NSIDES]; /* share of independent samples */
	bool has_steps;             /* a run's sample is its mean step */
};

/* Numbers of events in a side's samples. */
struct row_counts {
	double n;     /* mean of a sample */
	double first; /* in the stratum's first sample */
	bool differ;
};

/* Whether a time shows how times vary. */
static inline bool
is_judged(const struct sample *s)
{
	return s->no != WALK_NO_STEP && !s->is_out;
}

/* Number of a run's steps that do. */
static inline uint64_t
judged_steps(const struct unit_times *u, uint32_t run)
{
	return u->run_steps.v[run] - (u->left_out.n > 0);
}

/* After the last run: samples, means, verdict. Sorts times. */
void judge(struct changes *c);
/* Gathers times of one or more rows, sorted. */
void judge_gather(struct judge *j, const struct row_time *v, size_t n,
    struct noise_row *row, struct row_counts counts[NSIDES]);

/* ---- laws.c ---- */

/* Ends the program if figures contradict each other: a defect. */
void changes_keep_laws(const struct changes *c);
/* Each GPU event below a root of a pair has exactly one row. */
void stats_keep_laws(const struct diff *d);

#endif
