/* SPDX-License-Identifier: MIT */
/*
 * Wrappers: what the comparison looked through, from a merged node up to the
 * one above it, on one side and not on the other.
 *
 * When both sides look through as many calls under other names, these are taken
 * for the same calls, renamed.
 */
#include "cmd/tl-diff/remarks.h"

static const struct node *
node_of(const struct diff *d, int side, uint32_t at)
{
	return &d->side[side]->nodes.v[at];
}

/* What a side looked through above a node, the innermost first. */
static void
list_between(const struct diff *d, uint32_t id, int side, u32s *list)
{
	const struct merged_node *m = &d->merged.list.v[id];
	uint32_t end =
	    m->parent != NONE ? d->merged.list.v[m->parent].at[side] : NONE;

	for (uint32_t up = node_of(d, side, m->at[side])->parent;
	     up != end && up != NONE; up = node_of(d, side, up)->parent)
		vec_push(list, up);
}

/* Takes out what the other list has too, by name, each once. */
static void
take_common(const struct diff *d, u32s between[NSIDES])
{
	size_t n = 0;

	for (size_t i = 0; i < between[0].n; i++) {
		uint32_t sym = node_of(d, 0, between[0].v[i])->sym;
		size_t k = 0;

		while (k < between[1].n &&
		    node_of(d, 1, between[1].v[k])->sym != sym)
			k++;
		if (k == between[1].n) {
			between[0].v[n++] = between[0].v[i];
			continue;
		}
		between[1].n--;
		memmove(&between[1].v[k], &between[1].v[k + 1],
		    (between[1].n - k) * sizeof *between[1].v);
	}
	between[0].n = n;
}

/* Both sides' wrappers around a node. */
static void
find_around(const struct diff *d, uint32_t id, u32s around[NSIDES])
{
	for (int s = 0; s < NSIDES; s++) {
		around[s].n = 0;
		list_between(d, id, s, &around[s]);
	}
	take_common(d, around);
	if (around[0].n == around[1].n)
		around[0].n = around[1].n = 0;
}

void
wraps_around(const struct diff *d, uint32_t id, int side, u32s *list)
{
	u32s around[NSIDES] = { { 0 }, { 0 } };

	list->n = 0;
	if (merged_type(&d->merged.list.v[id]) == MERGED_BOTH)
		find_around(d, id, around);
	for (size_t i = 0; i < around[side].n; i++)
		vec_push(list, around[side].v[i]);
	vec_free(&around[0]);
	vec_free(&around[1]);
}

static void
tell(struct remarks *told, const struct diff *d, int side, uint32_t at)
{
	const struct node *n = node_of(d, side, at);
	struct remark *r = remarks_add(told, n->n, INTERN_NONE);

	if (r->n == 1)
		r->uid[0][0] = (struct uid){ n->id, n->inst };
}

void
wraps_find(struct remarks told[NSIDES], const struct diff *d)
{
	u32s around[NSIDES] = { { 0 }, { 0 } };
	struct map seen = { 0 }; /* node and side: one can wrap several */

	for (uint32_t id = 0; id < d->merged.list.n; id++) {
		if (merged_type(&d->merged.list.v[id]) != MERGED_BOTH)
			continue;
		find_around(d, id, around);
		for (int s = 0; s < NSIDES; s++)
			for (size_t i = 0; i < around[s].n; i++) {
				uint32_t at = around[s].v[i];
				bool is_new;

				(void)map_put(&seen,
				    (uint64_t)at << 1 | (unsigned)s, &is_new);
				if (is_new)
					tell(&told[s], d, s, at);
			}
	}
	vec_free(&around[0]);
	vec_free(&around[1]);
	map_free(&seen);
}
