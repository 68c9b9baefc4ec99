/* SPDX-License-Identifier: MIT */
/* Calls that both sides make, in another order. */
#ifndef TL_DIFF_ORDER_H
#define TL_DIFF_ORDER_H

#include "cmd/tl-diff/diff.h"

/* Who stands where in a change of order. */
enum swap_part {
	SWAP_FIRST,  /* on the first side; on the second it is behind */
	SWAP_SECOND, /* that one */
	SWAP_ABOVE,  /* what calls both */
	SWAP_PARTS,
};

/* Changes of order that say the same. */
struct swap {
	uint32_t name[SWAP_PARTS]; /* INTERN_NONE above: they are roots */
	struct uid uid[SWAP_PARTS][NSIDES]; /* of the first of them */
	uint64_t n;
};

struct swaps {
	VEC(struct swap) list;
	struct map of; /* hash of the names to the place in the list */
	uint64_t n;    /* calls, as few as may have moved */
};

/* What moved in a pair of runs. */
void swaps_add(struct swaps *w, const struct diff *d);
/* The most frequent ones first; after the last pair. */
void swaps_sort(struct swaps *w);
/* A sentence, if any moved; they are sorted. */
void swaps_note(
    const struct swaps *w, const struct strings *st, struct table *t);
void swaps_free(struct swaps *w);

#endif
