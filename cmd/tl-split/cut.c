/* SPDX-License-Identifier: MIT */
/* Which parts a time of a source belongs to. */
#include "cmd/tl-split/split.h"
#include "trace/select.h"
#include "trace/step.h"

#include <stdlib.h>

void
cut_clear(struct cut *c, const struct source *s)
{
	const struct fact *f = source_fact(s, "first");

	c->list.n = c->others.n = c->ends.n = c->by_key.n = 0;
	c->has_first = f != NULL &&
	    (f->val.type == VAL_INT ||
		(f->val.s.p != NULL && num_i64(f->val.s, &c->first_ns)));
	if (c->has_first && f->val.type == VAL_INT)
		c->first_ns = f->val.i;
}

void
cut_annotation(struct cut *c, const struct dict *st, const struct event *ev)
{
	struct str name = dict_get(st, ev->name);
	struct cut_window w = { ev->ts_ns, INT64_MAX, 0 };
	struct str asked, base;
	int64_t nth;

	if (!num_add(ev->ts_ns, ev->dur_ns, &w.end))
		w.end = INT64_MAX;
	if (c->set->by == BY_STEP && step_of_name(name, &w.key))
		vec_push(&c->list, w);
	if (c->set->by != BY_ANNOTATION)
		return;
	asked = str_of(c->set->annotation);
	if (str_glob(asked, name))
		vec_push(&c->list, w);
	if (select_nth(asked, &base, &nth) && str_glob(base, name))
		vec_push(&c->others, w);
}

/* As the Nth annotation is counted: by start, outer ones first. */
static int
by_start(const void *pa, const void *pb)
{
	const struct cut_window *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

static int
by_key(const void *pa, const void *pb)
{
	const struct cut_window *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return by_start(pa, pb);
}

/* NAME#N, where no annotation is called so: the Nth one like NAME. */
static void
take_nth(struct cut *c)
{
	struct str base;
	int64_t nth;

	if (!select_nth(str_of(c->set->annotation), &base, &nth) ||
	    (uint64_t)nth > c->others.n)
		return;
	qsort(c->others.v, c->others.n, sizeof *c->others.v, by_start);
	c->others.v[nth - 1].key = nth;
	vec_push(&c->list, c->others.v[nth - 1]);
}

void
cut_ready(struct cut *c)
{
	int64_t end = INT64_MIN;
	bool is_numbered = c->set->by == BY_ANNOTATION && c->list.n > 0;

	if (c->set->by == BY_ANNOTATION && c->list.n == 0)
		take_nth(c);
	if (c->list.n == 0)
		return;
	qsort(c->list.v, c->list.n, sizeof *c->list.v, by_start);
	for (size_t i = 0; i < c->list.n; i++) {
		struct cut_window *w = &c->list.v[i];

		if (is_numbered)
			w->key = (int64_t)i + 1;
		if (w->end > end)
			end = w->end;
		vec_push(&c->ends, end);
		vec_push(&c->by_key, *w);
	}
	qsort(c->by_key.v, c->by_key.n, sizeof *c->by_key.v, by_key);
}

void
cut_free(struct cut *c)
{
	vec_free(&c->list);
	vec_free(&c->others);
	vec_free(&c->ends);
	vec_free(&c->by_key);
}

/* A step may have several windows, of several threads. */
static void
add_key(key_vec *keys, int64_t key)
{
	for (size_t i = 0; i < keys->n; i++)
		if (keys->v[i] == key)
			return;
	vec_push(keys, key);
}

/* Which stretch of --every; -1: before the first. */
static int64_t
stretch(const struct cut *c, int64_t t)
{
	int64_t since;

	if (!c->has_first)
		die("the stream does not say when a source begins (fact "
		    "'first'), so it can't be cut by time");
	if (t < c->first_ns)
		return -1;
	if (__builtin_sub_overflow(t, c->first_ns, &since))
		since = INT64_MAX;
	return since / c->set->every_ns;
}

void
cut_parts(const struct cut *c, int64_t t, key_vec *keys)
{
	size_t lo;

	keys->n = 0;
	if (c->set->by == BY_TIME) {
		int64_t n = stretch(c, t);

		if (n >= MAX_PARTS)
			die("over %d parts", MAX_PARTS);
		if (n >= 0)
			vec_push(keys, n);
		return;
	}
	bisect(lo, c->list.n, mid, c->list.v[mid].start <= t);
	/* of those that began, back to where all have ended */
	while (lo > 0 && c->ends.v[lo - 1] > t)
		if (c->list.v[--lo].end > t)
			add_key(keys, c->list.v[lo].key);
}

static bool
window_overlaps(const struct cut *c, int64_t key, int64_t start, int64_t end)
{
	size_t lo;

	bisect(lo, c->by_key.n, mid, c->by_key.v[mid].key < key);
	for (; lo < c->by_key.n && c->by_key.v[lo].key == key; lo++)
		if (c->by_key.v[lo].start <= end &&
		    start <= c->by_key.v[lo].end)
			return true;
	return false;
}

bool
cut_overlaps(const struct cut *c, int64_t key, int64_t start, int64_t end)
{
	if (c->set->by == BY_TIME)
		return stretch(c, start) <= key && key <= stretch(c, end);
	return window_overlaps(c, key, start, end);
}
