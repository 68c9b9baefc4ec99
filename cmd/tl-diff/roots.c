/* SPDX-License-Identifier: MIT */
/*
 * Which roots belong together: by place where both sides have the same names in
 * the same order, else whole trees that are the same, then names, then what
 * stands between two matches.
 */
#include "cmd/tl-diff/phases.h"

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

/* What has no partner is taken out of ops, and aligned by names. */
static void
align_left(struct phases *p, const u32s *const roots[NSIDES], pairs *ops)
{
	u32s at[NSIDES] = { { 0 }, { 0 } };
	size_t n = 0;

	p->free[0].n = p->free[1].n = 0;
	for (size_t i = 0; i < ops->n; i++) {
		struct pair x = ops->v[i];

		if (x.a != NONE && x.b != NONE) {
			ops->v[n++] = x;
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
	ops->n = n;
	phases_align(p, &p->free[0], &p->free[1], false, &p->places);
	for (size_t i = 0; i < p->places.n; i++) {
		struct pair x = p->places.v[i];

		vec_push(ops,
		    ((struct pair){
			x.a == NONE ? NONE : at[0].v[x.a],
			x.b == NONE ? NONE : at[1].v[x.b],
		    }));
	}
	vec_free(&at[0]);
	vec_free(&at[1]);
}

/* Whole trees that are the same first, then names among what is left. */
static void
align_roots(struct phases *p, const u32s *a, const u32s *b, pairs *out)
{
	const u32s *roots[NSIDES] = { a, b };
	bool turned;

	phases_symbols(p, roots, false);
	turned = lists_turned(p->d->nm->st, p->sym);
	symbols_of_hashes(p, roots);
	align_lists(p->sym, turned, out);
	if (pairs_have_both(out))
		align_left(p, roots, out);
	pairs_between(out, a->n, b->n);
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
	phases_push(p, &p->list[0], &p->list[1], &out);
	vec_free(&out);
	return &p->ops;
}
