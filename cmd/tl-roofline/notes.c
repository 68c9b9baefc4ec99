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

#include "cmd/tl-roofline/roof.h"

static unsigned
tier_of(struct str name)
{
	static const struct str steps[] = { STR_INIT("execute_"),
		STR_INIT("step["), STR_INIT("prefill["), STR_INIT("decode[") };

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		if (str_starts(name, steps[i]))
			return str_find(name, STR("sqsq"), false) >= 0 ? 0 : 1;
	return 2;
}

void
notes_add(struct roof_state *g, const struct event *ev)
{
	struct str name = strings_get(g->strings, ev->name);
	struct notes *list = &g->notes[tier_of(name)];
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
sort(struct notes *l)
{
	if (l->list.n > 0)
		qsort(l->list.v, l->list.n, sizeof *l->list.v, by_start);
	for (uint32_t i = 0; i < l->list.n; i++) {
		uint32_t up = i > 0 ? i - 1 : NO_INDEX;

		while (up != NO_INDEX && l->list.v[up].end <= l->list.v[i].end)
			up = l->list.v[up].up;
		l->list.v[i].up = up;
	}
	l->is_sorted = true;
}

/* The innermost one that holds a time and goes on behind its end. */
static uint32_t
innermost(struct notes *l, int64_t start, int64_t end)
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
	i = lo > 0 ? (uint32_t)(lo - 1) : NO_INDEX;
	while (i != NO_INDEX && l->list.v[i].end <= end)
		i = l->list.v[i].up;
	return i;
}

struct str
notes_around(struct roof_state *g, const struct node *n)
{
	for (unsigned tier = 0; tier < NOTE_TIERS; tier++) {
		uint32_t i =
		    innermost(&g->notes[tier], n->ts_ns, n->ts_ns + n->dur_ns);

		if (i != NO_INDEX)
			return strings_get(
			    g->strings, g->notes[tier].list.v[i].name);
	}
	return STR("NA");
}

void
notes_clear(struct roof_state *g)
{
	for (unsigned tier = 0; tier < NOTE_TIERS; tier++)
		g->notes[tier].list.n = 0;
}

void
notes_free(struct roof_state *g)
{
	for (unsigned tier = 0; tier < NOTE_TIERS; tier++)
		vec_free(&g->notes[tier].list);
}
