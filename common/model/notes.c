/* SPDX-License-Identifier: MIT */
/*
 * Annotations around ops: which step of a serving framework an op ran in.
 *
 * Steps lie in other annotations (ProfilerStep#3) and in each other, so the
 * innermost one counts whose name tells the sums that models read, else one
 * that names a step, else any. The names' forms are those of
 * inference_attention.lua, by the words that tell them apart.
 */
#include <stdlib.h>

#include "model/facts.h"

#define NONE UINT32_MAX
#define NTIERS (sizeof((struct notes *)0)->tiers / sizeof(struct note_tier))

/* Each name is looked at once. */
static enum note_rank
rank_of(
    struct notes *n, struct models *ms, const struct dict *st, uint32_t name)
{
	bool is_new;
	uint64_t *rank = map_put(&n->ranks, name, &is_new);

	if (is_new)
		*rank = model_annotation(ms, dict_get(st, name));
	return (enum note_rank) * rank;
}

void
notes_add(struct notes *n, struct models *ms, const struct dict *st,
    const struct event *ev)
{
	struct note_tier *list = &n->tiers[rank_of(n, ms, st, ev->name)];
	int64_t end;

	if ((ev->shape->has & HAS_TS) == 0 ||
	    !num_add(ev->ts_ns, ev->dur_ns, &end))
		return;
	vec_push(&list->list,
	    ((struct note){
		.start = ev->ts_ns, .end = end, .name = ev->name }));
	list->is_sorted = false;
}

static int
by_start(const void *x, const void *y)
{
	const struct note *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

/* And with each the nearest one before it that ends later. */
static void
sort(struct note_tier *l)
{
	if (l->list.n > 0)
		qsort(l->list.v, l->list.n, sizeof *l->list.v, by_start);
	for (uint32_t i = 0; i < l->list.n; i++) {
		uint32_t up = i > 0 ? i - 1 : NONE;

		while (up != NONE && l->list.v[up].end <= l->list.v[i].end)
			up = l->list.v[up].up;
		l->list.v[i].up = up;
	}
	l->is_sorted = true;
}

/* The innermost one that holds a time and goes on behind its end. */
static uint32_t
innermost(struct note_tier *l, int64_t start, int64_t end)
{
	size_t lo = 0, hi = l->list.n;
	uint32_t i;

	if (!l->is_sorted)
		sort(l);
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->list.v[mid].start > start)
			hi = mid;
		else
			lo = mid + 1;
	}
	i = lo > 0 ? (uint32_t)(lo - 1) : NONE;
	while (i != NONE && l->list.v[i].end <= end)
		i = l->list.v[i].up;
	return i;
}

struct str
notes_around(struct notes *n, const struct dict *st, int64_t start, int64_t end)
{
	for (size_t tier = 0; tier < NTIERS; tier++) {
		struct note_tier *l = &n->tiers[tier];
		uint32_t i = innermost(l, start, end);

		if (i != NONE)
			return dict_get(st, l->list.v[i].name);
	}
	return STR("NA");
}

void
notes_clear(struct notes *n)
{
	for (size_t tier = 0; tier < NTIERS; tier++)
		n->tiers[tier].list.n = 0;
}

void
notes_free(struct notes *n)
{
	for (size_t tier = 0; tier < NTIERS; tier++)
		vec_free(&n->tiers[tier].list);
	map_free(&n->ranks);
}
