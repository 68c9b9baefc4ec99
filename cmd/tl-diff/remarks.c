/* SPDX-License-Identifier: MIT */
/* Remarks: what pairs of runs say besides their times. */
#include <stdlib.h>

#include "cmd/tl-diff/changes.h"
#include "trace/stat.h"

/* One more of two names; its n is 1 when it is the first. */
static struct remark *
remark(struct remarks *r, uint32_t a, uint32_t b)
{
	bool is_new;
	uint64_t *slot = map_put(&r->of, (uint64_t)a << 32 | b, &is_new);

	if (is_new) {
		*slot = r->list.n;
		vec_push(&r->list, ((struct remark){ .name = { a, b } }));
	}
	r->list.v[*slot].n++;
	r->n++;
	return &r->list.v[*slot];
}

/* ---- GPU streams ---- */

void
streams_pair(struct changes *c, const struct side *const side[NSIDES],
    const uint32_t node[NSIDES])
{
	struct stream_pair x = { .stream = { 0 } }, *p;
	bool is_new;
	uint64_t *slot;

	for (int s = 0; s < NSIDES; s++)
		x.stream[s] =
		    side[s]->gpus.v[side[s]->nodes.v[node[s]].extra].stream;
	slot = map_put(
	    &c->stream_of, (uint64_t)x.stream[0] << 32 | x.stream[1], &is_new);
	if (is_new) {
		*slot = c->streams.n;
		vec_push(&c->streams, x);
	}
	p = &c->streams.v[*slot];
	for (int s = 0; s < NSIDES; s++) {
		p->events.n[s]++;
		stat_add(&p->events.ns[s], side[s]->nodes.v[node[s]].dur);
	}
}

static int
by_number_of_events(const void *x, const void *y)
{
	const struct stream_pair *a = x, *b = y;

	if (a->events.n[0] != b->events.n[0])
		return a->events.n[0] > b->events.n[0] ? -1 : 1;
	for (int s = 0; s < NSIDES; s++)
		if (a->stream[s] != b->stream[s])
			return a->stream[s] < b->stream[s] ? -1 : 1;
	return 0;
}

void
streams_finish(struct changes *c)
{
	struct map taken[NSIDES] = { { 0 }, { 0 } };
	struct tally *moved = &c->tallies[TALLY_STREAM];

	if (c->streams.n > 1)
		qsort(c->streams.v, c->streams.n, sizeof *c->streams.v,
		    by_number_of_events);
	for (size_t i = 0; i < c->streams.n; i++) {
		const struct stream_pair *x = &c->streams.v[i];
		bool is_one = map_get(&taken[0], x->stream[0]) == NULL &&
		    map_get(&taken[1], x->stream[1]) == NULL;

		for (int s = 0; s < NSIDES; s++) {
			if (is_one) {
				(void)map_put(&taken[s], x->stream[s], NULL);
				continue;
			}
			moved->n[s] += x->events.n[s];
			stat_add(&moved->ns[s], x->events.ns[s]);
		}
	}
	c->streams.n = 0;
	map_free(&c->stream_of);
	map_free(&taken[0]);
	map_free(&taken[1]);
}

/* ---- names ---- */

/* Calls that are matched under different names. */
static void
tell_name(struct remarks *p, const struct diff *d, const struct merged_node *m)
{
	const struct node *a = node_of(d, 0, m->at[0]);
	const struct node *b = node_of(d, 1, m->at[1]);

	if (is_plain_call(a) && is_plain_call(b) && a->n != INTERN_NONE &&
	    b->n != INTERN_NONE && a->n != b->n)
		(void)remark(p, a->n, b->n);
}

