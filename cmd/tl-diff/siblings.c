/* SPDX-License-Identifier: MIT */
/*
 * Siblings of one name: which belongs to which is decided by what is below.
 *
 * Two nodes agree in k levels, and in o names of the next. Pairs are taken by
 * k, then o, downwards, then those that the alignment had, then by place. Which
 * is done without looking at all pairs:
 *
 *  - Identical levels beat whatever else a node could get, so these nodes are
 *    paired first, class by class.
 *  - Of the rest, those that agree in k levels form buckets, the largest k
 *    first. In each, one side is used up, so what is left agrees in less.
 *  - In a bucket o is worked out once for each pair of different levels.
 */
#include <stdlib.h>

#include "cmd/tl-diff/levels.h"

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
			out[n++] =
			    (struct bucketed){ levels_prefix(d, side,
						   g->nodes[side]->v[place], k),
				    i };
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

void
siblings_pair(struct duo *d, struct siblings *g)
{
	uint64_t *key[NSIDES];
	size_t left[NSIDES] = { 0, 0 };

	for (int s = 0; s < NSIDES; s++) {
		key[s] = xmalloc((g->n[s] + 1) * sizeof *key[s]);
		for (size_t i = 0; i < g->n[s]; i++)
			key[s][i] = levels_prefix(
			    d, s, g->nodes[s]->v[g->place[s][i]], LEVELS);
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
