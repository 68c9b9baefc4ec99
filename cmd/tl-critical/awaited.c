/* SPDX-License-Identifier: MIT */
/*
 * Finds what calls and GPU streams wait for: from rows of the recording, else
 * from what ended when.
 */
#include "cmd/tl-critical/critical.h"

#include <stdlib.h>

/*
 * A call waits for GPU work. Of a copy from pageable memory the GPU's part may
 * end after the call has returned, and clocks differ: then the call waits for
 * the part before.
 */
static void
add_wait(
    struct graph *g, const struct recording *r, uint32_t gpu, uint32_t call)
{
	const struct host_gpu *k = &r->host.gpus.v[gpu];
	const struct host_event *e = &r->host.events.v[call];
	uint32_t to = node_of_end(number_of_host(r, call));
	uint32_t of = number_of_gpu(r, gpu);

	if (k->end_ns > e->end_ns && k->end_ns - e->end_ns < STALL_NS &&
	    k->start_ns <= e->end_ns)
		graph_edge(g, EDGE_KERNEL, node_of_start(of), to,
		    own_time_of_gpu(r, gpu, e->end_ns - k->start_ns), of);
	else
		graph_edge(g, EDGE_BLOCK, node_of_end(of), to, 0,
		    number_of_host(r, call));
}

/* ---- what rows say ---- */

static void
take_rows(struct graph *g, struct recording *r)
{
	for (size_t i = 0; i < r->waits.list.n; i++) {
		const struct wait *w = &r->waits.list.v[i];
		uint32_t from = node_of_end(number_of_gpu(r, w->from));

		if (w->to != HOST_NONE) {
			graph_edge(g, EDGE_DEPEND, from,
			    node_of_start(number_of_gpu(r, w->to)), 0,
			    number_of_gpu(r, w->from));
			continue;
		}
		add_wait(g, r, w->from, w->call);
		r->calls[w->call] |= CALL_IS_TOLD | CALL_WAITS;
	}
}

/* ---- what ended ---- */

/*
 * Finds, among the work launched before one time, what ended last before
 * another: GPU events sorted by end, and for those launched so far the last one
 * up to each position (a Fenwick tree of maxima).
 */
struct ended {
	VEC(uint32_t) order; /* GPU events by end */
	uint32_t *place;     /* position of each in order */
	uint32_t *last;      /* the tree: position + 1 */
};

struct end_of {
	int64_t ns;
	uint32_t gpu;
};

static int
by_end(const void *x, const void *y)
{
	const struct end_of *a = x, *b = y;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->gpu > b->gpu) - (a->gpu < b->gpu);
}

static void
ended_start(struct ended *d, const struct host *h)
{
	VEC(struct end_of) ends = { 0 };

	for (uint32_t i = 0; i < h->gpus.n; i++)
		vec_push(&ends, ((struct end_of){ h->gpus.v[i].end_ns, i }));
	stable_sort(ends.v, ends.n, sizeof *ends.v, by_end);
	d->place = xmalloc(ends.n * sizeof *d->place + 1);
	d->last = xcalloc(ends.n + 1, sizeof *d->last);
	for (uint32_t i = 0; i < ends.n; i++) {
		vec_push(&d->order, ends.v[i].gpu);
		d->place[ends.v[i].gpu] = i;
	}
	vec_free(&ends);
}

static void
ended_add(struct ended *d, uint32_t gpu)
{
	uint32_t value = d->place[gpu] + 1;

	for (size_t i = value; i <= d->order.n; i += i & -i)
		d->last[i] = value > d->last[i] ? value : d->last[i];
}

static uint32_t
ended_last(const struct ended *d, const struct host *h, int64_t ns)
{
	uint32_t last = 0;
	size_t n;

	bisect(n, d->order.n, mid, h->gpus.v[d->order.v[mid]].end_ns <= ns);
	for (; n > 0; n -= n & -n)
		last = d->last[n] > last ? d->last[n] : last;
	return last > 0 ? d->order.v[last - 1] : HOST_NONE;
}

static void
ended_free(struct ended *d)
{
	vec_free(&d->order);
	free(d->place);
	free(d->last);
}

/* ---- calls that wait, and GPU streams made to wait ---- */

/* Which work, launched before one time, ended last before another? */
struct question {
	int64_t launched_ns, ended_ns;
	uint32_t call; /* call that waits, or */
	uint32_t gpu;  /* work that waits; HOST_NONE: the other one */
};

typedef VEC(struct question) question_list;
typedef VEC(uint32_t) gpu_list;

static int
by_launch(const void *x, const void *y)
{
	const struct question *a = x, *b = y;

	return (a->launched_ns > b->launched_ns) -
	    (a->launched_ns < b->launched_ns);
}

static bool
is_of_device(struct str name)
{
	return str_find(name, STR("DeviceSync"), false) >= 0 ||
	    str_find(name, STR("CtxSync"), false) >= 0 ||
	    str_find(name, STR("ThreadSync"), false) >= 0;
}

/*
 * In recordings device memory is freed only after all work launched before has
 * ended; other calls of its class return while work is running.
 */
