/* SPDX-License-Identifier: MIT */
/* Alignments: of symbols, of lists that may be turned round, of nodes. */
#ifndef TL_DIFF_ALIGN_H
#define TL_DIFF_ALIGN_H

#include "cmd/tl-diff/diff.h"

/* ---- align.c: two lists of symbols ---- */

/* A step of an alignment: places in the lists; NONE: one side only. */
struct pair {
	uint32_t a, b;
};
typedef VEC(struct pair) pairs;

/*
 * Unit costs for insertion, deletion, substitution; traced back from the end:
 * equal symbols match, else deletion where it is as cheap, else insertion.
 * Neither list is empty. Appends to out, in order. Time m n / 64; memory at
 * most about ALIGN_BYTES, or 16 (m + n) sqrt(n) / 64 if that is more.
 */
#define ALIGN_BYTES (UINT64_C(64) << 20)
void align_symbols(
    const uint32_t *a, size_t m, const uint32_t *b, size_t n, pairs *out);

/* ---- pairs.c: alignments that are the same both ways ---- */

/*
 * Which of two lists comes first matters where edits cost the same. So that it
 * does not matter which side is which, the shorter one does, or else that with
 * the lesser text where they first differ: whether that is the second.
 */
bool lists_turned(const struct dict *st, const u32s list[NSIDES]);
/* Replaces out. */
void align_lists(const u32s list[NSIDES], bool turned, pairs *out);

/*
 * Equal symbols that are left over on both sides have moved past others, and
 * belong together: the first of one with the first of the other. Each stands
 * where the first side has it, or in moved if that is not NULL. INTERN_NONE
 * does not move.
 */
void pairs_moved(pairs *p, const u32s sym[NSIDES], pairs *moved);
/* pairs_between() where the pairs are in both sides' order. */
void pairs_renamed(pairs *p);

/*
 * Between two matches, as many of one side as of the other are taken for the
 * same ones under other names: pairs by place. Of lists of m and n; the pairs
 * are put in order.
 */
void pairs_between(pairs *ops, size_t m, size_t n);

/* ---- similar.c: which of equal names belong together ---- */

struct level_cache;

/* Two runs, and what is kept between the alignments of their nodes. */
struct duo {
	const struct run *side[NSIDES];
	struct norms *nm;
	struct level_cache *levels[NSIDES];
};

void duo_start(
    struct duo *d, const struct run *a, const struct run *b, struct norms *nm);
void duo_end(struct duo *d);

/*
 * Pairs nodes of one name by what is below them, where a name stands more than
 * once; a and b are nodes, ops places in them. The ops may be replaced.
 */
void similar_decide(struct duo *d, const u32s *a, const u32s *b, pairs *ops);

/* phases.c: which children belong together. */
struct phases;
struct phases *phases_create(struct duo *d);
void phases_destroy(struct phases *p);
/* Pairs of nodes, in order; valid until the next call. at may be replaced. */
const pairs *phases_of(struct phases *p, uint32_t at[NSIDES]);
/* The roots of both sides. roots.c */
const pairs *phases_roots(struct phases *p);

#endif
