/* SPDX-License-Identifier: MIT */
#include "trace/launches.h"

/* Defaults for traces without graphs or queued events. */
#define GRAPH_GAP_NS 1000
#define GRAPH_START_NS 10000

typedef VEC(int64_t) ns_list;

static int64_t
upper_median(ns_list *list)
{
	int64_t median = -1;

	if (list->n > 0) {
		sort_i64(list->v, list->n);
		median = list->v[list->n / 2];
	}
	vec_free(list);
	return median;
}

/* ---- launches ---- */

/* Index of launches and of GPU events: events are by thread and time, and GPU
 * events by time. */
static int64_t
order_of(const struct host *h, uint32_t gpu)
{
	return (int64_t)((uint64_t)h->gpus.v[gpu].launch << 32 | gpu);
}

/* Of n in time, the length of the union. */
static int64_t
busy_ns(const struct host *h, const uint32_t *v, size_t n)
{
	int64_t end = h->gpus.v[v[0]].start_ns, ns = 0;

	for (size_t i = 0; i < n; i++) {
		const struct host_gpu *k = &h->gpus.v[v[i]];
		int64_t from = k->start_ns > end ? k->start_ns : end;

		if (k->end_ns > from) {
			ns += k->end_ns - from;
			end = k->end_ns;
		}
	}
	return ns;
}

void
launches_find(
    struct launches *l, const struct host *h, const uint32_t *gpus, size_t n)
{
	ns_list order = { 0 };

	l->list.n = l->gpus.n = 0;
	l->nstarved = 0;
	for (size_t i = 0; i < n; i++)
		if (h->gpus.v[gpus[i]].launch != HOST_NONE)
			vec_push(&order, order_of(h, gpus[i]));
	sort_i64(order.v, order.n);
	for (size_t i = 0; i < order.n; i++)
		vec_push(&l->gpus, (uint32_t)order.v[i]);
	vec_free(&order);
	for (size_t i = 0, of; i < l->gpus.n; i += of) {
		const uint32_t *v = &l->gpus.v[i];
		uint32_t event = h->gpus.v[*v].launch;

		for (of = 1;
		     i + of < l->gpus.n && h->gpus.v[v[of]].launch == event;)
			of++;
		vec_push(&l->list,
		    ((struct launch){ event, (uint32_t)i, (uint32_t)of,
			busy_ns(h, v, of), false }));
	}
}

void
launches_starve(struct launches *l, const struct host *h, const struct gaps *g)
{
	for (size_t i = 0; i < g->list.n; i++) {
		const struct gap *gap = &g->list.v[i];
		uint32_t event = gap->next != HOST_NONE
		    ? h->gpus.v[gap->next].launch
		    : HOST_NONE;
		size_t at;

		if (event == HOST_NONE ||
		    h->events.v[event].start_ns <= gap->start_ns)
			continue;
		bisect(at, l->list.n, mid, l->list.v[mid].event < event);
		if (at == l->list.n || l->list.v[at].event != event)
			continue; /* of other GPU work */
		l->list.v[at].is_starved = true;
		l->nstarved++;
	}
}

void
launches_free(struct launches *l)
{
	vec_free(&l->list);
	vec_free(&l->gpus);
}

/* ---- how often, and how much ---- */

int64_t
launches_interval(const struct host *h, const struct launch *v, size_t n)
{
	ns_list list = { 0 };

	for (size_t i = 1; i < n; i++) {
		const struct host_event *a = &h->events.v[v[i - 1].event];
		const struct host_event *b = &h->events.v[v[i].event];

		if (a->thread == b->thread)
			vec_push(&list, b->start_ns - a->start_ns);
	}
	return upper_median(&list);
}

int64_t
launches_work(const struct launch *v, size_t n)
{
	ns_list list = { 0 };

	for (size_t i = 0; i < n; i++)
		vec_push(&list, v[i].work_ns);
	return upper_median(&list);
}

/* ---- as one graph ---- */

static int64_t
median_piece(const struct gaps *g, enum cause cause)
{
	ns_list list = { 0 };

	for (size_t i = 0; i < g->pieces.n; i++)
		if (g->pieces.v[i].cause == cause)
			vec_push(&list,
			    g->pieces.v[i].end_ns - g->pieces.v[i].start_ns);
	return upper_median(&list);
}

static int64_t
median_start(const struct launches *l, const struct host *h)
{
	ns_list list = { 0 };

	for (size_t i = 0; i < l->list.n; i++) {
		const struct launch *v = &l->list.v[i];
		const struct host_event *e = &h->events.v[v->event];
		int64_t start = h->gpus.v[l->gpus.v[v->first]].start_ns;

		if (v->n > 1 && host_is_graph(h, v->event))
			vec_push(&list,
			    (start > e->end_ns ? start : e->end_ns) -
				e->start_ns);
	}
	return upper_median(&list);
}

struct graph_terms
launches_graph(
    const struct launches *l, const struct host *h, const struct gaps *g)
{
	struct graph_terms t = { .gap_ns = median_piece(g, CAUSE_GRAPH_GAP),
		.start_ns = median_start(l, h) };

	if (t.gap_ns < 0) {
		t.gap_from = FROM_QUEUE;
		t.gap_ns = median_piece(g, CAUSE_QUEUE_GAP);
	}
	if (t.gap_ns < 0) {
		t.gap_from = FROM_NOTHING;
		t.gap_ns = GRAPH_GAP_NS;
	}
	if (t.start_ns < 0) {
		t.start_from = FROM_NOTHING;
		t.start_ns = GRAPH_START_NS;
	}
	return t;
}

int64_t
graph_gaps_ns(int64_t gap_ns, uint64_t n)
{
	int64_t ns;

	return __builtin_mul_overflow(gap_ns, n - 1, &ns) ? INT64_MAX : ns;
}
