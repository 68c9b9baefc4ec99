/* SPDX-License-Identifier: MIT */
/* Remarks: facts about pairs of runs besides their times. */
#include <stdlib.h>

#include "cmd/tl-diff/changes.h"
#include "trace/stat.h"

static struct tally *
count_of(struct match_counts *m, uint32_t a, uint32_t b)
{
	uint32_t at = map_number(&m->number, (uint64_t)a << 32 | b);

	if (at == m->list.n)
		vec_push(&m->list, ((struct match_count){ .of = { a, b } }));
	return &m->list.v[at].events;
}

void
matches_free(struct match_counts *m)
{
	vec_free(&m->list);
	map_free(&m->number);
}

/* ---- GPU streams ---- */

void
streams_pair(struct changes *c, const struct side *const side[NSIDES],
    const uint32_t node[NSIDES])
{
	uint32_t stream[NSIDES];
	struct tally *events;

	for (int s = 0; s < NSIDES; s++)
		stream[s] =
		    side[s]->gpus.v[side[s]->nodes.v[node[s]].extra].stream;
	events = count_of(&c->streams, stream[0], stream[1]);
	for (int s = 0; s < NSIDES; s++) {
		events->n[s]++;
		stat_add(&events->ns[s], side[s]->nodes.v[node[s]].dur);
	}
}

static int
by_number_of_events(const void *x, const void *y)
{
	const struct match_count *a = x, *b = y;

	if (a->events.n[0] != b->events.n[0])
		return a->events.n[0] > b->events.n[0] ? -1 : 1;
	for (int s = 0; s < NSIDES; s++)
		if (a->of[s] != b->of[s])
			return a->of[s] < b->of[s] ? -1 : 1;
	return 0;
}

void
streams_finish(struct changes *c)
{
	struct map taken[NSIDES] = { { 0 }, { 0 } };
	struct tally *moved = &c->tallies[TALLY_STREAM];

	stable_sort(c->streams.list.v, c->streams.list.n,
	    sizeof *c->streams.list.v, by_number_of_events);
	for (size_t i = 0; i < c->streams.list.n; i++) {
		const struct match_count *x = &c->streams.list.v[i];
		bool is_one = map_get(&taken[0], x->of[0]) == NULL &&
		    map_get(&taken[1], x->of[1]) == NULL;

		for (int s = 0; s < NSIDES; s++) {
			if (is_one) {
				(void)map_put(&taken[s], x->of[s], NULL);
				continue;
			}
			moved->n[s] += x->events.n[s];
			stat_add(&moved->ns[s], x->events.ns[s]);
		}
	}
	matches_free(&c->streams);
	map_free(&taken[0]);
	map_free(&taken[1]);
}

/* ---- names ---- */

/* Matched calls with different names. */
static void
tell_name(
    struct match_counts *p, const struct diff *d, const struct merged_node *m)
{
	const struct node *a = node_of(d, 0, m->at[0]);
	const struct node *b = node_of(d, 1, m->at[1]);

	if (is_plain_call(a) && is_plain_call(b) && a->n != INTERN_NONE &&
	    b->n != INTERN_NONE && a->n != b->n)
		count_of(p, a->n, b->n)->n[0]++;
}

/*
 * The first launch below a node that only this side has, of this kind of work:
 * a kernel instead of a memset is no renamed launch.
 */
static uint32_t
launch_below(const struct diff *d, uint32_t id, int side, enum kind kind)
{
	const struct merged *t = &d->merged;

	for (uint32_t k = id + 1; k < t->list.v[id].behind;
	     k = t->list.v[k].behind) {
		uint32_t at = t->list.v[k].at[side], below = NONE;
		const struct node *n;

		if (at == NONE || t->list.v[k].at[!side] != NONE)
			continue;
		n = node_of(d, side, at);
		if (k + 1 < t->list.v[k].behind)
			below = t->list.v[k + 1].at[side];
		if (is_launch_kind(n->kind) &&
		    (n->flags & NODE_GPU_PATH) != 0 && below != NONE &&
		    node_of(d, side, below)->kind == kind)
			return n->n;
	}
	return INTERN_NONE;
}

/* Launches of different names where the trees differ. */
static void
tell_launch(struct match_counts *p, const struct diff *d, uint32_t id)
{
	static const enum kind kinds[] = { KIND_KERNEL, KIND_MEMCPY,
		KIND_MEMSET };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		uint32_t a = launch_below(d, id, 0, kinds[i]);
		uint32_t b = launch_below(d, id, 1, kinds[i]);

		if (a != INTERN_NONE && b != INTERN_NONE && a != b) {
			count_of(p, a, b)->n[0]++;
			return;
		}
	}
}

void
tell_tree(struct changes *c, const struct diff *d)
{
	const struct merged *t = &d->merged;

	for (uint32_t id = 0; id < t->list.n; id++) {
		if (merged_type(&t->list.v[id]) != MERGED_BOTH)
			continue;
		tell_name(&c->calls, d, &t->list.v[id]);
		tell_launch(&c->launches, d, id);
	}
}