/*
 * The first launch that only this side has below a node, of this kind of work:
 * a kernel instead of a memset is no other name.
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

/* Launches of different names where the trees part. */
static void
tell_launch(struct remarks *p, const struct diff *d, uint32_t id)
{
	static const enum kind kinds[] = { KIND_KERNEL, KIND_MEMCPY,
		KIND_MEMSET };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		uint32_t a = launch_below(d, id, 0, kinds[i]);
		uint32_t b = launch_below(d, id, 1, kinds[i]);

		if (a != INTERN_NONE && b != INTERN_NONE && a != b) {
			(void)remark(p, a, b);
			return;
		}
	}
}

/* ---- order ---- */

/*
 * Calls of one thread in another order, as few as may have moved: all but a
 * longest list that stands in the same order on both sides. Of neighbours on
 * the first side, the second side has the later one first somewhere. GPU events
 * are left out: several streams run in any order.
 */
struct order {
	struct changes *c;
	const struct diff *d;
	bool is_first; /* pair of runs */
	u32s ids;      /* merged nodes that are siblings */
	u32s ends;     /* of lists in order, by length: the least there is */
};

/* By time on a side. */
static int
compare_time(const struct diff *d, int side, uint32_t x, uint32_t y)
{
	uint32_t p = d->merged.list.v[x].orig[side];
	uint32_t q = d->merged.list.v[y].orig[side];
	const struct node *a = node_of(d, side, p), *b = node_of(d, side, q);

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	return (p > q) - (p < q);
}

/* By thread on both sides. */
static int
compare_thread(const struct diff *d, uint32_t x, uint32_t y)
{
	for (int s = 0; s < NSIDES; s++) {
		uint32_t a = node_of(d, s, d->merged.list.v[x].orig[s])->track;
		uint32_t b = node_of(d, s, d->merged.list.v[y].orig[s])->track;

		if (a != b)
			return a < b ? -1 : 1;
	}
	return 0;
}

static int
by_thread(const void *x, const void *y, void *arg)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	int order = compare_thread(arg, a, b);

	return order != 0 ? order : compare_time(arg, 0, a, b);
}

static void
add_sibling(struct order *o, uint32_t id)
{
	const struct merged_node *m = &o->d->merged.list.v[id];

	if (merged_type(m) == MERGED_BOTH &&
	    !is_gpu_kind(node_of(o->d, 0, m->orig[0])->kind) &&
	    !is_gpu_kind(node_of(o->d, 1, m->orig[1])->kind))
		vec_push(&o->ids, id);
}

static void
tell_reversed(struct order *o, uint32_t first, uint32_t second)
{
	const uint32_t id[2] = { first, second };
	const struct node *n[2][NSIDES];
	struct remark *r;

	for (int i = 0; i < 2; i++)
		for (int s = 0; s < NSIDES; s++)
			n[i][s] = node_of(
			    o->d, s, o->d->merged.list.v[id[i]].orig[s]);
	r = remark(&o->c->order, n[0][0]->n, n[1][0]->n);
	o->c->order.n--; /* add_to_lists() counts */
	for (int i = 0; i < 2 && r->n == 1; i++)
		for (int s = 0; s < NSIDES; s++)
			r->uid[i][s] =
			    (struct uid){ n[i][s]->id, n[i][s]->inst };
	if (o->is_first)
		*map_put(&o->c->moved, first, NULL) = second;
}

/* The next on the first side: false if it makes no list longer. */
static bool
add_to_lists(struct order *o, uint32_t id)
{
	size_t low = 0, high = o->ends.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (compare_time(o->d, 1, o->ends.v[mid], id) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == o->ends.n) {
		vec_push(&o->ends, id);
		return true;
	}
	o->ends.v[low] = id;
	return false;
}

