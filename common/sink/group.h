/* SPDX-License-Identifier: MIT */
/*
 * group: records with equal words, for a sink that keeps its records and
 * prints tables of them. What the words are is the sink's; a record is known
 * here by its number.
 *
 *	struct sink_groups gs = { 0 };
 *	for (size_t i = 0; i < nrecords; i++) {
 *		if (!wanted(i)) {
 *			sink_groups_skip(&gs);
 *			continue;
 *		}
 *		struct sink_group *gr = sink_groups_add(&gs, key);
 *		stat_add(&gr->sums[0], record[i].dur_ns);
 *	}
 *	sink_groups_finish(&gs, cmp, arg);
 *	for (size_t i = 0; i < gs.list.n; i++)
 *		... gs.list.v[i], sink_group_member(&gs, &gs.list.v[i], 0) ...
 *	sink_groups_free(&gs);
 *
 * Memory: 8 bytes a record and 228 a group.
 */
#ifndef TL_SINK_GROUP_H
#define TL_SINK_GROUP_H

#include "base/base.h"

#define SINK_GROUP_WORDS 18
#define SINK_GROUP_SUMS 6

struct sink_group {
	uint64_t key[SINK_GROUP_WORDS];
	size_t first, n; /* members, in the order in which they were added */
	int64_t sums[SINK_GROUP_SUMS]; /* the sink's */
	uint8_t summed; /* bits of sums: some number is in it; the sink's */
	uint64_t least; /* the first one's id; UINT64_MAX without any */
};

struct sink_total {
	uint64_t n;
	int64_t sum;
};

/* Zeroes to start with. */
struct sink_groups {
	VEC(struct sink_group)
	list;              /* as cmp says, after sink_groups_finish() */
	uint32_t *members; /* group by group */
	size_t base;       /* number of the first record; not changed later */
	size_t nwords;     /* of keys; 0: SINK_GROUP_WORDS */
	/* the sink's: of each source, the records, and their numbers' sum */
	VEC(struct sink_total) totals;
	/* private */
	struct map by_key;
	uint32_t recent[64]; /* by hash, plus 1: groups repeat */
	VEC(uint32_t) of;    /* of each record, or none */
};

/* -1, 0 or 1; members are there to be looked at. */
typedef int sink_group_cmp(const void *arg, const struct sink_groups *gs,
    const struct sink_group *a, const struct sink_group *b);

/*
 * The next record's group, by SINK_GROUP_WORDS words; valid until the next
 * call. Ends the program at more records than can be numbered.
 */
struct sink_group *sink_groups_add(struct sink_groups *gs, const uint64_t *key);
/* The next record is in no group. */
void sink_groups_skip(struct sink_groups *gs);
/* The group of a key without a record in it, or NULL: for sums over groups. */
struct sink_group *sink_groups_of_key(
    struct sink_groups *gs, const uint64_t *key);
/* Lays the members out and sorts the groups. */
void sink_groups_finish(
    struct sink_groups *gs, sink_group_cmp *cmp, const void *arg);
void sink_groups_free(struct sink_groups *gs);

/* The record at i of a group. */
static inline uint32_t
sink_group_member(
    const struct sink_groups *gs, const struct sink_group *gr, size_t i)
{
	return gs->members[gr->first + i];
}

#endif
