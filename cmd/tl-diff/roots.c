/* SPDX-License-Identifier: MIT */
/*
 * Matches roots: by position if both sides have the same names in the same
 * order; else equal trees, then names, then what lies between two matches.
 */
#include "cmd/tl-diff/align.h"

/* Symbols of whole trees. */
static void
hash_roots(struct matcher *m, const u32s roots[NSIDES])
{
	u64s hash[NSIDES] = { { 0 }, { 0 } };

	for (int s = 0; s < NSIDES; s++)
		for (size_t i = 0; i < roots[s].n; i++)
			vec_push(&hash[s], m->side[s]->hash.v[roots[s].v[i]]);
	symbols_of_hashes(hash, m->sym);
	vec_free(&hash[0]);
	vec_free(&hash[1]);
}

/* Takes unmatched roots out of ops and aligns them by name. */
static void
align_left(struct matcher *m, const u32s roots[NSIDES], pairs *ops)
{
	u32s at[NSIDES] = { { 0 }, { 0 } };
	size_t n = 0;

	m->free[0].n = m->free[1].n = 0;
	for (size_t i = 0; i < ops->n; i++) {
		struct pair x = ops->v[i];
		int s = x.a == NONE;

		if (x.a != NONE && x.b != NONE) {
			ops->v[n++] = x;
			continue;
		}
		vec_push(&at[s], s == 0 ? x.a : x.b);
		vec_push(&m->free[s], roots[s].v[s == 0 ? x.a : x.b]);
	}
	ops->n = n;
	match_aligned(m, m->free, false, &m->places);
	for (size_t i = 0; i < m->places.n; i++) {
		struct pair x = m->places.v[i];

		vec_push(ops,
		    ((struct pair){
			x.a == NONE ? NONE : at[0].v[x.a],
			x.b == NONE ? NONE : at[1].v[x.b],
		    }));
	}
	vec_free(&at[0]);
	vec_free(&at[1]);
}

const pairs *
match_roots(struct matcher *m)
{
	const u32s roots[NSIDES] = { m->side[0]->roots, m->side[1]->roots };
	const u32s *sym = m->sym;
	bool turned;
	pairs out = { 0 };

	match_symbols(m, roots, false);
	turned = lists_turned(m->nm->st, sym);
	if (sym[0].n != sym[1].n ||
	    memcmp(sym[0].v, sym[1].v, sym[0].n * sizeof *sym[0].v) != 0)
		hash_roots(m, roots);
	align_lists(sym, turned, &out);
	if (pairs_have_both(&out))
		align_left(m, roots, &out);
	pairs_between(&out, roots[0].n, roots[1].n);
	m->ops.n = 0;
	match_push(m, roots, &out);
	vec_free(&out);
	return &m->ops;
}
