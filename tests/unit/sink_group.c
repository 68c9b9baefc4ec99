/* SPDX-License-Identifier: MIT */
/* sink/group.c: groups of records, against lists made one by one. */
#include "tests/unit/tap.h"

#include "sink/group.h"

static void
key_of(uint64_t key[SINK_GROUP_WORDS], uint64_t first, uint64_t last)
{
	memset(key, 0, SINK_GROUP_WORDS * sizeof *key);
	key[0] = first;
	key[SINK_GROUP_WORDS - 1] = last;
}

static struct sink_group *
add(struct sink_groups *gs, uint64_t first, uint64_t last, int64_t ns)
{
	uint64_t key[SINK_GROUP_WORDS];
	struct sink_group *gr;

	key_of(key, first, last);
	gr = sink_groups_add(gs, key);
	gr->sums[0] += ns;
	return gr;
}

/* The largest sum first; arg counts the calls. */
static int
by_sum(const void *arg, const struct sink_groups *gs,
    const struct sink_group *a, const struct sink_group *b)
{
	++**(size_t *const *)arg;
	if (gs->members == NULL)
		abort();
	return (a->sums[0] < b->sums[0]) - (a->sums[0] > b->sums[0]);
}

static void
by_hand(void)
{
	struct sink_groups gs = { .members = NULL };
	uint64_t key[SINK_GROUP_WORDS];
	size_t ncalls = 0, *at = &ncalls;

	is_uint(
	    add(&gs, 1, 0, 5)->least, UINT64_MAX, "nothing is least at first");
	is_uint(add(&gs, 2, 0, 7)->n, 1, "another first word: another group");
	sink_groups_skip(&gs);
	is_uint(add(&gs, 1, 9, 30)->n, 1, "another last word, too");
	is_uint(add(&gs, 1, 0, 6)->n, 2, "equal words: the same");
	key_of(key, 4, 4);
	is_uint(sink_groups_of_key(&gs, key)->n, 0, "a group without a record");
	key_of(key, 1, 0);
	is_int(sink_groups_of_key(&gs, key)->sums[0], 11, "one that is there");
	sink_groups_finish(&gs, by_sum, &at);
	ok(ncalls > 0, "what the order needs is handed through");
	is_uint(gs.list.n, 4, "groups");
	is_int(gs.list.v[0].sums[0], 30, "the largest first");
	is_int(gs.list.v[1].sums[0], 11, "then the next");
	is_int(gs.list.v[2].sums[0], 7, "and the next");
	is_uint(gs.list.v[3].n, 0, "an empty one is kept");
	is_int(
	    sink_group_member(&gs, &gs.list.v[0], 0), 3, "skipped ones count");
	is_int(sink_group_member(&gs, &gs.list.v[1], 0), 0,
	    "members are in order");
	is_int(sink_group_member(&gs, &gs.list.v[1], 1), 4, "all of them");
	sink_groups_free(&gs);
	ok(gs.members == NULL && gs.list.n == 0, "freed, it is empty");
	sink_groups_finish(&gs, by_sum, &at);
	is_uint(gs.list.n, 0, "none are none");
	sink_groups_free(&gs);
}

#define RECORDS 20000
#define VALUES 61

/* Enough groups that their list moves and hashes collide. */
static void
many(void)
{
	struct sink_groups gs = { .members = NULL };
	static uint64_t words[RECORDS][2];
	static bool seen[RECORDS], known[VALUES][VALUES];
	size_t ncalls = 0, *at = &ncalls, ngroups = 0, wrong = 0;
	uint64_t x = 1;

	for (size_t i = 0; i < RECORDS; i++) {
		x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
		words[i][0] = (x >> 33) % VALUES;
		words[i][1] = (x >> 45) % VALUES;
		if (words[i][0] == 0) {
			sink_groups_skip(&gs);
			continue;
		}
		(void)add(&gs, words[i][0], words[i][1], 1);
		ngroups += !known[words[i][0]][words[i][1]];
		known[words[i][0]][words[i][1]] = true;
	}
	sink_groups_finish(&gs, by_sum, &at);
	is_uint(gs.list.n, ngroups, "a group for each pair");
	for (size_t g = 0; g < gs.list.n; g++) {
		const struct sink_group *gr = &gs.list.v[g];
		uint32_t last = 0;

		wrong += g > 0 && gs.list.v[g - 1].n < gr->n;
		for (size_t k = 0; k < gr->n; k++) {
			uint32_t i = sink_group_member(&gs, gr, k);

			wrong += i >= RECORDS || seen[i] ||
			    words[i][0] != gr->key[0] ||
			    words[i][1] != gr->key[SINK_GROUP_WORDS - 1] ||
			    (k > 0 && i <= last);
			seen[i] = true;
			last = i;
		}
	}
	is_uint(wrong, 0, "each record is in its group, once and in order");
	for (size_t i = 0; i < RECORDS; i++)
		wrong += seen[i] != (words[i][0] != 0);
	is_uint(wrong, 0, "and those that were skipped in none");
	sink_groups_free(&gs);
}

static void
from_a_base(void)
{
	struct sink_groups gs = { .base = 100 };
	size_t ncalls = 0, *at = &ncalls;

	add(&gs, 1, 0, 5);
	add(&gs, 2, 0, 9);
	sink_groups_skip(&gs);
	add(&gs, 1, 0, 2);
	sink_groups_finish(&gs, by_sum, &at);
	is_uint(sink_group_member(&gs, &gs.list.v[0], 0), 101, "numbers go on");
	is_uint(sink_group_member(&gs, &gs.list.v[1], 1), 103,
	    "from the first one");
	sink_groups_free(&gs);
}

int
main(void)
{
	by_hand();
	from_a_base();
	many();
	done_testing();
}
