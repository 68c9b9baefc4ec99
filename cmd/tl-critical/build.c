/* SPDX-License-Identifier: MIT */
/* Builds the graph of a recording: threads, GPU streams and launches. */
#include "cmd/tl-critical/critical.h"

#include <stdlib.h>

/* ---- threads ---- */

struct chain {
	struct graph *g;
	struct recording *r;
	uint32_t thread;
	uint32_t first;     /* as r->first */
	struct span window; /* as r->window */
	uint32_t last;      /* its last node */
	int64_t last_ns;
	bool is_over;
	/* when the window waits for it no longer; INT64_MAX: it never did */
	int64_t until_ns;
};

/* Whether the time from the last node to the next is not its owner's: it waits
 * for GPU work or another thread. */
static bool
is_wait(struct chain *c, uint32_t node, int64_t ns, uint32_t owner)
{
	bool waits =
	    owner != HOST_NONE && (c->r->calls[owner] & CALL_WAITS) != 0;
	uint32_t from;

	if (ns <= c->last_ns)
		return false;
	/* what is no call of the runtime may wait for GPU and threads */
	if (waits && is_call(&c->r->host.events.v[owner]))
		return true;
	if ((owner == HOST_NONE ||
		(c->r->calls[owner] & CALL_MAY_AWAIT) != 0) &&
	    awaited_by_thread(c->r,
		&(struct pause){ c->thread, owner, c->last_ns, ns }, &from)) {
		graph_edge(c->g, EDGE_THREAD, from, node, 0, 0);
		return true;
	}
	return waits;
}

/* What the link to a node says of the event that is open before it. */
static inline uint32_t
owner_of(struct chain *c, uint32_t node, int64_t ns, uint32_t open)
{
	uint32_t number = 0;

	if (open != HOST_NONE) {
		number = c->first + open;
		if ((c->r->calls[open] & (CALL_WAITS | CALL_MAY_AWAIT)) == 0)
			return number;
	}
	return is_wait(c, node, ns, open) ? number | LINK_WAITS : number;
}

/* The window waits for the thread up to then. */
static void
add_last(struct chain *c, uint32_t open)
{
	uint32_t owner;

	if (c->until_ns >= c->last_ns) {
		owner = owner_of(c, GRAPH_SINK, c->until_ns, open);
		graph_edge(c->g, EDGE_HOST, c->last, GRAPH_SINK,
		    (owner & LINK_WAITS) != 0 ? 0 : c->until_ns - c->last_ns,
		    owner & EVENTS_MAX);
	}
	c->until_ns = INT64_MAX;
}

/* Adds the next node. */
static inline void
add_node(struct chain *c, uint32_t node, int64_t ns, uint32_t open)
{
	if (ns > c->until_ns)
		add_last(c, open);
	if (ns > c->window.end) {
		c->is_over = true;
		return;
	}
	if (ns < c->window.start)
		return;
	graph_link(c->g, c->last, node, owner_of(c, node, ns, open), 0);
	c->g->today.at[node] = ns;
	c->last = node;
	c->last_ns = ns;
}

/* Adds ends from the innermost open event up to, and without, another one. */
static inline void
add_ends(struct chain *c, uint32_t open, uint32_t up)
{
	const struct host_event *v = c->r->host.events.v;

	for (; open != up; open = v[open].up)
		if (v[open].end_ns > c->window.start ||
		    v[open].start_ns >= c->window.start)
			add_node(c, node_of_end(c->first + open),
			    v[open].end_ns, open);
}

static void
add_thread(struct chain *c)
{
	const struct host *h = &c->r->host;
	const struct host_thread *t = &h->threads.v[c->thread];
	uint32_t open = HOST_NONE;

	for (uint32_t i = t->first; i < t->first + t->n && !c->is_over; i++) {
		const struct host_event *e = &h->events.v[i];

		if (!is_nested(e))
			continue;
		add_ends(c, open, e->up);
		add_node(c, node_of_start(c->first + i), e->start_ns, e->up);
		if (may_await_thread(e))
			c->r->calls[i] |= CALL_MAY_AWAIT;
		open = i;
	}
	add_ends(c, open, HOST_NONE);
}

