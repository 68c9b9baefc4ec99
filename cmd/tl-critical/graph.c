/* SPDX-License-Identifier: MIT */
#include "cmd/tl-critical/graph.h"

#include <stdlib.h>

#include "trace/stat.h"

const char *const edge_words[EDGE_KINDS] = {
	[EDGE_KERNEL] = "kernel",
	[EDGE_DEPEND] = "depend",
	[EDGE_QUEUE] = "queue",
	[EDGE_BLOCK] = "block",
	[EDGE_PEER] = "peer",
	[EDGE_THREAD] = "thread",
	[EDGE_LAUNCH] = "launch",
	[EDGE_HOST] = "host",
	[EDGE_SOURCE] = "source",
};

/* ---- making ---- */

void
graph_start(struct graph *g, struct span window)
{
	graph_free(g);
	memset(g, 0, sizeof *g);
	g->window = window;
	(void)graph_events(g, 1);
	g->today.at[GRAPH_SOURCE] = window.start;
	g->today.at[GRAPH_SINK] = window.end;
}

uint32_t
graph_events(struct graph *g, size_t n)
{
	size_t first = g->nnodes, all;

	if (__builtin_mul_overflow(n, 2, &all) ||
	    __builtin_add_overflow(all, first, &all) || all / 2 > EVENTS_MAX)
		die("more than %u events", EVENTS_MAX);
	g->today.at =
	    vec_grow(g->today.at, &g->at_room, all, sizeof *g->today.at);
	g->today.via =
	    vec_grow(g->today.via, &g->via_room, all, sizeof *g->today.via);
	vec_reserve(&g->links, all);
	for (size_t i = first; i < all; i++) {
		g->today.at[i] = GRAPH_NOWHERE;
		g->today.via[i] = EDGE_NONE;
		g->links.v[i] = (struct link){ LINK_NONE, 0 };
	}
	g->nnodes = all;
	return event_of_node((uint32_t)first);
}

void
solution_free(struct solution *s)
{
	free(s->at);
	free(s->via);
	*s = (struct solution){ NULL, NULL };
}

void
graph_free(struct graph *g)
{
	solution_free(&g->today);
	vec_free(&g->edges);
	vec_free(&g->links);
	free(g->into);
	free(g->first);
	free(g->order);
	g->into = g->first = g->order = NULL;
}

/* ---- edges that count ---- */

/* Whether edge a binds their node rather than b. */
static bool
binds(const struct edge *a, int64_t at_a, const struct edge *b, int64_t at_b)
{
	if (at_a != at_b)
		return at_a > at_b;
	if (a->kind != b->kind)
		return a->kind < b->kind;
	return a->from < b->from;
}

/* Remembers an edge if it may bind its node. */
static inline void
bind(struct graph *g, uint32_t i)
{
	const int64_t *at = g->today.at;
	const struct edge e = edge_of(g, i);
	uint32_t *via = &g->today.via[e.to];

	if (*via != EDGE_NONE) {
		const struct edge b = edge_of(g, *via);

		if (!binds(&e, at[e.from] + e.least_ns, &b,
			at[b.from] + b.least_ns))
			return;
	}
	*via = i;
}

/* Counts and drops edges that leave the window or contradict its times. */
static void
keep_edges(struct graph *g)
{
	const int64_t *at = g->today.at;
	uint32_t kept = 0;

	if (graph_nedges(g) >= EDGE_NONE)
		die("more than %u edges", EDGE_NONE);
	for (size_t i = 0; i < g->edges.n; i++) {
		const struct edge *e = &g->edges.v[i];

		if (!is_in_window(g, e->from) || !is_in_window(g, e->to))
			continue;
		if (at[e->to] - at[e->from] < e->least_ns) {
			g->nnegative[e->kind]++;
			continue;
		}
		if (kept != i)
			g->edges.v[kept] = *e;
		bind(g, (uint32_t)g->nnodes + kept++);
	}
	g->edges.n = kept;
}

/* A node without an edge from the window hangs on the source, at its delay. */
static void
link_to_source(struct graph *g)
{
	for (uint32_t n = GRAPH_SINK; n < g->nnodes; n++)
		if (g->today.via[n] == EDGE_NONE && is_in_window(g, n))
			graph_link(g, GRAPH_SOURCE, n, 0, LINK_SOURCE);
}

/* Sorts edges but links by the node that they lead to. */
static void
sort_edges(struct graph *g)
{
	const struct edge *v = g->edges.v;

	g->into = xmalloc(g->edges.n * sizeof *g->into + 1);
	g->first = xcalloc(g->nnodes + 2, sizeof *g->first);
	/* counted two places ahead, as the ends move while a node is filled */
	for (size_t i = 0; i < g->edges.n; i++)
		g->first[v[i].to + 2]++;
	for (size_t n = 2; n < g->nnodes + 2; n++)
		g->first[n] += g->first[n - 1];
	for (uint32_t i = 0; i < g->edges.n; i++)
		g->into[g->first[v[i].to + 1]++] = i;
}

