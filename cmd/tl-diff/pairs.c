/* SPDX-License-Identifier: MIT */
/*
 * Alignments of two lists that do not depend on which is first, and their
 * unmatched symbols.
 */
#include "cmd/tl-diff/align.h"

/* ---- independent of the sides' order ---- */

bool
lists_turned(const struct dict *st, const u32s list[NSIDES])
{
	if (list[0].n != list[1].n)
		return list[0].n > list[1].n;
	for (size_t i = 0; i < list[0].n; i++)
		if (list[0].v[i] != list[1].v[i])
			return str_cmp(dict_get(st, list[0].v[i]),
				   dict_get(st, list[1].v[i])) > 0;
	return false;
}

void
symbols_of_hashes(const u64s hash[NSIDES], u32s sym[NSIDES])
{
	struct map numbers = { 0 };

	for (int s = 0; s < NSIDES; s++) {
		sym[s].n = 0;
		for (size_t i = 0; i < hash[s].n; i++)
			vec_push(&sym[s], map_number(&numbers, hash[s].v[i]));
	}
	map_free(&numbers);
}

static void
push_side(pairs *out, size_t n, bool is_first)
{
	for (uint32_t i = 0; i < n; i++)
		vec_push(out,
		    is_first ? ((struct pair){ i, NONE })
			     : ((struct pair){ NONE, i }));
}

void
align_lists(const u32s list[NSIDES], bool turned, pairs *out)
{
	const uint32_t *a = list[turned].v, *b = list[!turned].v;
	size_t m = list[turned].n, n = list[!turned].n, same = 0;

	out->n = 0;
	/* an equal end always matches, an equal start may not */
	while (same < m && same < n && a[m - 1 - same] == b[n - 1 - same])
		same++;
	m -= same;
	n -= same;
	if (m == 0 || n == 0)
		push_side(out, m + n, n == 0);
	else
		align_symbols(a, m, b, n, out);
	for (size_t k = 0; k < same; k++)
		vec_push(out,
		    ((struct pair){ (uint32_t)(m + k), (uint32_t)(n + k) }));
	for (size_t i = 0; turned && i < out->n; i++)
		out->v[i] = (struct pair){ out->v[i].b, out->v[i].a };
}

/* ---- unmatched symbols ---- */

/* Drops pairs without positions. */
static void
compact(pairs *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].a != NONE || p->v[i].b != NONE)
			p->v[n++] = p->v[i];
	p->n = n;
}

/* A pair without a first side, which waits for one. */
struct waiting {
	uint32_t pair;
	uint32_t next; /* next of this symbol: index + 1 */
};

void
pairs_moved(pairs *p, const u32s sym[NSIDES], pairs *moved)
{
	struct map of = { 0 }; /* symbol to its first index in waiting, + 1 */
	VEC(struct waiting) waiting = { 0 };

	for (size_t i = p->n; i-- > 0;) {
		const struct pair *x = &p->v[i];
		uint64_t *slot;

		if (x->a != NONE || sym[1].v[x->b] == INTERN_NONE)
			continue;
		slot = map_put(&of, sym[1].v[x->b], NULL);
		vec_push(&waiting,
		    ((struct waiting){ (uint32_t)i, (uint32_t)*slot }));
		*slot = waiting.n;
	}
	for (size_t i = 0; i < p->n && waiting.n > 0; i++) {
		struct pair *x = &p->v[i], *y;
		uint64_t *slot;

		if (x->a == NONE || x->b != NONE ||
		    sym[0].v[x->a] == INTERN_NONE)
			continue;
		slot = map_get(&of, sym[0].v[x->a]);
		if (slot == NULL || *slot == 0)
			continue;
		y = &p->v[waiting.v[*slot - 1].pair];
		*slot = waiting.v[*slot - 1].next;
		x->b = y->b;
		y->b = NONE;
		if (moved != NULL) {
			vec_push(moved, *x);
			x->a = x->b = NONE;
		}
	}
	compact(p);
	vec_free(&waiting);
	map_free(&of);
}

void
pairs_renamed(pairs *p)
{
	u32s gap = { 0 }; /* on the second side */

	for (size_t i = 0, end; i < p->n; i = end + 1) {
		size_t next = 0;

		gap.n = 0;
		for (end = i;
		     end < p->n && (p->v[end].a == NONE || p->v[end].b == NONE);
		     end++)
			if (p->v[end].a == NONE)
				vec_push(&gap, p->v[end].b);
		if (end - i != 2 * gap.n)
			continue;
		for (size_t k = i; k < end; k++)
			p->v[k].b = p->v[k].a != NONE ? gap.v[next++] : NONE;
	}
	compact(p);
	vec_free(&gap);
}

void
pairs_matches(const pairs *ops, const size_t n[NSIDES], u32s of[NSIDES])
{
	for (int s = 0; s < NSIDES; s++)
		while (of[s].n < n[s])
			vec_push(&of[s], NONE);
	for (size_t i = 0; i < ops->n; i++)
		if (ops->v[i].a != NONE && ops->v[i].b != NONE) {
			of[0].v[ops->v[i].a] = ops->v[i].b;
			of[1].v[ops->v[i].b] = ops->v[i].a;
		}
}

/*
 * Sorts pairs by the first side; those of the second side only precede the pair
 * that follows them there.
 */
static void
push_ordered(const u32s of[NSIDES], pairs *ops)
{
	uint32_t next = 0; /* on the second side */

	for (uint32_t a = 0; a <= of[0].n; a++) {
		uint32_t b = a < of[0].n ? of[0].v[a] : (uint32_t)of[1].n;

		for (; b != NONE && next < b; next++)
			if (of[1].v[next] == NONE)
				vec_push(ops, ((struct pair){ NONE, next }));
		if (a < of[0].n)
			vec_push(ops, ((struct pair){ a, b }));
	}
}

void
pairs_between(pairs *ops, size_t m, size_t n)
{
	u32s of[NSIDES] = { { 0 }, { 0 } };

	pairs_matches(ops, (const size_t[NSIDES]){ m, n }, of);
	for (size_t a = 0, end; a < m; a = end + 1) {
		size_t b = a == 0 ? 0 : (size_t)of[0].v[a - 1] + 1, b_end = b;

		for (end = a; end < m && of[0].v[end] == NONE; end++)
			;
		while (b_end < n && of[1].v[b_end] == NONE)
			b_end++;
		if (b_end - b != end - a ||
		    (end < m ? of[0].v[end] : n) != b_end)
			continue;
		for (; a < end; a++, b++) {
			of[0].v[a] = (uint32_t)b;
			of[1].v[b] = (uint32_t)a;
		}
	}
	ops->n = 0;
	push_ordered(of, ops);
	vec_free(&of[0]);
	vec_free(&of[1]);
}
