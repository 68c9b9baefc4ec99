/* SPDX-License-Identifier: MIT */
#include "trace/blocked.h"

/* ---- all of a host ---- */

/*
 * Collects the blocking parts of the time of an event that blocks, with those
 * nested in it. Returns the thread's first event after it.
 */
static uint32_t
add_parts(struct host *h, const struct host_thread *t, uint32_t event)
{
	const struct host_event *e = &h->events.v[event];
	struct host_parts p = host_parts_of(h, t, e->start_ns, e->end_ns);

	while (host_parts_next(&p))
		if (cause_blocks(p.cause))
			vec_push(&h->blocking,
			    ((struct host_blocking){
				.start_ns = p.start_ns,
				.end_ns = p.end_ns,
				.event = p.event,
			    }));
	return p.next;
}

static int
blocking_order(const void *x, const void *y)
{
	const struct host_blocking *a = x, *b = y;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static void
find_blocking(struct host *h)
{
	int64_t until = INT64_MIN;
	uint32_t behind = 0;

	h->knows_blocking = true;
	for (size_t i = 0; i < h->may_wait.n; i++) {
		uint32_t at = h->may_wait.v[i];
		const struct host_event *e = &h->events.v[at];
		const struct host_thread *t = &h->threads.v[e->thread];

		if (at >= behind && t->nlaunched > 0 && e->has_time &&
		    cause_blocks(e->cause))
			behind = add_parts(h, t, at);
	}
	stable_sort(h->blocking.v, h->blocking.n, sizeof *h->blocking.v,
	    blocking_order);
	for (size_t i = 0; i < h->blocking.n; i++) {
		struct host_blocking *p = &h->blocking.v[i];

		until = p->end_ns > until ? p->end_ns : until;
		p->until_ns = until;
	}
}

/* ---- those in a stretch of time ---- */

void
blocked_in(struct blocked *b, int64_t from, int64_t to)
{
	const struct host_blocking *v;
	size_t n, first, kept = 0;

	if (!b->h->knows_blocking)
		find_blocking(b->h);
	v = b->h->blocking.v;
	n = b->h->blocking.n;
	bisect(first, n, mid, v[mid].until_ns <= from);
	if (b->next < first) /* all before it have ended */
		b->next = first;
	for (; b->next < n && v[b->next].start_ns < to; b->next++)
		vec_push(&b->open, (uint32_t)b->next);
	for (size_t i = 0; i < b->open.n; i++)
		if (v[b->open.v[i]].end_ns > from)
			b->open.v[kept++] = b->open.v[i];
	b->open.n = kept;
}

bool
blocked_for_half(const struct blocked *b, int64_t from, int64_t to)
{
	const struct host *h = b->h;
	struct map ns_of = { 0 }; /* by thread */
	bool found = false;

	for (size_t i = 0; i < b->open.n && !found; i++) {
		const struct host_blocking *p = &h->blocking.v[b->open.v[i]];
		const struct host_event *e = &h->events.v[p->event];
		int64_t start = p->start_ns > from ? p->start_ns : from;
		int64_t end = p->end_ns < to ? p->end_ns : to;
		uint64_t *ns;

		if (start >= end ||
		    (e->cause != CAUSE_SYNC && e->cause != CAUSE_COPY_BLOCK))
			continue;
		ns = map_put(&ns_of, e->thread, NULL);
		*ns += (uint64_t)(end - start);
		found = *ns >= (uint64_t)(to - from) - *ns;
	}
	map_free(&ns_of);
	return found;
}

uint32_t
blocked_call_at(const struct blocked *b, uint32_t thread, int64_t ns)
{
	const struct host_event *v = b->h->events.v;
	uint32_t found = HOST_NONE;

	for (size_t i = 0; i < b->open.n; i++) {
		const struct host_blocking *p = &b->h->blocking.v[b->open.v[i]];
		uint32_t on = v[p->event].thread;

		if (p->start_ns > ns || p->end_ns <= ns ||
		    (v[p->event].cause != CAUSE_SYNC && !is_call(&v[p->event])))
			continue;
		if (on == thread)
			return p->event;
		if (found == HOST_NONE || on < v[found].thread)
			found = p->event;
	}
	return found;
}
