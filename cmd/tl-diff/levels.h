/* SPDX-License-Identifier: MIT */
/* Between decide.c, siblings.c, levels.c and overlap.c. */
#ifndef TL_DIFF_LEVELS_H
#define TL_DIFF_LEVELS_H

#include "cmd/tl-diff/diff.h"

#define LEVELS 4

/* Nodes of one name among two lists; places are those of the lists. */
struct siblings {
	uint32_t id; /* of the name's group */
	const u32s *nodes[NSIDES];
	const uint32_t *place[NSIDES]; /* of this name, ascending */
	size_t n[NSIDES];
	const uint32_t *group[NSIDES]; /* by place */
	const uint32_t *rank[NSIDES];  /* by place: its index in place[] */
	const uint32_t *was[NSIDES];   /* by place: what it was matched with */
	uint32_t *now[NSIDES];         /* by place: what it is paired with */
};

/* siblings.c: pairs them, into now. */
void siblings_pair(struct duo *d, struct siblings *g);

/* The names at a level, sorted. Replaces names. */
void levels_names(struct duo *d, int side, uint32_t at, int level, u32s *names);
/* The hash of the first k levels. */
uint64_t levels_prefix(struct duo *d, int side, uint32_t at, int k);
/* The hash of a level. */
uint64_t levels_hash(struct duo *d, int side, uint32_t at, int level);

/*
 * Pairs nodes that agree up to a level by how many names of it they share.
 * Start, add the places of each side ascending, pair.
 */
struct overlap;
struct overlap *overlap_create(struct duo *d, struct siblings *g);
void overlap_destroy(struct overlap *o);
void overlap_start(struct overlap *o, int level);
void overlap_add(struct overlap *o, int side, uint32_t place);
void overlap_pair(struct overlap *o);

#endif
