/* SPDX-License-Identifier: MIT */
/*
 * Calls in another order: pairs of siblings, of one thread, that cross.
 *
 * As few calls as possible are taken to have moved: all but a longest list that
 * stands in the same order on both sides. Each that moved is told by the next
 * one of that list which it crosses.
 *
 * GPU events are left out: several streams run in any order.
 */
#include "cmd/tl-diff/order.h"

#include <stdlib.h>

/* A pair of siblings. */
struct sibling {
	uint32_t id;
	uint32_t at[NSIDES];
	uint32_t track[NSIDES];
	int64_t ts[NSIDES];
	uint32_t place;  /* on the second side */
	uint32_t before; /* in the longest list that ends here; NONE */
	bool has_moved;
};

struct order {
	struct moves *m;
	struct remarks *told;
	const struct diff *d;
	VEC(struct sibling) all;
	u32s list; /* places in a group */
};

static const struct node *
node_of(const struct order *o, int side, uint32_t at)
{
	return &o->d->side[side]->nodes.v[at];
}

/* ---- both orders ---- */

static int
by_time(const struct sibling *a, const struct sibling *b, int side)
{
	if (a->ts[side] != b->ts[side])
		return a->ts[side] < b->ts[side] ? -1 : 1;
	return (a->at[side] > b->at[side]) - (a->at[side] < b->at[side]);
}

static int
by_thread(const void *x, const void *y)
{
	const struct sibling *a = x, *b = y;

	for (int s = 0; s < NSIDES; s++)
		if (a->track[s] != b->track[s])
			return a->track[s] < b->track[s] ? -1 : 1;
	return by_time(a, b, 0);
}

static int
by_second(const void *x, const void *y, void *arg)
{
	const struct sibling *v = arg;
	const uint32_t *a = x, *b = y;

	return by_time(&v[*a], &v[*b], 1);
}

static void
find_places(struct order *o, struct sibling *v, size_t n)
{
	o->list.n = 0;
	for (uint32_t i = 0; i < n; i++)
		vec_push(&o->list, i);
	qsort_r(o->list.v, n, sizeof *o->list.v, by_second, v);
	for (uint32_t i = 0; i < n; i++)
		v[o->list.v[i]].place = i;
}

/* How many of the lists end in front of this place; o->list has the ends. */
static size_t
ends_before(const struct order *o, const struct sibling *v, uint32_t place)
{
	size_t low = 0, high = o->list.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (v[o->list.v[mid]].place < place)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* A longest list whose places rise: the rest has moved. */
static void
find_moved(struct order *o, struct sibling *v, size_t n)
{
	o->list.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		size_t k = ends_before(o, v, v[i].place);

		v[i].before = k > 0 ? o->list.v[k - 1] : NONE;
		v[i].has_moved = true;
		if (k == o->list.n)
			vec_push(&o->list, i);
		else
			o->list.v[k] = i;
	}
	for (uint32_t i = o->list.v[o->list.n - 1]; i != NONE; i = v[i].before)
		v[i].has_moved = false;
}

/* ---- what is told ---- */

static void
tell(struct order *o, const struct sibling *first, const struct sibling *second,
    bool first_moved)
{
	const struct sibling *of[2] = { first, second };
	struct remark *r = remarks_add(o->told, node_of(o, 0, first->at[0])->n,
	    node_of(o, 0, second->at[0])->n);

	for (int i = 0; i < 2 && r->n == 1; i++)
		for (int s = 0; s < NSIDES; s++) {
			const struct node *n = node_of(o, s, of[i]->at[s]);

			r->uid[i][s] = (struct uid){ n->id, n->inst };
		}
	if (!o->m->is_done)
		vec_push(&o->m->list,
		    ((struct move){ of[!first_moved]->id, of[first_moved]->id,
			first_moved }));
}

/* The next on either side that did not move: one of them crosses it. */
static void
tell_moved(struct order *o, const struct sibling *v, size_t n)
{
	size_t last = n, next = 0;

	for (size_t i = 0; i < n; i++) {
		if (!v[i].has_moved) {
			last = i;
			continue;
		}
		if (last < n && v[last].place > v[i].place) {
			tell(o, &v[last], &v[i], false);
			continue;
		}
		for (next = next > i ? next : i; v[next].has_moved; next++)
			;
		tell(o, &v[i], &v[next], true);
	}
}

/* ---- siblings ---- */

static void
add_sibling(struct order *o, uint32_t id)
{
	const struct merged_node *m = &o->d->merged.list.v[id];
	struct sibling x = { .id = id };

	if (merged_type(m) != MERGED_BOTH)
		return;
	for (int s = 0; s < NSIDES; s++) {
		const struct node *n = node_of(o, s, m->orig[s]);

		if (is_gpu_kind(n->kind))
			return;
		x.at[s] = m->orig[s];
		x.track[s] = n->track;
		x.ts[s] = n->ts;
	}
	vec_push(&o->all, x);
}

static bool
is_in_order(const struct order *o)
{
	for (size_t i = 1; i < o->all.n; i++)
		for (int s = 0; s < NSIDES; s++)
			if (by_time(&o->all.v[i - 1], &o->all.v[i], s) > 0)
				return false;
	return true;
}

static void
find_among(struct order *o)
{
	struct sibling *v = o->all.v;

	if (is_in_order(o))
		return;
	qsort(v, o->all.n, sizeof *v, by_thread);
	for (size_t i = 0, end; i < o->all.n; i = end) {
		for (end = i;
		     end < o->all.n && v[end].track[0] == v[i].track[0] &&
		     v[end].track[1] == v[i].track[1];
		     end++)
			;
		find_places(o, v + i, end - i);
		find_moved(o, v + i, end - i);
		tell_moved(o, v + i, end - i);
	}
}

static int
by_id(const void *x, const void *y)
{
	const struct move *a = x, *b = y;

	return (a->id > b->id) - (a->id < b->id);
}

void
moves_find(struct moves *m, struct remarks *told, const struct diff *d)
{
	const struct merged *t = &d->merged;
	struct order o = { .m = m, .told = told, .d = d };

	for (size_t i = 0; i < t->roots.n; i++)
		add_sibling(&o, t->roots.v[i]);
	find_among(&o);
	for (uint32_t above = 0; above < t->list.n; above++) {
		if (merged_type(&t->list.v[above]) != MERGED_BOTH)
			continue;
		o.all.n = 0;
		for (uint32_t k = above + 1; k < t->list.v[above].behind;
		     k = t->list.v[k].behind)
			add_sibling(&o, k);
		find_among(&o);
	}
	if (!m->is_done && m->list.n > 1)
		qsort(m->list.v, m->list.n, sizeof *m->list.v, by_id);
	m->is_done = true;
	vec_free(&o.all);
	vec_free(&o.list);
}

const struct move *
moves_of(const struct moves *m, uint32_t id)
{
	const struct move key = { .id = id };

	if (m->list.n == 0)
		return NULL;
	return bsearch(&key, m->list.v, m->list.n, sizeof *m->list.v, by_id);
}
