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

/* Two names, or one, that something is said of, and how often. */
struct remark {
	uint32_t name[2]; /* INTERN_NONE: without one */
	struct uid uid[2]
		      [NSIDES]; /* of calls of these names: set by who adds */
	uint64_t n;
};

struct remarks {
	VEC(struct remark) list;
	struct map of;
	uint64_t n; /* of all */
};

/* One more; its n is 1 when it is the first. Valid until the next. */
struct remark *remarks_add(struct remarks *r, uint32_t a, uint32_t b);
void remarks_free(struct remarks *r);

/* Of a pair of runs: calls that are matched under different names. */
void names_add_calls(struct remarks *p, const struct diff *d);
/* And launches of different names where the trees part. */
void names_add_launches(struct remarks *p, const struct diff *d);
/* wraps.c: calls around others on one side only, by side. */
void wraps_find(struct remarks told[NSIDES], const struct diff *d);
/* Those around a merged node, the innermost first. Replaces list. */
void wraps_around(const struct diff *d, uint32_t id, int side, u32s *list);

/* "5, as aten::gelu | my::gelu 4 times"; nothing where there are none. */
void remarks_names(
    const struct remarks *r, const struct dict *st, struct buf *b);
/* "5, as cos (4 | 7) before tan (7 | 4) 2 times" */
void remarks_order(
    const struct remarks *r, const struct dict *st, struct buf *b);
/* "5 after, as cast (1) 3 times" */
void remarks_wrappers(const struct remarks *r, const struct dict *st,
    struct str side, struct buf *b);

#endif
