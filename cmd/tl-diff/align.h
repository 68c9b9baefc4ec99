/* SPDX-License-Identifier: MIT */
/* Alignments of symbols, of lists in either order, of nodes. */
#ifndef TL_DIFF_ALIGN_H
#define TL_DIFF_ALIGN_H

#include "cmd/tl-diff/diff.h"

/* ---- align.c: two lists of symbols ---- */

/* A step of an alignment: positions in the lists; NONE: only on one side. */
struct pair {
	uint32_t a, b;
};
typedef VEC(struct pair) pairs;

/*
 * Unit costs for insertion, deletion, substitution, traced back from the end:
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

/* Neither list is empty; they must outlive the table. */
struct columns *columns_create(
    const uint32_t *a, size_t m, const uint32_t *b, size_t n);
void columns_destroy(struct columns *c);

/*
 * Computes a band: the diagonals from the first to the last cell and so many
 * beyond them on both sides; SIZE_MAX: all. Returns E of the last cell, too
 * large if the band is too narrow.
 */
uint64_t columns_fill(struct columns *c, size_t width);
/* Whether the band has the right E for (i, j) and (i - 1, j), given E = e. */
bool columns_are_right(const struct columns *c, size_t i, size_t j, uint64_t e);
/*
 * Whether E[i][j] = E[i-1][j] + 1, for i, j > 0. For use on a traceback, which
 * never goes down or right. False: the band does not tell.
 */
bool columns_rise(struct columns *c, size_t i, size_t j, bool *rises);

/* ---- pairs.c: alignments that do not depend on which side is first ---- */

/*
 * Where edits cost the same, the first list decides. So that swapping the sides
 * changes nothing, the shorter list is first, else the one whose text is less
 * at the first difference. True: that is the second.
 */
bool lists_turned(const struct dict *st, const u32s list[NSIDES]);
/* Hashes in place of symbols. */
typedef VEC(uint64_t) u64s;
void symbols_of_hashes(const u64s hash[NSIDES], u32s sym[NSIDES]);
/* Replaces out. */
void align_lists(const u32s list[NSIDES], bool turned, pairs *out);

/*
 * Equal symbols left over on both sides have moved past others and match: the
 * first with the first. Each pair goes where the first side has it, or to moved
 * unless that is NULL. INTERN_NONE does not move.
 */
void pairs_moved(pairs *p, const u32s sym[NSIDES], pairs *moved);
/* The match of each position, or NONE, into empty lists. */
void pairs_matches(const pairs *ops, const size_t n[NSIDES], u32s of[NSIDES]);
/* pairs_between() for pairs in both sides' order. */
void pairs_renamed(pairs *p);

/*
 * Between two matches, as many on one side as on the other are taken for
 * renamed ones and paired by position. Lists of m and n; sorts the pairs.
 */
void pairs_between(pairs *ops, size_t m, size_t n);

/* ---- matching ---- */

#define LEVELS 4

/*
 * Names 1 to 4 levels below a node on the GPU path, each level a multiset;
 * after an empty level all are empty.
 */
struct levels {
	uint64_t hash[LEVELS]; /* 0: empty */
};

/* A name in the current lists. */
struct mark {
	uint32_t in[NSIDES]; /* stamp: in this list */
	uint32_t added;      /* stamp: added to a list */
	uint32_t place;      /* position there */
};

/* Matches nodes of two runs; all after these is zeroed first. */
struct matcher {
	const struct side *side[NSIDES];
	struct norms *nm;
	struct map levels_of; /* node and side to index in levels */
	VEC(struct levels) levels;
	VEC(struct mark) marks; /* by name */
	uint32_t stamp;
	u32s list[NSIDES]; /* children to match */
	u32s free[NSIDES]; /* their unmatched ones */
	u32s sym[NSIDES];
	u32s kids, next;
	pairs places; /* of an alignment */
	pairs ops;    /* nodes */
};

void matcher_free(struct matcher *m);
/*
 * match.c: matches children. Pairs of nodes, in order, valid until the next
 * call. May replace at.
 */
const pairs *match_children(struct matcher *m, uint32_t at[NSIDES]);
/* roots.c: the roots of both sides */
const pairs *match_roots(struct matcher *m);

static inline const struct node *
match_node(const struct matcher *m, int side, uint32_t at)
{
	return &m->side[side]->nodes.v[at];
}

/* Symbols of nodes: names, or if loose names without functions. */
void match_symbols(struct matcher *m, const u32s nodes[NSIDES], bool loose);
/* Aligns two lists of nodes by the symbols; replaces out. */
void match_aligned(
    struct matcher *m, const u32s nodes[NSIDES], bool loose, pairs *out);
/* Appends pairs of positions to ops as pairs of nodes. */
void match_push(
    struct matcher *m, const u32s nodes[NSIDES], const pairs *places);
/* Whether both sides have unmatched ones. */
bool pairs_have_both(const pairs *ops);

/*
 * similar.c: where a name occurs more than once, pairs its nodes by what is
 * below; ops are pairs of positions and may be replaced.
 */
void similar_decide(struct matcher *m, const u32s nodes[NSIDES], pairs *ops);

#endif
