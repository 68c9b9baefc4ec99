/* SPDX-License-Identifier: MIT */
/*
 * Matches calls of one name by what is below them.
 *
 * Two nodes have k equal levels, and share o names of the next. Pairs are
 * taken by largest k, then o, then as aligned, then by position. Of the nodes
 * with k equal levels one side is used up, so the rest has fewer equal ones:
 * levels are tried from the largest k on. Where counting names would take too
 * long, alignment and position decide. Levels are compared by 64-bit hashes.
 */
#include <stdlib.h>

#include "cmd/tl-diff/align.h"

#define MAX_NAMES_COMPARED 20000000

/* ---- levels ---- */

/* Names one level further down, into kids. */
static void
descend(struct matcher *m, int side)
{
	const struct side *r = m->side[side];
	u32s now = m->kids;

	m->next.n = 0;
	for (size_t i = 0; i < now.n; i++)
		for (uint32_t k = now.v[i] + 1; k < r->nodes.v[now.v[i]].behind;
		     k = r->nodes.v[k].behind)
			if (r->nodes.v[k].flags & NODE_GPU_PATH)
				vec_push(&m->next, k);
	m->kids = m->next;
	m->next = now;
}

static const struct levels *
levels_of(struct matcher *m, int side, uint32_t at)
{
	uint32_t no =
	    map_number(&m->levels_of, (uint64_t)at << 1 | (unsigned)side);
	struct levels l = { { 0 } };

	if (no < m->levels.n)
		return &m->levels.v[no];
	m->kids.n = 0;
	vec_push(&m->kids, at);
	for (int depth = 0; depth < LEVELS; depth++) {
		uint64_t sum = 0;

		descend(m, side);
		if (m->kids.n == 0)
			break;
		for (size_t i = 0; i < m->kids.n; i++)
			sum += hash_u64(match_node(m, side, m->kids.v[i])->n);
		l.hash[depth] = hash_mix(sum ^ HASH_K0, m->kids.n) | 1;
	}
	vec_push(&m->levels, l);
	return &m->levels.v[m->levels.n - 1];
}

/* Hash of the first k levels. */
static uint64_t
hash_levels(struct matcher *m, int side, uint32_t at, int k)
{
	const struct levels *l = levels_of(m, side, at);
	uint64_t h = HASH_K1;

	for (int i = 0; i < k; i++)
		h = hash_mix(h ^ l->hash[i], HASH_K0);
	return h;
}

