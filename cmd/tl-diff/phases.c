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

#include "cmd/tl-diff/diff.h"

/* What is known of a name in the lists at hand. */
struct mark {
	uint32_t in[NSIDES];    /* stamp: this list has it */
	uint32_t added[NSIDES]; /* stamp: it was added to this list */
};

struct phases {
	struct duo *d;
	VEC(struct mark) marks; /* by name */
	uint32_t stamp;
	u32s list[NSIDES]; /* children that are to be matched */
	u32s free[NSIDES]; /* of them, what has no partner */
	u32s kids, other;
	u32s sym[NSIDES];
	pairs places; /* of an alignment */
	pairs ops;    /* nodes */
	pairs kept;
};

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

static const struct node *
node_at(const struct phases *p, int side, uint32_t at)
{
	return &p->d->side[side]->nodes.v[at];
}

static struct mark *
mark_of(struct phases *p, uint32_t n)
{
	while (p->marks.n <= n)
		vec_push(&p->marks, ((struct mark){ { 0 }, { 0 } }));
	return &p->marks.v[n];
}

/* ---- alignment of nodes ---- */

static void
align_by(
    struct phases *p, const u32s *a, const u32s *b, bool stripped, pairs *out)
{
	const u32s *nodes[NSIDES] = { a, b };

	for (int s = 0; s < NSIDES; s++) {
		p->sym[s].n = 0;
		for (size_t i = 0; i < nodes[s]->n; i++) {
			const struct node *n = node_at(p, s, nodes[s]->v[i]);

			vec_push(&p->sym[s],
			    stripped && n->n != INTERN_NONE
				? norm_s(p->d->nm, n->name)
				: n->sym);
		}
	}
	out->n = 0;
	align_symbols(p->sym[0].v, p->sym[0].n, p->sym[1].v, p->sym[1].n, out);
	levels_decide(p->d, a, b, out);
}

/* Places become nodes, behind those in ops. */
static void
push_nodes(struct phases *p, const u32s *a, const u32s *b, const pairs *places)
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

static bool
all_equal(const struct phases *p, const u32s *a, const u32s *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (p->d->side[0]->hash.v[a->v[i]] !=
		    p->d->side[1]->hash.v[b->v[i]])
			return false;
	return true;
}

/* Two lists, into places. */
static void
match_lists(struct phases *p, const u32s *a, const u32s *b)
{
	p->places.n = 0;
	if (a->n == b->n && (all_equal(p, a, b) || is_by_place(p, a, b))) {
		for (uint32_t i = 0; i < a->n; i++)
			vec_push(&p->places, ((struct pair){ i, i }));
		return;
	}
	align_by(p, a, b, false, &p->places);
}

/* ---- 1: the lists ---- */

/* Children off the GPU path by whose names the other list has something. */
static void
add_named(struct phases *p, int side, uint32_t at)
{
	const struct run *r = p->d->side[side];
	const struct node *n;
	size_t first = p->list[side].n;

	if (at == NONE)
		return;
	n = &r->nodes.v[at];
	/* of several of one name the last; then into their order */
	for (uint32_t k = n->nkids; k-- > 0;) {
		uint32_t kid = r->kids.v[n->first_kid + k];
		const struct node *it = &r->nodes.v[kid];
		struct mark *m;

		if ((it->flags & NODE_GPU_PATH) != 0 || it->n == INTERN_NONE)
			continue;
		m = mark_of(p, it->n);
		if (m->in[!side] != p->stamp || m->in[side] == p->stamp ||
		    m->added[side] == p->stamp)
			continue;
		m->added[side] = p->stamp;
		vec_push(&p->list[side], kid);
	}
	for (size_t i = first, j = p->list[side].n; i + 1 < j; i++) {
		uint32_t swap = p->list[side].v[i];

		p->list[side].v[i] = p->list[side].v[--j];
		p->list[side].v[j] = swap;
	}
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

/* ---- 3: wrappers among what is left over ---- */

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

/* Matched ones stay; the free ones are matched anew. False: no wrapper. */
static bool
unwrap(struct phases *p)
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
		push_nodes(p, &p->list[0], &p->list[1], &p->kept);
		for (int s = 0; s < NSIDES; s++)
			forest_sort(p->d->side[s], &now[s]);
		match_lists(p, &now[0], &now[1]);
		push_nodes(p, &now[0], &now[1], &p->places);
	}
	for (int s = 0; s < NSIDES; s++) {
		map_free(&lists[s]);
		vec_free(&now[s]);
	}
	return any;
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

static bool
is_one_sided_both_ways(const pairs *ops)
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
	align_by(p, &p->free[0], &p->free[1], false, &p->places);
	push_nodes(p, &p->free[0], &p->free[1], &p->places);
	if (!is_one_sided_both_ways(&p->places))
		return;
	take_out(p);
	align_by(p, &p->free[0], &p->free[1], true, &p->places);
	push_nodes(p, &p->free[0], &p->free[1], &p->places);
}