/* Up to when the window waits for a thread; INT64_MAX: not at all. */
static int64_t
awaited_until(const struct recording *r, uint32_t thread)
{
	for (size_t i = 0; i < r->mains.n; i++) {
		const struct main_thread *m = &r->mains.v[i];

		if (m->thread == thread)
			return m->end_ns < r->window.end ? m->end_ns
							 : r->window.end;
	}
	return INT64_MAX;
}

static void
add_threads(struct graph *g, struct recording *r)
{
	for (uint32_t i = 0; i < r->host.threads.n; i++) {
		struct chain c = { .g = g,
			.r = r,
			.first = r->first,
			.window = r->window,
			.thread = i,
			.last = GRAPH_SOURCE,
			.last_ns = r->window.start,
			.until_ns = awaited_until(r, i) };

		add_thread(&c);
		if (c.until_ns != INT64_MAX)
			add_last(&c, HOST_NONE);
	}
}

/* ---- launches ---- */

/*
 * The shortest time from a launch to its work, by call name: of launches to an
 * idle GPU, except work that was held up further.
 */
static void
find_latencies(struct map *least, const struct recording *r)
{
	const struct host *h = &r->host;

	for (size_t i = 0; i < r->gaps.list.n; i++) {
		const struct gap *gap = &r->gaps.list.v[i];
		const struct host_gpu *k = &h->gpus.v[gap->next];
		const struct host_event *e;
		uint64_t *ns;
		bool is_new;

		if (k->launch == HOST_NONE)
			continue;
		e = &h->events.v[k->launch];
		if (e->start_ns <= gap->start_ns || k->start_ns < e->start_ns ||
		    k->start_ns - e->end_ns >= STALL_NS)
			continue;
		ns = map_put(least, e->name, &is_new);
		if (is_new || (uint64_t)(k->start_ns - e->start_ns) < *ns)
			*ns = (uint64_t)(k->start_ns - e->start_ns);
	}
}

/* ---- GPU streams ---- */

static void
number_streams(struct recording *r)
{
	if (r->streams == NULL)
		r->streams = intern_create();
	intern_clear(r->streams);
	r->stream_of.n = 0;
	for (size_t i = 0; i < r->host.gpus.n; i++) {
		const struct host_gpu *k = &r->host.gpus.v[i];
		const int64_t id[] = { k->dev.type, k->dev.n,
			k->gpu_stream.type, k->gpu_stream.n };

		vec_push(&r->stream_of,
		    intern_put(r->streams,
			(struct str){ (const char *)id, sizeof id }));
	}
}

static void
add_kernel(struct graph *g, const struct recording *r, uint32_t gpu)
{
	const struct host_gpu *k = &r->host.gpus.v[gpu];
	const struct span *w = &r->window;
	uint32_t number = number_of_gpu(r, gpu);
	uint32_t from = GRAPH_SOURCE, to = GRAPH_SINK;
	int64_t start = w->start, end = w->end;

	if (k->end_ns < w->start || k->start_ns > w->end ||
	    (k->end_ns == w->start && k->start_ns < w->start))
		return;
	if (k->start_ns >= w->start) {
		from = node_of_start(number);
		g->today.at[from] = start = k->start_ns;
	}
	if (k->end_ns <= w->end) {
		to = node_of_end(number);
		g->today.at[to] = end = k->end_ns;
	}
	graph_edge(g, EDGE_KERNEL, from, to,
	    own_time_of_gpu(r, gpu, end - start), number);
}

/* Further work of a launch on a GPU stream follows the first. */
static bool
is_first_of_launch(struct map *seen, const struct recording *r, uint32_t gpu)
{
	uint32_t launch = r->host.gpus.v[gpu].launch;
	bool is_new = true;

	if (r->host.events.v[launch].ngpu > 1)
		(void)map_put(seen,
		    (uint64_t)launch << 32 | r->stream_of.v[gpu], &is_new);
	return is_new;
}

