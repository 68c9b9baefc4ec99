/* SPDX-License-Identifier: MIT */
/*
 * span: union, difference and intersection as linear merges.
 * GPU events come in the order of a file or of their launches. Within a GPU
 * stream that is nearly the order of their starts; over several it is no order.
 * Sorting is by radix: a pass for each 11 bits in which starts differ, so a
 * second of trace (2^30 ns) takes three passes in any order.
 */
#include "trace/span.h"

#define RADIX_BITS 11
#define RADIX (1u << RADIX_BITS)
/* Below this, moving elements one by one is cheaper than counting digits. */
#define SMALL 64

static bool
is_sorted(const struct spans *s)
{
	for (size_t i = 1; i < s->n; i++)
		if (s->v[i].start < s->v[i - 1].start)
			return false;
	return true;
}

static void
sort_small(struct span *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct span x = v[i];
		size_t j = i;

		for (; j > 0 && v[j - 1].start > x.start; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

/* One stable pass from v to to; origin is the smallest start. */
static void
radix_pass(struct span *to, const struct span *v, size_t n, uint64_t origin,
    unsigned shift)
{
	size_t at[RADIX] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		at[((uint64_t)v[i].start - origin) >> shift & (RADIX - 1)]++;
	for (size_t d = 0; d < RADIX; d++) {
		size_t count = at[d];

		at[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[at[((uint64_t)v[i].start - origin) >> shift &
		    (RADIX - 1)]++] = v[i];
}

static void
sort_radix(struct spans *s)
{
	struct span *v = s->v, *to = xmalloc(s->n * sizeof *to);
	int64_t low = v[0].start, high = low;
	uint64_t range;

	for (size_t i = 1; i < s->n; i++) {
		low = v[i].start < low ? v[i].start : low;
		high = v[i].start > high ? v[i].start : high;
	}
	range = (uint64_t)high - (uint64_t)low;
	for (unsigned shift = 0; shift < 64 && range >> shift != 0;
	     shift += RADIX_BITS) {
		struct span *other = v;

		radix_pass(to, v, s->n, (uint64_t)low, shift);
		v = to;
		to = other;
	}
	vec_release(to);
	if (v != s->v) {
		s->v = v;
		s->cap = s->n;
	}
}

void
spans_normalise(struct spans *s)
{
	size_t n = 0;

	if (s->n < 2)
		return;
	if (!is_sorted(s)) {
		if (s->n < SMALL)
			sort_small(s->v, s->n);
		else
			sort_radix(s);
	}
	for (size_t i = 1; i < s->n; i++) {
		if (s->v[i].start > s->v[n].end)
			s->v[++n] = s->v[i];
		else if (s->v[i].end > s->v[n].end)
			s->v[n].end = s->v[i].end;
	}
	s->n = n + 1;
}

int64_t
spans_total(const struct spans *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += (uint64_t)s->v[i].end - (uint64_t)s->v[i].start;
	return (int64_t)sum;
}

void
spans_union(struct spans *out, const struct spans *a, const struct spans *b)
{
	size_t i = 0, j = 0;

	out->n = 0;
	vec_reserve(out, a->n + b->n);
	while (i < a->n || j < b->n) {
		bool from_a =
		    j == b->n || (i < a->n && a->v[i].start <= b->v[j].start);
		const struct span *next = from_a ? &a->v[i++] : &b->v[j++];

		spans_add(out, next->start, next->end);
	}
}

void
spans_subtract(struct spans *out, const struct spans *a, const struct spans *b)
{
	size_t j = 0;

	out->n = 0;
	for (size_t i = 0; i < a->n; i++) {
		int64_t start = a->v[i].start, end = a->v[i].end;

		while (j < b->n && b->v[j].end <= start)
			j++;
		/* one b may overlap several a, so j stays */
		for (size_t k = j; k < b->n && b->v[k].start < end; k++) {
			if (b->v[k].start == b->v[k].end)
				continue; /* removes nothing */
			if (b->v[k].start > start)
				vec_push(out,
				    ((struct span){ start, b->v[k].start }));
			start = b->v[k].end;
			if (start >= end)
				break;
			j = k + 1;
		}
		if (start < end)
			vec_push(out, ((struct span){ start, end }));
	}
}

void
spans_intersect(struct spans *out, const struct spans *a, const struct spans *b)
{
	size_t i = 0, j = 0;

	out->n = 0;
	while (i < a->n && j < b->n) {
		const struct span *x = &a->v[i], *y = &b->v[j];
		int64_t start = x->start > y->start ? x->start : y->start;
		int64_t end = x->end < y->end ? x->end : y->end;

		if (start < end)
			vec_push(out, ((struct span){ start, end }));
		if (x->end < y->end)
			i++;
		else
			j++;
	}
}

int64_t
spans_unite(struct spans *s, size_t first)
{
	struct spans part = { 0 };
	int64_t total;

	if (s->n - first == 1)
		return s->v[first].end - s->v[first].start;
	for (size_t i = first; i < s->n; i++)
		spans_add(&part, s->v[i].start, s->v[i].end);
	spans_normalise(&part);
	if (part.n > 0)
		memcpy(s->v + first, part.v, part.n * sizeof *part.v);
	s->n = first + part.n;
	total = spans_total(&part);
	spans_free(&part);
	return total;
}

int64_t
spans_between(const struct spans *s, int64_t from, int64_t to)
{
	int64_t ns = 0;
	size_t at;

	bisect(at, s->n, mid, s->v[mid].end <= from);
	for (; at < s->n && s->v[at].start < to; at++)
		ns += (s->v[at].end < to ? s->v[at].end : to) -
		    (s->v[at].start > from ? s->v[at].start : from);
	return ns;
}

bool
spans_hold(const struct spans *s, int64_t t)
{
	size_t behind;

	bisect(behind, s->n, mid, s->v[mid].start <= t);
	return behind > 0 && t < s->v[behind - 1].end;
}

void
spans_free(struct spans *s)
{
	vec_free(s);
}