const pairs *
phases_of(struct phases *p, uint32_t at[NSIDES])
{
	p->ops.n = 0;
	list_children(p, at);
	look_through(p, at);
	match_lists(p, &p->list[0], &p->list[1]);
	if (!unwrap(p))
		push_nodes(p, &p->list[0], &p->list[1], &p->places);
	if (is_one_sided_both_ways(&p->ops))
		match_branches(p);
	return &p->ops;
}

/* ---- roots ---- */

static int
by_first_side(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;

	return (a->a > b->a) - (a->a < b->a);
}

/*
 * Pairs by the first side's order; what is only on the second stands before
 * the pair that follows it there.
 */
static void
order_pairs(pairs *ops)
{
	pairs out = { 0 };
	u32s alone = { 0 };
	size_t next = 0;

	if (ops->n > 1)
		qsort(ops->v, ops->n, sizeof *ops->v, by_first_side);
	for (size_t i = 0; i < ops->n; i++)
		if (ops->v[i].a == NONE)
			vec_push(&alone, ops->v[i].b);
	if (alone.n > 1)
		qsort(alone.v, alone.n, sizeof *alone.v, by_number);
	for (size_t i = 0; i < ops->n; i++) {
		if (ops->v[i].a == NONE)
			break;
		for (; next < alone.n && ops->v[i].b != NONE &&
		     alone.v[next] < ops->v[i].b;
		     next++)
			vec_push(&out, ((struct pair){ NONE, alone.v[next] }));
		vec_push(&out, ops->v[i]);
	}
	for (; next < alone.n; next++)
		vec_push(&out, ((struct pair){ NONE, alone.v[next] }));
	vec_free(ops);
	*ops = out;
	vec_free(&alone);
}

/* Symbols for the hashes of both sides' roots. */
static void
symbols_of_hashes(struct phases *p, const u32s *const roots[NSIDES])
{
	struct map numbers = { 0 };

	for (int s = 0; s < NSIDES; s++) {
		p->sym[s].n = 0;
		for (size_t i = 0; i < roots[s]->n; i++) {
			bool is_new;
			uint64_t *slot = map_put(&numbers,
			    p->d->side[s]->hash.v[roots[s]->v[i]], &is_new);

			if (is_new)
				*slot = numbers.n;
			vec_push(&p->sym[s], (uint32_t)*slot);
		}
	}
	map_free(&numbers);
}

/* Whole trees that are the same first, then names among what is left. */
static void
align_roots(struct phases *p, const u32s *a, const u32s *b, pairs *out)
{
	const u32s *roots[NSIDES] = { a, b };
	u32s at[NSIDES] = { { 0 }, { 0 } };

	symbols_of_hashes(p, roots);
	out->n = 0;
	align_symbols(p->sym[0].v, p->sym[0].n, p->sym[1].v, p->sym[1].n, out);
	if (is_one_sided_both_ways(out)) {
		size_t n = 0;

		p->free[0].n = p->free[1].n = 0;
		for (size_t i = 0; i < out->n; i++) {
			struct pair x = out->v[i];

			if (x.a != NONE && x.b != NONE) {
				out->v[n++] = x;
				continue;
			}
			for (int s = 0; s < NSIDES; s++) {
				uint32_t place = s == 0 ? x.a : x.b;

				if (place == NONE)
					continue;
				vec_push(&at[s], place);
				vec_push(&p->free[s], roots[s]->v[place]);
			}
		}
		out->n = n;
		align_by(p, &p->free[0], &p->free[1], false, &p->places);
		for (size_t i = 0; i < p->places.n; i++) {
			struct pair x = p->places.v[i];

			vec_push(out,
			    ((struct pair){
				x.a == NONE ? NONE : at[0].v[x.a],
				x.b == NONE ? NONE : at[1].v[x.b],
			    }));
		}
	}
	order_pairs(out);
	pairs_between(out);
	vec_free(&at[0]);
	vec_free(&at[1]);
}

static bool
same_root_names(const struct phases *p, const u32s *a, const u32s *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (node_at(p, 0, a->v[i])->sym != node_at(p, 1, b->v[i])->sym)
			return false;
	return true;
}

const pairs *
phases_roots(struct phases *p)
{
	pairs out = { 0 };

	for (int s = 0; s < NSIDES; s++) {
		const struct run *r = p->d->side[s];

		p->list[s].n = 0;
		for (size_t i = 0; i < r->roots.n; i++)
			vec_push(&p->list[s], r->roots.v[i]);
	}
	if (same_root_names(p, &p->list[0], &p->list[1]))
		for (uint32_t i = 0; i < p->list[0].n; i++)
			vec_push(&out, ((struct pair){ i, i }));
	else
		align_roots(p, &p->list[0], &p->list[1], &out);
	p->ops.n = 0;
	push_nodes(p, &p->list[0], &p->list[1], &out);
	vec_free(&out);
	return &p->ops;
}
