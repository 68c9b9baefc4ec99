/* SPDX-License-Identifier: MIT */
/*
 * bunch: records with equal words, for a sink that keeps its records and
 * prints tables of them. What the words are is the sink's; a record is known
 * here by its number.
 *
 *	struct bunches gs = { 0 };
 *	for (size_t i = 0; i < nrecords; i++) {
 *		if (!wanted(i)) {
 *			bunches_skip(&gs);
 *			continue;
 *		}
 *		struct bunch *gr = bunches_add(&gs, key);
 *		stat_add(&gr->sums[0], record[i].dur_ns);
 *	}
 *	bunches_finish(&gs, cmp, arg);
 *	for (size_t i = 0; i < gs.list.n; i++)
 *		... gs.list.v[i], bunch_member(&gs, &gs.list.v[i], 0) ...
 *	bunches_free(&gs);
 *
 * Memory: 8 bytes a record and 180 a group.
 */
#ifndef TL_TRACE_BUNCH_H
#define TL_TRACE_BUNCH_H

#include "base/base.h"

#define BUNCH_WORDS 14
#define BUNCH_SUMS 4

struct bunch {
	uint64_t key[BUNCH_WORDS];
	size_t first, n; /* members, in the order in which they were added */
	int64_t sums[BUNCH_SUMS]; /* the sink's */
	uint64_t least;           /* the sink's; UINT64_MAX at first */
};

/* Zeroes to start with. */
struct bunches {
	VEC(struct bunch) list; /* as cmp says, after bunches_finish() */
	uint32_t *members;      /* group by group */
	size_t base; /* number of the first record; not changed later */
	/* private */
	struct map by_key;
	VEC(uint32_t) of; /* of each record, or none */
};

/* -1, 0 or 1; members are there to be looked at. */
typedef int bunch_cmp(const void *arg, const struct bunches *gs,
    const struct bunch *a, const struct bunch *b);

/*
 * The next record's group, by BUNCH_WORDS words; valid until the next call.
 * Ends the program at more records than can be numbered.
 */
struct bunch *bunches_add(struct bunches *gs, const uint64_t *key);
/* The next record is in no group. */
void bunches_skip(struct bunches *gs);
/* The group of a key without a record in it, or NULL: for sums over groups. */
struct bunch *bunches_of_key(struct bunches *gs, const uint64_t *key);
/* Lays the members out and sorts the groups. */
void bunches_finish(struct bunches *gs, bunch_cmp *cmp, const void *arg);
void bunches_free(struct bunches *gs);

/* The record at i of a group. */
static inline uint32_t
bunch_member(const struct bunches *gs, const struct bunch *gr, size_t i)
{
	return gs->members[gr->first + i];
}

#endif
