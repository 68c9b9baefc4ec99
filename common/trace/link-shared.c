/* SPDX-License-Identifier: MIT */
/*
 * Several calls with one correlation id: the trace was merged from several, or
 * ids restarted. A GPU event's call is proven
 *
 *	by time    if it starts before all of these calls except one
 *	by order   if there are as many events as calls, all on one GPU stream,
 *	           and each call ends before the next one begins: the nth event
 *	           is the nth call's
 *
 * Otherwise the event has no call.
 */
#include <stdlib.h>

#include "trace/store-inside.h"

void
share_note(struct shared_calls *sh, uint32_t first, uint32_t call)
{
	vec_push(&sh->list, ((struct shared_call){ first, call }));
}

bool
calls_are_one(const struct store *s, uint32_t a, uint32_t b)
{
	const struct held *x = &s->items.v[a], *y = &s->items.v[b];

	return item_thread(s, x) == item_thread(s, y) &&
	    (x->ts_ns == y->ts_ns ||
		(x->ts_ns < item_end(y) && y->ts_ns < item_end(x)));
}

/* One id: its calls and its GPU events. */
struct share {
	struct store *s;
	u32_vec calls;  /* by time */
	u32_vec events; /* in the order of the file */
	u32_vec sorted; /* the same, by time */
};

static int
by_list(const void *pa, const void *pb)
{
	const struct shared_call *a = pa, *b = pb;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return (a->call > b->call) - (a->call < b->call);
}

static int
by_time(const void *pa, const void *pb, void *arg)
{
	const struct held *v = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	if (v[a].ts_ns != v[b].ts_ns)
		return v[a].ts_ns < v[b].ts_ns ? -1 : 1;
	return (a > b) - (a < b);
}

static void
sort_by_time(const struct store *s, u32_vec *list)
{
	qsort_r(list->v, list->n, sizeof *list->v, by_time, s->items.v);
}

/* A driver's call within a runtime's counts as the same one. */
static void
drop_inner_calls(struct share *sh)
{
	size_t n = 1;

	for (size_t i = 1; i < sh->calls.n; i++)
		if (!calls_are_one(sh->s, sh->calls.v[n - 1], sh->calls.v[i]))
			sh->calls.v[n++] = sh->calls.v[i];
	sh->calls.n = n;
}

/* Event i is of call i, both by time. */
static bool
is_in_order(const struct share *sh)
{
	const struct held *v = sh->s->items.v;
	struct event one, ev;

	if (sh->calls.n != sh->sorted.n)
		return false;
	item_event(sh->s, sh->sorted.v[0], &one);
	for (size_t i = 0; i < sh->calls.n; i++) {
		const struct held *call = &v[sh->calls.v[i]];
		const struct held *event = &v[sh->sorted.v[i]];

		item_event(sh->s, sh->sorted.v[i], &ev);
		if (!key_eq(ev.dev, one.dev) ||
		    !key_eq(ev.gpu_stream, one.gpu_stream) ||
		    (call->state & event->state & IN_TIME) == 0 ||
		    event->ts_ns < call->ts_ns ||
		    (name_facts(sh->s, call->name) & NAME_GRAPH) != 0)
			return false;
		if (i + 1 < sh->calls.n &&
		    (item_end(call) > v[sh->calls.v[i + 1]].ts_ns ||
			event->ts_ns == v[sh->sorted.v[i + 1]].ts_ns))
			return false;
	}
	return true;
}

/* The next event of a call's list, which ends at *end; sets its new end. */
static uint32_t *
own(struct share *sh, uint32_t call, uint32_t event, uint32_t *end)
{
	struct held *it = &sh->s->items.v[event];

	*end = event;
	it->parent = call;
	it->state |= IN_OWNED;
	return &it->gpu;
}

/* Links what is proven; returns the number of other events. */
static uint64_t
resolve(struct share *sh)
{
	struct held *v = sh->s->items.v;
	const uint32_t *calls = sh->calls.v;
	uint32_t *end;
	bool in_order;
	uint64_t nlost = 0;

	sort_by_time(sh->s, &sh->calls);
	drop_inner_calls(sh);
	if (sh->calls.n == 1)
		return 0;
	in_order = is_in_order(sh);
	for (size_t i = 0; i < sh->calls.n; i++)
		v[calls[i]].gpu = STORE_NONE;
	for (size_t i = 0; i < sh->events.n; i++) {
		v[sh->events.v[i]].gpu = STORE_NONE;
		v[sh->events.v[i]].parent = STORE_NONE;
		v[sh->events.v[i]].state &= (uint8_t)~IN_OWNED;
	}
	for (size_t i = 0; in_order && i < sh->calls.n; i++)
		(void)own(sh, calls[i], sh->sorted.v[i], &v[calls[i]].gpu);
	end = &v[calls[0]].gpu;
	for (size_t i = 0; !in_order && i < sh->events.n; i++) {
		uint32_t e = sh->events.v[i];

		if ((v[e].state & v[calls[0]].state & IN_TIME) != 0 &&
		    v[e].ts_ns >= v[calls[0]].ts_ns &&
		    v[e].ts_ns < v[calls[1]].ts_ns)
			end = own(sh, calls[0], e, end);
		else
			nlost++;
	}
	return nlost;
}

uint64_t
share_resolve(struct store *s, struct shared_calls *calls)
{
	struct share sh = { .s = s };
	uint64_t nlost = 0;

	if (calls->list.n > 0)
		qsort(calls->list.v, calls->list.n, sizeof *calls->list.v,
		    by_list);
	for (size_t i = 0; i < calls->list.n;) {
		uint32_t first = calls->list.v[i].first;

		sh.calls.n = sh.events.n = sh.sorted.n = 0;
		vec_push(&sh.calls, s->items.v[first].parent);
		for (; i < calls->list.n && calls->list.v[i].first == first;
		     i++)
			vec_push(&sh.calls, calls->list.v[i].call);
		for (uint32_t e = first; e != STORE_NONE;
		     e = s->items.v[e].gpu) {
			vec_push(&sh.events, e);
			vec_push(&sh.sorted, e);
		}
		sort_by_time(s, &sh.sorted);
		nlost += resolve(&sh);
	}
	vec_free(&calls->list);
	vec_free(&sh.calls);
	vec_free(&sh.events);
	vec_free(&sh.sorted);
	return nlost;
}
