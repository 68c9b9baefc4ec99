/* SPDX-License-Identifier: MIT */
/* Which parts a time of a source belongs to. */
#include "cmd/tl-split/split.h"
#include "trace/steps.h"

#include <stdlib.h>

void
cut_clear(struct cut *c, const struct source *s)
{
	c->list.n = c->ends.n = 0;
	c->has_first = source_int(s, "first", &c->first_ns);
}

/* ---- windows ---- */

static void
find_steps(struct cut *c, const struct hold *prologue)
{
	struct steps steps = { 0 };

	for (uint32_t i = 0; i < prologue->tree.nodes.n; i++) {
		struct event ev;

		forest_event(&prologue->tree, i, &ev);
		steps_add(&steps, prologue->tree.st, &ev, i);
	}
	steps_ready(&steps);
	for (size_t i = 0; i < steps.list.n; i++) {
		const struct step_window *w = &steps.list.v[i];

		if (w->what == STEP_IS_STEP)
			vec_push(&c->list,
			    ((struct cut_window){
				w->start_ns, w->end_ns, w->number }));
	}
	steps_free(&steps);
}

/* Of annotations like the pattern. */
static void
find_windows(struct cut *c, const struct hold *prologue, struct str pattern)
{
	for (uint32_t i = 0; i < prologue->tree.nodes.n; i++) {
		struct str name = forest_name(&prologue->tree, i);
		struct cut_window w = { 0 };
		struct event ev;

		forest_event(&prologue->tree, i, &ev);
		w.start = ev.ts_ns;
		if (ev.shape->kind != KIND_ANNOTATION ||
		    (ev.shape->has & HAS_TS) == 0)
			continue;
		if (!num_add(ev.ts_ns, ev.dur_ns, &w.end))
			w.end = INT64_MAX;
		if (str_glob(pattern, name))
			vec_push(&c->list, w);
	}
}

/* Outer ones before inner ones. */
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

void
cut_ready(struct cut *c, const struct hold *prologue)
{
	int64_t end = INT64_MIN;

	if (c->set->by == BY_ANNOTATION)
		find_windows(c, prologue, str_of(c->set->annotation));
	else if (c->set->by == BY_STEP)
		find_steps(c, prologue);
	stable_sort(c->list.v, c->list.n, sizeof *c->list.v, by_start);
	for (size_t i = 0; i < c->list.n; i++) {
		if (c->set->by == BY_ANNOTATION)
			c->list.v[i].key = (int64_t)i + 1;
		if (c->list.v[i].end > end)
			end = c->list.v[i].end;
		vec_push(&c->ends, end);
	}
}

void
cut_free(struct cut *c)
{
	vec_free(&c->list);
	vec_free(&c->ends);
}

/* ---- parts ---- */

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

/* How many windows have begun by then. */
static size_t
begun_by(const struct cut *c, int64_t t)
{
	size_t n;

	bisect(n, c->list.n, mid, c->list.v[mid].start <= t);
	return n;
}

void
cut_parts(const struct cut *c, int64_t t, key_vec *keys)
{
	keys->n = 0;
	if (c->set->by == BY_TIME) {
		int64_t n = stretch(c, t);

		if (n >= MAX_PARTS)
			die("over %d parts", MAX_PARTS);
		if (n >= 0)
			vec_push(keys, n);
		return;
	}
	/* back to where all have ended */
	for (size_t i = begun_by(c, t); i > 0 && c->ends.v[i - 1] > t; i--)
		if (c->list.v[i - 1].end > t)
			add_key(keys, c->list.v[i - 1].key);
}

bool
cut_overlaps(const struct cut *c, int64_t key, int64_t start, int64_t end)
{
	if (c->set->by == BY_TIME)
		return stretch(c, start) <= key && key <= stretch(c, end);
	/* windows and events are half-open: steps touch one another */
	for (size_t i = begun_by(c, end > start ? end - 1 : end);
	     i > 0 && c->ends.v[i - 1] > start; i--)
		if (c->list.v[i - 1].key == key && c->list.v[i - 1].end > start)
			return true;
	return false;
}