static void
add_launch(struct graph *g, const struct recording *r,
    const struct map *latencies, uint32_t gpu)
{
	const struct host_gpu *k = &r->host.gpus.v[gpu];
	const uint64_t *least =
	    map_get(latencies, r->host.events.v[k->launch].name);

	graph_edge(g, EDGE_LAUNCH, node_of_start(number_of_host(r, k->launch)),
	    node_of_start(number_of_gpu(r, gpu)),
	    least != NULL ? (int64_t)*least : 0, number_of_host(r, k->launch));
}

/* Work that begins before the previous one has ended follows its start. */
static void
add_queue(
    struct graph *g, const struct recording *r, uint32_t prev, uint32_t gpu)
{
	const struct host_gpu *p = &r->host.gpus.v[prev];
	const struct host_gpu *k = &r->host.gpus.v[gpu];
	uint32_t before = number_of_gpu(r, prev);
	uint32_t to = node_of_start(number_of_gpu(r, gpu));

	if (p->end_ns > k->start_ns && p->start_ns <= k->start_ns)
		graph_edge(g, EDGE_KERNEL, node_of_start(before), to,
		    k->start_ns - p->start_ns, before);
	else
		graph_edge(g, EDGE_QUEUE, node_of_end(before), to, 0, before);
}

static void
add_gpus(struct graph *g, struct recording *r)
{
	const struct host *h = &r->host;
	struct map latencies = { 0 }, seen = { 0 };
	const size_t nstreams = r->streams->list.n;
	struct track_end {
		uint32_t prev, latest; /* on a GPU stream */
	} *ends = xmalloc(nstreams * sizeof *ends + 1);

	for (size_t i = 0; i < nstreams; i++)
		ends[i] = (struct track_end){ HOST_NONE, HOST_NONE };
	find_latencies(&latencies, r);
	for (uint32_t i = 0; i < h->gpus.n; i++) {
		struct track_end *s = &ends[r->stream_of.v[i]];

		add_kernel(g, r, i);
		if (s->prev != HOST_NONE)
			add_queue(g, r, s->prev, i);
		if (h->gpus.v[i].launch != HOST_NONE &&
		    is_first_of_launch(&seen, r, i))
			add_launch(g, r, &latencies, i);
		s->prev = i;
		if (is_in_window(g, node_of_end(number_of_gpu(r, i))) &&
		    (s->latest == HOST_NONE ||
			h->gpus.v[i].end_ns >= h->gpus.v[s->latest].end_ns))
			s->latest = i;
	}
	for (size_t i = 0; i < nstreams; i++)
		if (ends[i].latest != HOST_NONE)
			graph_edge(g, EDGE_QUEUE,
			    node_of_end(number_of_gpu(r, ends[i].latest)),
			    GRAPH_SINK, 0, number_of_gpu(r, ends[i].latest));
	map_free(&seen);
	map_free(&latencies);
	free(ends);
}

/* ---- all ---- */

void
build(struct graph *g, struct recording *r)
{
	r->first = graph_events(g, r->host.events.n + r->host.gpus.n);
	r->calls = xcalloc(r->host.events.n + 1, 1);
	vec_reserve(&g->edges, g->edges.n + 4 * r->host.gpus.n);
	waits_find(&r->waits, &r->host);
	r->gaps.without_causes = true;
	gaps_find(&r->gaps, &r->host, NULL, r->host.gpus.n, NULL);
	number_streams(r);
	awaited_work(g, r);
	add_threads(g, r);
	add_gpus(g, r);
}

void
recording_start(
    struct recording *r, const struct dict *dict, struct causes *causes)
{
	host_start(&r->host, dict, causes);
	waits_start(&r->waits);
	free(r->calls);
	free(r->busy_ns);
	r->calls = NULL;
	r->busy_ns = NULL;
	r->unmoved.n = 0;
}

void
recording_free(struct recording *r)
{
	host_free(&r->host);
	gaps_free(&r->gaps);
	steps_free(&r->steps);
	waits_free(&r->waits);
	map_free(&r->transfers);
	vec_free(&r->mains);
	vec_free(&r->stream_of);
	vec_free(&r->unmoved);
	if (r->streams != NULL)
		intern_destroy(r->streams);
	r->streams = NULL;
	free(r->calls);
	free(r->busy_ns);
	r->calls = NULL;
	r->busy_ns = NULL;
}
