/* SPDX-License-Identifier: MIT */
/*
 * graph: what had to end before something could begin.
 *
 * Each event has two nodes, its start and its end, at their measured times;
 * event 0 is the window, whose start is the source and whose end the sink. An
 * edge says that a node waits for another for at least some time. Of the edges
 * into a node the one that it waited for longest binds it:
 *
 *	from + least_ns == to	it takes that long
 *	from + least_ns <  to	binding: the rest is its residual
 *				else: there is room (edge slack)
 *
 * With binding edges at their measured weight and the others at their least,
 * the longest paths from the source give all measured times, and the one to
 * the sink is as long as the window.
 *
 *	graph_start(&g, window);
 *	first = graph_events(&g, n);
 *	g.today.at[node_of_start(first + i)] = ...	(unset: not in it)
 *	graph_link(&g, from, to, owner, 0);
 *	graph_edge(&g, EDGE_QUEUE, from, to, least_ns, owner);
 *	graph_ready(&g, true);
 *	graph_solve(&g, &scale, &then);
 *
 * Most nodes follow the previous one of their thread: such an edge is kept as
 * the link of the node that it leads to. All edges have numbers: the link of
 * node n is edge n, others come after the links (edge_of()).
 *
 * Memory: 24 bytes an edge that is no link and with order 4 more, 40 an event,
 * with order 16 more, and 24 more a solution.
 */
#ifndef TL_CRITICAL_GRAPH_H
#define TL_CRITICAL_GRAPH_H

#include "trace/span.h"

/* In the order in which they bind at equal times. */
enum edge_kind {
	EDGE_KERNEL, /* GPU work, from its start to its end */
	EDGE_DEPEND, /* work on another GPU stream */
	EDGE_QUEUE,  /* the previous event on the GPU stream */
	EDGE_BLOCK,  /* work that a call waits for */
	EDGE_PEER,   /* a collective's start on another rank */
	EDGE_THREAD, /* another thread */
	EDGE_LAUNCH,
	EDGE_HOST,   /* a thread, from one node to the next */
	EDGE_SOURCE, /* nothing in the window */
	EDGE_KINDS
};

extern const char *const edge_words[EDGE_KINDS];

struct edge {
	int64_t least_ns;
	uint32_t from, to;
	uint32_t owner; /* the event that takes the time; 0: none */
	uint8_t kind;
	bool is_gone;     /* closed a cycle; a link: the node has none */
	bool is_inferred; /* from times alone */
};

#define EVENTS_MAX ((1U << 30) - 1)
#define GRAPH_SOURCE 0
#define GRAPH_SINK 1
#define GRAPH_NOWHERE INT64_MIN /* of at: not in the window */
#define EDGE_NONE UINT32_MAX    /* of via: none */

static inline uint32_t
node_of_start(uint32_t event)
{
	return 2 * event;
}
static inline uint32_t
node_of_end(uint32_t event)
{
	return 2 * event + 1;
}
static inline uint32_t
event_of_node(uint32_t node)
{
	return node / 2;
}

/* Longest paths from the source: length to each node, and its last edge. */
struct solution {
	int64_t *at;
	uint32_t *via;
};

#define LINK_NONE UINT32_MAX   /* of from: the node has no link */
#define LINK_WAITS (1U << 31)  /* of owner: least_ns is 0 */
#define LINK_SOURCE (1U << 30) /* EDGE_SOURCE, else EDGE_HOST */
/* An edge whose measured time is all its own, or none of it. */
struct link {
	uint32_t from;
	uint32_t owner; /* and bits */
};

struct graph {
	struct span window;
	size_t nnodes, at_room, via_room; /* rooms: of today */
	struct solution today;
	VEC(struct link) links; /* of each node */
	VEC(struct edge) edges; /* all others */
	/* with order: edges by the node they lead to; those of node n are
	 * into[first[n]] up to into[first[n + 1]] */
	uint32_t *into, *first;
	uint32_t *order; /* nodes in the window, each after its predecessors */
	size_t norder;
	/* edges that contradict the times, by kind, and edges of cycles */
	uint64_t nnegative[EDGE_KINDS], ncircular;
};

