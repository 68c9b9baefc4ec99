/* SPDX-License-Identifier: MIT */
/* Children, the GPU path, hashes of subtrees, roots. */
#include <stdlib.h>

#include "cmd/tl-diff/align.h"

/* ---- children ---- */

static void
mark_nodes(struct side *r)
{
	for (size_t i = 0; i < r->nodes.n; i++) {
		struct node *n = &r->nodes.v[i];
		int64_t last = INT64_MIN;

		if (n->parent != NONE) {
			const struct node *up = &r->nodes.v[n->parent];

			if (up->kind == KIND_OP || (up->flags & NODE_BELOW_OP))
				n->flags |= NODE_BELOW_OP;
		}
		if (is_gpu_kind(n->kind) || gpu_behind(r, n) > n->first_gpu)
			n->flags |= NODE_GPU_PATH;
		for (uint32_t k = (uint32_t)i + 1; k < n->behind;
		     k = r->nodes.v[k].behind) {
			const struct node *kid = &r->nodes.v[k];

			if (n->kind == KIND_OP && is_launch_kind(kid->kind))
				n->flags |= NODE_BARE_LAUNCH;
			if (kid->ts < last)
				n->flags |= NODE_UNSORTED;
			last = kid->ts;
		}
	}
}

/* A node with what it is sorted by. */
struct timed {
	int64_t ts;
	uint32_t node;
};

static int
by_ts(const void *x, const void *y)
{
	const struct timed *a = x, *b = y;

	return (a->ts > b->ts) - (a->ts < b->ts);
}

void
forest_sort(const struct side *r, u32s *list)
{
	VEC(struct timed) v = { 0 };

	for (size_t i = 0; i < list->n; i++)
		vec_push(&v,
		    ((struct timed){ r->nodes.v[list->v[i]].ts, list->v[i] }));
	stable_sort(v.v, v.n, sizeof *v.v, by_ts);
	for (size_t i = 0; i < list->n; i++)
		list->v[i] = v.v[i].node;
	vec_free(&v);
}

void
forest_gpu_kids(const struct side *r, uint32_t at, u32s *list)
{
	const struct node *n = &r->nodes.v[at];

	list->n = 0;
	for (uint32_t k = at + 1; k < n->behind; k = r->nodes.v[k].behind)
		if (r->nodes.v[k].flags & NODE_GPU_PATH)
			vec_push(list, k);
}

void
forest_sorted_kids(const struct side *r, uint32_t at, u32s *list)
{
	forest_gpu_kids(r, at, list);
	if (r->nodes.v[at].flags & NODE_UNSORTED)
		forest_sort(r, list);
}

uint32_t
forest_collapse(const struct side *r, uint32_t at, u32s *kids)
{
	for (;;) {
		const struct node *n = &r->nodes.v[at];

		kids->n = 0;
		if (is_launch_kind(n->kind) || (n->flags & NODE_BARE_LAUNCH))
			return at;
		forest_gpu_kids(r, at, kids);
		if (kids->n != 1)
			return at;
		at = kids->v[0];
	}
}

/* ---- equal subtrees ---- */

/*
 * Backwards, so that children come first: a node's hash is of its name and its
 * children's hashes by time.
 */
static void
hash_nodes(struct side *r)
{
	u32s list = { 0 };

	vec_reserve(&r->hash, r->nodes.n);
	r->hash.n = r->nodes.n;
	for (size_t i = r->nodes.n; i-- > 0;) {
		const struct node *n = &r->nodes.v[i];
		uint64_t h = hash_u64(n->sym);

		if ((n->flags & NODE_GPU_PATH) != 0 && n->behind > i + 1) {
			forest_sorted_kids(r, (uint32_t)i, &list);
			for (size_t k = 0; k < list.n; k++)
				h = hash_mix(h ^ HASH_K1,
				    r->hash.v[list.v[k]] ^ HASH_K0);
			h = hash_mix(h ^ list.n, HASH_K1);
		}
		r->hash.v[i] = h;
	}
	vec_free(&list);
}

