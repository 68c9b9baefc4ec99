/* SPDX-License-Identifier: MIT */
/*
 * What the host did while the GPU was idle: see idle.h.
 *
 * What is looked up by a number is kept in lists: profilers give numbers out in
 * ascending order, so that these mostly need no sorting.
 */
#include "trace/idle.h"

#include <stdlib.h>

#define FLOOR_NS 1000 /* the first, when a limit is reached; then doubled */

struct range { /* an event, or the stretch in which it is the innermost */
	int64_t start, end;
	uint32_t thread, name;
};
typedef VEC(struct range) range_vec;

struct launch {
	uint64_t corr;
	int64_t end;
	uint32_t thread, no; /* no: in the order of the trace */
};

struct begun {
	int64_t start;
	uint64_t corr;
};

/* With a limit: work that began after a gap, and what launched it. */
struct after_gap {
	int64_t start, gap, launch_end;
	uint32_t thread;
};

struct idle {
	const struct dict *st;
	size_t limit;
	range_vec events, gathered, inner;
	VEC(struct launch) launches;
	VEC(struct begun) begun;
	/* with a limit */
	VEC(struct after_gap) after;
	int64_t event_floor, gap_floor, gpu_end;
	struct launch last;
	/* with a cause */
	VEC(struct idle_gap) gaps;
	VEC(int64_t) sums;  /* by name, zero between uses */
	VEC(uint8_t) kinds; /* by name */
	VEC(uint32_t) touched;
};

struct idle *
idle_new(size_t limit)
{
	struct idle *h = xcalloc(1, sizeof *h);

	h->limit = limit;
	return h;
}

void
idle_clear(struct idle *h, const struct dict *st)
{
	h->st = st;
	h->events.n = h->inner.n = h->launches.n = h->begun.n = 0;
	h->after.n = h->gaps.n = h->kinds.n = 0;
	h->event_floor = h->gap_floor = 0;
	h->gpu_end = INT64_MAX; /* before the first piece there is no gap */
	h->last = (struct launch){ 0 };
}

void
idle_free(struct idle *h)
{
	vec_free(&h->events);
	vec_free(&h->gathered);
	vec_free(&h->inner);
	vec_free(&h->launches);
	vec_free(&h->begun);
	vec_free(&h->after);
	vec_free(&h->gaps);
	vec_free(&h->sums);
	vec_free(&h->kinds);
	vec_free(&h->touched);
	free(h);
}

/* ---- events ---- */

static uint64_t
key_bits(struct key k)
{
	return (uint64_t)k.n << 2 | k.type;
}

static bool
raise_floor(int64_t *floor)
{
	*floor = *floor == 0 ? FLOOR_NS : *floor * 2;
	return *floor < INT64_MAX / 4;
}

/* Of the shorter ones none is kept from now on. */
static void
drop_short_events(struct idle *h)
{
	size_t n;

	do {
		if (!raise_floor(&h->event_floor))
			h->events.n = 0;
		n = 0;
		for (size_t i = 0; i < h->events.n; i++)
			if (h->events.v[i].end - h->events.v[i].start >=
			    h->event_floor)
				h->events.v[n++] = h->events.v[i];
		h->events.n = n;
	} while (n > h->limit / 2);
}

static void
drop_short_gaps(struct idle *h)
{
	size_t n;

	do {
		if (!raise_floor(&h->gap_floor))
			h->after.n = 0;
		n = 0;
		for (size_t i = 0; i < h->after.n; i++)
			if (h->after.v[i].gap >= h->gap_floor)
				h->after.v[n++] = h->after.v[i];
		h->after.n = n;
	} while (n > h->limit / 2);
}

void
idle_host(struct idle *h, const struct event *ev)
{
	uint32_t thread = dict_thread(h->st, ev->track);
	struct launch launch;
	int64_t end;

	if ((ev->shape->has & (HAS_TS | HAS_DUR)) != (HAS_TS | HAS_DUR) ||
	    ev->name == INTERN_NONE || !num_add(ev->ts_ns, ev->dur_ns, &end))
		return;
	if (ev->dur_ns >= h->event_floor) {
		vec_push(&h->events,
		    ((struct range){ ev->ts_ns, end, thread, ev->name }));
		while (h->kinds.n <= ev->name)
			vec_push(&h->kinds, 0);
		h->kinds.v[ev->name] = ev->shape->kind;
		if (h->events.n > h->limit)
			drop_short_events(h);
	}
	if (!event_is(ev, KINDS_LAUNCH) || ev->corr.type == KEY_NONE)
		return;
	launch = (struct launch){ key_bits(ev->corr), end, thread,
		(uint32_t)h->launches.n };
	if (h->limit == IDLE_ALL)
		vec_push(&h->launches, launch);
	h->last = launch;
}

