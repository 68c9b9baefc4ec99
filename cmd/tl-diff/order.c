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

#define MAX_TOLD 3

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
	struct swaps *w;
	const struct diff *d;
	uint32_t above; /* merged node, NONE: of roots */
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

/* What was unwrapped is told by its wrapper, if both sides have that. */
static void
climb(const struct order *o, const struct sibling *x, uint32_t at[NSIDES])
{
	const struct merged_node *top = &o->d->merged.list.v[o->above];
	uint32_t up[NSIDES] = { x->at[0], x->at[1] };

	for (;;) {
		for (int s = 0; s < NSIDES; s++) {
			at[s] = up[s];
			up[s] = node_of(o, s, at[s])->parent;
		}
		for (int s = 0; s < NSIDES; s++)
			if (up[s] == NONE || up[s] == top->at[s])
				return;
		if (node_of(o, 0, up[0])->n != node_of(o, 1, up[1])->n)
			return;
	}
}

static void
tell(struct order *o, const struct sibling *first, const struct sibling *second)
{
	struct swap x = { .n = 0 };
	const uint32_t *at[SWAP_PARTS] = { first->at, second->at, NULL };
	uint32_t top[SWAP_ABOVE][NSIDES];
	bool is_new;
	uint64_t *slot;

	if (o->above != NONE) {
		at[SWAP_ABOVE] = o->d->merged.list.v[o->above].at;
		climb(o, first, top[SWAP_FIRST]);
		climb(o, second, top[SWAP_SECOND]);
		for (int p = 0; p < SWAP_ABOVE; p++)
			if (top[0][0] != top[1][0] && top[0][1] != top[1][1])
				at[p] = top[p];
	}
	for (int p = 0; p < SWAP_PARTS; p++) {
		x.name[p] = INTERN_NONE;
		for (int s = 0; s < NSIDES && at[p] != NULL; s++) {
			const struct node *n = node_of(o, s, at[p][s]);

			if (s == 0)
				x.name[p] = n->n;
			x.uid[p][s] = (struct uid){ n->id, n->inst };
		}
	}
	slot = map_put(&o->w->of, hash_bytes(x.name, sizeof x.name), &is_new);
	if (is_new) {
		*slot = o->w->list.n;
		vec_push(&o->w->list, x);
	}
	o->w->list.v[*slot].n++;
	o->w->n++;
}

static void
add_move(struct order *o, const struct sibling *it, const struct sibling *past,
    bool was_before)
{
	if (!o->w->has_first)
		vec_push(&o->w->moves,
		    ((struct move){ it->id, past->id, was_before }));
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
			tell(o, &v[last], &v[i]);
			add_move(o, &v[i], &v[last], false);
			continue;
		}
		for (next = next > i ? next : i; v[next].has_moved; next++)
			;
		tell(o, &v[i], &v[next]);
		add_move(o, &v[i], &v[next], true);
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
swaps_add(struct swaps *w, const struct diff *d)
{
	const struct merged *t = &d->merged;
	struct order o = { .w = w, .d = d, .above = NONE };

	for (size_t i = 0; i < t->roots.n; i++)
		add_sibling(&o, t->roots.v[i]);
	find_among(&o);
	for (o.above = 0; o.above < t->list.n; o.above++) {
		if (merged_type(&t->list.v[o.above]) != MERGED_BOTH)
			continue;
		o.all.n = 0;
		for (uint32_t k = o.above + 1; k < t->list.v[o.above].behind;
		     k = t->list.v[k].behind)
			add_sibling(&o, k);
		find_among(&o);
	}
	if (!w->has_first && w->moves.n > 1)
		qsort(w->moves.v, w->moves.n, sizeof *w->moves.v, by_id);
	w->has_first = true;
	vec_free(&o.all);
	vec_free(&o.list);
}

const struct move *
swaps_move_of(const struct swaps *w, uint32_t id)
{
	const struct move key = { .id = id };

	if (w->moves.n == 0)
		return NULL;
	return bsearch(&key, w->moves.v, w->moves.n, sizeof *w->moves.v, by_id);
}

/* ---- sentences ---- */

static int
by_count(const void *x, const void *y)
{
	const struct swap *a = x, *b = y;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	return (a->uid[0][0].id > b->uid[0][0].id) -
	    (a->uid[0][0].id < b->uid[0][0].id);
}

void
swaps_sort(struct swaps *w)
{
	if (w->list.n > 1)
		qsort(w->list.v, w->list.n, sizeof *w->list.v, by_count);
}

static void
put_part(const struct swap *x, enum swap_part p, const struct strings *st,
    struct buf *b)
{
	char uid[UID_MAX];

	if (x->name[p] != INTERN_NONE)
		text_visible(strings_get(st, x->name[p]), b);
	else
		buf_puts(b, "one without a name");
	for (int s = 0; s < NSIDES; s++) {
		size_t n = uid_put(uid, x->uid[p][s]);

		buf_puts(b, s == 0 ? " (" : " | ");
		buf_put(b, uid, n);
	}
	buf_putc(b, ')');
}

void
swaps_note(const struct swaps *w, const struct strings *st, struct table *t)
{
	struct buf b = { 0 };
	uint64_t told = 0;

	if (w->n == 0)
		return;
	buf_printf(&b, "calls in another order: %" PRIu64, w->n);
	for (size_t i = 0; i < w->list.n && i < MAX_TOLD; i++) {
		const struct swap *x = &w->list.v[i];

		buf_puts(&b, i == 0 ? ": " : "; ");
		if (w->list.n > 1 && x->n > 1)
			buf_printf(&b, "%" PRIu64 " times ", x->n);
		put_part(x, SWAP_FIRST, st, &b);
		buf_puts(&b, " before ");
		put_part(x, SWAP_SECOND, st, &b);
		if (x->name[SWAP_ABOVE] != INTERN_NONE) {
			buf_puts(&b, " below ");
			put_part(x, SWAP_ABOVE, st, &b);
		}
		told += x->n;
	}
	if (told < w->n)
		buf_printf(&b, "; %" PRIu64 " more", w->n - told);
	table_note(t, "%.*s", (int)b.len, b.p);
	buf_free(&b);
}

void
swaps_free(struct swaps *w)
{
	vec_free(&w->list);
	vec_free(&w->moves);
	map_free(&w->of);
}
