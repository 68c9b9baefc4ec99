/* SPDX-License-Identifier: MIT */
/* Which differences are noise: rows of all runs, and of a rank. */
#ifndef TL_DIFF_JUDGE_H
#define TL_DIFF_JUDGE_H

#include "cmd/tl-diff/changes.h"

struct judge {
	struct changes *c;
	VEC(double) values;         /* of the stratum at hand */
	struct noise_row *rows;     /* by row */
	double independent[NSIDES]; /* share of the samples */
	bool has_steps;             /* a run's sample is its mean step */
};

/* How many events the samples of a side have. */
struct row_counts {
	double n;     /* in a sample, the mean */
	double first; /* in the first of the stratum */
	bool differ;
};

/* Whether it says how times vary. */
static inline bool
is_judged(const struct sample *s)
{
	return s->no != WALK_NO_STEP && !s->is_out;
}

/* Steps of a run that do. */
static inline uint64_t
judged_steps(const struct unit_times *u, uint32_t run)
{
	return u->run_steps.v[run] - (u->left_out.n > 0);
}

/* After the last run: samples, means and the verdict. Sorts times. */
void judge(struct changes *c);
/* Times of one row, or of several, as they are sorted. */
void judge_gather(struct judge *j, const struct row_time *v, size_t n,
    struct noise_row *row, struct row_counts counts[NSIDES]);

/* ---- laws.c ---- */

/* Ends the program where figures contradict each other: a defect of it. */
void changes_keep_laws(const struct changes *c);
/* Of a pair of runs: each GPU event below a root is a row, and only once. */
void stats_keep_laws(const struct diff *d);

#endif