static bool
frees_memory(struct str name)
{
	return str_eq(name, STR("cudaFree")) || str_eq(name, STR("hipFree")) ||
	    str_eq(name, STR("cuMemFree")) || str_eq(name, STR("cuMemFree_v2"));
}

/* A synchronization waits for what was launched before it. */
static void
ask_for_calls(const struct recording *r, question_list *to)
{
	const struct host *h = &r->host;

	for (size_t k = 0; k < h->may_wait.n; k++) {
		uint32_t i = h->may_wait.v[k];
		const struct host_event *e = &h->events.v[i];
		struct str name = dict_get(h->dict, e->name);
		bool frees = e->cause == CAUSE_ALLOC && frees_memory(name);

		if ((e->cause != CAUSE_SYNC && e->cause != CAUSE_POLL &&
			!frees) ||
		    (r->calls[i] & CALL_IS_TOLD) != 0 ||
		    e->end_ns < r->window.start || e->end_ns > r->window.end)
			continue;
		vec_push(to,
		    ((struct question){ e->start_ns,
			frees || is_of_device(name) ? INT64_MAX : e->end_ns, i,
			HOST_NONE }));
	}
}

static int
by_thread_and_time(const void *x, const void *y)
{
	const struct launched *a = x, *b = y;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Calls that make a GPU stream wait for an event. */
static void
list_stream_waits(const struct recording *r, launched_list *list)
{
	const struct host *h = &r->host;
	struct map known = { 0 };

	for (uint32_t i = 0; i < h->events.n; i++) {
		const struct host_event *e = &h->events.v[i];
		bool is_new;
		uint64_t *is_wait;

		if (!is_call(e) || e->ngpu > 0)
			continue;
		is_wait = map_put(&known, e->name, &is_new);
		if (is_new)
			*is_wait = str_find(dict_get(h->dict, e->name),
				       STR("StreamWaitEvent"), false) >= 0;
		if (*is_wait)
			vec_push(list,
			    ((struct launched){ .thread = e->thread,
				.gpu = i,
				.start_ns = e->start_ns }));
	}
	map_free(&known);
	stable_sort(list->v, list->n, sizeof *list->v, by_thread_and_time);
}

/*
 * The calls do not name the GPU stream that waits: it may be any on which their
 * thread launches next, so the first launch on each counts.
 */
static void
ask_for_streams(const struct recording *r, question_list *to)
{
	launched_list waits = { 0 }, launched = { 0 };

	list_stream_waits(r, &waits);
	if (waits.n > 0)
		list_launched(&launched, &r->host, true, true);
	for (size_t i = 0; i < launched.n; i++) {
		const struct launched *l = &launched.v[i], *w;
		size_t at;

		bisect(at, waits.n, mid,
		    by_thread_and_time(&waits.v[mid], l) <= 0);
		w = at > 0 ? &waits.v[at - 1] : NULL;
		if (w == NULL || w->thread != l->thread ||
		    (i > 0 &&
			r->stream_of.v[l[-1].gpu] == r->stream_of.v[l->gpu] &&
			l[-1].thread == l->thread &&
			l[-1].start_ns >= w->start_ns))
			continue;
		vec_push(to,
		    ((struct question){ w->start_ns,
			r->host.gpus.v[l->gpu].start_ns, HOST_NONE, l->gpu }));
	}
	vec_free(&waits);
	vec_free(&launched);
}

/*
 * Unlike a synchronization it works itself, too: after the GPU, or it would
 * return sooner.
 */
static void
add_free(struct graph *g, struct recording *r, uint32_t gpu, uint32_t call)
{
	const struct host_event *e = &r->host.events.v[call];
	int64_t end = r->host.gpus.v[gpu].end_ns;
	uint32_t of = number_of_host(r, call);

	if (end <= e->start_ns || end > e->end_ns)
		return;
	graph_edge(g, EDGE_BLOCK, node_of_end(number_of_gpu(r, gpu)),
	    node_of_end(of), e->end_ns - end, of);
	graph_edge(g, EDGE_HOST, node_of_start(of), node_of_end(of),
	    e->end_ns - end, of);
	r->calls[call] |= CALL_WAITS;
}

static void
answer(struct graph *g, struct recording *r, const struct question *q,
    uint32_t gpu)
{
	const struct host *h = &r->host;
	int64_t end = h->gpus.v[gpu].end_ns;

	if (q->gpu != HOST_NONE) {
		if (r->stream_of.v[gpu] != r->stream_of.v[q->gpu] &&
		    q->ended_ns - end < STALL_NS)
			graph_inferred_edge(g, EDGE_DEPEND,
			    node_of_end(number_of_gpu(r, gpu)),
			    node_of_start(number_of_gpu(r, q->gpu)), 0,
			    number_of_gpu(r, gpu));
	} else if (h->events.v[q->call].cause == CAUSE_ALLOC) {
		add_free(g, r, gpu, q->call);
	} else if (q->ended_ns == INT64_MAX || end >= q->launched_ns) {
		add_wait(g, r, gpu, q->call);
		r->calls[q->call] |= CALL_WAITS;
	}
}

static void
answer_all(
    struct graph *g, struct recording *r, question_list *list, struct ended *d)
{
	launched_list launched = { 0 };
	size_t next = 0;

	stable_sort(list->v, list->n, sizeof *list->v, by_launch);
	list_launched(&launched, &r->host, false, false);
	for (size_t i = 0; i < list->n; i++) {
		const struct question *q = &list->v[i];
		uint32_t gpu;

		while (next < launched.n &&
		    launched.v[next].start_ns < q->launched_ns)
			ended_add(d, launched.v[next++].gpu);
		gpu = ended_last(d, &r->host, q->ended_ns);
		if (gpu != HOST_NONE)
			answer(g, r, q, gpu);
	}
	vec_free(&launched);
}

/* ---- GPU streams that stalled ---- */

/* Lists GPU events launched long before they began, on an idle GPU stream. */
static void
list_stalled(const struct recording *r, gpu_list *list)
{
	const struct host *h = &r->host;
	const size_t nstreams = r->streams->list.n;
	int64_t *free_ns = xmalloc(nstreams * sizeof *free_ns + 1);

	for (size_t i = 0; i < nstreams; i++)
		free_ns[i] = INT64_MIN;
	for (uint32_t i = 0; i < h->gpus.n; i++) {
		const struct host_gpu *k = &h->gpus.v[i];
		int64_t *free_at = &free_ns[r->stream_of.v[i]];
		int64_t since = *free_at;

		if (k->launch != HOST_NONE &&
		    h->events.v[k->launch].end_ns > since)
			since = h->events.v[k->launch].end_ns;
		if (since > INT64_MIN && since <= k->start_ns - STALL_NS)
			vec_push(list, i);
		*free_at = k->end_ns > *free_at ? k->end_ns : *free_at;
	}
	free(free_ns);
}

/*
 * Their GPU stream did not stall, it waited: for what ended last on another
 * one, if they began no later than a hand-over takes.
 */
static void
add_stalled(struct graph *g, const struct recording *r, const gpu_list *list,
    const struct ended *d)
{
	const struct host_gpu *v = r->host.gpus.v;

	for (size_t i = 0; i < list->n; i++) {
		const struct host_gpu *k = &v[list->v[i]];
		size_t n;

		bisect(n, d->order.n, mid,
		    v[d->order.v[mid]].end_ns <= k->start_ns);
		for (; n > 0; n--) {
			uint32_t gpu = d->order.v[n - 1];

			if (k->start_ns - v[gpu].end_ns >= STALL_NS)
				break;
			if (!key_eq(v[gpu].dev, k->dev) ||
			    key_eq(v[gpu].gpu_stream, k->gpu_stream))
				continue;
			graph_inferred_edge(g, EDGE_DEPEND,
			    node_of_end(number_of_gpu(r, gpu)),
			    node_of_start(number_of_gpu(r, list->v[i])), 0,
			    number_of_gpu(r, gpu));
			break;
		}
	}
}

/* ---- all GPU work that is waited for ---- */

/* A blocking copy waits for the copy. */
static void
add_copies(struct graph *g, struct recording *r)
{
	const struct host *h = &r->host;

	for (uint32_t i = 0; i < h->gpus.n; i++) {
		uint32_t call = h->gpus.v[i].launch;

		if (call != HOST_NONE &&
		    h->events.v[call].cause == CAUSE_COPY_BLOCK)
			add_wait(g, r, i, call);
	}
}

/* Hand-overs between GPU streams, judged by the lengths of gaps alone. */
static void
add_hand_overs(struct graph *g, const struct recording *r)
{
	for (size_t i = 0; i < r->gaps.list.n; i++) {
		const struct gap *gap = &r->gaps.list.v[i];

		/* what rows say is an edge already */
		if (gap->awaited != HOST_NONE &&
		    r->host.gpus.v[gap->next].awaits != gap->awaited)
			graph_inferred_edge(g, EDGE_DEPEND,
			    node_of_end(number_of_gpu(r, gap->awaited)),
			    node_of_start(number_of_gpu(r, gap->next)), 0,
			    number_of_gpu(r, gap->awaited));
	}
}

void
awaited_work(struct graph *g, struct recording *r)
{
	const struct host *h = &r->host;
	question_list list = { 0 };
	gpu_list stalled = { 0 };
	struct ended d = { { 0 }, NULL, NULL };

	for (size_t k = 0; k < h->may_wait.n; k++) {
		uint32_t i = h->may_wait.v[k];

		if (h->events.v[i].cause == CAUSE_SYNC ||
		    h->events.v[i].cause == CAUSE_COPY_BLOCK)
			r->calls[i] |= CALL_WAITS;
	}
	take_rows(g, r);
	ask_for_calls(r, &list);
	if (!r->waits.tells_streams) {
		ask_for_streams(r, &list);
		list_stalled(r, &stalled);
	}
	if (list.n + stalled.n > 0) {
		ended_start(&d, h);
		answer_all(g, r, &list, &d);
		add_stalled(g, r, &stalled, &d);
		ended_free(&d);
	}
	vec_free(&stalled);
	add_copies(g, r);
	add_hand_overs(g, r);
	vec_free(&list);
}
