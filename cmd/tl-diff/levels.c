/* SPDX-License-Identifier: MIT */
/*
 * Siblings of one name: which belongs to which is decided by what is below.
 *
 * A node's levels are the names 1 to 4 below it on the GPU path, each level a
 * multiset; behind the first empty one all are empty. Two nodes agree in k
 * levels, and in o names of the next. Pairs are taken by k, then o, downwards,
 * then those that the alignment had, then by place. Which is done without
 * looking at all pairs:
 *
 *  - Identical levels beat whatever else a node could get, so these nodes are
 *    paired first, class by class.
 *  - Of the rest, those that agree in k levels form buckets, the largest k
 *    first. In each, one side is used up, so what is left agrees in less.
 *  - In a bucket o is worked out once for each pair of different levels.
 *
 * Levels are compared by 64-bit hashes of their multisets.
 */
#include <stdlib.h>

#include "cmd/tl-diff/levels.h"

/* ---- the levels of a node ---- */

struct levels {
	uint64_t hash[LEVELS]; /* 0: empty */
};

struct level_cache {
	struct map known; /* node to index */
	VEC(struct levels) list;
	u32s now, next, kids;
};

void
duo_start(
    struct duo *d, const struct run *a, const struct run *b, struct norms *nm)
{
	*d = (struct duo){ .side = { a, b }, .nm = nm };
	for (int s = 0; s < NSIDES; s++)
		d->levels[s] = xcalloc(1, sizeof *d->levels[s]);
}

void
duo_end(struct duo *d)
{
	for (int s = 0; s < NSIDES; s++) {
		struct level_cache *c = d->levels[s];

		map_free(&c->known);
		vec_free(&c->list);
		vec_free(&c->now);
		vec_free(&c->next);
		vec_free(&c->kids);
		free(c);
	}
	vec_free(&d->names);
}

/* The nodes one level further down, in cache->now. */
static void
descend(struct level_cache *c, const struct run *r)
{
	u32s swap;

	c->next.n = 0;
	for (size_t i = 0; i < c->now.n; i++) {
		forest_gpu_kids(r, c->now.v[i], &c->kids);
		for (size_t k = 0; k < c->kids.n; k++)
			vec_push(&c->next, c->kids.v[k]);
	}
	swap = c->now;
	c->now = c->next;
	c->next = swap;
}

static const struct levels *
levels_of(struct duo *d, int side, uint32_t at)
{
	struct level_cache *c = d->levels[side];
	const struct run *r = d->side[side];
	bool is_new;
	uint64_t *slot = map_put(&c->known, at, &is_new);
	struct levels l = { { 0 } };

	if (!is_new)
		return &c->list.v[*slot];
	*slot = c->list.n;
	c->now.n = 0;
	vec_push(&c->now, at);
	for (int depth = 0; depth < LEVELS && c->now.n > 0; depth++) {
		uint64_t sum = 0;

		descend(c, r);
		for (size_t i = 0; i < c->now.n; i++)
			sum += hash_u64(r->nodes.v[c->now.v[i]].n);
		if (c->now.n > 0)
			l.hash[depth] = hash_mix(sum ^ HASH_K0, c->now.n) | 1;
	}
	vec_push(&c->list, l);
	return &c->list.v[c->list.n - 1];
}

