/* SPDX-License-Identifier: MIT */
/*
 * Which GPU events overlap which: a sweep over all of them in the order of
 * their starts, with the list of those that are still running.
 */
#include <math.h>
#include <stdlib.h>

#include "trace/overlap.h"
#include "trace/span.h"
#include "trace/stat.h"
#include "json/json.h"

#define SHARED_MIN_NS 1000

struct pair {
	uint32_t work, other;
};

/* What overlaps an op under one name. */
struct sum {
	uint32_t name;
	struct key gpu_stream;
	double pct;
	int64_t ns;
	size_t n;
};

struct overlaps {
	struct dict *st;
	const struct work *works;
	VEC(struct pair) pairs; /* by work, then by the other's uid */
	/* of the op at hand */
	VEC(struct sum) sums;
	struct spans busy, covered;
};

static int
by_start(const void *x, const void *y, void *works)
{
	const struct work *a =
	    (const struct work *)works + *(const uint32_t *)x;
	const struct work *b =
	    (const struct work *)works + *(const uint32_t *)y;

	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return (a > b) - (a < b);
}

static int
by_uid(const void *x, const void *y, void *works)
{
	const struct pair *a = x, *b = y;
	const struct work *w = works, *u = w + a->other, *v = w + b->other;

	if (a->work != b->work)
		return a->work < b->work ? -1 : 1;
	return uid_cmp(u->uid, v->uid);
}

static int64_t
shared(const struct work *a, const struct work *b)
{
	int64_t from = a->ts_ns > b->ts_ns ? a->ts_ns : b->ts_ns;
	int64_t to = work_end(a) < work_end(b) ? work_end(a) : work_end(b);

	return to > from ? to - from : 0;
}

static bool
is_overlap(const struct work *a, const struct work *b)
{
	if (a->gpu_stream.type != KEY_NONE && key_eq(a->dev, b->dev) &&
	    key_eq(a->gpu_stream, b->gpu_stream))
		return false;
	if (a->op != 0 && a->op == b->op)
		return false;
	return shared(a, b) >= SHARED_MIN_NS;
}

/* Those that last, by their starts; owned. */
static uint32_t *
in_order(const struct work *w, size_t nworks, size_t *n)
{
	uint32_t *order = xmalloc((nworks + 1) * sizeof *order);

	*n = 0;
	for (uint32_t i = 0; i < nworks; i++)
		if (w[i].dur_ns > 0)
			order[(*n)++] = i;
	qsort_r(order, *n, sizeof *order, by_start, (void *)w);
	return order;
}

struct overlaps *
overlaps_find(struct dict *st, const struct work *w, size_t nworks)
{
	struct overlaps *o = xcalloc(1, sizeof *o);
	VEC(uint32_t) open = { 0 };
	uint32_t *order;
	size_t n;

	o->st = st;
	o->works = w;
	order = in_order(w, nworks, &n);
	for (size_t i = 0; i < n; i++) {
		uint32_t x = order[i];
		size_t left = 0;

		for (size_t k = 0; k < open.n; k++) {
			uint32_t y = open.v[k];

			if (work_end(&w[y]) <= w[x].ts_ns ||
			    w[y].source != w[x].source)
				continue;
			open.v[left++] = y;
			if (!is_overlap(&w[x], &w[y]))
				continue;
			vec_push(&o->pairs, ((struct pair){ x, y }));
			vec_push(&o->pairs, ((struct pair){ y, x }));
		}
		open.n = left;
		vec_push(&open, x);
	}
	vec_free(&open);
	free(order);
	if (o->pairs.n > 0)
		qsort_r(o->pairs.v, o->pairs.n, sizeof *o->pairs.v, by_uid,
		    (void *)w);
	return o;
}

void
overlaps_free(struct overlaps *o)
{
	vec_free(&o->pairs);
	vec_free(&o->sums);
	spans_free(&o->busy);
	spans_free(&o->covered);
	free(o);
}