static int
by_number(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

/* Appends the sorted names of a level. */
static void
level_names(struct matcher *m, int side, uint32_t at, int level, u32s *names)
{
	size_t first = names->n;

	m->kids.n = 0;
	vec_push(&m->kids, at);
	for (int depth = 0; depth <= level; depth++)
		descend(m, side);
	for (size_t i = 0; i < m->kids.n; i++)
		vec_push(names, match_node(m, side, m->kids.v[i])->n);
	if (names->n > first + 1)
		qsort(names->v + first, names->n - first, sizeof *names->v,
		    by_number);
}

/* ---- choosing ---- */

/* A node among those aligned. */
struct member {
	uint64_t key; /* equal within a group */
	uint32_t place;
	uint8_t side;
};
typedef VEC(struct member) members;

/* Two members that share names. */
struct candidate {
	uint32_t shared;
	bool was_paired;
	uint32_t a, b; /* positions */
};

#define OPEN (NONE - 1) /* to be decided here, not yet paired */

struct chooser {
	struct matcher *m;
	const u32s *nodes;
	u32s was[NSIDES], now[NSIDES]; /* matches by position, or NONE */
	members left;                  /* of the current name */
	VEC(struct candidate) candidates;
	u32s names[NSIDES], ends[NSIDES]; /* of a group, member by member */
};

static void
pair_up(struct chooser *c, uint32_t a, uint32_t b)
{
	c->now[0].v[a] = b;
	c->now[1].v[b] = a;
}

static bool
is_free(const struct chooser *c, const struct member *m)
{
	return c->now[m->side].v[m->place] == OPEN;
}

/* ---- by shared names ---- */

static size_t
count_shared(const struct chooser *c, size_t i, size_t j)
{
	const uint32_t *a = c->names[0].v, *b = c->names[1].v;
	size_t x = i > 0 ? c->ends[0].v[i - 1] : 0, n = 0;
	size_t y = j > 0 ? c->ends[1].v[j - 1] : 0;

	while (x < c->ends[0].v[i] && y < c->ends[1].v[j]) {
		uint32_t p = a[x], q = b[y];

		n += p == q;
		x += p <= q;
		y += q <= p;
	}
	return n;
}

static int
by_likeness(const void *x, const void *y)
{
	const struct candidate *p = x, *q = y;

	if (p->shared != q->shared)
		return p->shared > q->shared ? -1 : 1;
	if (p->was_paired != q->was_paired)
		return p->was_paired ? -1 : 1;
	if (p->a != q->a)
		return p->a < q->a ? -1 : 1;
	return (p->b > q->b) - (p->b < q->b);
}

static void
pair_sharing(struct chooser *c, const struct member *v, const size_t n[NSIDES],
    int level)
{
	for (int s = 0; s < NSIDES; s++) {
		c->names[s].n = c->ends[s].n = 0;
		for (size_t i = 0; i < n[s]; i++) {
			const struct member *m = &v[i + (s == 1 ? n[0] : 0)];

			level_names(c->m, s, c->nodes[s].v[m->place], level,
			    &c->names[s]);
			vec_push(&c->ends[s], (uint32_t)c->names[s].n);
		}
	}
	if (c->names[0].n * n[1] + c->names[1].n * n[0] > MAX_NAMES_COMPARED)
		return;
	c->candidates.n = 0;
	for (size_t i = 0; i < n[0]; i++)
		for (size_t j = 0; j < n[1]; j++) {
			uint32_t a = v[i].place, b = v[n[0] + j].place;
			size_t shared = count_shared(c, i, j);

			if (shared > 0)
				vec_push(&c->candidates,
				    ((struct candidate){ (uint32_t)shared,
					c->was[0].v[a] == b, a, b }));
		}
	stable_sort(c->candidates.v, c->candidates.n, sizeof *c->candidates.v,
	    by_likeness);
	for (size_t i = 0; i < c->candidates.n; i++) {
		const struct candidate *x = &c->candidates.v[i];

		if (c->now[0].v[x->a] == OPEN && c->now[1].v[x->b] == OPEN)
			pair_up(c, x->a, x->b);
	}
}

/* ---- groups ---- */

/* Prefers the alignment's pairs, which cross nothing; then first to first. */
static void
pair_rest(struct chooser *c, const struct member *v, const size_t n[NSIDES])
{
	size_t end = n[0] + n[1];

	for (size_t i = 0, j = n[0]; i < n[0]; i++) {
		uint32_t b = c->was[0].v[v[i].place];

		while (b != NONE && j < end && v[j].place < b)
			j++;
		if (j < end && v[j].place == b && is_free(c, &v[i]) &&
		    is_free(c, &v[j]))
			pair_up(c, v[i].place, b);
	}
	for (size_t i = 0, j = n[0]; i < n[0]; i++) {
		if (!is_free(c, &v[i]))
			continue;
		while (j < end && !is_free(c, &v[j]))
			j++;
		if (j == end)
			return;
		pair_up(c, v[i].place, v[j].place);
	}
}

static int
by_key(const void *x, const void *y)
{
	const struct member *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->side != b->side)
		return a->side < b->side ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

/* End of the group of the first member; numbers of both sides. */
static size_t
group_end(const members *v, size_t first, size_t n[NSIDES])
{
	size_t i = first;

	n[0] = n[1] = 0;
	for (; i < v->n && v->v[i].key == v->v[first].key; i++)
		n[v->v[i].side]++;
	return i;
}

/*
 * Pairs members of one name, those with most equal levels first. In a group the
 * first side precedes.
 */
static void
pair_name(struct chooser *c, const struct member *v, size_t n)
{
	size_t of[NSIDES];

	c->left.n = 0;
	for (size_t i = 0; i < n; i++) {
		c->now[v[i].side].v[v[i].place] = OPEN;
		vec_push(&c->left, v[i]);
	}
	for (int k = LEVELS; k >= 0 && c->left.n > 1; k--) {
		size_t kept = 0;

		for (size_t i = 0; i < c->left.n; i++) {
			struct member m = c->left.v[i];

			m.key = hash_levels(
			    c->m, m.side, c->nodes[m.side].v[m.place], k);
			if (is_free(c, &m))
				c->left.v[kept++] = m;
		}
		c->left.n = kept;
		stable_sort(c->left.v, kept, sizeof *c->left.v, by_key);
		for (size_t i = 0, end; i < kept; i = end) {
			end = group_end(&c->left, i, of);
			if (of[0] == 0 || of[1] == 0)
				continue;
			if (k < LEVELS)
				pair_sharing(c, &c->left.v[i], of, k);
			pair_rest(c, &c->left.v[i], of);
		}
	}
}

/* ---- the alignment ---- */

static void
start(struct chooser *c, const pairs *ops)
{
	const pairs none = { 0 };
	const size_t n[NSIDES] = { c->nodes[0].n, c->nodes[1].n };

	pairs_matches(ops, n, c->was);
	pairs_matches(&none, n, c->now);
}

static void
end(struct chooser *c)
{
	for (int s = 0; s < NSIDES; s++) {
		vec_free(&c->was[s]);
		vec_free(&c->now[s]);
		vec_free(&c->names[s]);
		vec_free(&c->ends[s]);
	}
	vec_free(&c->left);
	vec_free(&c->candidates);
}

/*
 * Keeps pairs of other names and adds the new ones by position. Nothing to do
 * if all were there.
 */
static void
rewrite(const struct chooser *c, pairs *ops)
{
	const u32s *now = c->now;
	bool is_changed = false;
	size_t n = 0;

	for (size_t i = 0; i < now[0].n && !is_changed; i++)
		is_changed =
		    now[0].v[i] < OPEN && now[0].v[i] != c->was[0].v[i];
	if (!is_changed)
		return;
	for (size_t i = 0; i < ops->n; i++) {
		struct pair p = ops->v[i];

		/* one of its two names may be decided here */
		if (p.a != NONE && now[0].v[p.a] != NONE)
			p.a = NONE;
		if (p.b != NONE && now[1].v[p.b] != NONE)
			p.b = NONE;
		if (p.a != NONE || p.b != NONE)
			ops->v[n++] = p;
	}
	ops->n = n;
	for (uint32_t i = 0; i < now[0].n; i++)
		if (now[0].v[i] < OPEN)
			vec_push(ops, ((struct pair){ i, now[0].v[i] }));
	for (uint32_t s = 0; s < NSIDES; s++)
		for (uint32_t i = 0; i < now[s].n; i++)
			if (now[s].v[i] == OPEN)
				vec_push(ops,
				    s == 0 ? ((struct pair){ i, NONE })
					   : ((struct pair){ NONE, i }));
}

/* Whether some of these members, of one name, are matched with each other. */
static bool
is_matched(const struct chooser *c, const struct member *v, size_t n)
{
	for (size_t i = 0; i < n && v[i].side == 0; i++) {
		uint32_t b = c->was[0].v[v[i].place];

		if (b != NONE &&
		    match_node(c->m, 1, c->nodes[1].v[b])->n == v[i].key)
			return true;
	}
	return false;
}

void
similar_decide(struct matcher *m, const u32s nodes[NSIDES], pairs *ops)
{
	struct chooser c = { .m = m, .nodes = nodes };
	members all = { 0 };

	if (nodes[0].n == 0 || nodes[1].n == 0 || nodes[0].n + nodes[1].n < 3)
		return;
	for (int s = 0; s < NSIDES; s++)
		for (uint32_t i = 0; i < nodes[s].n; i++) {
			uint32_t n = match_node(m, s, nodes[s].v[i])->n;

			if (n != INTERN_NONE)
				vec_push(&all,
				    ((struct member){ n, i, (uint8_t)s }));
		}
	stable_sort(all.v, all.n, sizeof *all.v, by_key);
	for (size_t i = 0, next, of[NSIDES]; i < all.n; i = next) {
		next = group_end(&all, i, of);
		if (of[0] == 0 || of[1] == 0 || of[0] + of[1] < 3)
			continue;
		if (c.was[0].n == 0)
			start(&c, ops);
		if (is_matched(&c, &all.v[i], next - i))
			pair_name(&c, &all.v[i], next - i);
	}
	rewrite(&c, ops);
	end(&c);
	vec_free(&all);
}
