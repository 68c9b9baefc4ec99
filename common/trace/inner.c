/* SPDX-License-Identifier: MIT */
/* A sweep over ranges by their starts, with the stack of those not over. */
#include "trace/inner.h"

static int
by_place(const void *x, const void *y)
{
	const struct inner_range *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

/* Adds a piece from *at on, of the innermost open range. */
static void
put_piece(
    struct inner *in, const struct inner_range *of, int64_t *at, int64_t to)
{
	if (to <= *at)
		return;
	vec_push(
	    &in->pieces, ((struct inner_range){ *at, to, of->key, of->id }));
	*at = to;
}

void
inner_find(struct inner *in)
{
	VEC(uint32_t) open = { 0 };
	const struct inner_range *v;
	int64_t at = INT64_MIN;

	stable_sort(in->ranges.v, in->ranges.n, sizeof *in->ranges.v, by_place);
	v = in->ranges.v;
	in->pieces.n = 0;
	for (uint32_t i = 0; i <= in->ranges.n; i++) {
		const struct inner_range *r = i < in->ranges.n ? &v[i] : NULL;

		while (open.n > 0) {
			const struct inner_range *top = &v[open.v[open.n - 1]];
			bool is_over = r == NULL || r->key != top->key ||
			    top->end <= r->start;

			put_piece(in, top, &at, is_over ? top->end : r->start);
			if (!is_over)
				break;
			open.n--;
		}
		if (r == NULL)
			break;
		if (open.n == 0 || r->start > at)
			at = r->start;
		vec_push(&open, i);
	}
	vec_free(&open);
}

size_t
inner_from(const struct inner *in, uint32_t key, int64_t t)
{
	const struct inner_range *v = in->pieces.v;
	size_t at;

	bisect(at, in->pieces.n, mid,
	    v[mid].key < key || (v[mid].key == key && v[mid].end <= t));
	return at;
}

uint32_t
inner_at(const struct inner *in, uint32_t key, int64_t t)
{
	size_t at = inner_from(in, key, t);

	return at < in->pieces.n && in->pieces.v[at].key == key &&
		in->pieces.v[at].start <= t
	    ? in->pieces.v[at].id
	    : INNER_NONE;
}

void
inner_clear(struct inner *in)
{
	in->ranges.n = in->pieces.n = 0;
}

void
inner_free(struct inner *in)
{
	vec_free(&in->ranges);
	vec_free(&in->pieces);
}
