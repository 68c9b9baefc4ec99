/* SPDX-License-Identifier: MIT */
/* Between phases.c, unwrap.c and roots.c. */
#ifndef TL_DIFF_PHASES_H
#define TL_DIFF_PHASES_H

#include "cmd/tl-diff/align.h"

/* What is known of a name in the lists at hand. */
struct mark {
	uint32_t in[NSIDES];    /* stamp: this list has it */
	uint32_t added[NSIDES]; /* stamp: it was added to this list */
};

struct phases {
	struct duo *d;
	VEC(struct mark) marks; /* by name */
	uint32_t stamp;
	u32s list[NSIDES]; /* children that are to be matched */
	u32s free[NSIDES]; /* of them, what has no partner */
	u32s kids, other;
	u32s sym[NSIDES];
	pairs places; /* of an alignment */
	pairs ops;    /* nodes */
	pairs kept;
};

static inline const struct node *
node_at(const struct phases *p, int side, uint32_t at)
{
	return &p->d->side[side]->nodes.v[at];
}

static inline struct mark *
mark_of(struct phases *p, uint32_t n)
{
	while (p->marks.n <= n)
		vec_push(&p->marks, ((struct mark){ { 0 }, { 0 } }));
	return &p->marks.v[n];
}

/* Names of nodes, or names without functions: into sym. */
void phases_symbols(
    struct phases *p, const u32s *const nodes[NSIDES], bool stripped);
/* The places of two lists of nodes, aligned by these. Replaces out. */
void phases_align(
    struct phases *p, const u32s *a, const u32s *b, bool stripped, pairs *out);
/* The places of two lists as the second phase matches them: into places. */
void phases_match(struct phases *p, const u32s *a, const u32s *b);
/* Places become nodes, behind those in ops. */
void phases_push(
    struct phases *p, const u32s *a, const u32s *b, const pairs *places);
/* Whether something is left over on both sides. */
bool pairs_have_both(const pairs *ops);

/*
 * unwrap.c, the third phase: pairs of the lists' nodes into ops, where what is
 * left over of one side wraps what the other has. False, and nothing done, if
 * nothing does.
 */
bool phases_unwrap(struct phases *p);

#endif
