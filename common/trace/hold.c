/* SPDX-License-Identifier: MIT */
/*
 * hold: keeps what is chosen of one tree, until its end.
 *
 * Trees come in pre-order, and an event has the number of those below it, so it
 * can be written only when all of these are known. The list has the open events
 * (ancestors of the next one) and, between and after them, the kept ones:
 *
 *	event      chosen   list when it has come
 *	a                   a
 *	  b                 a b
 *	    c      yes      a b c
 *	  d                 a b c d     b stays, as c is below it
 *	e                   e           a, b and c were written; d is gone
 *
 * An event with nothing kept below it is the last of the list when its level
 * ends: dropping it shortens the list. Forward ops with a backward op are held
 * until the section ends: only then is it known whether that one is kept.
 */
#include "trace/hold.h"

static struct forest_node *
hold_put(struct hold *h, const struct event *ev, uint32_t depth)
{
	struct forest *f = &h->tree;
	uint32_t i = forest_append(
	    f, ev, depth > 0 ? f->open.v[depth - 1] : FOREST_NONE);
	struct forest_node *n = &f->nodes.v[i];

	n->hold = (struct hold_state){ .depth = depth };
	n->ngpu = 0;
	return n;
}

/* Event i; with_keys: see event_set_keys(). */
static inline void
event_held(struct hold *h, size_t i, bool with_keys, struct event *ev)
{
	const struct hold_state *state = &h->tree.nodes.v[i].hold;

	(with_keys ? forest_event : forest_event_bare)(
	    &h->tree, (uint32_t)i, ev);
	ev->depth = state->depth;
	ev->ndesc = state->ndesc;
}

void
hold_event(struct hold *h, size_t i, struct event *ev)
{
	event_held(h, i, true, ev);
}

/* ---- levels ---- */

/* The deepest open event has ended. */
static void
close_top(struct hold *h)
{
	struct forest *f = &h->tree;
	uint32_t i = f->open.v[--f->open.n];
	const struct forest_node *it = &f->nodes.v[i];
	struct hold_state *up;

	if (!it->hold.is_kept && !it->hold.may_be && !h->is_all) {
		f->nodes.n = i;
		f->vals.len = it->vals;
		if (it->links > 0)
			f->links.n = it->links - 1;
		return;
	}
	if (f->open.n == 0)
		return;
	up = &f->nodes.v[it->up].hold;
	up->is_kept |= it->hold.is_kept;
	up->may_be |= it->hold.may_be;
}

void
hold_add(struct hold *h, const struct stream_in *in, const struct event *ev,
    bool is_chosen)
{
	struct forest *f = &h->tree;
	uint32_t depth = ev->depth;
	struct forest_node *it;

	while (f->open.n > depth)
		close_top(h);
	if (UNLIKELY(depth > f->open.n))
		die("%s: event %" PRIu64 " is at depth %" PRIu32
		    ", but only %zu events are above it: this is no tree",
		    in->name, ev->uid.id, depth, f->open.n);
	if (depth == 0 && !h->may_be && !h->is_all)
		hold_flush(h);
	it = hold_put(h, ev, depth);
	it->hold.is_chosen = it->hold.is_kept = is_chosen;
	it->hold.is_below = is_chosen || hold_is_below(h, depth);
	it->hold.may_be = !h->is_flat && (ev->shape->has & HAS_BWD) != 0;
	h->may_be |= it->hold.may_be;
	vec_push(&f->open, (uint32_t)f->nodes.n - 1);
}

bool
hold_is_below(const struct hold *h, uint32_t depth)
{
	const struct forest *f = &h->tree;

	return depth > 0 && depth <= f->open.n &&
	    f->nodes.v[f->open.v[depth - 1]].hold.is_below;
}

void
hold_wait(struct hold *h, const struct event *ev)
{
	(void)hold_put(h, ev, 0);
}

/* ---- forward ops of kept events ---- */

/* Puts it and its ancestors into the list. */
static void
keep_up(struct hold *h, uint32_t i)
{
	for (; i != FOREST_NONE; i = h->tree.nodes.v[i].up) {
		struct hold_state *it = &h->tree.nodes.v[i].hold;

		if (it->is_kept)
			return;
		it->is_kept = true;
		vec_push(&h->list, i);
	}
}

/* Maps ops to their backward op, once for all that is written. */
static void
find_forwards(struct hold *h)
{
	const struct forest *f = &h->tree;

	for (uint32_t i = 0; i < f->nodes.n; i++) {
		const struct forest_node *it = &f->nodes.v[i];

		if ((f->st->shapes.v[it->shape]->has & HAS_BWD) != 0)
			*map_put(&h->forwards,
			    uid_hash((struct uid){ it->id, it->inst }), NULL) =
			    i;
	}
}

