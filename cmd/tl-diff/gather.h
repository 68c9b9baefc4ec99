/* SPDX-License-Identifier: MIT */
/* Times of rows as samples of each side: between gather.c and judge.c. */
#ifndef TL_DIFF_GATHER_H
#define TL_DIFF_GATHER_H

#include "cmd/tl-diff/figures.h"
#include "cmd/tl-diff/noise.h"

/* How many events the samples of a row have. */
struct counts {
	size_t nsamples; /* that have any */
	uint64_t n;      /* in the first of the last stratum; 0: none yet */
	bool differ;     /* in some stratum */
};

/*
 * By row, side, stratum and sample. Times that are of no sample are dropped:
 * they say nothing of how times vary.
 */
void gather_sort(struct figures *f);
/* The times of one row, sorted so. */
void gather_row(const struct figures *f, const struct row_time *v, size_t n,
    struct noise_side side[NSIDES], struct counts counts[NSIDES]);
/* Times of samples, by their numbers. */
void gather_sum(const struct figures *f, int64_t *const of[NSIDES],
    struct noise_side side[NSIDES]);

#endif
