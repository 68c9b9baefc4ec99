/* SPDX-License-Identifier: MIT */
/*
 * Are the sides one model at all? With little work in common, times of what
 * looks alike prove nothing: only work of one side is judged.
 */
#ifndef TL_DIFF_UNLIKE_H
#define TL_DIFF_UNLIKE_H

#include "cmd/tl-diff/diff.h"

struct changes;

/* A side's compute in percent, and its largest row that the other side
 * lacks. */
struct unlike_side {
	double shared; /* in common rows */
	double alike;  /* with the same name and arguments */
	double largest;
	uint32_t name; /* INTERN_NONE: no such row */
};

struct unlike {
	bool is_so;
	struct unlike_side side[NSIDES];
};

/* After all rows. */
void unlike_find(struct changes *c);
/* Says by what the models differ, if they do. */
void unlike_say(const struct changes *c, struct buf *b);
void unlike_note(const struct changes *c, struct table *t);

#endif