/*
 * A backward op lacks the shapes and the module of its forward op, so programs
 * look there: puts what listed events need into the list.
 */
static void
keep_forwards(struct hold *h)
{
	const struct forest *f = &h->tree;

	if (h->forwards.n == 0)
		find_forwards(h);
	for (size_t k = 0; k < h->list.n; k++) {
		const struct forest_node *it = &f->nodes.v[h->list.v[k]];
		const uint64_t *found = NULL;

		if (it->links > 0 &&
		    (f->st->shapes.v[it->shape]->has & HAS_FWD) != 0)
			found = map_get(&h->forwards,
			    uid_hash(f->links.v[it->links - 1].fwd));
		if (found != NULL)
			keep_up(h, (uint32_t)*found);
	}
}

static int
by_number(const void *pa, const void *pb)
{
	const uint32_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

/* ---- writing ---- */

/* Names of processes and threads, and windows, stay in the prologue. */
#define KINDS_CONTEXT (KIND_BIT(KIND_META) | KIND_BIT(KIND_ANNOTATION))

static void
write_held(struct hold *h, size_t i, struct numbering *nb)
{
	const struct hold_state *it = &h->tree.nodes.v[i].hold;
	struct event ev;
	unsigned has;

	event_held(h, i, !h->is_bare, &ev);
	if (h->is_flat) {
		if (it->is_chosen)
			hold_pass(h, &ev);
		return;
	}
	has = ev.shape->has & ~(unsigned)(HAS_NDESC | HAS_NGPU);
	if (ev.ndesc > 0)
		has |= HAS_NDESC;
	if (ev.ngpu > 0)
		has |= HAS_NGPU;
	if (it->is_chosen) {
		h->nchosen++;
	} else {
		h->nstubs++;
		ev.flags |= EV_STUB;
		has |= HAS_FLAGS;
	}
	event_set_fields(h->tree.st, &ev, has);
	if (nb != NULL)
		numbering_event(nb, &ev);
	stream_write(h->out, &ev);
}

/* Writes those in the list and what they need, with new counts. */
static void
write_list(struct hold *h, struct numbering *nb)
{
	struct forest_node *v = h->tree.nodes.v;

	if (h->may_be)
		keep_forwards(h);
	stable_sort(h->list.v, h->list.n, sizeof *h->list.v, by_number);
	for (size_t k = h->list.n; k-- > 0;) { /* in reverse pre-order */
		const struct forest_node *it = &v[h->list.v[k]];

		if (it->up == FOREST_NONE)
			continue;
		v[it->up].hold.ndesc += it->hold.ndesc + 1;
		v[it->up].ngpu += it->ngpu + node_is(it, KINDS_GPU);
	}
	for (size_t k = 0; k < h->list.n; k++)
		write_held(h, h->list.v[k], nb);
}

void
hold_flush(struct hold *h)
{
	while (h->tree.open.n > 0)
		close_top(h);
	h->list.n = 0;
	for (uint32_t i = 0; i < h->tree.nodes.n; i++) {
		struct forest_node *it = &h->tree.nodes.v[i];

		it->hold.is_kept |=
		    it->hold.is_chosen || node_is(it, KINDS_CONTEXT);
		if (it->hold.is_kept)
			vec_push(&h->list, i);
	}
	write_list(h, NULL);
	hold_drop(h);
}

void
hold_write(struct hold *h, struct stream_out *out, const struct hold_pick *v,
    size_t n, struct numbering *nb)
{
	h->out = out;
	h->list.n = 0;
	for (size_t i = 0; i < n; i++) {
		keep_up(h, v[i].no);
		h->tree.nodes.v[v[i].no].hold.is_chosen = v[i].is_chosen;
	}
	write_list(h, nb);
	for (size_t k = 0; k < h->list.n; k++) {
		struct forest_node *it = &h->tree.nodes.v[h->list.v[k]];

		it->hold.is_chosen = it->hold.is_kept = false;
		it->hold.ndesc = it->ngpu = 0;
	}
}

void
hold_pass(struct hold *h, const struct event *ev)
{
	const unsigned place = HAS_DEPTH | HAS_PARENT | HAS_NDESC | HAS_NGPU;
	struct event alone = *ev;

	event_set_fields(h->tree.st, &alone, ev->shape->has & ~place);
	stream_write(h->out, &alone);
	h->nchosen++;
}

void
hold_drop(struct hold *h)
{
	forest_clear(&h->tree);
	map_free(&h->forwards);
	h->may_be = false;
}

void
hold_free(struct hold *h)
{
	forest_free(&h->tree);
	map_free(&h->forwards);
	vec_free(&h->list);
}
