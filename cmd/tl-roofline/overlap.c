/* SPDX-License-Identifier: MIT */
/*
 * Which GPU events run beside which: a sweep over all of them in the order of
 * their starts, with the list of those that are still running. Two of one GPU
 * stream, or below the same op, don't count as beside one another, nor does
 * what they share for less than a microsecond.
 */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-roofline/roof.h"

#define SHARED_MIN_NS 1000

struct pair {
	uint32_t work, other;
};

struct pairs {
	VEC(struct pair) list;
};

/* qsort() hands nothing through. */
static const struct work *sorting;

static int
by_start(const void *x, const void *y)
{
	const struct work *a = &sorting[*(const uint32_t *)x];
	const struct work *b = &sorting[*(const uint32_t *)y];

	if (a->origin != b->origin)
		return a->origin < b->origin ? -1 : 1;
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return (a > b) - (a < b);
}

static int
by_uid(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;
	const struct work *u = &sorting[a->other], *v = &sorting[b->other];

	if (a->work != b->work)
		return a->work < b->work ? -1 : 1;
	if (u->uid.id != v->uid.id)
		return u->uid.id < v->uid.id ? -1 : 1;
	return (u->uid.inst > v->uid.inst) - (u->uid.inst < v->uid.inst);
}

static int64_t
end_of(const struct work *w)
{
	return w->ts_ns + w->dur_ns;
}

static int64_t
shared(const struct work *a, const struct work *b)
{
	int64_t from = a->ts_ns > b->ts_ns ? a->ts_ns : b->ts_ns;
	int64_t to = end_of(a) < end_of(b) ? end_of(a) : end_of(b);

	return to > from ? to - from : 0;
}

static bool
is_beside(const struct work *a, const struct work *b)
{
	if (a->gpu_stream.type != KEY_NONE && key_eq(a->dev, b->dev) &&
	    key_eq(a->gpu_stream, b->gpu_stream))
		return false;
	if (a->op != 0 && a->op == b->op)
		return false;
	return shared(a, b) >= SHARED_MIN_NS;
}

static void
sweep(const struct roof_state *g, struct pairs *found)
{
	uint32_t *order = xmalloc((g->works.n + 1) * sizeof *order);
	VEC(uint32_t) open = { 0 };
	const struct work *w = g->works.v;
	size_t n = 0;

	for (uint32_t i = 0; i < g->works.n; i++)
		if (w[i].dur_ns > 0)
			order[n++] = i;
	sorting = w;
	qsort(order, n, sizeof *order, by_start);
	for (size_t i = 0; i < n; i++) {
		uint32_t x = order[i];
		size_t left = 0;

		for (size_t k = 0; k < open.n; k++) {
			uint32_t y = open.v[k];

			if (end_of(&w[y]) <= w[x].ts_ns ||
			    w[y].origin != w[x].origin)
				continue;
			open.v[left++] = y;
			if (!is_beside(&w[x], &w[y]))
				continue;
			vec_push(&found->list, ((struct pair){ x, y }));
			vec_push(&found->list, ((struct pair){ y, x }));
		}
		open.n = left;
		vec_push(&open, x);
	}
	vec_free(&open);
	free(order);
	if (found->list.n > 0)
		qsort(found->list.v, found->list.n, sizeof *found->list.v,
		    by_uid);
}

/* The pairs of a GPU event. */
static const struct pair *
pairs_of(const struct pairs *found, uint32_t work, size_t *n)
{
	size_t lo = 0, hi = found->list.n, end;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (found->list.v[mid].work < work)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (end = lo; end < found->list.n && found->list.v[end].work == work;)
		end++;
	*n = end - lo;
	return found->list.v + lo;
}

/* ---- one call ---- */

/* What it launched itself is sorted by time. */
static int64_t
own_busy(const struct roof_state *g, const struct call *c)
{
	int64_t busy = 0, end = INT64_MIN;

	for (size_t i = 0; i < c->nown; i++) {
		const struct work *w =
		    &g->works.v[g->lists.v[c->first_own + i]];
		int64_t from = w->ts_ns > end ? w->ts_ns : end;

		if (end_of(w) <= from)
			continue;
		stat_add(&busy, end_of(w) - from);
		end = end_of(w);
	}
	return busy;
}

/* What was found beside a call under one name. */
struct sum {
	uint32_t name;
	struct key gpu_stream;
	double pct;
	int64_t ns;
	size_t n;
};

struct sums {
	VEC(struct sum) list;
};

static void
add_sum(struct sums *s, const struct work *other, int64_t common, int64_t busy)
{
	struct sum *to = NULL;

	for (size_t i = 0; i < s->list.n && to == NULL; i++)
		if (s->list.v[i].name == other->name)
			to = &s->list.v[i];
	if (to == NULL) {
		to = vec_add(&s->list);
		*to = (struct sum){ .name = other->name,
			.gpu_stream = other->gpu_stream };
	}
	to->n++;
	stat_add(&to->ns, other->dur_ns);
	to->pct += busy > 0 ? round2((double)common / (double)busy) : 0;
}

static void
keep_sums(struct roof_state *g, struct call *c, const struct sums *s)
{
	struct buf names = { 0 };

	c->first_beside = g->besides.n;
	c->nbeside = (uint32_t)s->list.n;
	for (size_t i = 0; i < s->list.n; i++) {
		const struct sum *from = &s->list.v[i];
		double n = (double)from->n;

		buf_puts(&names, i == 0 ? "[" : ",");
		json_text(&names, strings_get(g->strings, from->name));
		vec_push(&g->besides,
		    ((struct beside){
			.name = from->name,
			.gpu_stream = from->gpu_stream,
			.dur_us = round2((double)from->ns / n / 1e3),
			.pct = round2(from->pct / n),
		    }));
	}
	buf_puts(&names, "]");
	c->beside_names = intern_put(g->strings->text, buf_str(&names));
	buf_free(&names);
}

static void
judge_call(struct roof_state *g, const struct pairs *found, struct call *c)
{
	struct sums sums = { 0 };
	int64_t covered = 0, busy = own_busy(g, c);

	for (size_t i = 0; i < c->nown; i++) {
		uint32_t work = g->lists.v[c->first_own + i];
		const struct work *k = &g->works.v[work];
		struct spans beside = { 0 };
		size_t n;
		const struct pair *p = pairs_of(found, work, &n);

		for (size_t m = 0; m < n; m++) {
			const struct work *o = &g->works.v[p[m].other];
			int64_t from =
			    o->ts_ns > k->ts_ns ? o->ts_ns : k->ts_ns;

			add_sum(&sums, o, shared(k, o), busy);
			spans_add(&beside, from, from + shared(k, o));
		}
		spans_normalise(&beside);
		stat_add(&covered, spans_total(&beside));
		spans_free(&beside);
	}
	if (sums.list.n > 0) {
		keep_sums(g, c, &sums);
		c->overlap_pct =
		    busy > 0 ? round2((double)covered / (double)busy) : 0;
	}
	vec_free(&sums.list);
}

void
overlap_find(struct roof_state *g)
{
	struct pairs found = { 0 };

	sweep(g, &found);
	for (size_t i = 0; i < g->calls.n; i++)
		judge_call(g, &found, &g->calls.v[i]);
	vec_free(&found.list);
}
