/* SPDX-License-Identifier: MIT */
/*
 * hold: what is kept of one tree, until its end.
 *
 * Trees come in pre-order, and an event says how many stand below it, so it
 * can be written only when all of those are known. list has the open events
 * (those above the next one) and, between and behind them, what was kept:
 *
 *	event      chosen   list when it has come
 *	a                   a
 *	  b                 a b
 *	    c      yes      a b c
 *	  d                 a b c d     b stays, as c is below it
 *	e                   e           a, b and c were written; d is gone
 *
 * An event without anything kept below it is the last one of the list when
 * its level is left, so that forgetting it is to shorten the list. Forward ops
 * that have a backward op are not forgotten before the section ends, as it is
 * known only then whether that one is kept.
 */
#include "trace/hold.h"

/* What the shape is to have instead. */
static void
set_fields(struct hold *h, struct event *ev, unsigned has)
{
	uint64_t *slot;
	bool is_new;

	if (has == ev->shape->has)
		return;
	slot = map_put(&h->shapes, (uint64_t)ev->shape_id << 16 | has, &is_new);
	if (is_new)
		*slot = dict_shape_with(h->st, ev->shape_id, has);
	ev->shape_id = (uint32_t)*slot;
	ev->shape = h->st->shapes.v[ev->shape_id];
}

/* ---- from events and back ---- */

static struct uid
uid_of(const struct hold_node *it)
{
	return (struct uid){ it->id, it->inst };
}

/* Most events have no link but to what is above them. */
static uint32_t
hold_links(struct hold *h, const struct event *ev, uint32_t depth)
{
	unsigned has = ev->shape->has;
	bool is_plain = (has & (HAS_FWD | HAS_BWD)) == 0;

	if (is_plain &&
	    ((has & HAS_LAUNCH) == 0 ||
		(depth > 0 &&
		    uid_same(
			ev->launch, uid_of(&h->list.v[h->open.v[depth - 1]])))))
		return 0;
	vec_push(
	    &h->links, ((struct hold_links){ ev->launch, ev->fwd, ev->bwd }));
	return (uint32_t)h->links.n;
}

static struct hold_node *
hold_put(struct hold *h, const struct event *ev, uint32_t depth)
{
	uint32_t links = hold_links(h, ev, depth);
	struct str vals = event_vals(ev, &h->scratch);
	struct hold_node *it;

	if (UNLIKELY(h->list.n >= UINT32_MAX))
		die("more than %" PRIu32 " events of one tree can't be held",
		    UINT32_MAX);
	it = vec_add(&h->list);
	*it = (struct hold_node){
		.ts_ns = ev->ts_ns,
		.dur_ns = ev->dur_ns,
		.id = ev->uid.id,
		.vals = h->vals.len,
		.vals_len = (uint32_t)vals.len,
		.inst = ev->uid.inst,
		.shape = ev->shape_id,
		.track = ev->track,
		.name = ev->name,
		.depth = depth,
		.links = links,
		.flags = (uint16_t)ev->flags,
	};
	buf_put(&h->vals, vals.p, vals.len);
	return it;
}

void
hold_event(struct hold *h, size_t i, struct event *ev)
{
	const struct hold_node *it = &h->list.v[i];
	const struct track *t = &h->st->tracks.v[it->track];

	*ev = (struct event){
		.shape = h->st->shapes.v[it->shape],
		.shape_id = it->shape,
		.track = it->track,
		.src = t->src,
		.name = it->name,
		.uid = uid_of(it),
		.ts_ns = it->ts_ns,
		.dur_ns = it->dur_ns,
		.pid = t->pid,
		.tid = t->tid,
		.flags = it->flags,
		.depth = it->depth,
		.ndesc = it->ndesc,
		.ngpu = it->ngpu,
		.vals_len = it->vals_len,
	};
	ev->vals =
	    it->vals_len > 0 ? (unsigned char *)h->vals.p + it->vals : NULL;
	if (it->depth > 0)
		ev->parent = ev->launch = uid_of(&h->list.v[it->parent]);
	if (it->links > 0) {
		const struct hold_links *links = &h->links.v[it->links - 1];

		ev->launch = links->launch;
		ev->fwd = links->fwd;
		ev->bwd = links->bwd;
	}
	if (!event_set_keys(h->st, ev))
		die("event %" PRIu64 ": its values are malformed", ev->uid.id);
}

/* ---- levels ---- */

/* The deepest open event has ended. */
static void
close_top(struct hold *h)
{
	uint32_t i = h->open.v[--h->open.n];
	const struct hold_node *it = &h->list.v[i];
	struct hold_node *parent;

	if (!it->is_kept && !it->may_be) {
		h->list.n = i;
		h->vals.len = it->vals;
		if (it->links > 0)
			h->links.n = it->links - 1;
		return;
	}
	if (h->open.n == 0)
		return;
	parent = &h->list.v[it->parent];
	parent->is_kept |= it->is_kept;
	parent->may_be |= it->may_be;
}