static void
tell_order(struct order *o)
{
	bool is_sorted = true;
	u32s *v = &o->ids;

	for (size_t i = 1; i < v->n && is_sorted; i++)
		for (int s = 0; s < NSIDES; s++)
			is_sorted = is_sorted &&
			    compare_time(o->d, s, v->v[i - 1], v->v[i]) <= 0;
	if (!is_sorted)
		qsort_r(v->v, v->n, sizeof *v->v, by_thread,
		    (void *)(uintptr_t)o->d);
	for (size_t i = 0; i < v->n && !is_sorted; i++) {
		bool is_next =
		    i > 0 && compare_thread(o->d, v->v[i - 1], v->v[i]) == 0;

		if (!is_next)
			o->ends.n = 0;
		o->c->order.n += !add_to_lists(o, v->v[i]);
		if (is_next && compare_time(o->d, 1, v->v[i - 1], v->v[i]) > 0)
			tell_reversed(o, v->v[i - 1], v->v[i]);
	}
	v->n = 0;
}

/* ---- wrappers ---- */

/* What a side looked through above a node, the innermost first. */
static void
list_between(const struct diff *d, uint32_t id, int side, u32s *list)
{
	const struct merged_node *m = &d->merged.list.v[id];
	uint32_t end =
	    m->parent != NONE ? d->merged.list.v[m->parent].at[side] : NONE;

	list->n = 0;
	for (uint32_t up = node_of(d, side, m->at[side])->parent;
	     up != end && up != NONE; up = node_of(d, side, up)->parent)
		vec_push(list, up);
}

/*
 * What both have is taken out, by name, each once. As many calls under other
 * names are taken for the same calls, renamed.
 */
void
wrappers_of(const struct diff *d, uint32_t id, u32s around[NSIDES])
{
	u32s *a = &around[0], *b = &around[1];
	size_t n = 0;

	list_between(d, id, 0, a);
	list_between(d, id, 1, b);
	for (size_t i = 0; i < a->n; i++) {
		uint32_t sym = node_of(d, 0, a->v[i])->sym;
		size_t k = 0;

		while (k < b->n && node_of(d, 1, b->v[k])->sym != sym)
			k++;
		if (k == b->n) {
			a->v[n++] = a->v[i];
			continue;
		}
		b->n--;
		memmove(&b->v[k], &b->v[k + 1], (b->n - k) * sizeof *b->v);
	}
	a->n = n;
	if (a->n == b->n)
		a->n = b->n = 0;
}

/* seen: node and side, as one can wrap several. */
static void
tell_wrappers(struct changes *c, const struct diff *d,
    const u32s around[NSIDES], struct map *seen)
{
	for (int s = 0; s < NSIDES; s++)
		for (size_t i = 0; i < around[s].n; i++) {
			uint32_t at = around[s].v[i];
			const struct node *n = node_of(d, s, at);
			struct remark *r;
			bool is_new;

			(void)map_put(
			    seen, (uint64_t)at << 1 | (unsigned)s, &is_new);
			if (!is_new)
				continue;
			r = remark(&c->wrappers[s], n->n, INTERN_NONE);
			if (r->n == 1)
				r->uid[0][0] = (struct uid){ n->id, n->inst };
		}
}

void
tell_tree(struct changes *c, const struct diff *d)
{
	const struct merged *t = &d->merged;
	bool is_first = c->unit[0].nruns == 0;
	struct order o = { .c = c, .d = d, .is_first = is_first };
	u32s around[NSIDES] = { { 0 }, { 0 } };
	struct map seen = { 0 };

	for (size_t i = 0; i < t->roots.n; i++)
		add_sibling(&o, t->roots.v[i]);
	tell_order(&o);
	for (uint32_t id = 0; id < t->list.n; id++) {
		if (merged_type(&t->list.v[id]) != MERGED_BOTH)
			continue;
		for (uint32_t k = id + 1; k < t->list.v[id].behind;
		     k = t->list.v[k].behind)
			add_sibling(&o, k);
		tell_order(&o);
		wrappers_of(d, id, around);
		tell_wrappers(c, d, around, &seen);
		tell_name(&c->calls, d, &t->list.v[id]);
		tell_launch(&c->launches, d, id);
	}
	vec_free(&o.ids);
	vec_free(&o.ends);
	vec_free(&around[0]);
	vec_free(&around[1]);
	map_free(&seen);
}
