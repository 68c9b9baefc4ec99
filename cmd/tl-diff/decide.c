/* SPDX-License-Identifier: MIT */
/*
 * Names that stand more than once among the children that are aligned: groups
 * of siblings of one name are paired anew, and the alignment rewritten where
 * that changes something.
 */
#include <stdlib.h>

#include "cmd/tl-diff/levels.h"

static struct name_use *
use_of(struct duo *d, uint32_t n)
{
	while (d->names.n <= n)
		vec_push(&d->names, (struct name_use){ .group = NONE });
	return &d->names.v[n];
}

static uint32_t
name_at(const struct duo *d, int side, const u32s *nodes, size_t place)
{
	return d->side[side]->nodes.v[nodes->v[place]].n;
}

/* How often each name stands on each side, and whether some of it matched. */
static void
count_names(struct duo *d, const u32s *const nodes[NSIDES], const pairs *ops)
{
	for (int s = 0; s < NSIDES; s++)
		for (size_t i = 0; i < nodes[s]->n; i++) {
			uint32_t n = name_at(d, s, nodes[s], i);

			if (n != INTERN_NONE)
				use_of(d, n)->count[s]++;
		}
	for (size_t i = 0; i < ops->n; i++) {
		const struct pair *p = &ops->v[i];
		uint32_t n;

		if (p->a == NONE || p->b == NONE)
			continue;
		n = name_at(d, 0, nodes[0], p->a);
		if (n != INTERN_NONE && n == name_at(d, 1, nodes[1], p->b))
			use_of(d, n)->is_matched = true;
	}
}

/* Names of which something is to be decided get a group; how many. */
static uint32_t
number_groups(struct duo *d, const u32s *nodes)
{
	uint32_t ngroups = 0;

	for (size_t i = 0; i < nodes->n; i++) {
		uint32_t n = name_at(d, 0, nodes, i);
		struct name_use *u;

		if (n == INTERN_NONE)
			continue;
		u = use_of(d, n);
		if (u->group == NONE && u->is_matched && u->count[0] > 0 &&
		    u->count[1] > 0 && u->count[0] + u->count[1] > 2)
			u->group = ngroups++;
	}
	return ngroups;
}

static void
forget_names(struct duo *d, const u32s *const nodes[NSIDES])
{
	for (int s = 0; s < NSIDES; s++)
		for (size_t i = 0; i < nodes[s]->n; i++) {
			uint32_t n = name_at(d, s, nodes[s], i);

			if (n != INTERN_NONE)
				*use_of(d, n) =
				    (struct name_use){ .group = NONE };
		}
}

/* Tables over the places of both sides. */
struct decision {
	const u32s *nodes[NSIDES];
	uint32_t *group[NSIDES]; /* NONE: not decided here */
	uint32_t *was[NSIDES], *now[NSIDES];
	uint32_t *order[NSIDES]; /* places, group by group */
	uint32_t *rank[NSIDES];  /* a place's in its group */
	uint32_t *first[NSIDES]; /* of each group in order, and the end */
};

static uint32_t *
new_places(size_t n)
{
	uint32_t *v = xmalloc((n + 1) * sizeof *v);

	memset(v, 0xff, (n + 1) * sizeof *v);
	return v;
}

static void
order_groups(struct duo *d, struct decision *c, int s, uint32_t ngroups)
{
	size_t n = c->nodes[s]->n;
	uint32_t *fill;

	c->first[s] = xcalloc((size_t)ngroups + 2, sizeof(uint32_t));
	fill = xcalloc((size_t)ngroups + 1, sizeof(uint32_t));
	for (size_t i = 0; i < n; i++) {
		uint32_t name = name_at(d, s, c->nodes[s], i);

		if (name != INTERN_NONE)
			c->group[s][i] = use_of(d, name)->group;
		if (c->group[s][i] != NONE)
			c->first[s][c->group[s][i] + 1]++;
	}
	for (uint32_t k = 0; k < ngroups; k++)
		c->first[s][k + 1] += c->first[s][k];
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = c->group[s][i];

		if (k == NONE)
			continue;
		c->rank[s][i] = fill[k];
		c->order[s][c->first[s][k] + fill[k]++] = i;
	}
	free(fill);
}