/* The edge in a place from first[node] up to first[node + 1], which is that of
 * the link. */
static uint32_t
edge_into(const struct graph *g, uint32_t node, uint32_t place)
{
	return place < g->first[node + 1] ? (uint32_t)g->nnodes + g->into[place]
					  : node;
}

static void
drop_edge(struct graph *g, uint32_t edge)
{
	if (edge < g->nnodes)
		g->links.v[edge].from = LINK_NONE;
	else
		g->edges.v[edge - g->nnodes].is_gone = true;
}

/* ---- order ---- */

/*
 * Whether edges may form a cycle, which takes no time. Edges of a thread or GPU
 * stream lead forward, so a cycle needs others.
 */
static bool
may_be_circular(const struct graph *g)
{
	const int64_t *at = g->today.at;

	for (size_t i = 0; i < g->edges.n; i++) {
		const struct edge *e = &g->edges.v[i];

		if (at[e->from] == at[e->to] && e->kind != EDGE_HOST &&
		    e->kind != EDGE_KERNEL && e->kind != EDGE_QUEUE &&
		    e->kind != EDGE_SOURCE)
			return true;
	}
	return false;
}

enum { NODE_NEW, NODE_OPEN, NODE_DONE };

struct visit {
	uint32_t node, next; /* next: edge to look at */
};

/* Puts a node after all that it waits for; drops an edge that closes a
 * cycle. */
static void
visit_node(struct graph *g, uint8_t *state, struct visit *stack, uint32_t node)
{
	size_t n = 0;

	stack[n++] = (struct visit){ node, g->first[node] };
	state[node] = NODE_OPEN;
	while (n > 0) {
		struct visit *v = &stack[n - 1];
		struct edge e;
		uint32_t edge;

		if (v->next > g->first[v->node + 1]) {
			state[v->node] = NODE_DONE;
			g->order[g->norder++] = v->node;
			n--;
			continue;
		}
		edge = edge_into(g, v->node, v->next++);
		e = edge_of(g, edge);
		if (e.is_gone)
			continue;
		if (state[e.from] == NODE_OPEN) {
			drop_edge(g, edge);
			g->ncircular++;
		} else if (state[e.from] == NODE_NEW) {
			state[e.from] = NODE_OPEN;
			stack[n++] = (struct visit){ e.from, g->first[e.from] };
		}
	}
}

static void
find_order(struct graph *g)
{
	uint8_t *state = xcalloc(g->nnodes, 1);
	struct visit *stack = xmalloc(g->nnodes * sizeof *stack);

	g->order = xmalloc(g->nnodes * sizeof *g->order);
	for (uint32_t n = 0; n < g->nnodes; n++)
		if (is_in_window(g, n) && state[n] == NODE_NEW)
			visit_node(g, state, stack, n);
	free(state);
	free(stack);
}

/* ---- longest paths ---- */

/*
 * Finds the binding edges by measured times again after edges were dropped. A
 * node with only edges of a cycle hangs on the source, which precedes all.
 */
static void
find_binding(struct graph *g)
{
	for (uint32_t n = 0; n < g->nnodes; n++) {
		g->today.via[n] =
		    g->links.v[n].from != LINK_NONE ? n : EDGE_NONE;
		for (uint32_t k = g->first[n]; k < g->first[n + 1]; k++)
			if (!edge_of(g, edge_into(g, n, k)).is_gone)
				bind(g, edge_into(g, n, k));
	}
	link_to_source(g);
}

void
graph_ready(struct graph *g, bool with_order)
{
	keep_edges(g);
	link_to_source(g);
	if (!with_order && !may_be_circular(g))
		return;
	sort_edges(g);
	find_order(g);
	if (g->ncircular > 0)
		find_binding(g);
}

/* Rounded up, so that many short events save no more than they take. */
static int64_t
scaled(int64_t ns, int64_t factor)
{
	int64_t whole, v, rest = ns % SCALE_UNIT * factor;

	if (factor == SCALE_UNIT)
		return ns;
	rest = rest / SCALE_UNIT + (rest % SCALE_UNIT > 0);
	if (__builtin_mul_overflow(ns / SCALE_UNIT, factor, &whole) ||
	    !num_add(whole, rest, &v))
		die("times add up to more than 292 years");
	return v;
}

int64_t
edge_scaled(const struct scale *scale, const struct edge *e)
{
	return e->kind == EDGE_KERNEL || e->kind == EDGE_HOST ||
		e->kind == EDGE_BLOCK
	    ? scaled(e->least_ns, scale->factors[scale->of[e->owner]])
	    : e->least_ns;
}

