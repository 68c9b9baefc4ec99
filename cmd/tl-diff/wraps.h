/* SPDX-License-Identifier: MIT */
/* Calls of one side around what both sides have: wrappers put in or taken out.
 */
#ifndef TL_DIFF_WRAPS_H
#define TL_DIFF_WRAPS_H

#include "cmd/tl-diff/diff.h"

/* Wrappers of one name and side. */
struct wrap {
	uint32_t name; /* normalised; INTERN_NONE: without */
	uint8_t side;
	uint64_t n;
	struct uid first; /* of them */
};

struct wraps {
	VEC(struct wrap) list;
	struct map of; /* name and side to the place in the list */
	uint64_t n[NSIDES];
};

/* Of a pair of runs. */
void wraps_add(struct wraps *w, const struct diff *d);
/* The most frequent ones first; after the last pair. */
void wraps_sort(struct wraps *w);
/* A sentence, if there are any; they are sorted. */
void wraps_note(const struct wraps *w, const struct settings *set,
    const struct strings *st, struct table *t);
void wraps_free(struct wraps *w);

/*
 * Those of a side directly around a merged node that both sides have, the
 * innermost first: nodes of its run. Replaces list.
 */
void wraps_around(const struct diff *d, uint32_t id, int side, u32s *list);

#endif
