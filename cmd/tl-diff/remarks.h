/* SPDX-License-Identifier: MIT */
/* What pairs of events say besides their times. */
#ifndef TL_DIFF_REMARKS_H
#define TL_DIFF_REMARKS_H

#include "cmd/tl-diff/figures.h"

/* Pairs of a GPU stream of one side and one of the other. */
struct stream_pair {
	uint32_t stream[NSIDES];
	uint64_t n;
	int64_t ns[NSIDES];
};

/*
 * Streams have other numbers in another run: those that most pairs of GPU
 * events say belong together are one. What runs on another is counted.
 */
struct stream_pairs {
	VEC(struct stream_pair) list; /* of the pair of runs at hand */
	struct map of;
	struct tally moved; /* on another stream, over all runs */
};

void streams_pair(struct stream_pairs *p, const struct run *const run[NSIDES],
    const uint32_t node[NSIDES]);
/* After the last event of a pair of runs. */
void streams_finish(struct stream_pairs *p);
void streams_free(struct stream_pairs *p);

/* Launches that stand for one another, where the trees part. */
struct launch_pair {
	uint32_t n[NSIDES];
	uint64_t count;
};

struct launch_pairs {
	VEC(struct launch_pair) list;
	struct map of;
};

/* Of a pair of runs. */
void launches_add(struct launch_pairs *p, const struct diff *d);
/* The most frequent pair of names; NULL: none. */
const struct launch_pair *launches_most(const struct launch_pairs *p);
void launches_free(struct launch_pairs *p);

#endif
