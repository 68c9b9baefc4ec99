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

/*
 * columns.c: the table of edit distances of two lists, or a band of it: E[i][j]
 * is the distance of the first i symbols of a and the first j of b.
 */
struct columns;

/* Neither list is empty; they have to outlive the table. */
struct columns *columns_create(
    const uint32_t *a, size_t m, const uint32_t *b, size_t n);
void columns_destroy(struct columns *c);

/*
 * Works out a band: that of the diagonals from that of the first cell to that
 * of the last, and so many beyond them on both sides; SIZE_MAX for all. E of
 * the last cell, or more where the band is too narrow.
 */
uint64_t columns_fill(struct columns *c, size_t width);
/* Whether what the band says of (i, j) and of (i - 1, j) is right, if E is e.
 */
bool columns_are_right(const struct columns *c, size_t i, size_t j, uint64_t e);
/*
 * Whether E[i][j] = E[i-1][j] + 1, of i and j from 1. To be asked on a way back
 * from the last cell, that never goes down or to the right. False: the band
 * does not tell.
 */
bool columns_rise(struct columns *c, size_t i, size_t j, bool *rises);

/* ---- pairs.c: alignments that are the same both ways ---- */

/*
 * Which of two lists comes first matters where edits cost the same. So that it
 * does not matter which side is which, the shorter one does, or else that with
 * the lesser text where they first differ: whether that is the second.
 */
bool lists_turned(const struct dict *st, const u32s list[NSIDES]);
/* Numbers for hashes, in place of what is in sym. */
typedef VEC(uint64_t) u64s;
void symbols_of_hashes(const u64s hash[NSIDES], u32s sym[NSIDES]);
/* Replaces out. */
void align_lists(const u32s list[NSIDES], bool turned, pairs *out);

/*
 * Equal symbols that are left over on both sides have moved past others, and
 * belong together: the first of one with the first of the other. Each stands
 * where the first side has it, or in moved if that is not NULL. INTERN_NONE
 * does not move.
 */
void pairs_moved(pairs *p, const u32s sym[NSIDES], pairs *moved);
/* Of each place of lists of n its match, or NONE: into empty lists. */
void pairs_matches(const pairs *ops, const size_t n[NSIDES], u32s of[NSIDES]);
/* pairs_between() where the pairs are in both sides' order. */
void pairs_renamed(pairs *p);

/*
 * Between two matches, as many of one side as of the other are taken for the
 * same ones under other names: pairs by place. Of lists of m and n; the pairs
 * are put in order.
 */
void pairs_between(pairs *ops, size_t m, size_t n);

/* ---- matching ---- */

#define LEVELS 4

/*
 * What is below a node, level by level: the names 1 to 4 below it on the GPU
 * path, each level a multiset; behind the first empty one all are empty.
 */
struct levels {
	uint64_t hash[LEVELS]; /* 0: empty */
};

/* What is known of a name in the lists at hand. */
struct mark {
	uint32_t in[NSIDES]; /* stamp: this list has it */
	uint32_t added;      /* stamp: it was added to a list */
	uint32_t place;      /* there */
};

/* Two runs whose nodes are matched; all else is to be zeroed before. */
struct matcher {
	const struct side *side[NSIDES];
	struct norms *nm;
	struct map levels_of; /* node and side to place in levels */
	VEC(struct levels) levels;
	VEC(struct mark) marks; /* by name */
	uint32_t stamp;
	u32s list[NSIDES]; /* children that are to be matched */
	u32s free[NSIDES]; /* of them, what is unmatched */
	u32s sym[NSIDES];
	u32s kids, next;
	pairs places; /* of an alignment */
	pairs ops;    /* nodes */
};

void matcher_free(struct matcher *m);
/*
 * match.c: which children belong together. Pairs of nodes, in order; valid
 * until the next call. at may be replaced.
 */
const pairs *match_children(struct matcher *m, uint32_t at[NSIDES]);
/* roots.c: the roots of both sides */
const pairs *match_roots(struct matcher *m);

static inline const struct node *
match_node(const struct matcher *m, int side, uint32_t at)
{
	return &m->side[side]->nodes.v[at];
}

/* Names of nodes, or names without functions: into sym. */
void match_symbols(struct matcher *m, const u32s nodes[NSIDES], bool loose);
/* The places of two lists of nodes, aligned by these. Replaces out. */
void match_aligned(
    struct matcher *m, const u32s nodes[NSIDES], bool loose, pairs *out);
/* What of these places become nodes, behind those in ops. */
void match_push(
    struct matcher *m, const u32s nodes[NSIDES], const pairs *places);
/* Whether something is left over on both sides. */
bool pairs_have_both(const pairs *ops);

/*
 * similar.c: pairs nodes of one name by what is below them, where a name stands
 * more than once; ops are places in the lists. They may be replaced.
 */
void similar_decide(struct matcher *m, const u32s nodes[NSIDES], pairs *ops);

#endif
