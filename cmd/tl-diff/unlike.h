/* SPDX-License-Identifier: MIT */
/*
 * Whether the sides are of one model at all. Where they have little work in
 * common, times of what looks alike say nothing: only work of one side is
 * judged.
 */
#ifndef TL_DIFF_UNLIKE_H
#define TL_DIFF_UNLIKE_H

#include "cmd/tl-diff/diff.h"

struct changes;

/* Compute of a side, in percent, and the largest row of it alone. */
struct unlike_side {
	double shared; /* in rows that the other side has, too */
	double alike;  /* of one name and the same arguments */
	double largest;
	uint32_t name; /* INTERN_NONE: it has no such row */
};

struct unlike {
	bool is_so;
	struct unlike_side side[NSIDES];
};

/* Once all rows are there. */
void unlike_find(struct changes *c);
/* That the models differ, where they do, and by what. */
void unlike_say(const struct changes *c, struct buf *b);

#endif