bool
forest_equal(const struct side *a, uint32_t x, const struct side *b, uint32_t y)
{
	pairs todo = { 0 };
	u32s one = { 0 }, two = { 0 };
	bool equal = true;

	vec_push(&todo, ((struct pair){ x, y }));
	while (equal && todo.n > 0) {
		struct pair t = todo.v[--todo.n];

		equal = a->hash.v[t.a] == b->hash.v[t.b] &&
		    a->nodes.v[t.a].sym == b->nodes.v[t.b].sym;
		if (!equal)
			break;
		forest_sorted_kids(a, t.a, &one);
		forest_sorted_kids(b, t.b, &two);
		equal = one.n == two.n;
		for (size_t i = 0; i < one.n && equal; i++)
			vec_push(&todo, ((struct pair){ one.v[i], two.v[i] }));
	}
	vec_free(&todo);
	vec_free(&one);
	vec_free(&two);
	return equal;
}

/* ---- roots ---- */

/* Goes down while there is one child, neither op nor launch: mere wrappers. */
static uint32_t
below_wrappers(const struct side *r, uint32_t at)
{
	for (;;) {
		uint32_t kid = at + 1, behind = r->nodes.v[at].behind;

		if (kid >= behind || r->nodes.v[kid].behind != behind)
			return at;
		if (r->nodes.v[kid].kind == KIND_OP ||
		    is_launch_kind(r->nodes.v[kid].kind))
			return at;
		at = kid;
	}
}

/* Uppermost ancestors of ops, by the time of the first op. */
static void
find_roots(struct side *r, const struct settings *set)
{
	VEC(struct timed) ops = { 0 };
	VEC(uint8_t) seen = { 0 };
	uint32_t root = NONE;

	for (uint32_t i = 0; i < r->nodes.n; i++) {
		const struct node *n = &r->nodes.v[i];

		if (n->parent == NONE)
			root = i;
		if (n->kind == KIND_OP && (n->flags & NODE_TREE) != 0 &&
		    (n->flags & NODE_BELOW_OP) == 0)
			vec_push(&ops, ((struct timed){ n->ts, root }));
	}
	stable_sort(ops.v, ops.n, sizeof *ops.v, by_ts);
	vec_reserve(&seen, r->nodes.n);
	if (r->nodes.n > 0)
		memset(seen.v, 0, r->nodes.n);
	for (size_t i = 0; i < ops.n; i++) {
		root = ops.v[i].node;
		if (seen.v[root] ||
		    (set->is_selective &&
			(r->nodes.v[root].flags & NODE_GPU_PATH) == 0))
			continue;
		seen.v[root] = 1;
		vec_push(&r->roots, below_wrappers(r, root));
	}
	vec_free(&ops);
	vec_free(&seen);
}

uint32_t
forest_op_above(const struct side *r, uint32_t at)
{
	do
		at = r->nodes.v[at].parent;
	while (at != NONE && r->nodes.v[at].kind != KIND_OP);
	return at;
}

/* ---- GPU work below ---- */

/* By launches in the order of the file, then GPU work as it came. */
static int
by_launch(const void *x, const void *y, void *arg)
{
	const struct side *r = arg;
	uint32_t p = r->nodes.v[*(const uint32_t *)x].extra;
	uint32_t q = r->nodes.v[*(const uint32_t *)y].extra;
	const struct gpu *a = &r->gpus.v[p], *b = &r->gpus.v[q];

	if (a->launch_id != b->launch_id)
		return a->launch_id < b->launch_id ? -1 : 1;
	return (p > q) - (p < q);
}

void
forest_gpu_below(const struct side *r, uint32_t at, u32s *list)
{
	const struct node *n = &r->nodes.v[at];
	size_t first = list->n;

	for (uint32_t g = n->first_gpu; g < gpu_behind(r, n); g++)
		if (r->gpus.v[g].node != at)
			vec_push(list, r->gpus.v[g].node);
	if (list->n - first > 1)
		qsort_r(list->v + first, list->n - first, sizeof *list->v,
		    by_launch, (void *)(uintptr_t)r);
}

void
forest_build(struct side *r, const struct settings *set)
{
	mark_nodes(r);
	hash_nodes(r);
	find_roots(r, set);
	steps_ready(&r->steps);
}
