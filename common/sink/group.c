/* SPDX-License-Identifier: MIT */
/* Groups of records by their keys; see group.h. */
#include <stdlib.h>

#include "sink/group.h"

#define NO_GROUP UINT32_MAX

static size_t
words_of(const struct sink_groups *gs)
{
	return gs->nwords > 0 ? gs->nwords : SINK_GROUP_WORDS;
}

static bool
is_key_of(const struct sink_groups *gs, size_t at, const uint64_t *key)
{
	const uint64_t *have = gs->list.v[at].key;
	uint64_t differ = 0;

	for (size_t i = 0, n = words_of(gs); i < n; i++)
		differ |= have[i] ^ key[i];
	return differ == 0;
}

/* The group of a key with this hash, made if missing. */
static size_t
look_up(struct sink_groups *gs, const uint64_t *key, uint64_t h)
{
	/* a rare collision tries the next number */
	for (;; h++) {
		bool is_new;
		uint64_t *slot = map_put(&gs->by_key, h, &is_new);

		if (is_new) {
			struct sink_group *gr;

			*slot = gs->list.n;
			gr = vec_add(&gs->list);
			*gr = (struct sink_group){ .least = UINT64_MAX };
			memcpy(gr->key, key, words_of(gs) * sizeof *key);
			return *slot;
		}
		if (is_key_of(gs, *slot, key))
			return *slot;
	}
}

static size_t
find_group(struct sink_groups *gs, const uint64_t *key)
{
	uint64_t h = hash_seed[0];
	size_t n = words_of(gs);
	uint32_t *recent;

	for (size_t i = 0; i < n; i++)
		h = hash_more(h, key[i]);
	recent = &gs->recent[h % (sizeof gs->recent / sizeof *gs->recent)];
	if (*recent == 0 || !is_key_of(gs, *recent - 1, key))
		*recent = (uint32_t)look_up(gs, key, h) + 1;
	return *recent - 1;
}

struct sink_group *
sink_groups_add(struct sink_groups *gs, const uint64_t *key)
{
	size_t at = find_group(gs, key);

	if (gs->of.n >= NO_GROUP - 1)
		die("more than %u records to group", NO_GROUP - 1);
	vec_push(&gs->of, (uint32_t)at);
	gs->list.v[at].n++;
	return &gs->list.v[at];
}

void
sink_groups_skip(struct sink_groups *gs)
{
	if (gs->of.n >= NO_GROUP - 1)
		die("more than %u records to group", NO_GROUP - 1);
	vec_push(&gs->of, NO_GROUP);
}

struct sink_group *
sink_groups_of_key(struct sink_groups *gs, const uint64_t *key)
{
	size_t at = find_group(gs, key); /* which may move the list */

	return &gs->list.v[at];
}

/* qsort() passes no context */
static const struct sink_groups *sorting;
static sink_group_cmp *sorting_cmp;
static const void *sorting_arg;

static int
by_cmp(const void *x, const void *y)
{
	return sorting_cmp(sorting_arg, sorting, x, y);
}

void
sink_groups_finish(struct sink_groups *gs, sink_group_cmp *cmp, const void *arg)
{
	size_t at = 0;

	gs->members = xmalloc((gs->of.n + 1) * sizeof *gs->members);
	for (size_t i = 0; i < gs->list.n; i++) {
		gs->list.v[i].first = at;
		at += gs->list.v[i].n;
		gs->list.v[i].n = 0;
	}
	for (size_t i = 0; i < gs->of.n; i++)
		if (gs->of.v[i] != NO_GROUP) {
			struct sink_group *gr = &gs->list.v[gs->of.v[i]];

			gs->members[gr->first + gr->n++] =
			    (uint32_t)(gs->base + i);
		}
	vec_free(&gs->of);
	map_free(&gs->by_key);
	sorting = gs;
	sorting_cmp = cmp;
	sorting_arg = arg;
	if (gs->list.n > 0)
		qsort(gs->list.v, gs->list.n, sizeof *gs->list.v, by_cmp);
}

void
sink_groups_free(struct sink_groups *gs)
{
	vec_free(&gs->list);
	vec_free(&gs->totals);
	vec_free(&gs->of);
	map_free(&gs->by_key);
	free(gs->members);
	gs->members = NULL;
}