/* A candidate: work that comes later in the stream may fill the gap. */
static void
gpu_after_gap(struct idle *h, const struct event *ev)
{
	int64_t gap, end;

	if (h->gpu_end < ev->ts_ns && ev->corr.type != KEY_NONE &&
	    key_bits(ev->corr) == h->last.corr &&
	    !__builtin_sub_overflow(ev->ts_ns, h->gpu_end, &gap) &&
	    gap >= h->gap_floor) {
		vec_push(&h->after,
		    ((struct after_gap){
			ev->ts_ns, gap, h->last.end, h->last.thread }));
		if (h->after.n > h->limit)
			drop_short_gaps(h);
	}
	if (!num_add(ev->ts_ns, ev->dur_ns, &end))
		end = INT64_MAX;
	if (h->gpu_end == INT64_MAX || end > h->gpu_end)
		h->gpu_end = end;
}

void
idle_gpu(struct idle *h, const struct event *ev)
{
	if ((ev->shape->has & HAS_TS) == 0)
		return;
	if (h->limit != IDLE_ALL)
		gpu_after_gap(h, ev);
	else if (ev->corr.type != KEY_NONE)
		vec_push(&h->begun,
		    ((struct begun){ ev->ts_ns, key_bits(ev->corr) }));
}

/* ---- innermost events ---- */

static int
by_thread(const void *pa, const void *pb)
{
	const struct range *a = pa, *b = pb;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

/* From *at on, of the innermost of the open events. */
static void
put_inner(struct idle *h, const struct range *of, int64_t *at, int64_t to)
{
	if (to <= *at)
		return;
	vec_push(&h->inner, ((struct range){ *at, to, of->thread, of->name }));
	*at = to;
}

/* Of each thread together, in the order they came in; mostly that of time. */
static void
gather_threads(struct idle *h)
{
	size_t nthreads = h->st->tracks.n, at = 0;
	size_t *next = xcalloc(nthreads + 1, sizeof *next);
	const range_vec *events = &h->events;

	vec_reserve(&h->gathered, events->n);
	h->gathered.n = events->n;
	for (size_t i = 0; i < events->n; i++)
		next[events->v[i].thread]++;
	for (size_t t = 0; t < nthreads; t++) {
		size_t n = next[t];

		next[t] = at;
		at += n;
	}
	for (size_t i = 0; i < events->n; i++)
		h->gathered.v[next[events->v[i].thread]++] = events->v[i];
	free(next);
}

static void
find_inner(struct idle *h)
{
	range_vec open = { 0 };
	int64_t at = INT64_MIN;

	gather_threads(h);
	stable_sort(
	    h->gathered.v, h->gathered.n, sizeof *h->gathered.v, by_thread);
	for (size_t i = 0; i <= h->gathered.n; i++) {
		const struct range *e =
		    i < h->gathered.n ? &h->gathered.v[i] : NULL;

		while (open.n > 0) {
			struct range top = open.v[open.n - 1];
			bool ends = e == NULL || e->thread != top.thread ||
			    top.end <= e->start;

			put_inner(h, &top, &at, ends ? top.end : e->start);
			if (!ends)
				break;
			open.n--;
		}
		if (e == NULL)
			break;
		if (open.n == 0 || e->start > at)
			at = e->start;
		vec_push(&open, *e);
	}
	vec_free(&open);
}

/* ---- acts ---- */

static void
add_sum(struct idle *h, uint32_t name, int64_t ns)
{
	if (h->sums.v[name] == 0)
		vec_push(&h->touched, name);
	h->sums.v[name] += ns;
}

/* The acts with the largest sums, the first of equals first; all are zero
 * again. */
static size_t
take_largest(struct idle *h, struct idle_act *acts, size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i < h->touched.n; i++) {
		uint32_t name = h->touched.v[i];
		int64_t ns = h->sums.v[name];
		size_t at = n;

		h->sums.v[name] = 0;
		while (at > 0 && ns > acts[at - 1].ns)
			at--;
		if (at == most)
			continue;
		n += n < most;
		memmove(&acts[at + 1], &acts[at], (n - at - 1) * sizeof *acts);
		acts[at] = (struct idle_act){ name, h->kinds.v[name], ns };
	}
	h->touched.n = 0;
	return n;
}

/* Sums up what the thread did; the time it was in anything. */
static int64_t
sum_acts(struct idle *h, uint32_t thread, int64_t from, int64_t to)
{
	size_t lo = 0, hi = h->inner.n;
	int64_t covered = 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct range *r = &h->inner.v[mid];

		if (r->thread < thread ||
		    (r->thread == thread && r->end <= from))
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < h->inner.n && h->inner.v[lo].thread == thread &&
	     h->inner.v[lo].start < to;
	     lo++) {
		const struct range *r = &h->inner.v[lo];
		int64_t a = r->start > from ? r->start : from;
		int64_t b = r->end < to ? r->end : to;

		if (b > a) {
			add_sum(h, r->name, b - a);
			covered += b - a;
		}
	}
	return covered;
}

