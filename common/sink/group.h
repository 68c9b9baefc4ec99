/* SPDX-License-Identifier: MIT */
/*
 * group: groups of records with equal words, for a sink that keeps its records
 * and prints tables of them. The sink decides the words; here a record is a
 * number.
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
	size_t first, n;               /* members, in order of addition */
	int64_t sums[SINK_GROUP_SUMS]; /* set by the sink */
	uint8_t summed; /* set by the sink: a bit for each sum with a value */
	uint64_t least; /* the first record's id; UINT64_MAX: no records */
};

struct sink_total {
	uint64_t n;
	int64_t sum;
};

/* Starts as zeroes. */
struct sink_groups {
	VEC(struct sink_group)
	list;              /* sorted by cmp after sink_groups_finish() */
	uint32_t *members; /* group by group */
	size_t base;       /* number of the first record; constant */
	size_t nwords;     /* of keys; 0: SINK_GROUP_WORDS */
	/*
	 * set by the sink: records of each source, and the sum of their numbers
	 */
	VEC(struct sink_total) totals;
	/* private */
	struct map by_key;
	uint32_t recent[64]; /* by hash, plus 1: groups recur */
	VEC(uint32_t) of;    /* by record: its group, or none */
};

/* -1, 0 or 1; members may be read. */
typedef int sink_group_cmp(const void *arg, const struct sink_groups *gs,
    const struct sink_group *a, const struct sink_group *b);

/*
 * The next record's group, by SINK_GROUP_WORDS words; valid until the next
 * call. Ends the program if there are too many records to number.
 */
struct sink_group *sink_groups_add(struct sink_groups *gs, const uint64_t *key);
/* The next record is in no group. */
void sink_groups_skip(struct sink_groups *gs);
/* The group of a key, without a record of it, or NULL: for sums over groups. */
struct sink_group *sink_groups_of_key(
    struct sink_groups *gs, const uint64_t *key);
/* Lists the members and sorts the groups. */
void sink_groups_finish(
    struct sink_groups *gs, sink_group_cmp *cmp, const void *arg);
void sink_groups_free(struct sink_groups *gs);

/* Member i of a group. */
static inline uint32_t
sink_group_member(
    const struct sink_groups *gs, const struct sink_group *gr, size_t i)
{
	return gs->members[gr->first + i];
}

#endif
