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

/* A call that moved, in a merged tree: its node, and one that it crosses. */
struct move {
	uint32_t id, past;
	bool was_before; /* of it, on the first side; behind it on the second */
};

struct swaps {
	VEC(struct swap) list;
	struct map of;          /* hash of the names to the place in the list */
	uint64_t n;             /* calls, as few as may have moved */
	VEC(struct move) moves; /* of the first pair of runs, by id */
	bool has_first;
};

/* What moved in a pair of runs. */
void swaps_add(struct swaps *w, const struct diff *d);
/* How a node of the first pair's merged tree moved; NULL: it did not. */
const struct move *swaps_move_of(const struct swaps *w, uint32_t id);
/* The most frequent ones first; after the last pair. */
void swaps_sort(struct swaps *w);
/* A sentence, if any moved; they are sorted. */
void swaps_note(
    const struct swaps *w, const struct strings *st, struct table *t);
void swaps_free(struct swaps *w);

#endif