void graph_start(struct graph *g, struct span window);
/* Adds n events; the number of the first. */
uint32_t graph_events(struct graph *g, size_t n);
/* with_order: needed for graph_solve() and graph_slack(). */
void graph_ready(struct graph *g, bool with_order);
void graph_free(struct graph *g);

static inline void
graph_edge(struct graph *g, enum edge_kind kind, uint32_t from, uint32_t to,
    int64_t least_ns, uint32_t owner)
{
	vec_push(&g->edges,
	    ((struct edge){
		least_ns, from, to, owner, (uint8_t)kind, false, false }));
}

/* The same, if no row or call says so. */
static inline void
graph_inferred_edge(struct graph *g, enum edge_kind kind, uint32_t from,
    uint32_t to, int64_t least_ns, uint32_t owner)
{
	graph_edge(g, kind, from, to, least_ns, owner);
	g->edges.v[g->edges.n - 1].is_inferred = true;
}

/* bits: LINK_ */
static inline void
graph_link(
    struct graph *g, uint32_t from, uint32_t to, uint32_t owner, unsigned bits)
{
	g->links.v[to] = (struct link){ from, owner | bits };
	g->today.via[to] = to;
}

/* The numbers of all edges are below. */
static inline size_t
graph_nedges(const struct graph *g)
{
	return g->nnodes + g->edges.n;
}

static inline struct edge
edge_of_link(const struct graph *g, uint32_t node)
{
	const struct link l = g->links.v[node];
	struct edge e = { .from = l.from,
		.to = node,
		.owner = l.owner & EVENTS_MAX,
		.kind = (l.owner & LINK_SOURCE) != 0 ? EDGE_SOURCE : EDGE_HOST,
		.is_gone = l.from == LINK_NONE };

	if ((l.owner & LINK_WAITS) == 0 && !e.is_gone)
		e.least_ns = g->today.at[node] - g->today.at[e.from];
	return e;
}

/* After graph_ready(). */
static inline struct edge
edge_of(const struct graph *g, uint32_t edge)
{
	return edge < g->nnodes ? edge_of_link(g, edge)
				: g->edges.v[edge - g->nnodes];
}

static inline uint32_t
edge_from(const struct graph *g, uint32_t edge)
{
	return edge < g->nnodes ? g->links.v[edge].from
				: g->edges.v[edge - g->nnodes].from;
}

/* Whether its owner, and nothing else, takes its time. */
static inline bool
has_own_time(const struct link *l)
{
	return l->owner - 1 < EVENTS_MAX;
}

static inline bool
is_in_window(const struct graph *g, uint32_t node)
{
	return g->today.at[node] != GRAPH_NOWHERE;
}

/* What a binding edge took beyond its least weight; 0 for other edges. */
static inline int64_t
edge_residual(const struct graph *g, uint32_t edge, const struct edge *e)
{
	const int64_t *at = g->today.at;

	return g->today.via[e->to] == edge
	    ? at[e->to] - at[e->from] - e->least_ns
	    : 0;
}

/* As measured if binding, else the least weight. */
static inline int64_t
edge_weight(const struct graph *g, uint32_t edge, const struct edge *e)
{
	return e->least_ns + edge_residual(g, edge, e);
}

#define SCALE_UNIT 1000000 /* a factor of 1 */
/* Changed times of events. */
struct scale {
	const uint32_t *of;     /* of each event: place in factors */
	const int64_t *factors; /* factors[0]: SCALE_UNIT */
	bool no_residuals;
	bool cuts_waits; /* a call scaled to 0 does not wait */
};

/* Weight of an edge in another solution, without its residual. */
int64_t edge_scaled(const struct scale *scale, const struct edge *e);
void graph_solve(
    const struct graph *g, const struct scale *scale, struct solution *out);
void solution_free(struct solution *s);
/* Edges from the source to the sink, in order. */
typedef VEC(uint32_t) edge_list;
void solution_path(
    const struct graph *g, const struct solution *s, edge_list *path);

#define SLACK_NONE INT64_MAX /* no path to the sink */
/*
 * By how much any edge of each event may grow before the window does. The
 * caller frees the list.
 */
int64_t *graph_slack(const struct graph *g);

#endif