static int
by_number(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

void
levels_names(struct duo *d, int side, uint32_t at, int level, u32s *names)
{
	struct level_cache *c = d->levels[side];
	const struct run *r = d->side[side];

	c->now.n = 0;
	vec_push(&c->now, at);
	for (int depth = 0; depth <= level; depth++)
		descend(c, r);
	names->n = 0;
	for (size_t i = 0; i < c->now.n; i++)
		vec_push(names, r->nodes.v[c->now.v[i]].n);
	if (names->n > 1)
		qsort(names->v, names->n, sizeof *names->v, by_number);
}

/* Of the first k levels. */
static uint64_t
prefix_hash(const struct levels *l, int k)
{
	uint64_t h = HASH_K1;

	for (int i = 0; i < k; i++)
		h = hash_mix(h ^ l->hash[i], HASH_K0);
	return h;
}

uint64_t
levels_hash(struct duo *d, int side, uint32_t at, int level)
{
	return levels_of(d, side, at)->hash[level];
}

/* ---- one name ---- */

static void
take(struct siblings *g, uint32_t a, uint32_t b)
{
	g->now[0][a] = b;
	g->now[1][b] = a;
}

static bool
is_free(const struct siblings *g, int side, uint32_t place)
{
	return g->now[side][place] == NONE;
}

/*
 * Pairs nodes with equal keys: those that were matched, then the first with
 * the first.
 */
static void
pair_equal(struct siblings *g, uint64_t *const key[NSIDES])
{
	struct map heads = { 0 }; /* key to place + 1 in the chain */
	uint32_t *next = xmalloc((g->n[1] + 1) * sizeof *next);

	for (size_t i = 0; i < g->n[0]; i++) {
		uint32_t a = g->place[0][i], b = g->was[0][a];

		if (b != NONE && g->group[1][b] == g->id &&
		    key[0][i] == key[1][g->rank[1][b]])
			take(g, a, b);
	}
	for (size_t j = g->n[1]; j-- > 0;) {
		uint64_t *head;

		if (!is_free(g, 1, g->place[1][j]))
			continue;
		head = map_put(&heads, key[1][j], NULL);
		next[j] = (uint32_t)*head;
		*head = j + 1;
	}
	for (size_t i = 0; i < g->n[0]; i++) {
		uint64_t *head;

		if (!is_free(g, 0, g->place[0][i]))
			continue;
		head = map_get(&heads, key[0][i]);
		if (head == NULL || *head == 0)
			continue;
		take(g, g->place[0][i], g->place[1][*head - 1]);
		*head = next[*head - 1];
	}
	map_free(&heads);
	free(next);
}

/* Places by bucket, in order within each. */
struct bucketed {
	uint64_t key;
	uint32_t rank;
};

static int
by_bucket(const void *x, const void *y)
{
	const struct bucketed *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

static size_t
sort_buckets(struct duo *d, const struct siblings *g, int side, int k,
    struct bucketed *out)
{
	size_t n = 0;

	for (uint32_t i = 0; i < g->n[side]; i++) {
		uint32_t place = g->place[side][i];

		if (is_free(g, side, place))
			out[n++] = (struct bucketed){
				prefix_hash(levels_of(d, side,
						g->nodes[side]->v[place]),
				    k),
				i
			};
	}
	if (n > 1)
		qsort(out, n, sizeof *out, by_bucket);
	return n;
}

/* What is left over, that which agrees in most levels first. */
static void
pair_similar(struct duo *d, struct siblings *g)
{
	struct bucketed *v[NSIDES];
	struct overlap *o = overlap_create(d, g);

	for (int s = 0; s < NSIDES; s++)
		v[s] = xmalloc((g->n[s] + 1) * sizeof *v[s]);
	for (int k = LEVELS - 1; k >= 0; k--) {
		size_t na = sort_buckets(d, g, 0, k, v[0]);
		size_t nb = sort_buckets(d, g, 1, k, v[1]);

		if (na == 0 || nb == 0)
			break;
		for (size_t i = 0, j = 0; i < na && j < nb;) {
			uint64_t key = v[0][i].key;

			if (key != v[1][j].key) {
				if (key < v[1][j].key)
					i++;
				else
					j++;
				continue;
			}
			overlap_start(o, k);
			for (; i < na && v[0][i].key == key; i++)
				overlap_add(o, 0, g->place[0][v[0][i].rank]);
			for (; j < nb && v[1][j].key == key; j++)
				overlap_add(o, 1, g->place[1][v[1][j].rank]);
			overlap_pair(o);
		}
	}
	overlap_destroy(o);
	free(v[0]);
	free(v[1]);
}

static void
pair_group(struct duo *d, struct siblings *g)
{
	uint64_t *key[NSIDES];
	size_t left[NSIDES] = { 0, 0 };

	for (int s = 0; s < NSIDES; s++) {
		key[s] = xmalloc((g->n[s] + 1) * sizeof *key[s]);
		for (size_t i = 0; i < g->n[s]; i++)
			key[s][i] = prefix_hash(
			    levels_of(d, s, g->nodes[s]->v[g->place[s][i]]),
			    LEVELS);
	}
	pair_equal(g, key);
	for (int s = 0; s < NSIDES; s++) {
		for (size_t i = 0; i < g->n[s]; i++)
			left[s] += is_free(g, s, g->place[s][i]);
		free(key[s]);
	}
	if (left[0] > 0 && left[1] > 0)
		pair_similar(d, g);
}

/* ---- all names ---- */

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
		pair_group(d, &g);
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