size_t
idle_acts(struct idle *h, uint32_t thread, int64_t from, int64_t to,
    struct idle_act *acts, size_t most)
{
	(void)sum_acts(h, thread, from, to);
	return take_largest(h, acts, most);
}

/* ---- gaps ---- */

/* The last launch of a correlation counts. */
static int
by_corr(const void *pa, const void *pb)
{
	const struct launch *a = pa, *b = pb;

	if (a->corr != b->corr)
		return a->corr < b->corr ? -1 : 1;
	return a->no > b->no ? -1 : a->no < b->no;
}

static int
by_begin(const void *pa, const void *pb)
{
	const struct begun *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->corr < b->corr ? -1 : a->corr > b->corr;
}

/* The longest gap first, so that of equal starts it is found first. */
static int
by_after(const void *pa, const void *pb)
{
	const struct after_gap *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->gap > b->gap ? -1 : a->gap < b->gap;
}

static const struct launch *
launch_of(const struct idle *h, uint64_t corr)
{
	size_t lo = 0, hi = h->launches.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (h->launches.v[mid].corr < corr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < h->launches.n && h->launches.v[lo].corr == corr
	    ? &h->launches.v[lo]
	    : NULL;
}

/* The launch of the work that begins at t; *at moves on in the work. */
static bool
launch_at(
    const struct idle *h, size_t *at, int64_t t, uint32_t *thread, int64_t *end)
{
	const struct launch *launch;

	if (h->limit != IDLE_ALL) {
		while (*at < h->after.n && h->after.v[*at].start < t)
			++*at;
		if (*at == h->after.n || h->after.v[*at].start != t)
			return false;
		*thread = h->after.v[*at].thread;
		*end = h->after.v[*at].launch_end;
		return true;
	}
	while (*at < h->begun.n && h->begun.v[*at].start < t)
		++*at;
	if (*at == h->begun.n || h->begun.v[*at].start != t)
		return false;
	launch = launch_of(h, h->begun.v[*at].corr);
	if (launch == NULL)
		return false;
	*thread = launch->thread;
	*end = launch->end;
	return true;
}

void
idle_explain(struct idle *h, const struct spans *gpu)
{
	size_t at = 0;

	find_inner(h);
	while (h->sums.n < h->st->text->list.n)
		vec_push(&h->sums, 0);
	stable_sort(
	    h->launches.v, h->launches.n, sizeof *h->launches.v, by_corr);
	stable_sort(h->begun.v, h->begun.n, sizeof *h->begun.v, by_begin);
	stable_sort(h->after.v, h->after.n, sizeof *h->after.v, by_after);
	for (size_t i = 1; i < gpu->n; i++) {
		struct idle_gap g = { gpu->v[i - 1].end, gpu->v[i].start,
			{ INTERN_NONE, KIND_OTHER, 0 } };
		int64_t to, covered;
		uint32_t thread;

		if (!launch_at(h, &at, g.end_ns, &thread, &to) ||
		    to <= g.start_ns)
			continue;
		to = to < g.end_ns ? to : g.end_ns;
		covered = sum_acts(h, thread, g.start_ns, to);
		/* else it was in nothing that was recorded for longest */
		if (take_largest(h, &g.cause, 1) > 0 &&
		    to - g.start_ns - covered <= g.cause.ns)
			vec_push(&h->gaps, g);
	}
}

/* The first gap with a cause that begins at from or later. */
static size_t
gap_from(const struct idle *h, int64_t from)
{
	size_t lo = 0, hi = h->gaps.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (h->gaps.v[mid].start_ns < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct idle_gap
idle_longest(const struct idle *h, const struct spans *gpu)
{
	struct idle_gap g = { 0, 0, { INTERN_NONE, KIND_OTHER, 0 } };
	size_t i;

	for (i = 1; i < gpu->n; i++)
		if (gpu->v[i].start - gpu->v[i - 1].end >
		    g.end_ns - g.start_ns) {
			g.start_ns = gpu->v[i - 1].end;
			g.end_ns = gpu->v[i].start;
		}
	i = gap_from(h, g.start_ns);
	return i < h->gaps.n && h->gaps.v[i].end_ns == g.end_ns ? h->gaps.v[i]
								: g;
}

struct str
idle_cause(struct idle *h, int64_t from, int64_t to, int64_t *ns)
{
	struct idle_act act;

	*ns = 0;
	for (size_t i = gap_from(h, from);
	     i < h->gaps.n && h->gaps.v[i].end_ns <= to; i++)
		add_sum(h, h->gaps.v[i].cause.name, h->gaps.v[i].cause.ns);
	if (take_largest(h, &act, 1) == 0)
		return (struct str){ NULL, 0 };
	*ns = act.ns;
	return dict_get(h->st, act.name);
}
