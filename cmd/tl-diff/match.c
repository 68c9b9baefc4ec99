/* SPDX-License-Identifier: MIT */
/*
 * Matches the children of two nodes.
 *
 * 1. The children on the GPU path; if their numbers differ, a side's single
 *    child that only wraps is replaced by its children.
 * 2. As many on both sides and no launch among them: by position, else
 *    aligned.
 * 3. An unmatched child that wraps something the other side has is replaced by
 *    its children, and the unmatched ones are matched again.
 * 4. What is still unmatched on both sides is matched by the names of the nodes
 *    at which it branches, then by names without functions.
 */
#include "cmd/tl-diff/align.h"

void
matcher_free(struct matcher *m)
{
	for (int s = 0; s < NSIDES; s++) {
		vec_free(&m->list[s]);
		vec_free(&m->free[s]);
		vec_free(&m->sym[s]);
	}
	map_free(&m->levels_of);
	vec_free(&m->levels);
	vec_free(&m->marks);
	vec_free(&m->kids);
	vec_free(&m->next);
	vec_free(&m->places);
	vec_free(&m->ops);
}

static struct mark *
mark_of(struct matcher *m, uint32_t name)
{
	while (m->marks.n <= name)
		vec_push(&m->marks, ((struct mark){ { 0 }, 0, 0 }));
	return &m->marks.v[name];
}

/* ---- 2: alignment ---- */

void
match_symbols(struct matcher *m, const u32s nodes[NSIDES], bool loose)
{
	for (int s = 0; s < NSIDES; s++) {
		m->sym[s].n = 0;
		for (size_t i = 0; i < nodes[s].n; i++) {
			const struct node *n = match_node(m, s, nodes[s].v[i]);

			vec_push(&m->sym[s],
			    loose && n->n != INTERN_NONE
				? name_loose(m->nm, n->name)
				: n->sym);
		}
	}
}

void
match_aligned(
    struct matcher *m, const u32s nodes[NSIDES], bool loose, pairs *out)
{
	match_symbols(m, nodes, loose);
	align_lists(m->sym, lists_turned(m->nm->st, m->sym), out);
	similar_decide(m, nodes, out);
}

void
match_push(struct matcher *m, const u32s nodes[NSIDES], const pairs *places)
{
	for (size_t i = 0; i < places->n; i++) {
		struct pair at = places->v[i];

		vec_push(&m->ops,
		    ((struct pair){
			at.a == NONE ? NONE : nodes[0].v[at.a],
			at.b == NONE ? NONE : nodes[1].v[at.b],
		    }));
	}
}

/* Whether names are only reordered, so that positions prove nothing. */
static bool
is_by_place(const struct matcher *m, const u32s nodes[NSIDES])
{
	uint64_t sum[NSIDES] = { 0, 0 };
	bool differ = false;

	if (nodes[0].n != nodes[1].n)
		return false;
	for (size_t i = 0; i < nodes[0].n; i++) {
		const struct node *a = match_node(m, 0, nodes[0].v[i]);
		const struct node *b = match_node(m, 1, nodes[1].v[i]);

		if (is_launch_kind(a->kind) || is_launch_kind(b->kind))
			return false;
		sum[0] += hash_u64(a->sym);
		sum[1] += hash_u64(b->sym);
		differ = differ || a->sym != b->sym;
	}
	return !differ || sum[0] != sum[1];
}

/* Back to positions. */
static void
match_lists(struct matcher *m, const u32s nodes[NSIDES])
{
	m->places.n = 0;
	if (is_by_place(m, nodes)) {
		for (uint32_t i = 0; i < nodes[0].n; i++)
			vec_push(&m->places, ((struct pair){ i, i }));
		return;
	}
	match_aligned(m, nodes, false, &m->places);
	for (int s = 0; s < NSIDES; s++) {
		m->sym[s].n = 0;
		for (size_t i = 0; i < nodes[s].n; i++) {
			const struct node *n = match_node(m, s, nodes[s].v[i]);

			vec_push(
			    &m->sym[s], is_plain_call(n) ? n->n : INTERN_NONE);
		}
	}
	pairs_moved(&m->places, m->sym, NULL);
}

/* ---- 1: the lists ---- */

/* Adds children off the GPU path whose names the other list has; of several
 * with one name the last. */
static void
add_named(struct matcher *m, int side, uint32_t at)
{
	const struct side *r = m->side[side];
	u32s *list = &m->list[side];

	for (uint32_t k = at + 1; k < r->nodes.v[at].behind;
	     k = r->nodes.v[k].behind) {
		const struct node *n = &r->nodes.v[k];
		struct mark *x;

		if ((n->flags & NODE_GPU_PATH) != 0 || n->n == INTERN_NONE)
			continue;
		x = mark_of(m, n->n);
		if (x->in[!side] != m->stamp || x->in[side] == m->stamp)
			continue;
		if (x->added != m->stamp) {
			x->added = m->stamp;
			x->place = (uint32_t)list->n;
			vec_push(list, k);
		}
		list->v[x->place] = k;
	}
}

static void
list_children(struct matcher *m, const uint32_t at[NSIDES])
{
	m->stamp++;
	for (int s = 0; s < NSIDES; s++) {
		m->list[s].n = 0;
		if (at[s] != NONE)
			forest_gpu_kids(m->side[s], at[s], &m->list[s]);
		for (size_t i = 0; i < m->list[s].n; i++) {
			uint32_t n = match_node(m, s, m->list[s].v[i])->n;

			if (n != INTERN_NONE)
				mark_of(m, n)->in[s] = m->stamp;
		}
	}
	for (int s = 0; s < NSIDES; s++) {
		size_t before = m->list[s].n;

		if (at[s] == NONE)
			continue;
		if (m->list[!s].n > 0)
			add_named(m, s, at[s]);
		if (m->list[s].n > before ||
		    (match_node(m, s, at[s])->flags & NODE_UNSORTED) != 0)
			forest_sort(m->side[s], &m->list[s]);
	}
}

