/* SPDX-License-Identifier: MIT */
/*
 * Groups of ranks as XLA lists them, shortened. Meshes divide a job evenly, so
 * most are like x8,1,32: groups 0-7, 8-15, ...; or x4,8,32: 0,8,16,24, ...:
 * size, stride, ranks.
 */
#include "cmd/tl-collective/hlo.h"

#include <stdlib.h>

#include "cmd/tl-collective/collective.h"

#define RANKS_MAX ((int64_t)1 << 20)

/* Lists of numbers, concatenated. */
struct lists {
	int_vec all;
	VEC(size_t) ends;
	int64_t most; /* the largest number */
};

static size_t
first_of(const struct lists *l, size_t i)
{
	return i > 0 ? l->ends.v[i - 1] : 0;
}

/* [[0,1],[2,3]]; false: some number is no rank. */
static bool
read_lists(struct str text, struct lists *l)
{
	for (size_t i = 0; i < text.len; i++) {
		size_t from = i;
		int64_t v;

		while (i < text.len && (unsigned)(text.p[i] - '0') < 10)
			i++;
		if (i > from) {
			if (!num_i64(
				(struct str){ text.p + from, i - from }, &v) ||
			    v >= RANKS_MAX)
				return false;
			vec_push(&l->all, v);
			l->most = v > l->most ? v : l->most;
		}
		if (i < text.len && text.p[i] == ']' &&
		    l->all.n > first_of(l, l->ends.n))
			vec_push(&l->ends, l->all.n);
	}
	return true;
}

/* ---- pairs ---- */

static int64_t
root_of(int64_t *up, int64_t i)
{
	while (up[i] != i)
		i = up[i] = up[up[i]];
	return i;
}

static int
by_value(const void *pa, const void *pb)
{
	const int64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

/* Ranks that send to each other wait along the whole chain. */
static void
join_pairs(struct lists *l)
{
	int64_t n = l->most + 1;
	int64_t *up = xmalloc((size_t)n * sizeof *up);
	int_vec keys = { 0 };

	for (int64_t i = 0; i < n; i++)
		up[i] = i;
	for (size_t i = 0; i + 1 < l->all.n; i += 2) {
		int64_t a = root_of(up, l->all.v[i]);
		int64_t b = root_of(up, l->all.v[i + 1]);

		up[a > b ? a : b] = a > b ? b : a;
	}
	for (size_t i = 0; i < l->all.n; i++)
		vec_push(
		    &keys, root_of(up, l->all.v[i]) * RANKS_MAX + l->all.v[i]);
	qsort(keys.v, keys.n, sizeof *keys.v, by_value);
	l->all.n = l->ends.n = 0;
	for (size_t i = 0; i < keys.n; i++) {
		if (i > 0 && keys.v[i] == keys.v[i - 1])
			continue;
		if (i > 0 && keys.v[i] / RANKS_MAX != keys.v[i - 1] / RANKS_MAX)
			vec_push(&l->ends, l->all.n);
		vec_push(&l->all, keys.v[i] % RANKS_MAX);
	}
	vec_push(&l->ends, l->all.n);
	vec_free(&keys);
	free(up);
}

/* ---- text ---- */

/* Whether the groups are all ranks, evenly, by size and stride. */
static bool
is_even(const struct lists *l, int64_t size, int64_t stride)
{
	if (stride < 1 || (int64_t)l->all.n != l->most + 1 ||
	    (l->most + 1) % (size * stride) != 0)
		return false;
	for (size_t i = 0; i < l->ends.n; i++) {
		const int64_t *v = &l->all.v[first_of(l, i)];

		if ((int64_t)(l->ends.v[i] - first_of(l, i)) != size ||
		    v[0] / stride % size != 0)
			return false;
		for (int64_t k = 1; k < size; k++)
			if (v[k] != v[k - 1] + stride)
				return false;
	}
	return true;
}

int64_t
replicas_put(struct buf *b, struct str groups, bool are_pairs)
{
	struct lists l = { .most = -1 };
	bool is_ok = read_lists(groups, &l) && l.ends.n > 0;
	int64_t size, stride;

	if (is_ok && are_pairs)
		join_pairs(&l);
	for (size_t i = 0; i < l.ends.n && is_ok; i++)
		qsort(&l.all.v[first_of(&l, i)], l.ends.v[i] - first_of(&l, i),
		    sizeof *l.all.v, by_value);
	size = is_ok ? (int64_t)l.ends.v[0] : 0;
	stride = size > 1 ? l.all.v[1] - l.all.v[0] : 1;
	if (is_ok && is_even(&l, size, stride))
		buf_printf(b, "x%" PRId64 ",%" PRId64 ",%" PRId64, size, stride,
		    l.most + 1);
	else
		for (size_t i = 0; i < l.ends.n && is_ok; i++) {
			buf_puts(b, i > 0 ? ";" : "");
			put_members(b, &l.all.v[first_of(&l, i)],
			    l.ends.v[i] - first_of(&l, i));
		}
	vec_free(&l.all);
	vec_free(&l.ends);
	return is_ok ? l.most + 1 : 0;
}

static bool
holds(const int_vec *list, int64_t rank)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i] == rank)
			return true;
	return false;
}

/* Reads x8,1,32. */
static bool
even_group(const int_vec *even, int64_t rank, int_vec *list)
{
	int64_t size = even->v[0], stride = even->v[1];

	if (rank >= even->v[2])
		return false;
	rank -= rank / stride % size * stride;
	list->n = 0;
	for (int64_t i = 0; i < size; i++)
		vec_push(list, rank + i * stride);
	return true;
}

int64_t
replicas_of(struct str text, int64_t rank, struct buf *members)
{
	int_vec even = { 0 }, list = { 0 };
	const char *end = text.p + text.len, *stop;
	bool is_cut, is_in = false;
	int64_t size;

	if (text.len > 0 && text.p[0] == 'x' &&
	    list_ints(text, &even, &is_cut) && even.n == 3)
		is_in = even_group(&even, rank, &list);
	for (const char *at = text.p; even.n == 0 && at < end && !is_in;
	     at = stop + 1) {
		stop = memchr(at, ';', (size_t)(end - at));
		stop = stop != NULL ? stop : end;
		is_in = list_ints((struct str){ at, (size_t)(stop - at) },
			    &list, &is_cut) &&
		    holds(&list, rank);
	}
	if (is_in)
		put_members(members, list.v, list.n);
	size = is_in ? (int64_t)list.n : 0;
	vec_free(&even);
	vec_free(&list);
	return size;
}
