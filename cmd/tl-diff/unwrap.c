/* SPDX-License-Identifier: MIT */
/*
 * Wrappers among the children that are left over: what wraps something that the
 * other side has too is replaced by its children, and what is free then is
 * matched again.
 */
#include <stdlib.h>

#include "cmd/tl-diff/phases.h"

static int
by_number(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

/* The nodes without a partner, as they stand in the lists. */
static void
find_free(struct phases *p)
{
	p->free[0].n = p->free[1].n = 0;
	for (size_t i = 0; i < p->places.n; i++) {
		struct pair at = p->places.v[i];

		if (at.b == NONE)
			vec_push(&p->free[0], at.a);
		if (at.a == NONE)
			vec_push(&p->free[1], at.b);
	}
	for (int s = 0; s < NSIDES; s++) {
		if (p->free[s].n > 1)
			qsort(p->free[s].v, p->free[s].n, sizeof *p->free[s].v,
			    by_number);
		for (size_t i = 0; i < p->free[s].n; i++)
			p->free[s].v[i] = p->list[s].v[p->free[s].v[i]];
	}
}

static bool
may_unwrap(const struct node *n)
{
	return !is_gpu_kind(n->kind) && !is_launch_kind(n->kind);
}

/* The names of a node's children on the GPU path, into list. */
static void
names_below(struct phases *p, int side, uint32_t at, u32s *list)
{
	size_t n = 0;

	forest_gpu_kids(p->d->side[side], at, list);
	for (size_t i = 0; i < list->n; i++) {
		uint32_t name = node_at(p, side, list->v[i])->n;

		if (name != INTERN_NONE)
			list->v[n++] = name;
	}
	list->n = n;
}

static uint64_t
hash_list(const u32s *list)
{
	uint64_t h = HASH_K0 ^ list->n;

	for (size_t i = 0; i < list->n; i++)
		h = hash_mix(h ^ list->v[i], HASH_K1);
	return h;
}

/* The lists of names below the free nodes of a side, by their hash. */
static void
index_lists(struct phases *p, int side, struct map *lists)
{
	for (size_t i = 0; i < p->free[side].n; i++) {
		uint32_t at = p->free[side].v[i];
		bool is_new;
		uint64_t *slot;

		if (!may_unwrap(node_at(p, side, at)))
			continue;
		names_below(p, side, at, &p->kids);
		if (p->kids.n == 0)
			continue;
		slot = map_put(lists, hash_list(&p->kids), &is_new);
		if (is_new)
			*slot = at;
	}
}

/* Whether the other side has something of this one's children, or all. */
static bool
is_wrapper(struct phases *p, int side, uint32_t at, const struct map *lists)
{
	const uint64_t *twin;

	if (!may_unwrap(node_at(p, side, at)))
		return false;
	names_below(p, side, at, &p->kids);
	for (size_t i = 0; i < p->kids.n; i++)
		if (mark_of(p, p->kids.v[i])->in[!side] == p->stamp)
			return true;
	if (p->kids.n == 0)
		return false;
	twin = map_get(lists, hash_list(&p->kids));
	if (twin == NULL)
		return false;
	names_below(p, !side, (uint32_t)*twin, &p->other);
	return p->other.n == p->kids.n &&
	    memcmp(p->other.v, p->kids.v, p->kids.n * sizeof *p->kids.v) == 0;
}

/* The free nodes, wrappers replaced by what they wrap. */
static bool
unwrap_side(struct phases *p, int side, const struct map *lists, u32s *out)
{
	bool any = false;

	out->n = 0;
	for (size_t i = 0; i < p->free[side].n; i++) {
		uint32_t at = p->free[side].v[i];

		if (!is_wrapper(p, side, at, lists)) {
			vec_push(out, at);
			continue;
		}
		any = true;
		forest_gpu_kids(p->d->side[side], at, &p->kids);
		for (size_t k = 0; k < p->kids.n; k++)
			vec_push(out, p->kids.v[k]);
	}
	return any;
}

/* What may be unwrapped is marked by name, on both sides. */
static void
mark_free(struct phases *p)
{
	p->stamp++;
	for (int s = 0; s < NSIDES; s++)
		for (size_t i = 0; i < p->free[s].n; i++) {
			const struct node *n = node_at(p, s, p->free[s].v[i]);

			if (n->n != INTERN_NONE && may_unwrap(n))
				mark_of(p, n->n)->in[s] = p->stamp;
		}
}

bool
phases_unwrap(struct phases *p)
{
	struct map lists[NSIDES] = { { 0 }, { 0 } };
	u32s now[NSIDES] = { { 0 }, { 0 } };
	bool any = false;

	find_free(p);
	if (p->free[0].n > 0 && p->free[1].n > 0) {
		mark_free(p);
		for (int s = 0; s < NSIDES; s++)
			index_lists(p, s, &lists[s]);
		for (int s = 0; s < NSIDES; s++)
			any |= unwrap_side(p, s, &lists[!s], &now[s]);
	}
	if (any) {
		p->kept.n = 0;
		for (size_t i = 0; i < p->places.n; i++)
			if (p->places.v[i].a != NONE &&
			    p->places.v[i].b != NONE)
				vec_push(&p->kept, p->places.v[i]);
		phases_push(p, &p->list[0], &p->list[1], &p->kept);
		for (int s = 0; s < NSIDES; s++)
			forest_sort(p->d->side[s], &now[s]);
		phases_match(p, &now[0], &now[1]);
		phases_push(p, &now[0], &now[1], &p->places);
	}
	for (int s = 0; s < NSIDES; s++) {
		map_free(&lists[s]);
		vec_free(&now[s]);
	}
	return any;
}
