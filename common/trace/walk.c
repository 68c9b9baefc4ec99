/* SPDX-License-Identifier: MIT */
/*
 * The stack over a tree stream. Trees come in pre-order with depths, so the
 * events above one are the last ones of each smaller depth.
 */
#include "trace/walk.h"
#include "trace/step.h"
#include "trace/tree.h"

#include <stdlib.h>

/* An open event, with what it passes on to those below it. */
struct frame {
	struct walk_above self;
	uint32_t op, module; /* nearest from here on up: index + 1, or 0 */
	uint32_t annotation;
	int64_t step;
};

/* A range of the prologue that is no step. */
struct range {
	uint32_t track;
	uint32_t name;
	int64_t start, end;
	size_t order;
};

/* Where a thread stands among its ranges: its events come in time order. */
struct cursor {
	size_t next, last;  /* in walk.notes */
	VEC(uint32_t) open; /* those begun, the innermost last */
};

struct walk {
	struct dict *st;
	VEC(struct frame) stack; /* the event itself is the last one */
	uint32_t src;
	bool is_sorted; /* the prologue is over */
	VEC(struct step_span) steps;
	VEC(struct range) notes;
	VEC(struct cursor) cursors; /* by track */
};

struct walk *
walk_create(struct dict *st)
{
	struct walk *w = xcalloc(1, sizeof *w);

	w->st = st;
	return w;
}

static void
forget_cursors(struct walk *w)
{
	for (size_t i = 0; i < w->cursors.n; i++)
		vec_free(&w->cursors.v[i].open);
	w->cursors.n = 0;
}

void
walk_destroy(struct walk *w)
{
	if (w == NULL)
		return;
	forget_cursors(w);
	vec_free(&w->cursors);
	vec_free(&w->stack);
	vec_free(&w->steps);
	vec_free(&w->notes);
	vec_release(w);
}

static int64_t
end_of(const struct event *ev)
{
	int64_t end;

	return num_add(ev->ts_ns, ev->dur_ns, &end) ? end : INT64_MAX;
}

static void
add_range(struct walk *w, const struct event *ev)
{
	struct range r = {
		.track = dict_thread(w->st, ev->track),
		.name = ev->name,
		.start = ev->ts_ns,
		.end = end_of(ev),
	};
	struct step_span step = { .start_ns = r.start, .end_ns = r.end };

	if (step_of_name(dict_get(w->st, ev->name), &step.number)) {
		vec_push(&w->steps, step);
	} else {
		r.order = w->notes.n;
		vec_push(&w->notes, r);
	}
}

/* By track, then outer ones first. */
static int
by_place(const void *x, const void *y)
{
	const struct range *a = x, *b = y;

	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static void
sort_ranges(struct walk *w)
{
	steps_sort(w->steps.v, w->steps.n);
	if (w->notes.n > 0)
		qsort(w->notes.v, w->notes.n, sizeof *w->notes.v, by_place);
	forget_cursors(w);
	for (size_t i = 0; i < w->notes.n; i++) {
		uint32_t track = w->notes.v[i].track;

		while (w->cursors.n <= track)
			vec_push(&w->cursors, (struct cursor){ 0 });
		if (w->cursors.v[track].last == 0)
			w->cursors.v[track].next = i;
		w->cursors.v[track].last = i + 1;
	}
	w->is_sorted = true;
}

static uint32_t
annotation_at(struct walk *w, const struct event *ev)
{
	uint32_t thread = dict_thread(w->st, ev->track);
	struct cursor *c;

	if (thread >= w->cursors.n)
		return INTERN_NONE;
	c = &w->cursors.v[thread];
	for (; c->next < c->last && w->notes.v[c->next].start <= ev->ts_ns;
	     c->next++)
		vec_push(&c->open, (uint32_t)c->next);
	while (c->open.n > 0 &&
	    w->notes.v[c->open.v[c->open.n - 1]].end <= ev->ts_ns)
		c->open.n--;
	return c->open.n > 0 ? w->notes.v[c->open.v[c->open.n - 1]].name
			     : INTERN_NONE;
}

static bool
is_module(const struct walk *w, const struct event *ev)
{
	return ev->shape->kind == KIND_PYTHON &&
	    str_starts(dict_get(w->st, ev->name), STR("nn.Module"));
}

/* What stands above comes from the event above, or for a root is nothing. */
static void
inherit(struct walk *w, const struct event *ev, struct frame *f)
{
	static const struct frame nothing = {
		.annotation = INTERN_NONE,
		.step = WALK_NO_STEP,
	};
	const struct frame *up =
	    w->stack.n > 0 ? &w->stack.v[w->stack.n - 1] : &nothing;
	uint32_t self = (uint32_t)w->stack.n + 1;

	f->op = ev->shape->kind == KIND_OP ? self : up->op;
	f->module = is_module(w, ev) ? self : up->module;
	if (event_is(ev, KINDS_GPU)) {
		f->step = up->step;
		f->annotation = up->annotation;
	} else if (ev->shape->has & HAS_TS) {
		f->step = steps_at(w->steps.v, w->steps.n, ev->ts_ns);
		f->annotation = annotation_at(w, ev);
	}
}

/* A range of the prologue: it is above nothing, and known before the tree. */
static void
push_range(struct walk *w, const struct event *ev, struct frame *f)
{
	bool has_ts = (ev->shape->has & HAS_TS) != 0;

	if (ev->shape->kind == KIND_ANNOTATION && has_ts && !w->is_sorted)
		add_range(w, ev);
	if (!step_of_name(dict_get(w->st, ev->name), &f->step))
		f->step = WALK_NO_STEP;
}

void
walk_push(struct walk *w, const struct event *ev)
{
	struct frame f = {
		.self = { ev->uid, ev->name, ev->ts_ns },
		.annotation = INTERN_NONE,
		.step = WALK_NO_STEP,
	};

	if (UNLIKELY(ev->src != w->src)) {
		w->src = ev->src;
		w->steps.n = w->notes.n = 0;
		w->is_sorted = false;
	}
	/* outside the tree depth is 0: such an event stands alone */
	if (w->stack.n > ev->depth)
		w->stack.n = ev->depth;
	if (event_is(ev, KINDS_PROLOGUE)) {
		push_range(w, ev, &f);
	} else {
		if (UNLIKELY(!w->is_sorted))
			sort_ranges(w);
		inherit(w, ev, &f);
	}
	vec_push(&w->stack, f);
}

static const struct frame *
above(const struct walk *w)
{
	return w->stack.n > 1 ? &w->stack.v[w->stack.n - 2] : NULL;
}

const struct walk_above *
walk_op(const struct walk *w)
{
	const struct frame *up = above(w);

	return up != NULL && up->op > 0 ? &w->stack.v[up->op - 1].self : NULL;
}

const struct walk_above *
walk_module(const struct walk *w)
{
	const struct frame *up = above(w);

	return up != NULL && up->module > 0 ? &w->stack.v[up->module - 1].self
					    : NULL;
}

const struct walk_above *
walk_parent(const struct walk *w)
{
	const struct frame *up = above(w);

	return up != NULL ? &up->self : NULL;
}

int64_t
walk_step(const struct walk *w)
{
	return w->stack.n > 0 ? w->stack.v[w->stack.n - 1].step : WALK_NO_STEP;
}

uint32_t
walk_annotation(const struct walk *w)
{
	return w->stack.n > 0 ? w->stack.v[w->stack.n - 1].annotation
			      : INTERN_NONE;
}
