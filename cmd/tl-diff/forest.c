/* SPDX-License-Identifier: MIT */
/* What is below what: children, the GPU path, hashes of subtrees, roots. */
#include <stdlib.h>

#include "cmd/tl-diff/align.h"

/* ---- children ---- */

static void
mark_nodes(struct run *r)
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

/* Graph launches are no launches here: what they replay is theirs. */
static void
mark_graph_launches(struct run *r, const struct dict *st)
{
	for (size_t i = 0; i < r->nodes.n; i++) {
		struct node *n = &r->nodes.v[i];
		struct str name;

		if (!is_launch_kind(n->kind) || n->name == INTERN_NONE)
			continue;
		name = dict_get(st, n->name);
		if (str_eq(name, STR("cudaGraphLaunch")) ||
		    str_eq(name, STR("hipGraphLaunch")))
			n->kind = KIND_OTHER;
	}
}

/* A node with what it is sorted by. */
struct timed {
	int64_t ts;
	uint32_t place, node;
};

static int
by_ts(const void *x, const void *y)
{
	const struct timed *a = x, *b = y;

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

static void
sort_long(const struct run *r, u32s *list)
{
	struct timed *t = xmalloc(list->n * sizeof *t);

	for (size_t i = 0; i < list->n; i++)
		t[i] = (struct timed){ r->nodes.v[list->v[i]].ts, (uint32_t)i,
			list->v[i] };
	qsort(t, list->n, sizeof *t, by_ts);
	for (size_t i = 0; i < list->n; i++)
		list->v[i] = t[i].node;
	free(t);
}

/* By insertion where little is out of order, as nearly always. */
void
forest_sort(const struct run *r, u32s *list)
{
	const struct node *v = r->nodes.v;
	size_t moved = 0, limit = 8 * list->n + 64;

	for (size_t i = 1; i < list->n; i++) {
		uint32_t it = list->v[i];
		size_t at = i;

		for (; at > 0 && v[list->v[at - 1]].ts > v[it].ts; at--)
			list->v[at] = list->v[at - 1];
		list->v[at] = it;
		moved += i - at;
		if (moved > limit) {
			sort_long(r, list);
			return;
		}
	}
}

void
forest_gpu_kids(const struct run *r, uint32_t at, u32s *list)
{
	const struct node *n = &r->nodes.v[at];

	list->n = 0;
	for (uint32_t k = at + 1; k < n->behind; k = r->nodes.v[k].behind)
		if (r->nodes.v[k].flags & NODE_GPU_PATH)
			vec_push(list, k);
}

uint32_t
forest_collapse(const struct run *r, uint32_t at, u32s *kids)
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
 * From behind, so that children come first: a node's hash is of its name and
 * of its children's hashes by ts.
 */
static void
hash_nodes(struct run *r)
{
	u32s list = { 0 };

	vec_reserve(&r->hash, r->nodes.n);
	r->hash.n = r->nodes.n;
	for (size_t i = r->nodes.n; i-- > 0;) {
		const struct node *n = &r->nodes.v[i];
		uint64_t h = hash_u64(n->sym);

		if ((n->flags & NODE_GPU_PATH) != 0 && n->behind > i + 1) {
			forest_gpu_kids(r, (uint32_t)i, &list);
			if (n->flags & NODE_UNSORTED)
				forest_sort(r, &list);
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
forest_equal(const struct run *a, uint32_t x, const struct run *b, uint32_t y)
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
		forest_gpu_kids(a, t.a, &one);
		forest_gpu_kids(b, t.b, &two);
		if (a->nodes.v[t.a].flags & NODE_UNSORTED)
			forest_sort(a, &one);
		if (b->nodes.v[t.b].flags & NODE_UNSORTED)
			forest_sort(b, &two);
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

/* An op below no op: its uppermost ancestor, by time of the op. */
struct root_op {
	int64_t ts;
	uint32_t order, root;
};

static int
by_start(const void *x, const void *y)
{
	const struct root_op *a = x, *b = y;

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/*
 * Down while there is one child and it is neither op nor launch: wrappers that
 * say nothing.
 */
static uint32_t
below_wrappers(const struct run *r, uint32_t at)
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

static bool
is_asked_root(const struct run *r, uint32_t at, const struct settings *set)
{
	return !set->is_selective ||
	    (r->nodes.v[at].flags & NODE_GPU_PATH) != 0;
}

static void
find_roots(struct run *r, const struct settings *set)
{
	VEC(struct root_op) ops = { 0 };
	VEC(uint8_t) seen = { 0 };
	uint32_t root = NONE;

	for (uint32_t i = 0; i < r->nodes.n; i++) {
		const struct node *n = &r->nodes.v[i];

		if (n->parent == NONE)
			root = i;
		if (n->kind == KIND_OP && (n->flags & NODE_TREE) != 0 &&
		    (n->flags & NODE_BELOW_OP) == 0)
			vec_push(&ops,
			    ((struct root_op){ n->ts, (uint32_t)ops.n, root }));
	}
	if (ops.n > 0)
		qsort(ops.v, ops.n, sizeof *ops.v, by_start);
	vec_reserve(&seen, r->nodes.n);
	memset(seen.v, 0, r->nodes.n);
	for (size_t i = 0; i < ops.n; i++) {
		root = ops.v[i].root;
		if (seen.v[root] || !is_asked_root(r, root, set))
			continue;
		seen.v[root] = 1;
		vec_push(&r->roots, below_wrappers(r, root));
	}
	vec_free(&ops);
	vec_free(&seen);
}

uint32_t
forest_op_above(const struct run *r, uint32_t at)
{
	do
		at = r->nodes.v[at].parent;
	while (at != NONE && r->nodes.v[at].kind != KIND_OP);
	return at;
}

/* ---- GPU work below ---- */

static int
by_launch(const void *x, const void *y, void *arg)
{
	const uint32_t *a = x, *b = y;
	const struct gpu *v = arg;

	if (v[*a].launch_id != v[*b].launch_id)
		return v[*a].launch_id < v[*b].launch_id ? -1 : 1;
	return (*a > *b) - (*a < *b);
}

/* Launches as they stand in the file, and what each launched as it came. */
static void
rank_gpus(struct run *r)
{
	VEC(uint32_t) order = { 0 };

	for (uint32_t i = 0; i < r->gpus.n; i++)
		vec_push(&order, i);
	if (order.n > 0)
		qsort_r(
		    order.v, order.n, sizeof *order.v, by_launch, r->gpus.v);
	for (uint32_t i = 0; i < order.n; i++)
		r->gpus.v[order.v[i]].rank = i;
	vec_free(&order);
}

static int
by_rank(const void *x, const void *y, void *arg)
{
	const uint32_t *a = x, *b = y;
	const struct run *r = arg;
	uint32_t i = r->gpus.v[r->nodes.v[*a].extra].rank;
	uint32_t j = r->gpus.v[r->nodes.v[*b].extra].rank;

	return (i > j) - (i < j);
}

void
forest_gpu_below(const struct run *r, uint32_t at, u32s *list)
{
	const struct node *n = &r->nodes.v[at];
	size_t first = list->n;

	for (uint32_t g = n->first_gpu; g < gpu_behind(r, n); g++)
		if (r->gpus.v[g].node != at)
			vec_push(list, r->gpus.v[g].node);
	if (list->n - first > 1)
		qsort_r(list->v + first, list->n - first, sizeof *list->v,
		    by_rank, (void *)(uintptr_t)r);
}

/* Steps by start. */
void
forest_build(struct run *r, const struct settings *set, const struct dict *st)
{
	mark_graph_launches(r, st);
	mark_nodes(r);
	hash_nodes(r);
	rank_gpus(r);
	find_roots(r, set);
	steps_sort(r->steps.v, r->steps.n);
}
