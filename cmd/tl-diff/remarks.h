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

/* Two names that stand for one another, and how often. */
struct name_pair {
	uint32_t n[NSIDES];
	uint64_t count;
};

struct name_pairs {
	VEC(struct name_pair) list;
	struct map of;
	uint64_t n; /* of all */
};

/* Of a pair of runs: calls that are matched under different names. */
void names_add_calls(struct name_pairs *p, const struct diff *d);
/* And launches of different names where the trees part. */
void names_add_launches(struct name_pairs *p, const struct diff *d);
/* "WHAT: 5, as aten::gelu | my::gelu 4 times"; nothing where there are none. */
void names_note(const struct name_pairs *p, const struct strings *st,
    const char *what, const char *hint, struct table *t);
void names_free(struct name_pairs *p);

#endif
