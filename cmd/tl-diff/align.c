/* SPDX-License-Identifier: MIT */
/*
 * Alignment of two lists of symbols by edit distance.
 *
 * The traceback through the table asks of a cell whether E rises into it from
 * above. Of long lists only a band of the table is computed; the traceback
 * knows E of each of its cells. Where the band cannot answer, or E is so large
 * that the band may be wrong, a wider one is tried, so the result is that of
 * the whole table.
 */
#include "cmd/tl-diff/align.h"

#ifndef BAND_MIN      /* smaller in a test */
#define BAND_MIN 4096 /* rows from which a band is tried */
#define BAND_FIRST 512
#endif

struct two_lists {
	const uint32_t *a, *b;
	size_t m, n;
};

/* ---- tracing back ---- */

static void
reverse(struct pair *v, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct pair swap = v[i];

		v[i] = v[n - 1 - i];
		v[n - 1 - i] = swap;
	}
}

/* Where the traceback is. */
struct cell_at {
	size_t i, j;
	uint64_t e; /* E[i][j] */
};

/*
 * From a cell into which E does not rise, and whose symbols differ, go left. E
 * is 1 more than the lesser of the left and the diagonal cell, so the left one
 * has E - 1, unless E rises into it.
 */
static bool
go_left(struct columns *c, struct cell_at *at)
{
	bool rises = true;

	at->j--;
	if (at->j > 0 && !columns_rise(c, at->i, at->j, &rises))
		return false;
	at->e -= !rises;
	return true;
}

/* One step from a cell whose symbols differ; false: the band is too narrow. */
static bool
step_back(struct columns *c, struct cell_at *at)
{
	bool rises;

	if (!columns_rise(c, at->i, at->j, &rises) ||
	    !columns_are_right(c, at->i, at->j, at->e))
		return false;
	if (!rises)
		return go_left(c, at);
	at->i--;
	at->e--;
	return true;
}

/* False, with out empty: the band is too narrow. */
static bool
trace_back(struct columns *c, const struct two_lists *l, uint64_t e, pairs *out)
{
	struct cell_at at = { l->m, l->n, e };
	size_t first = out->n;

	while (at.i > 0 && at.j > 0) {
		size_t i = at.i;

		if (l->a[at.i - 1] == l->b[at.j - 1]) {
			at.i--;
			at.j--;
			vec_push(out,
			    ((struct pair){ (uint32_t)at.i, (uint32_t)at.j }));
			continue;
		}
		if (!step_back(c, &at)) {
			out->n = first;
			return false;
		}
		vec_push(out,
		    at.i < i ? ((struct pair){ (uint32_t)at.i, NONE })
			     : ((struct pair){ NONE, (uint32_t)at.j }));
	}
	while (at.i > 0)
		vec_push(out, ((struct pair){ (uint32_t)--at.i, NONE }));
	while (at.j > 0)
		vec_push(out, ((struct pair){ NONE, (uint32_t)--at.j }));
	reverse(out->v + first, out->n - first);
	return true;
}

/* ---- the whole ---- */

/*
 * The next width, after the last was too narrow for distance e: four times as
 * wide; or, if the last one found no shorter way, as wide as e needs and a
 * margin.
 */
static size_t
wider(const struct two_lists *l, size_t width, uint64_t e, uint64_t last)
{
	size_t longer = l->m > l->n ? l->m : l->n;
	size_t apart = l->m > l->n ? l->m - l->n : l->n - l->m;
	size_t next = 4 * width, enough = e - apart;

	enough = enough / 2 + enough / 16 + 64;
	if (enough > width && (enough < next || e == last))
		next = enough;
	return next > longer / 4 ? SIZE_MAX : next;
}

/*
 * Without a common symbol E is the longer length, so the traceback goes up
 * below the diagonal, else left.
 */
static void
align_nothing(size_t m, size_t n, pairs *out)
{
	size_t first = out->n;

	while (m > 0 || n > 0)
		vec_push(out,
		    m > n ? ((struct pair){ (uint32_t)--m, NONE })
			  : ((struct pair){ NONE, (uint32_t)--n }));
	reverse(out->v + first, out->n - first);
}

static bool
has_common(const struct two_lists *l)
{
	struct map seen = { 0 };
	bool found = false;

	for (size_t i = 0; i < l->m; i++)
		(void)map_put(&seen, l->a[i], NULL);
	for (size_t j = 0; j < l->n && !found; j++)
		found = map_get(&seen, l->b[j]) != NULL;
	map_free(&seen);
	return found;
}

void
align_symbols(
    const uint32_t *a, size_t m, const uint32_t *b, size_t n, pairs *out)
{
	const struct two_lists l = { a, b, m, n };
	bool is_long = (m > n ? m : n) >= BAND_MIN;
	size_t width = is_long ? BAND_FIRST : SIZE_MAX;
	struct columns *c;
	uint64_t e, last = 0;

	if (is_long && !has_common(&l)) {
		align_nothing(m, n, out);
		return;
	}
	c = columns_create(a, m, b, n);
	e = columns_fill(c, width);
	while (!columns_are_right(c, m, n, e) || !trace_back(c, &l, e, out)) {
		width = wider(&l, width, e, last);
		last = e;
		e = columns_fill(c, width);
	}
	columns_destroy(c);
}
