/* SPDX-License-Identifier: MIT */
/* Makes records of what is not on the path, by how late it may end. */
#include "cmd/tl-critical/critical.h"

#include <stdlib.h>

struct off_path {
	int64_t slack_ns, ns;
	uint32_t number;
};

static int
by_slack(const void *x, const void *y)
{
	const struct off_path *a = x, *b = y;

	if (a->slack_ns != b->slack_ns)
		return a->slack_ns < b->slack_ns ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/* Own time of each event; 0 on the path. */
static int64_t *
own_times(const struct graph *g, const edge_list *path)
{
	int64_t *ns = xcalloc(g->nnodes / 2, sizeof *ns);

	for (uint32_t i = 0; i < graph_nedges(g); i++) {
		const struct edge e = edge_of(g, i);

		if (e.is_gone)
			continue;
		if (e.kind == EDGE_HOST)
			ns[e.owner] += e.least_ns;
		/* an overlapped event also has one to the start of the next */
		else if (e.kind == EDGE_KERNEL && ns[e.owner] < e.least_ns)
			ns[e.owner] = e.least_ns;
	}
	for (size_t i = 0; i < path->n; i++) {
		const struct edge e = edge_of(g, path->v[i]);

		if (e.kind == EDGE_KERNEL || e.kind == EDGE_HOST ||
		    (e.kind == EDGE_BLOCK && e.least_ns > 0))
			ns[e.owner] = 0;
	}
	return ns;
}

void
slack_records(struct program *g, const edge_list *path)
{
	int64_t *slack = graph_slack(&g->graph);
	int64_t *ns = own_times(&g->graph, path);
	VEC(struct off_path) list = { 0 };

	for (uint32_t i = 1; i < g->graph.nnodes / 2; i++)
		if (ns[i] > 0 && slack[i] != SLACK_NONE)
			vec_push(
			    &list, ((struct off_path){ slack[i], ns[i], i }));
	stable_sort(list.v, list.n, sizeof *list.v, by_slack);
	for (size_t i = 0; i < list.n; i++) {
		struct critical_record *c =
		    critical_add(g, IS_SLACK, list.v[i].number);

		c->ns = list.v[i].ns;
		c->slack_ns = list.v[i].slack_ns;
	}
	vec_free(&list);
	free(slack);
	free(ns);
}
