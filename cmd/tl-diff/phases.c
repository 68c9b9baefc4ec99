/* SPDX-License-Identifier: MIT */
/*
 * Which children of two nodes belong together.
 *
 * 1. The children on the GPU path; a side's single child that only wraps is
 *    looked through when the sides differ in number.
 * 2. As many on both sides and no launch among them: by place. Else aligned.
 * 3. What is left over and wraps something that the other side has too is
 *    replaced by its children, and what is free then is matched again.
 * 4. What is still left over on both sides is looked through down to where it
 *    branches, and matched by these names, then by names without functions.
 */
#include <stdlib.h>

#include "cmd/tl-diff/phases.h"

struct phases *
phases_create(struct duo *d)
{
	struct phases *p = xcalloc(1, sizeof *p);

	p->d = d;
	return p;
}

void
phases_destroy(struct phases *p)
{
	vec_free(&p->marks);
	for (int s = 0; s < NSIDES; s++) {
		vec_free(&p->list[s]);
		vec_free(&p->free[s]);
		vec_free(&p->sym[s]);
	}
	vec_free(&p->kids);
	vec_free(&p->other);
	vec_free(&p->places);
	vec_free(&p->ops);
	vec_free(&p->kept);
	free(p);
}

/* ---- alignment of nodes ---- */

void
phases_symbols(struct phases *p, const u32s *const nodes[NSIDES], bool stripped)
{
	for (int s = 0; s < NSIDES; s++) {
		p->sym[s].n = 0;
		for (size_t i = 0; i < nodes[s]->n; i++) {
			const struct node *n = node_at(p, s, nodes[s]->v[i]);

			vec_push(&p->sym[s],
			    stripped && n->n != INTERN_NONE
				? name_loose(p->d->nm, n->name)
				: n->sym);
		}
	}
}

void
phases_align(
    struct phases *p, const u32s *a, const u32s *b, bool stripped, pairs *out)
{
	const u32s *nodes[NSIDES] = { a, b };

	phases_symbols(p, nodes, stripped);
	align_lists(p->sym, lists_turned(p->d->nm->st, p->sym), out);
	similar_decide(p->d, a, b, out);
}

void
phases_push(struct phases *p, const u32s *a, const u32s *b, const pairs *places)
{
	for (size_t i = 0; i < places->n; i++) {
		struct pair at = places->v[i];

		vec_push(&p->ops,
		    ((struct pair){
			at.a == NONE ? NONE : a->v[at.a],
			at.b == NONE ? NONE : b->v[at.b],
		    }));
	}
}

static bool
has_launch(const struct phases *p, int side, const u32s *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (is_launch_kind(node_at(p, side, list->v[i])->kind))
			return true;
	return false;
}

/* The same names in another order: then their places say nothing. */
static bool
is_permuted(const struct phases *p, const u32s *a, const u32s *b)
{
	uint64_t sum[NSIDES] = { 0, 0 };
	bool differ = false;

	for (size_t i = 0; i < a->n; i++) {
		uint32_t x = node_at(p, 0, a->v[i])->sym;
		uint32_t y = node_at(p, 1, b->v[i])->sym;

		sum[0] += hash_u64(x);
		sum[1] += hash_u64(y);
		differ = differ || x != y;
	}
	return differ && sum[0] == sum[1];
}

static bool
is_by_place(const struct phases *p, const u32s *a, const u32s *b)
{
	return a->n == b->n && !has_launch(p, 0, a) && !has_launch(p, 1, b) &&
	    !is_permuted(p, a, b);
}

/* The name of a call that may have moved past others. */
static uint32_t
movable(const struct node *n)
{
	return is_gpu_kind(n->kind) || is_launch_kind(n->kind) ? INTERN_NONE
							       : n->n;
}

static void
pair_moved(struct phases *p, const u32s *a, const u32s *b)
{
	p->sym[0].n = p->sym[1].n = 0;
	for (size_t i = 0; i < a->n; i++)
		vec_push(&p->sym[0], movable(node_at(p, 0, a->v[i])));
	for (size_t i = 0; i < b->n; i++)
		vec_push(&p->sym[1], movable(node_at(p, 1, b->v[i])));
	pairs_moved(&p->places, p->sym, NULL);
}

void
phases_match(struct phases *p, const u32s *a, const u32s *b)
{
	p->places.n = 0;
	if (is_by_place(p, a, b)) {
		for (uint32_t i = 0; i < a->n; i++)
			vec_push(&p->places, ((struct pair){ i, i }));
		return;
	}
	phases_align(p, a, b, false, &p->places);
	pair_moved(p, a, b);
}

/* ---- 1: the lists ---- */

