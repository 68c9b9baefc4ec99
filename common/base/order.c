/* SPDX-License-Identifier: MIT */
/*
 * A stable natural merge sort, and one of integers. Profilers write events in a
 * few ascending runs, so most input needs one pass of comparisons. Runs are
 * merged in place, except the shorter one, and in strides: a few events before
 * or after many cost little.
 */
#include <stdlib.h>

#include "base/base.h"

struct list {
	char *v;
	size_t size;
	int (*cmp)(const void *, const void *);
	char *room; /* for the shorter run */
	size_t room_size;
};

/* The end of the ascending run that begins at i. */
static size_t
run_end(const struct list *l, size_t i, size_t n)
{
	const char *p = l->v + i * l->size;

	for (i++; i < n && l->cmp(p, p + l->size) <= 0; i++)
		p += l->size;
	return i;
}

/* A run, from its first element upwards or its last downwards. */
struct side {
	char *p;
	size_t n;
	ptrdiff_t stride;
	bool is_first; /* of equals, this side comes first */
};

static bool
comes_first(
    const struct list *l, const struct side *s, size_t i, const char *other)
{
	int c = l->cmp(s->p + (ptrdiff_t)i * s->stride, other);

	return c == 0 ? s->is_first : (c < 0) == (s->stride > 0);
}

/* How many of a side come before the next one on the other side. */
static size_t
count_first(const struct list *l, const struct side *s, const char *other)
{
	size_t from = 0, to = s->n;

	for (size_t step = 1; from + step <= s->n; step *= 2) {
		if (!comes_first(l, s, from + step - 1, other)) {
			to = from + step - 1;
			break;
		}
		from += step;
	}
	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (comes_first(l, s, mid, other))
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* Moves the next n of a side to the output. */
static char *
move(const struct list *l, char *to, struct side *s, size_t n)
{
	ptrdiff_t bytes = (ptrdiff_t)n * s->stride;

	if (n > 0 && bytes > 0)
		memmove(to, s->p, (size_t)bytes);
	else if (n > 0)
		memmove(to + bytes + l->size, s->p + bytes + l->size,
		    (size_t)-bytes);
	s->p += bytes;
	s->n -= n;
	return to + bytes;
}

static struct side
copy_side(struct list *l, struct side s, const char *from)
{
	size_t bytes = s.n * l->size;

	if (bytes > l->room_size) {
		free(l->room);
		l->room = xmalloc(bytes);
		l->room_size = bytes;
	}
	memcpy(l->room, from, bytes);
	s.p = l->room + (s.stride > 0 ? 0 : bytes - l->size);
	return s;
}

/* Merges the sorted [a, b) and [b, c). */
static void
merge(struct list *l, size_t a, size_t b, size_t c)
{
	ptrdiff_t up = (ptrdiff_t)l->size;
	char *v = l->v, *mid = v + b * l->size, *to;
	struct side apart, rest;

	/* skip what is in place already */
	apart = (struct side){ v + a * l->size, b - a, up, true };
	a += count_first(l, &apart, mid);
	apart = (struct side){ v + (c - 1) * l->size, c - b, -up, true };
	c -= count_first(l, &apart, mid - up);
	if (b - a <= c - b) {
		to = v + a * l->size;
		apart =
		    copy_side(l, (struct side){ NULL, b - a, up, true }, to);
		rest = (struct side){ mid, c - b, up, false };
	} else {
		to = v + (c - 1) * l->size;
		apart =
		    copy_side(l, (struct side){ NULL, c - b, -up, true }, mid);
		rest = (struct side){ mid - up, b - a, -up, false };
	}
	while (apart.n > 0 && rest.n > 0) {
		to = move(l, to, &rest, count_first(l, &rest, apart.p));
		if (rest.n > 0)
			to =
			    move(l, to, &apart, count_first(l, &apart, rest.p));
	}
	(void)move(l, to, &apart, apart.n);
}

void
stable_merge(void *v, size_t size, int (*cmp)(const void *, const void *),
    size_t *ends, size_t nruns)
{
	struct list l = { .v = v, .size = size, .cmp = cmp };

	while (nruns > 1) {
		size_t from = 0, nleft = 0;

		for (size_t i = 0; i < nruns; i += 2) {
			size_t end = ends[i];

			if (i + 1 < nruns) {
				end = ends[i + 1];
				merge(&l, from, ends[i], end);
			}
			ends[nleft++] = from = end;
		}
		nruns = nleft;
	}
	free(l.room);
}

void
stable_sort(
    void *v, size_t n, size_t size, int (*cmp)(const void *, const void *))
{
	const struct list l = { .v = v, .size = size, .cmp = cmp };
	VEC(size_t) ends = { 0 };

	for (size_t i = 0; i < n;) {
		i = run_end(&l, i, n);
		vec_push(&ends, i);
	}
	stable_merge(v, size, cmp, ends.v, ends.n);
	vec_free(&ends);
}

/* ---- integers ---- */

#define FEW 48
#define DIGIT_BITS 8
#define DIGITS (1u << DIGIT_BITS)

static void
insert_few(int64_t *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		int64_t x = v[i];
		size_t k = i;

		for (; k > 0 && x < v[k - 1]; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

/* Sorts by one digit of the distance from the least. */
static void
radix_pass(int64_t *to, const int64_t *v, size_t n, int64_t least, int shift)
{
	size_t at[DIGITS + 1] = { 0 };

#define DIGIT(x) (((uint64_t)(x) - (uint64_t)least) >> shift & (DIGITS - 1))
	for (size_t i = 0; i < n; i++)
		at[DIGIT(v[i]) + 1]++;
	for (size_t d = 0; d < DIGITS; d++)
		at[d + 1] += at[d];
	for (size_t i = 0; i < n; i++)
		to[at[DIGIT(v[i])]++] = v[i];
#undef DIGIT
}

void
sort_i64(int64_t *v, size_t n)
{
	int64_t *from = v, *to, *swap, least, most;
	size_t i = 1;

	while (i < n && v[i - 1] <= v[i])
		i++;
	if (i >= n)
		return;
	if (n <= FEW) {
		insert_few(v, n);
		return;
	}
	least = most = v[0];
	for (i = 1; i < n; i++) {
		least = v[i] < least ? v[i] : least;
		most = v[i] > most ? v[i] : most;
	}
	to = xmalloc(n * sizeof *to);
	for (int shift = 0;
	     shift < 64 && ((uint64_t)most - (uint64_t)least) >> shift != 0;
	     shift += DIGIT_BITS) {
		radix_pass(to, from, n, least, shift);
		swap = from;
		from = to;
		to = swap;
	}
	if (from != v) {
		memcpy(v, from, n * sizeof *v);
		to = from;
	}
	free(to);
}
