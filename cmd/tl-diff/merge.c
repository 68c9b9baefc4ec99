/* SPDX-License-Identifier: MIT */
/*
 * Merges two trees. Nodes are numbered in pre-order; the stack of open ones is
 * ours, so that trees may be deep.
 */
#include "cmd/tl-diff/align.h"

/* around a call: each is looked for at every call inside */
#define MAX_WRAPPERS 16

const char *const merged_words[] = { "combined", "trace1", "trace2" };

/* A merged node whose children are being merged. */
struct frame {
	uint32_t id;
	size_t first, next, end; /* its children, in merger.pairs */
	bool is_equal;           /* everything below is equal */
};

struct merger {
	struct merged *m;
	struct matcher match;
	VEC(struct frame) stack;
	pairs pairs;
	u32s kids[NSIDES];
};

/* Matches equal subtrees node by node. */
static void
zip_children(struct merger *g, const uint32_t at[NSIDES])
{
	for (int s = 0; s < NSIDES; s++)
		forest_sorted_kids(g->match.side[s], at[s], &g->kids[s]);
	for (size_t i = 0; i < g->kids[0].n; i++)
		vec_push(&g->pairs,
		    ((struct pair){ g->kids[0].v[i], g->kids[1].v[i] }));
}

static bool
is_same(const struct merger *g, const uint32_t at[NSIDES])
{
	const struct side *a = g->match.side[0], *b = g->match.side[1];

	return at[0] != NONE && at[1] != NONE &&
	    a->hash.v[at[0]] == b->hash.v[at[1]] &&
	    forest_equal(a, at[0], b, at[1]);
}

/* The node of this name that this one only wraps, or NONE. */
static uint32_t
wrapped(struct merger *g, int side, uint32_t at, uint32_t name)
{
	const struct side *r = g->match.side[side];
	u32s *kids = &g->kids[0];

	for (int i = 0; i < MAX_WRAPPERS; i++) {
		forest_gpu_kids(r, at, kids);
		if (kids->n != 1)
			return NONE;
		at = kids->v[0];
		if (r->nodes.v[at].n == name)
			return at;
	}
	return NONE;
}

static bool
may_wrap(const struct merger *g, int side, uint32_t at)
{
	const struct node *n = match_node(&g->match, side, at);

	return n->n != INTERN_NONE && is_plain_call(n);
}

/*
 * For a pair by position with different names, of which one only wraps a call
 * with the other's name: takes that call.
 */
static void
look_in(struct merger *g, struct pair *p)
{
	uint32_t in[NSIDES], at[NSIDES] = { p->a, p->b };

	if (p->a == NONE || p->b == NONE || !may_wrap(g, 0, p->a) ||
	    !may_wrap(g, 1, p->b) ||
	    g->match.side[0]->nodes.v[p->a].n ==
		g->match.side[1]->nodes.v[p->b].n)
		return;
	for (int s = 0; s < NSIDES; s++)
		in[s] =
		    wrapped(g, s, at[s], g->match.side[!s]->nodes.v[at[!s]].n);
	if (in[0] != NONE && in[1] == NONE)
		p->a = in[0];
	if (in[1] != NONE && in[0] == NONE)
		p->b = in[1];
}

/* Adds the merged node of a pair and finds its children. */
static void
open_pair(struct merger *g, struct pair p, uint32_t parent, bool is_equal)
{
	struct frame f = { .id = (uint32_t)g->m->list.n,
		.first = g->pairs.n,
		.next = g->pairs.n };
	uint32_t at[NSIDES];

	if (g->m->list.n >= NONE - 1)
		die("too many nodes in the merged tree");
	if (!is_equal)
		look_in(g, &p);
	at[0] = p.a;
	at[1] = p.b;
	f.is_equal = is_equal || is_same(g, at);
	if (f.is_equal) {
		zip_children(g, at);
	} else {
		const pairs *ops = match_children(&g->match, at);

		for (size_t i = 0; i < ops->n; i++)
			vec_push(&g->pairs, ops->v[i]);
	}
	f.end = g->pairs.n;
	vec_push(&g->m->list,
	    ((struct merged_node){
		.at = { at[0], at[1] },
		.orig = { p.a, p.b },
		.parent = parent,
	    }));
	vec_push(&g->stack, f);
}

static void
merge_tree(struct merger *g, struct pair root)
{
	vec_push(&g->m->roots, (uint32_t)g->m->list.n);
	open_pair(g, root, NONE, false);
	while (g->stack.n > 0) {
		struct frame *f = &g->stack.v[g->stack.n - 1];

		if (f->next < f->end) {
			struct pair p = g->pairs.v[f->next++];

			open_pair(g, p, f->id, f->is_equal);
			continue;
		}
		g->pairs.n = f->first;
		g->m->list.v[f->id].behind = (uint32_t)g->m->list.n;
		g->stack.n--;
	}
}

void
merge_runs(
    struct merged *m, const struct side *const side[NSIDES], struct norms *nm)
{
	struct merger g = { .m = m,
		.match = { .side = { side[0], side[1] }, .nm = nm } };
	const pairs *found = match_roots(&g.match);
	pairs roots = { 0 };

	m->side[0] = side[0];
	m->side[1] = side[1];
	for (size_t i = 0; i < found->n; i++)
		vec_push(&roots, found->v[i]);
	for (size_t i = 0; i < roots.n; i++)
		merge_tree(&g, roots.v[i]);
	matcher_free(&g.match);
	vec_free(&roots);
	vec_free(&g.stack);
	vec_free(&g.pairs);
	vec_free(&g.kids[0]);
	vec_free(&g.kids[1]);
}

void
merged_free(struct merged *m)
{
	vec_free(&m->list);
	vec_free(&m->roots);
}
