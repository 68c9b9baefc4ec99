/* SPDX-License-Identifier: MIT */
/*
 * What is below a node, level by level: the names 1 to 4 below it on the GPU
 * path, each level a multiset; behind the first empty one all are empty. Levels
 * are compared by 64-bit hashes of their multisets.
 */
#include <stdlib.h>

#include "cmd/tl-diff/levels.h"

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
	size_t first = names->n;

	c->now.n = 0;
	vec_push(&c->now, at);
	for (int depth = 0; depth <= level; depth++)
		descend(c, r);
	for (size_t i = 0; i < c->now.n; i++)
		vec_push(names, r->nodes.v[c->now.v[i]].n);
	if (names->n > first + 1)
		qsort(names->v + first, names->n - first, sizeof *names->v,
		    by_number);
}

uint64_t
levels_prefix(struct duo *d, int side, uint32_t at, int k)
{
	const struct levels *l = levels_of(d, side, at);
	uint64_t h = HASH_K1;

	for (int i = 0; i < k; i++)
		h = hash_mix(h ^ l->hash[i], HASH_K0);
	return h;
}
