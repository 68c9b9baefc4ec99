/* SPDX-License-Identifier: MIT */
/* The parent of each event of a thread, and the cause of its time. */
#include "trace/host-inside.h"

#define MAY_WAIT (CAUSES_BLOCKING | CAUSE_BIT(CAUSE_POLL))

/* An event that is open. Jumps have the lengths of skew binary numbers: a few
 * lead to any ancestor. They depend on the depth alone, so a place keeps its
 * own. */
struct open {
	int64_t end_ns;
	uint32_t event;
	uint32_t jump; /* to which place; 0: none */
	uint8_t above; /* the event's */
	bool launches; /* it has launches below */
};

/* A thread while its events are being nested. */
struct nest {
	struct host *h;
	VEC(struct open) open; /* places; the first is below all events */
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
	host_set_cause_of_other(n->h, e);
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

/* A place for the event below all others: the top then is there. */
static __attribute__((noinline)) struct open *
add_place(struct nest *n)
{
	uint32_t depth = (uint32_t)n->open.n - 1; /* of its parent */
	uint32_t one = n->open.v[depth].jump, two = n->open.v[one].jump;

	vec_push(&n->open,
	    ((struct open){ .jump = depth - one == one - two ? two : depth }));
	return &n->open.v[n->open.n - 1];
}

/* The place of the innermost open event when an event begins, or the first. */
static inline struct open *
close_until(const struct nest *n, struct open *top, int64_t ns)
{
	while (top->end_ns <= ns && top > n->open.v)
		top--;
	return top;
}

static inline struct open *
open_event(
    struct nest *n, struct open *top, struct host_event *e, uint32_t event)
{
	if (UNLIKELY(++top == n->open.v + n->open.n))
		top = add_place(n);
	e->jump = n->open.v[top->jump].event;
	top->end_ns = e->end_ns;
	top->event = event;
	top->above = e->above;
	top->launches = false;
	return top;
}

/* A call that launches begins below the top. */
static inline void
mark_open(const struct nest *n, struct open *top)
{
	for (; !top->launches && top > n->open.v; top--) {
		top->launches = true;
		n->h->events.v[top->event].launches_below = true;
	}
}

/* Its place then is the top. */
static inline struct open *
nest_event(
    struct nest *n, struct open *top, struct host_event *e, uint32_t event)
{
	if (UNLIKELY(e->end_ns > top->end_ns)) {
		if (e->kind == KIND_ANNOTATION) {
			add_overlay(n, event);
			return top;
		}
		e->end_ns = top->end_ns;
	}
	if (UNLIKELY(e->start_ns >= n->until))
		close_overlays(n, e->start_ns);
	e->above = n->above | top->above;
	if (is_call(e)) {
		host_set_cause_of_call(n->h, e);
		if (e->ngpu > 0)
			mark_open(n, top);
	} else {
		host_set_cause_of_other(n->h, e);
	}
	return open_event(n, top, e, event);
}

static void
nest_thread(struct nest *n, uint32_t thread)
{
	struct host *h = n->h;
	const struct host_thread *t = &h->threads.v[thread];
	const uint32_t end = t->first + t->n;
	uint32_t last = HOST_NONE; /* with time of its own */
	struct open *top = n->open.v;

	n->overlays.n = 0;
	n->until = INT64_MAX;
	n->above = 0;
	for (uint32_t i = t->first; i < end; i++) {
		struct host_event *e = &h->events.v[i];

		top = close_until(n, top, e->start_ns);
		e->thread = thread;
		e->up = top->event;
		if (UNLIKELY(e->kind == KIND_OVERHEAD)) {
			host_set_cause_of_other(h, e);
			vec_push(&n->overheads, i);
		} else {
			top = nest_event(n, top, e, i);
		}
		if (e->kind == KIND_ANNOTATION)
			vec_push(&h->annotations, i);
		if (UNLIKELY((MAY_WAIT & CAUSE_BIT(e->cause)) != 0))
			vec_push(&h->may_wait, i);
		e->has_time = e->start_ns < e->end_ns && is_nested(e);
		if (LIKELY(e->has_time))
			last = i;
		else
			e->jump = last;
	}
	h->has_time |= last != HOST_NONE;
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

	vec_push(&n.open, ((struct open){ INT64_MAX, HOST_NONE, 0, 0, false }));
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
