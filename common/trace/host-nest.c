/* SPDX-License-Identifier: MIT */
/* The parent of each event of a thread, and the cause of its time. */
#include "trace/host-inside.h"

struct open {
	int64_t end_ns;
	uint32_t event;
	uint32_t jump; /* to which depth, from 1 on; 0: none */
	uint8_t above; /* the event's */
};

/* A thread while its events are being nested. */
struct nest {
	struct host *h;
	VEC(struct open) open;
	VEC(uint32_t) overlays;
	VEC(uint32_t) overheads; /* events, of all threads */
	int64_t until;           /* the earliest end of overlays */
	uint8_t above;           /* bits of all of them */
};

static void
add_overlay(struct nest *n, uint32_t event)
{
	struct host_event *e = &n->h->events.v[event];

	e->is_overlay = true;
	host_set_cause(n->h, e);
	vec_push(&n->overlays, event);
	n->above |= e->above;
	n->until = e->end_ns < n->until ? e->end_ns : n->until;
}

static void
close_overlays(struct nest *n, int64_t ns)
{
	size_t count = n->overlays.n;

	n->overlays.n = 0;
	n->above = 0;
	n->until = INT64_MAX;
	for (size_t i = 0; i < count; i++) {
		uint32_t o = n->overlays.v[i];
		const struct host_event *e = &n->h->events.v[o];

		if (e->end_ns <= ns)
			continue;
		n->overlays.v[n->overlays.n++] = o;
		n->above |= e->above;
		n->until = e->end_ns < n->until ? e->end_ns : n->until;
	}
}

/* The innermost open event when an event begins, or NULL. */
static inline const struct open *
close_until(struct nest *n, int64_t ns)
{
	while (n->open.n > 0) {
		const struct open *top = &n->open.v[n->open.n - 1];

		if (top->end_ns > ns)
			return top;
		n->open.n--;
	}
	return NULL;
}

/* Jumps have the lengths of skew binary numbers: a few lead to any ancestor. */
static inline void
open_event(struct nest *n, struct host_event *e, uint32_t event)
{
	uint32_t depth = (uint32_t)n->open.n; /* of its parent */
	uint32_t one = depth > 0 ? n->open.v[depth - 1].jump : 0;
	uint32_t two = one > 0 ? n->open.v[one - 1].jump : 0;
	uint32_t jump = depth - one == one - two ? two : depth;

	e->jump = jump > 0 ? n->open.v[jump - 1].event : HOST_NONE;
	vec_push(&n->open, ((struct open){ e->end_ns, event, jump, e->above }));
}

static inline void
nest_event(struct nest *n, uint32_t event, const struct open *top)
{
	struct host_event *e = &n->h->events.v[event];

	if (top != NULL && e->end_ns > top->end_ns) {
		if (e->kind == KIND_ANNOTATION) {
			add_overlay(n, event);
			return;
		}
		e->end_ns = top->end_ns;
	}
	if (e->start_ns >= n->until)
		close_overlays(n, e->start_ns);
	e->above = n->above | (top != NULL ? top->above : 0);
	host_set_cause(n->h, e);
	open_event(n, e, event);
}

static void
nest_thread(struct nest *n, uint32_t thread)
{
	struct host *h = n->h;
	const struct host_thread *t = &h->threads.v[thread];
	uint32_t last = HOST_NONE; /* with time of its own */

	n->open.n = n->overlays.n = 0;
	n->until = INT64_MAX;
	n->above = 0;
	for (uint32_t i = t->first; i < t->first + t->n; i++) {
		struct host_event *e = &h->events.v[i];
		const struct open *top = close_until(n, e->start_ns);

		e->thread = thread;
		e->up = top != NULL ? top->event : HOST_NONE;
		if (e->kind == KIND_OVERHEAD) {
			host_set_cause(h, e);
			vec_push(&n->overheads, i);
		} else {
			nest_event(n, i, top);
		}
		if (e->kind == KIND_ANNOTATION)
			vec_push(&h->annotations, i);
		if (cause_blocks(e->cause) || e->cause == CAUSE_POLL)
			vec_push(&h->may_wait, i);
		if (host_has_time(e)) {
			last = i;
			h->has_time = true;
		} else {
			e->jump = last;
		}
	}
}

/* ---- all ---- */

static int
segment_order(const void *x, const void *y)
{
	const struct host_segment *a = x, *b = y;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static int
number_order(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

/* Rows of the profiler's own cost, each without what earlier ones cover. */
static void
find_profiler(struct host *h, const uint32_t *overheads, size_t n)
{
	size_t kept = 0;
	int64_t end = INT64_MIN;

	for (size_t i = 0; i < n; i++) {
		const struct host_event *e = &h->events.v[overheads[i]];

		vec_push(&h->profiler,
		    ((struct host_segment){
			e->start_ns, e->end_ns, overheads[i] }));
	}
	stable_sort(
	    h->profiler.v, h->profiler.n, sizeof *h->profiler.v, segment_order);
	for (size_t i = 0; i < h->profiler.n; i++) {
		struct host_segment s = h->profiler.v[i];

		s.start_ns = s.start_ns > end ? s.start_ns : end;
		if (s.start_ns >= s.end_ns)
			continue;
		end = s.end_ns;
		h->profiler.v[kept++] = s;
	}
	h->profiler.n = kept;
}

void
host_nest(struct host *h)
{
	struct nest n = { .h = h };

	for (uint32_t i = 0; i < h->threads.n; i++)
		nest_thread(&n, i);
	host_mark_launches(h);
	/* threads came in another order than their events */
	stable_sort(h->annotations.v, h->annotations.n,
	    sizeof *h->annotations.v, number_order);
	stable_sort(
	    h->may_wait.v, h->may_wait.n, sizeof *h->may_wait.v, number_order);
	stable_sort(
	    n.overheads.v, n.overheads.n, sizeof *n.overheads.v, number_order);
	find_profiler(h, n.overheads.v, n.overheads.n);
	vec_free(&n.open);
	vec_free(&n.overlays);
	vec_free(&n.overheads);
}
