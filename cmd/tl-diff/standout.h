/* SPDX-License-Identifier: MIT */
/*
 * A step that took much more compute than the others of its run. It is no
 * difference of the sides, but whoever reads one wants to know.
 *
 * First steps often do, as they load code and choose algorithms. Where they do
 * on both sides they are left out of all samples: they would hide what became
 * of the others.
 */
#ifndef TL_DIFF_STANDOUT_H
#define TL_DIFF_STANDOUT_H

#include "cmd/tl-diff/diff.h"

struct changes;

struct standout {
	bool is_set;
	int side;
	int64_t step, rank; /* its rank, with --pair rank */
	uint64_t run, nothers;
	int64_t ns, excess_ns; /* over the median of the others */
	int64_t row_ns;        /* of that, in the row that grew most */
	uint32_t name[NSIDES];
};

/* First steps that are left out. */
struct warmup {
	bool is_set;
	/* compute, the mean of runs: of first steps, of the median others */
	int64_t ns[NSIDES], others_ns[NSIDES];
};

/* Once all rows are there, and before samples are put together to runs. */
void standout_find(struct changes *c);
void standout_note(const struct changes *c, struct table *t);
void warmup_note(const struct changes *c, struct table *t);

#endif