/* Children off the GPU path by whose names the other list has something. */
static void
add_named(struct phases *p, int side, uint32_t at)
{
	const struct run *r = p->d->side[side];
	const struct node *n;
	u32s *list = &p->list[side];
	size_t first = list->n, last;

	if (at == NONE)
		return;
	n = &r->nodes.v[at];
	for (uint32_t k = at + 1; k < n->behind; k = r->nodes.v[k].behind) {
		const struct node *it = &r->nodes.v[k];
		const struct mark *m;

		if ((it->flags & NODE_GPU_PATH) != 0 || it->n == INTERN_NONE)
			continue;
		m = mark_of(p, it->n);
		if (m->in[!side] == p->stamp && m->in[side] != p->stamp)
			vec_push(list, k);
	}
	/* of several of one name the last */
	for (size_t i = last = list->n; i-- > first;) {
		struct mark *m = mark_of(p, r->nodes.v[list->v[i]].n);

		if (m->added[side] != p->stamp)
			list->v[--last] = list->v[i];
		m->added[side] = p->stamp;
	}
	if (last == first)
		return;
	memmove(list->v + first, list->v + last,
	    (list->n - last) * sizeof *list->v);
	list->n -= last - first;
}

static void
mark_names(struct phases *p, int side, const u32s *list)
{
	for (size_t i = 0; i < list->n; i++) {
		uint32_t n = node_at(p, side, list->v[i])->n;

		if (n != INTERN_NONE)
			mark_of(p, n)->in[side] = p->stamp;
	}
}

static void
list_children(struct phases *p, const uint32_t at[NSIDES])
{
	p->stamp++;
	for (int s = 0; s < NSIDES; s++) {
		p->list[s].n = 0;
		if (at[s] != NONE)
			forest_gpu_kids(p->d->side[s], at[s], &p->list[s]);
		mark_names(p, s, &p->list[s]);
	}
	for (int s = 0; s < NSIDES; s++) {
		size_t before = p->list[s].n;

		if (p->list[!s].n > 0)
			add_named(p, s, at[s]);
		if (at[s] != NONE &&
		    (p->list[s].n > before ||
			(node_at(p, s, at[s])->flags & NODE_UNSORTED)))
			forest_sort(p->d->side[s], &p->list[s]);
	}
}

/* A single child that only wraps gives way to what it wraps. */
static void
look_through(struct phases *p, uint32_t at[NSIDES])
{
	int s = p->list[0].n == 1 ? 0 : 1;
	uint32_t end;

	if (p->list[0].n == p->list[1].n || p->list[s].n != 1)
		return;
	end = forest_collapse(p->d->side[s], p->list[s].v[0], &p->kids);
	if (p->kids.n == 0)
		return;
	at[s] = end;
	p->list[s].n = 0;
	for (size_t i = 0; i < p->kids.n; i++)
		vec_push(&p->list[s], p->kids.v[i]);
}

/* ---- 4: by where they branch ---- */

/* Takes what is one-sided out of ops, into the free lists. */
static void
take_out(struct phases *p)
{
	size_t n = 0;

	p->free[0].n = p->free[1].n = 0;
	for (size_t i = 0; i < p->ops.n; i++) {
		struct pair at = p->ops.v[i];

		if (at.b == NONE)
			vec_push(&p->free[0], at.a);
		else if (at.a == NONE)
			vec_push(&p->free[1], at.b);
		else
			p->ops.v[n++] = at;
	}
	p->ops.n = n;
}

bool
pairs_have_both(const pairs *ops)
{
	bool a = false, b = false;

	for (size_t i = 0; i < ops->n; i++) {
		a |= ops->v[i].b == NONE;
		b |= ops->v[i].a == NONE;
	}
	return a && b;
}

static void
match_branches(struct phases *p)
{
	take_out(p);
	for (int s = 0; s < NSIDES; s++)
		for (size_t i = 0; i < p->free[s].n; i++)
			p->free[s].v[i] = forest_collapse(
			    p->d->side[s], p->free[s].v[i], &p->kids);
	phases_align(p, &p->free[0], &p->free[1], false, &p->places);
	phases_push(p, &p->free[0], &p->free[1], &p->places);
	if (!pairs_have_both(&p->places))
		return;
	take_out(p);
	phases_align(p, &p->free[0], &p->free[1], true, &p->places);
	phases_push(p, &p->free[0], &p->free[1], &p->places);
}

const pairs *
phases_of(struct phases *p, uint32_t at[NSIDES])
{
	p->ops.n = 0;
	list_children(p, at);
	look_through(p, at);
	phases_match(p, &p->list[0], &p->list[1]);
	if (!phases_unwrap(p))
		phases_push(p, &p->list[0], &p->list[1], &p->places);
	if (pairs_have_both(&p->ops))
		match_branches(p);
	return &p->ops;
}