/* Replaces a single child that only wraps by its children. */
static void
look_through(struct matcher *m, uint32_t at[NSIDES])
{
	int s = m->list[0].n == 1 ? 0 : 1;
	uint32_t end;

	if (m->list[0].n == m->list[1].n || m->list[s].n != 1)
		return;
	end = forest_collapse(m->side[s], m->list[s].v[0], &m->kids);
	if (m->kids.n == 0)
		return;
	at[s] = end;
	m->list[s].n = 0;
	for (size_t i = 0; i < m->kids.n; i++)
		vec_push(&m->list[s], m->kids.v[i]);
}

/* ---- 3: unmatched wrappers ---- */

/* Moves one-sided nodes from ops to the free lists. */
static void
take_out(struct matcher *m)
{
	size_t n = 0;

	m->free[0].n = m->free[1].n = 0;
	for (size_t i = 0; i < m->ops.n; i++) {
		struct pair at = m->ops.v[i];

		if (at.b == NONE)
			vec_push(&m->free[0], at.a);
		else if (at.a == NONE)
			vec_push(&m->free[1], at.b);
		else
			m->ops.v[n++] = at;
	}
	m->ops.n = n;
}

/* Hash of the names of a node's children on the GPU path, which go to kids; 0:
 * none. */
static uint64_t
hash_names_below(struct matcher *m, int side, uint32_t at)
{
	uint64_t h = HASH_K0;
	size_t n = 0;

	forest_gpu_kids(m->side[side], at, &m->kids);
	for (size_t i = 0; i < m->kids.n; i++) {
		uint32_t name = match_node(m, side, m->kids.v[i])->n;

		if (name == INTERN_NONE)
			continue;
		h = hash_mix(h ^ name, HASH_K1);
		n++;
	}
	return n > 0 ? hash_mix(h ^ n, HASH_K1) | 1 : 0;
}

/* Keeps possible wrappers: marks their names, keeps those below. */
static void
index_free(struct matcher *m, struct map below[NSIDES])
{
	m->stamp++;
	for (int s = 0; s < NSIDES; s++)
		for (size_t i = 0; i < m->free[s].n; i++) {
			const struct node *n =
			    match_node(m, s, m->free[s].v[i]);
			uint64_t h;

			if (!is_plain_call(n))
				continue;
			if (n->n != INTERN_NONE)
				mark_of(m, n->n)->in[s] = m->stamp;
			h = hash_names_below(m, s, m->free[s].v[i]);
			if (h != 0)
				(void)map_put(&below[s], h, NULL);
		}
}

/* Whether the other side has some of this node's children, or all. */
static bool
is_wrapper(struct matcher *m, int side, uint32_t at, const struct map *below)
{
	uint64_t h;

	if (!is_plain_call(match_node(m, side, at)))
		return false;
	h = hash_names_below(m, side, at);
	for (size_t i = 0; i < m->kids.n; i++) {
		uint32_t n = match_node(m, side, m->kids.v[i])->n;

		if (n != INTERN_NONE && mark_of(m, n)->in[!side] == m->stamp)
			return true;
	}
	return h != 0 && map_get(below, h) != NULL;
}

/* The free nodes of a side, wrappers replaced by what they wrap. */
static bool
unwrap_side(struct matcher *m, int side, const struct map *below, u32s *out)
{
	bool any = false;

	for (size_t i = 0; i < m->free[side].n; i++) {
		uint32_t at = m->free[side].v[i];

		if (!is_wrapper(m, side, at, below)) {
			vec_push(out, at);
			continue;
		}
		any = true;
		for (size_t k = 0; k < m->kids.n; k++)
			vec_push(out, m->kids.v[k]);
	}
	forest_sort(m->side[side], out);
	return any;
}

/* Matches one-sided nodes again if some wrap what the other side has. */
static void
unwrap(struct matcher *m)
{
	struct map below[NSIDES] = { { 0 }, { 0 } };
	u32s now[NSIDES] = { { 0 }, { 0 } };
	bool any = false;

	take_out(m);
	index_free(m, below);
	for (int s = 0; s < NSIDES; s++)
		any |= unwrap_side(m, s, &below[!s], &now[s]);
	if (any) {
		match_lists(m, now);
		match_push(m, now, &m->places);
	} else {
		m->ops.n = 0;
		match_push(m, m->list, &m->places);
	}
	for (int s = 0; s < NSIDES; s++) {
		map_free(&below[s]);
		vec_free(&now[s]);
	}
}

/* ---- 4: by where they branch ---- */

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
match_branches(struct matcher *m)
{
	take_out(m);
	for (int s = 0; s < NSIDES; s++)
		for (size_t i = 0; i < m->free[s].n; i++)
			m->free[s].v[i] = forest_collapse(
			    m->side[s], m->free[s].v[i], &m->kids);
	match_aligned(m, m->free, false, &m->places);
	match_push(m, m->free, &m->places);
	if (!pairs_have_both(&m->places))
		return;
	take_out(m);
	match_aligned(m, m->free, true, &m->places);
	match_push(m, m->free, &m->places);
}

const pairs *
match_children(struct matcher *m, uint32_t at[NSIDES])
{
	m->ops.n = 0;
	list_children(m, at);
	look_through(m, at);
	match_lists(m, m->list);
	match_push(m, m->list, &m->places);
	if (pairs_have_both(&m->ops))
		unwrap(m);
	if (pairs_have_both(&m->ops))
		match_branches(m);
	return &m->ops;
}