static void
decision_start(
    struct decision *c, struct duo *d, const pairs *ops, uint32_t ngroups)
{
	for (int s = 0; s < NSIDES; s++) {
		size_t n = c->nodes[s]->n;

		c->group[s] = new_places(n);
		c->was[s] = new_places(n);
		c->now[s] = new_places(n);
		c->order[s] = new_places(n);
		c->rank[s] = new_places(n);
		order_groups(d, c, s, ngroups);
	}
	for (size_t i = 0; i < ops->n; i++) {
		const struct pair *p = &ops->v[i];

		if (p->a == NONE || p->b == NONE)
			continue;
		c->was[0][p->a] = p->b;
		c->was[1][p->b] = p->a;
	}
}

static void
decision_end(struct decision *c)
{
	for (int s = 0; s < NSIDES; s++) {
		free(c->group[s]);
		free(c->was[s]);
		free(c->now[s]);
		free(c->order[s]);
		free(c->rank[s]);
		free(c->first[s]);
	}
}

static bool
is_changed(const struct decision *c)
{
	for (size_t i = 0; i < c->nodes[0]->n; i++)
		if (c->now[0][i] != NONE && c->now[0][i] != c->was[0][i])
			return true;
	return false;
}

/* Ops that are not about these names stay; then the new ones by place. */
static void
rewrite(const struct decision *c, pairs *ops)
{
	size_t n = 0;

	for (size_t i = 0; i < ops->n; i++) {
		struct pair p = ops->v[i];
		bool a = p.a != NONE && c->group[0][p.a] != NONE;
		bool b = p.b != NONE && c->group[1][p.b] != NONE;

		if (!a && !b) {
			ops->v[n++] = p;
			continue;
		}
		/* of two names, when one of them is decided here */
		if (!a && p.a != NONE)
			ops->v[n++] = (struct pair){ p.a, NONE };
		if (!b && p.b != NONE)
			ops->v[n++] = (struct pair){ NONE, p.b };
	}
	ops->n = n;
	for (uint32_t i = 0; i < c->nodes[0]->n; i++)
		if (c->now[0][i] != NONE)
			vec_push(ops, ((struct pair){ i, c->now[0][i] }));
	for (uint32_t i = 0; i < c->nodes[0]->n; i++)
		if (c->group[0][i] != NONE && c->now[0][i] == NONE)
			vec_push(ops, ((struct pair){ i, NONE }));
	for (uint32_t j = 0; j < c->nodes[1]->n; j++)
		if (c->group[1][j] != NONE && c->now[1][j] == NONE)
			vec_push(ops, ((struct pair){ NONE, j }));
}

static void
decide(struct duo *d, struct decision *c, uint32_t ngroups)
{
	for (uint32_t k = 0; k < ngroups; k++) {
		struct siblings g = { .id = k };

		for (int s = 0; s < NSIDES; s++) {
			g.nodes[s] = c->nodes[s];
			g.place[s] = c->order[s] + c->first[s][k];
			g.n[s] = c->first[s][k + 1] - c->first[s][k];
			g.group[s] = c->group[s];
			g.rank[s] = c->rank[s];
			g.was[s] = c->was[s];
			g.now[s] = c->now[s];
		}
		siblings_pair(d, &g);
	}
}

void
levels_decide(struct duo *d, const u32s *a, const u32s *b, pairs *ops)
{
	struct decision c = { .nodes = { a, b } };
	uint32_t ngroups;

	count_names(d, c.nodes, ops);
	ngroups = number_groups(d, a);
	if (ngroups > 0) {
		decision_start(&c, d, ops, ngroups);
		decide(d, &c, ngroups);
		if (is_changed(&c))
			rewrite(&c, ops);
		decision_end(&c);
	}
	forget_names(d, c.nodes);
}
