/* SPDX-License-Identifier: MIT */
/*
 * Sets of ranks whose clocks agree, as those of one host do. Messages about
 * large jobs name these sets.
 */
#include "cmd/tl-collective/clock.h"

#include <math.h>
#include <stdlib.h>

#define ALIKE_NS 20000.0 /* how far clocks of one host may differ */
#define ALIKE_U 4.0

/* By island and offset; unknown clocks last. */
static int
by_offset(const void *pa, const void *pb)
{
	const struct rank_info *const *pra = pa, *const *prb = pb;
	const struct rank_info *a = *pra, *b = *prb;

	if (a->island != b->island)
		return a->island > b->island ? -1 : 1;
	if (a->offset_ns != b->offset_ns)
		return a->offset_ns < b->offset_ns ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Whether two clocks agree everywhere within the job. */
static bool
agree(const struct rank_info *a, const struct rank_info *b)
{
	double apart = fabs(ends_between(a->offset_ns, b->offset_ns)) +
	    fabs(a->drift - b->drift) * (double)a->span_ns / 2;

	return a->u_ns != NONE && b->u_ns != NONE && a->island == b->island &&
	    apart <=
	    fmax(ALIKE_NS, ALIKE_U * hypot(clock_u_ns(a), clock_u_ns(b)));
}

/* Any two of a set agree: sets are no chains. */
void
clocks_find_alike(struct job *j)
{
	struct rank_info **v = xmalloc((j->ranks.n + 1) * sizeof(void *));
	size_t end;

	for (size_t i = 0; i < j->ranks.n; i++)
		v[i] = &j->ranks.v[i];
	qsort(v, j->ranks.n, sizeof *v, by_offset);
	for (size_t i = 0; i < j->ranks.n; i = end) {
		const struct rank_info *first = v[i];

		for (end = i + 1; end < j->ranks.n && agree(v[i], v[end]);
		     end++)
			first = v[end] < first ? v[end] : first;
		for (size_t k = i; k < end; k++)
			v[k]->alike = (uint32_t)(first - j->ranks.v);
	}
	free(v);
}

void
put_off(struct buf *b, const struct job *j)
{
	int_vec set = { 0 };

	for (size_t i = 0; i < j->ranks.n; i++) {
		set.n = 0;
		for (size_t k = i; k < j->ranks.n && j->ranks.v[i].alike == i;
		     k++)
			if (j->ranks.v[k].alike == i && j->ranks.v[k].is_off)
				vec_push(&set, j->ranks.v[k].rank);
		if (set.n == 0)
			continue;
		buf_puts(b, b->len > 0 ? "; " : "");
		put_ranges(b, set.v, set.n);
		buf_puts(b, set.n > 1 ? " alike" : "");
	}
	vec_free(&set);
}