/* The pairs of a GPU event. */
static const struct pair *
pairs_of(const struct overlaps *o, uint32_t work, size_t *n)
{
	size_t at, end;

	bisect(at, o->pairs.n, mid, o->pairs.v[mid].work < work);
	for (end = at; end < o->pairs.n && o->pairs.v[end].work == work;)
		end++;
	*n = end - at;
	return *n > 0 ? &o->pairs.v[at] : NULL;
}

/* ---- one op ---- */

static void
add_sum(
    struct overlaps *o, const struct work *other, int64_t common, int64_t busy)
{
	struct sum *to = NULL;

	for (size_t i = 0; i < o->sums.n && to == NULL; i++)
		if (o->sums.v[i].name == other->name)
			to = &o->sums.v[i];
	if (to == NULL) {
		to = vec_add(&o->sums);
		*to = (struct sum){ .name = other->name,
			.gpu_stream = other->gpu_stream };
	}
	to->n++;
	stat_add(&to->ns, other->dur_ns);
	to->pct += busy > 0 ? stat_round2((double)common / (double)busy) : 0;
}

static int
by_name(const void *x, const void *y, void *st)
{
	return str_cmp(dict_get(st, ((const struct sum *)x)->name),
	    dict_get(st, ((const struct sum *)y)->name));
}

/* In the order of names: equal sets are equal texts. */
static void
keep_sums(struct overlaps *o, overlap_vec *list, struct op_overlap *out)
{
	struct buf names = { 0 };

	if (o->sums.n > 1)
		qsort_r(
		    o->sums.v, o->sums.n, sizeof *o->sums.v, by_name, o->st);
	out->first = list->n;
	out->n = (uint32_t)o->sums.n;
	for (size_t i = 0; i < o->sums.n; i++) {
		const struct sum *from = &o->sums.v[i];
		double n = (double)from->n;

		buf_puts(&names, i == 0 ? "[" : ",");
		json_put_string(&names, dict_get(o->st, from->name));
		vec_push(list,
		    ((struct overlap){
			.name = from->name,
			.gpu_stream = from->gpu_stream,
			.dur_ns = llround(
			    stat_round2((double)from->ns / n / 1e3) * 1e3),
			.pct = stat_round2(from->pct / n),
		    }));
	}
	buf_puts(&names, "]");
	out->names = intern_put(o->st->text, buf_str(&names));
	buf_free(&names);
}

/* R. */
static int64_t
busy_of(struct overlaps *o, const uint32_t *works, size_t n)
{
	o->busy.n = 0;
	for (size_t i = 0; i < n; i++)
		spans_add(&o->busy, o->works[works[i]].ts_ns,
		    work_end(&o->works[works[i]]));
	spans_normalise(&o->busy);
	return spans_total(&o->busy);
}

void
overlaps_of(struct overlaps *o, const uint32_t *works, size_t nworks,
    overlap_vec *list, struct op_overlap *out)
{
	int64_t busy = busy_of(o, works, nworks), covered = 0;

	*out = OVERLAP_NONE;
	o->sums.n = 0;
	for (size_t i = 0; i < nworks; i++) {
		const struct work *k = &o->works[works[i]];
		size_t n;
		const struct pair *p = pairs_of(o, works[i], &n);

		o->covered.n = 0;
		for (size_t m = 0; m < n; m++) {
			const struct work *other = &o->works[p[m].other];
			int64_t from =
			    other->ts_ns > k->ts_ns ? other->ts_ns : k->ts_ns;

			add_sum(o, other, shared(k, other), busy);
			spans_add(&o->covered, from, from + shared(k, other));
		}
		spans_normalise(&o->covered);
		stat_add(&covered, spans_total(&o->covered));
	}
	if (o->sums.n == 0)
		return;
	keep_sums(o, list, out);
	out->pct = busy > 0 ? stat_round2((double)covered / (double)busy) : 0;
}
