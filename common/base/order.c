/* SPDX-License-Identifier: MIT */
/*
 * A stable natural merge sort, and one of integers. Profilers write events in a
 * few ascending runs, so that what is sorted here mostly needs one pass of
 * comparisons, or two.
 */
#include <stdlib.h>

#include "base/base.h"

struct list {
	char *v;
	size_t size;
	int (*cmp)(const void *, const void *);
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

/* The sorted [a, b) and [b, c) to out. */
static void
merge(const struct list *l, size_t a, size_t b, size_t c, char *out)
{
	size_t size = l->size;
	const char *p = l->v + a * size, *p_end = l->v + b * size;
	const char *q = p_end, *q_end = l->v + c * size;

	while (p < p_end && q < q_end) {
		const char **from = l->cmp(q, p) < 0 ? &q : &p;

		memcpy(out, *from, size);
		out += size;
		*from += size;
	}
	memcpy(out, p, (size_t)(p_end - p));
	memcpy(out + (p_end - p), q, (size_t)(q_end - q));
}

/* Each two runs of l to one in out; how many there are then. */
static size_t
merge_pairs(const struct list *l, size_t n, char *out)
{
	size_t nruns = 0;

	for (size_t a = 0, c; a < n; a = c, nruns++) {
		size_t b = run_end(l, a, n);

		c = b < n ? run_end(l, b, n) : n;
		merge(l, a, b, c, out + a * l->size);
	}
	return nruns;
}

void
stable_sort(
    void *v, size_t n, size_t size, int (*cmp)(const void *, const void *))
{
	struct list l = { v, size, cmp };
	char *other;

	if (n < 2 || run_end(&l, 0, n) == n)
		return;
	other = xmalloc(n * size);
	for (;;) {
		size_t nruns = merge_pairs(&l, n, other);
		char *was = l.v;

		l.v = other;
		other = was;
		if (nruns == 1)
			break;
	}
	if (l.v != v) {
		memcpy(v, l.v, n * size);
		other = l.v;
	}
	free(other);
}

/* ---- integers ---- */

#define FEW 12

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

static void
sort_halves(int64_t *v, size_t n, int64_t *room)
{
	size_t half = n / 2;
	const int64_t *a = room, *a_end = a + half, *b = v + half, *end = v + n;

	if (n <= FEW) {
		insert_few(v, n);
		return;
	}
	sort_halves(v, half, room);
	sort_halves(v + half, n - half, room);
	if (b[-1] <= b[0])
		return;
	memcpy(room, v, half * sizeof *v);
	while (a < a_end && b < end) {
		bool is_b = *b < *a; /* not a branch, which is a coin's toss */

		*v++ = is_b ? *b : *a;
		b += is_b;
		a += !is_b;
	}
	memcpy(v, a, (size_t)(a_end - a) * sizeof *a);
}

void
sort_i64(int64_t *v, size_t n)
{
	int64_t *room;
	size_t i = 1;

	while (i < n && v[i - 1] <= v[i])
		i++;
	if (i >= n)
		return;
	room = n > FEW ? xmalloc(n / 2 * sizeof *room) : NULL;
	sort_halves(v, n, room);
	free(room);
}
