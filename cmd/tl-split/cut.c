/* SPDX-License-Identifier: MIT */
/* Which parts of a source a time belongs to. */
#include "cmd/tl-split/split.h"

#include <stdlib.h>

void
cut_clear(struct cut *c, const struct source *s)
{
	c->list.n = c->ends.n = 0;
	c->has_first = source_int(s, "first", &c->first_ns);
}

/* ---- windows ---- */

static void
find_steps(struct cut *c, const struct hold *prologue, bool only_iterations)
{
	const struct forest *f = &prologue->tree;

	steps_clear(&c->steps);
	c->steps.only_iterations = only_iterations;
	for (uint32_t i = 0; i < f->nodes.n; i++) {
		struct event ev;

		forest_event(f, i, &ev);
		steps_add(&c->steps, f->st, &ev, i);
	}
	steps_ready(&c->steps);
}

/* Finds annotations that match the pattern. */
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
		    ev.shape->is_inferred || (ev.shape->has & HAS_TS) == 0)
			continue;
		w.end = num_add_max(ev.ts_ns, ev.dur_ns);
		if (str_glob(pattern, name))
			vec_push(&c->list, w);
		else
			there_meet_annotation(
			    &c->there, pattern, name, steps_is_name(name));
	}
}

/* Sorts outer ones before inner ones. */
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
	else if (c->set->by != BY_TIME)
		find_steps(c, prologue, by_iterations(c->set));
	/* no serving framework annotated this trace */
	if (by_iterations(c->set) && c->steps.list.n == 0)
		find_steps(c, prologue, false);
	stable_sort(c->list.v, c->list.n, sizeof *c->list.v, by_start);
	for (size_t i = 0; i < c->list.n; i++) {
		c->list.v[i].key = (int64_t)i + 1;
		if (c->list.v[i].end > end)
			end = c->list.v[i].end;
		vec_push(&c->ends, end);
	}
}

void
cut_free(struct cut *c)
{
	steps_free(&c->steps);
	vec_free(&c->list);
	vec_free(&c->ends);
}

/* ---- parts ---- */

/* The number of the stretch of --every; -1: before the first. */
static int64_t
stretch(const struct cut *c, int64_t t)
{
	int64_t since;

	if (!c->has_first)
		die("the stream does not say when a source begins (fact "
		    "'first'): it cannot be cut by time");
	if (t < c->first_ns)
		return -1;
	if (__builtin_sub_overflow(t, c->first_ns, &since))
		since = INT64_MAX;
	return since / c->set->every_ns;
}

/* Adds annotations that begin by last and end after first. */
static void
add_annotations(const struct cut *c, int64_t first, int64_t last, key_vec *keys)
{
	size_t n;

	bisect(n, c->list.n, mid, c->list.v[mid].start <= last);
	/* go back as long as some have not ended */
	for (size_t i = n; i > 0 && c->ends.v[i - 1] > first; i--)
		if (c->list.v[i - 1].end > first)
			vec_push(keys, c->list.v[i - 1].key);
}

/* Steps come in order, and none is in more parts. */
static void
add_key(key_vec *keys, int64_t key)
{
	for (size_t i = keys->n; i > 0 && keys->n - i < STEADY_COUNT; i--)
		if (keys->v[i - 1] == key)
			return;
	vec_push(keys, key);
}

/* Adds the parts of a step. */
static void
add_step(const struct split *s, const struct step_window *w, key_vec *keys)
{
	const struct root *root;

	if (w == NULL || w->what != STEP_IS_STEP)
		return;
	if (s->set->by == BY_STEP) {
		add_key(keys, w->number);
		return;
	}
	root = &s->its.roots.v[s->its.root_of.v[w - s->cut.steps.list.v]];
	for (uint32_t i = 0; i < root->nparts; i++)
		add_key(keys, root->parts[i]);
}

void
cut_parts(const struct split *s, const struct when *when, key_vec *keys)
{
	const struct cut *c = &s->cut;
	int64_t n;

	keys->n = 0;
	if (s->set->by == BY_ANNOTATION) {
		add_annotations(c, when->ns, when->ns, keys);
		return;
	}
	if (s->set->by != BY_TIME) {
		add_step(s, steps_at(&c->steps, when->pid, when->ns), keys);
		return;
	}
	n = stretch(c, when->ns);
	if (n >= MAX_PARTS)
		die("over %d parts", MAX_PARTS);
	if (n >= 0)
		vec_push(keys, n);
}

static void
add_steps(const struct split *s, const struct when *first, int64_t last,
    key_vec *keys)
{
	const struct steps *steps = &s->cut.steps;
	uint32_t no = steps_process(steps, first->pid);
	const struct step_window *v;
	size_t i, n;

	if (no == STEPS_NONE)
		return;
	v = steps->list.v + steps->processes.v[no].first;
	n = steps->processes.v[no].n;
	bisect(i, n, mid, v[mid].end_ns <= first->ns);
	for (; i < n && v[i].start_ns <= last; i++)
		add_step(s, &v[i], keys);
}

void
cut_reached(const struct split *s, const struct when *first, int64_t last,
    key_vec *keys)
{
	keys->n = 0;
	if (s->set->by == BY_ANNOTATION) {
		add_annotations(&s->cut, first->ns, last, keys);
	} else if (s->set->by != BY_TIME) {
		add_steps(s, first, last, keys);
	} else {
		int64_t n = stretch(&s->cut, first->ns);
		int64_t end = stretch(&s->cut, last);

		for (n = n < 0 ? 0 : n; n <= end && n < MAX_PARTS; n++)
			vec_push(keys, n);
	}
}