static bool
is_cut(const struct scale *scale, const struct edge *e)
{
	const uint32_t call = event_of_node(e->to);
	bool is_wait = e->kind == EDGE_BLOCK ||
	    (e->kind == EDGE_KERNEL && e->to == node_of_end(call) &&
		call != event_of_node(e->from));

	return scale->cuts_waits && is_wait &&
	    scale->factors[scale->of[call]] == 0;
}

/* When an edge lets its node come. */
static inline int64_t
reached_at(const struct graph *g, const struct scale *scale,
    const struct solution *s, uint32_t edge, const struct edge *e)
{
	int64_t at = scale->no_residuals ? 0 : edge_residual(g, edge, e);

	stat_add(&at, edge_scaled(scale, e));
	stat_add(&at, s->at[e->from]);
	return at;
}

/* The edge that binds a node, and when; EDGE_NONE: none. */
static uint32_t
solve_node(const struct graph *g, const struct scale *scale,
    const struct solution *s, uint32_t node, int64_t *best_at)
{
	const struct edge link = edge_of_link(g, node), *best = NULL;
	uint32_t number = EDGE_NONE;
	int64_t at;

	for (uint32_t i = g->first[node]; i < g->first[node + 1]; i++) {
		const uint32_t k = edge_into(g, node, i);
		const struct edge *e = &g->edges.v[g->into[i]];

		if (e->is_gone || is_cut(scale, e))
			continue;
		at = reached_at(g, scale, s, k, e);
		if (best == NULL || binds(e, at, best, *best_at)) {
			best = e;
			number = k;
			*best_at = at;
		}
	}
	if (link.is_gone)
		return number;
	at = reached_at(g, scale, s, node, &link);
	if (best != NULL && !binds(&link, at, best, *best_at))
		return number;
	*best_at = at;
	return node;
}

void
graph_solve(
    const struct graph *g, const struct scale *scale, struct solution *out)
{
	out->at = xmalloc(g->nnodes * sizeof *out->at);
	out->via = xmalloc(g->nnodes * sizeof *out->via);
	for (size_t i = 0; i < g->norder; i++) {
		uint32_t n = g->order[i];

		out->at[n] = g->window.start;
		out->via[n] = solve_node(g, scale, out, n, &out->at[n]);
	}
}

void
solution_path(const struct graph *g, const struct solution *s, edge_list *path)
{
	size_t first = g->nnodes;

	vec_reserve(path, first);
	for (uint32_t e = s->via[GRAPH_SINK]; e != EDGE_NONE;
	     e = s->via[edge_from(g, e)])
		path->v[--first] = e;
	path->n = g->nnodes - first;
	memmove(path->v, path->v + first, path->n * sizeof *path->v);
}

/* ---- slack ---- */

/* Longest path from each node to the sink; SLACK_NONE: none. */
static int64_t *
find_tails(const struct graph *g)
{
	int64_t *tail = xmalloc(g->nnodes * sizeof *tail);

	for (size_t n = 0; n < g->nnodes; n++)
		tail[n] = SLACK_NONE;
	tail[GRAPH_SINK] = 0;
	for (size_t i = g->norder; i-- > 0;) {
		uint32_t n = g->order[i];

		if (tail[n] == SLACK_NONE)
			continue;
		for (uint32_t j = g->first[n]; j <= g->first[n + 1]; j++) {
			uint32_t k = edge_into(g, n, j);
			const struct edge e = edge_of(g, k);
			int64_t ns;

			if (e.is_gone)
				continue;
			ns = tail[n] + edge_weight(g, k, &e);
			if (tail[e.from] == SLACK_NONE || tail[e.from] < ns)
				tail[e.from] = ns;
		}
	}
	return tail;
}

int64_t *
graph_slack(const struct graph *g)
{
	const size_t nevents = g->nnodes / 2;
	int64_t *tail = find_tails(g),
		*slack = xmalloc(nevents * sizeof *slack);

	for (size_t i = 0; i < nevents; i++)
		slack[i] = SLACK_NONE;
	for (uint32_t i = 0; i < graph_nedges(g); i++) {
		const struct edge e = edge_of(g, i);
		int64_t ns;

		if (e.is_gone || tail[e.to] == SLACK_NONE ||
		    (e.kind != EDGE_KERNEL && e.kind != EDGE_HOST &&
			(e.kind != EDGE_BLOCK || e.least_ns == 0)))
			continue;
		ns = g->window.end - g->today.at[e.from] -
		    edge_weight(g, i, &e) - tail[e.to];
		if (ns < slack[e.owner])
			slack[e.owner] = ns;
	}
	free(tail);
	return slack;
}
