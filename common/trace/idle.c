/* SPDX-License-Identifier: MIT */
/*
 * What the host did while the GPU was idle: see idle.h.
 *
 * What is looked up by a number is kept in lists: profilers give numbers out in
 * ascending order, so that these mostly need no sorting.
 */
#include "trace/idle.h"
#include "trace/inner.h"

#include <stdlib.h>

struct launch {
	uint64_t corr;
	int64_t end;
	uint32_t thread, no; /* no: in the order of the trace */
};

struct begun {
	int64_t start;
	uint64_t corr;
};

/* A gap of the GPU whose cause is known. */
struct gap {
	int64_t start_ns, end_ns;
	struct idle_act cause;
};

struct idle {
	const struct dict *st;
	struct inner events; /* by thread, named */
	VEC(struct launch) launches;
	VEC(struct begun) begun;
	VEC(struct gap) gaps;
	VEC(int64_t) sums;  /* by name, zero between uses */
	VEC(uint8_t) kinds; /* by name */
	VEC(uint32_t) touched;
};

struct idle *
idle_new(void)
{
	return xcalloc(1, sizeof(struct idle));
}

void
idle_clear(struct idle *h, const struct dict *st)
{
	h->st = st;
	inner_clear(&h->events);
	h->launches.n = h->begun.n = h->gaps.n = h->kinds.n = 0;
}

void
idle_free(struct idle *h)
{
	inner_free(&h->events);
	vec_free(&h->launches);
	vec_free(&h->begun);
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

void
idle_host(struct idle *h, const struct event *ev)
{
	uint32_t thread = dict_thread(h->st, ev->track);
	int64_t end;

	if ((ev->shape->has & (HAS_TS | HAS_DUR)) != (HAS_TS | HAS_DUR) ||
	    ev->name == INTERN_NONE || !num_add(ev->ts_ns, ev->dur_ns, &end))
		return;
	inner_add(&h->events, thread, ev->ts_ns, end, ev->name);
	while (h->kinds.n <= ev->name)
		vec_push(&h->kinds, 0);
	h->kinds.v[ev->name] = ev->shape->kind;
	if (event_is(ev, KINDS_LAUNCH) && ev->corr.type != KEY_NONE)
		vec_push(&h->launches,
		    ((struct launch){ key_bits(ev->corr), end, thread,
			(uint32_t)h->launches.n }));
}

void
idle_gpu(struct idle *h, const struct event *ev)
{
	if ((ev->shape->has & HAS_TS) != 0 && ev->corr.type != KEY_NONE)
		vec_push(&h->begun,
		    ((struct begun){ ev->ts_ns, key_bits(ev->corr) }));
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
	int64_t covered = 0;

	for (size_t i = inner_from(&h->events, thread, from);
	     i < h->events.pieces.n; i++) {
		const struct inner_range *r = &h->events.pieces.v[i];
		int64_t a = r->start > from ? r->start : from;
		int64_t b = r->end < to ? r->end : to;

		if (r->key != thread || r->start >= to)
			break;
		if (b > a) {
			add_sum(h, r->id, b - a);
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

static const struct launch *
launch_of(const struct idle *h, uint64_t corr)
{
	size_t at;

	bisect(at, h->launches.n, mid, h->launches.v[mid].corr < corr);
	return at < h->launches.n && h->launches.v[at].corr == corr
	    ? &h->launches.v[at]
	    : NULL;
}

/* The launch of the work that begins at t; *at moves on in the work. */
static const struct launch *
launch_at(const struct idle *h, size_t *at, int64_t t)
{
	while (*at < h->begun.n && h->begun.v[*at].start < t)
		++*at;
	return *at < h->begun.n && h->begun.v[*at].start == t
	    ? launch_of(h, h->begun.v[*at].corr)
	    : NULL;
}

void
idle_explain(struct idle *h, const struct spans *gpu)
{
	size_t at = 0;

	inner_find(&h->events);
	while (h->sums.n < h->st->text->list.n)
		vec_push(&h->sums, 0);
	stable_sort(
	    h->launches.v, h->launches.n, sizeof *h->launches.v, by_corr);
	stable_sort(h->begun.v, h->begun.n, sizeof *h->begun.v, by_begin);
	for (size_t i = 1; i < gpu->n; i++) {
		struct gap g = { gpu->v[i - 1].end, gpu->v[i].start, { 0 } };
		const struct launch *l = launch_at(h, &at, g.end_ns);
		int64_t to, covered;

		if (l == NULL || l->end <= g.start_ns)
			continue;
		to = l->end < g.end_ns ? l->end : g.end_ns;
		covered = sum_acts(h, l->thread, g.start_ns, to);
		/* else it was in nothing that was recorded for longest */
		if (take_largest(h, &g.cause, 1) > 0 &&
		    to - g.start_ns - covered <= g.cause.ns)
			vec_push(&h->gaps, g);
	}
}

struct str
idle_cause(struct idle *h, int64_t from, int64_t to, int64_t *ns)
{
	struct idle_act act;
	size_t i;

	*ns = 0;
	bisect(i, h->gaps.n, mid, h->gaps.v[mid].start_ns < from);
	for (; i < h->gaps.n && h->gaps.v[i].end_ns <= to; i++)
		add_sum(h, h->gaps.v[i].cause.name, h->gaps.v[i].cause.ns);
	if (take_largest(h, &act, 1) == 0)
		return (struct str){ NULL, 0 };
	*ns = act.ns;
	return dict_get(h->st, act.name);
}