void
hold_add(struct hold *h, const struct stream_in *in, const struct event *ev,
    bool is_chosen)
{
	uint32_t depth = ev->depth;
	struct hold_node *it;

	while (h->open.n > depth)
		close_top(h);
	if (UNLIKELY(depth > h->open.n))
		die("%s: event %" PRIu64 " is at depth %" PRIu32
		    ", but only %zu events are above it: this is no tree",
		    in->name, ev->uid.id, depth, h->open.n);
	if (depth == 0 && !h->may_be && !h->is_all)
		hold_flush(h);
	it = hold_put(h, ev, depth);
	it->is_chosen = it->is_kept = it->is_below = is_chosen;
	it->may_be = !h->is_flat && (ev->shape->has & HAS_BWD) != 0;
	h->may_be |= it->may_be;
	if (depth > 0) {
		it->parent = h->open.v[depth - 1];
		it->is_below |= h->list.v[it->parent].is_below;
	}
	vec_push(&h->open, (uint32_t)h->list.n - 1);
}

bool
hold_is_below(const struct hold *h, uint32_t depth)
{
	return depth > 0 && depth <= h->open.n &&
	    h->list.v[h->open.v[depth - 1]].is_below;
}

void
hold_wait(struct hold *h, const struct event *ev)
{
	(void)hold_put(h, ev, 0);
}

/* ---- forward ops of what is kept ---- */

typedef VEC(uint32_t) index_vec;

/* It and all above it; those that are new are to be looked at. */
static void
keep_up(struct hold *h, uint32_t i, index_vec *todo)
{
	for (;; i = h->list.v[i].parent) {
		struct hold_node *it = &h->list.v[i];

		if (it->is_kept)
			return;
		it->is_kept = true;
		vec_push(todo, i);
		if (it->depth == 0)
			return;
	}
}

/*
 * A backward op has neither the shapes nor the module that its forward op has,
 * so who looks for them there must find it.
 */
static void
keep_forwards(struct hold *h)
{
	struct map at = { 0 }; /* uid to index */
	index_vec todo = { 0 };

	for (uint32_t i = 0; i < h->list.n; i++) {
		const struct hold_node *it = &h->list.v[i];

		if (it->is_kept)
			vec_push(&todo, i);
		else if (it->may_be)
			*map_put(&at, uid_hash(uid_of(it)), NULL) = i;
	}
	while (todo.n > 0) {
		const struct hold_node *it = &h->list.v[todo.v[--todo.n]];
		const struct uid *fwd;
		const uint64_t *found;

		if (it->links == 0 ||
		    (h->st->shapes.v[it->shape]->has & HAS_FWD) == 0)
			continue;
		fwd = &h->links.v[it->links - 1].fwd;
		found = map_get(&at, uid_hash(*fwd));
		if (found != NULL && uid_same(uid_of(&h->list.v[*found]), *fwd))
			keep_up(h, (uint32_t)*found, &todo);
	}
	map_free(&at);
	vec_free(&todo);
}

/* What is below each, in pre-order from behind. */
static void
count_below(struct hold *h)
{
	for (size_t i = h->list.n; i-- > 0;) {
		const struct hold_node *it = &h->list.v[i];
		struct hold_node *parent;

		if (!it->is_kept || it->depth == 0)
			continue;
		parent = &h->list.v[it->parent];
		parent->ndesc += it->ndesc + 1;
		parent->ngpu += it->ngpu;
		if (KIND_BIT(h->st->shapes.v[it->shape]->kind) & KINDS_GPU)
			parent->ngpu++;
	}
}

/* ---- writing ---- */

/* What a window, a thread or a process is called by stays in the prologue. */
#define KINDS_CONTEXT (KIND_BIT(KIND_META) | KIND_BIT(KIND_ANNOTATION))

static void
write_held(struct hold *h, size_t i)
{
	const struct hold_node *it = &h->list.v[i];
	struct event ev;
	unsigned has;

	hold_event(h, i, &ev);
	if (!it->is_chosen && !it->is_kept && !event_is(&ev, KINDS_CONTEXT))
		return;
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
	set_fields(h, &ev, has);
	stream_write(h->out, &ev);
}

void
hold_flush(struct hold *h)
{
	while (h->open.n > 0)
		close_top(h);
	if (h->may_be)
		keep_forwards(h);
	count_below(h);
	for (size_t i = 0; i < h->list.n; i++)
		write_held(h, i);
	hold_drop(h);
}

void
hold_pass(struct hold *h, const struct event *ev)
{
	const unsigned place = HAS_DEPTH | HAS_PARENT | HAS_NDESC | HAS_NGPU;
	struct event alone = *ev;

	set_fields(h, &alone, ev->shape->has & ~place);
	stream_write(h->out, &alone);
	h->nchosen++;
}

void
hold_drop(struct hold *h)
{
	h->list.n = h->links.n = h->vals.len = h->open.n = 0;
	h->may_be = false;
}

void
hold_free(struct hold *h)
{
	vec_free(&h->list);
	vec_free(&h->links);
	vec_free(&h->open);
	buf_free(&h->vals);
	buf_free(&h->scratch);
	map_free(&h->shapes);
}
