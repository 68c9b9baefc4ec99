/* SPDX-License-Identifier: MIT */
/*
 * The stack over a tree stream. Trees come in pre-order with depths, so the
 * events above one are the last ones of each smaller depth.
 */
#include "trace/walk.h"
#include "trace/process.h"
#include "trace/step.h"
#include "trace/tree.h"

/* An open event, with what it passes on to those below it. */
struct frame {
	struct walk_above self;
	uint32_t op, module; /* nearest from here on up: index + 1, or 0 */
	int64_t step;
};

struct walk {
	struct dict *st;
	VEC(struct frame) stack; /* the event itself is the last one */
	uint32_t src;
	bool is_sorted; /* the prologue is over */
	VEC(struct step_span) steps;
};

struct walk *
walk_create(struct dict *st)
{
	struct walk *w = xcalloc(1, sizeof *w);

	w->st = st;
	return w;
}

void
walk_destroy(struct walk *w)
{
	if (w == NULL)
		return;
	vec_free(&w->stack);
	vec_free(&w->steps);
	vec_release(w);
}

static bool
is_module(const struct walk *w, const struct event *ev)
{
	return ev->shape->kind == KIND_PYTHON &&
	    name_is_module(dict_get(w->st, ev->name));
}

/* What stands above comes from the event above, or for a root is nothing. */
static void
inherit(struct walk *w, const struct event *ev, struct frame *f)
{
	static const struct frame nothing = { .step = WALK_NO_STEP };
	const struct frame *up =
	    w->stack.n > 0 ? &w->stack.v[w->stack.n - 1] : &nothing;
	uint32_t self = (uint32_t)w->stack.n + 1;

	f->op = ev->shape->kind == KIND_OP ? self : up->op;
	f->module = is_module(w, ev) ? self : up->module;
	if (event_is(ev, KINDS_GPU))
		f->step = up->step;
	else if (ev->shape->has & HAS_TS)
		f->step = steps_at(w->steps.v, w->steps.n, ev->ts_ns);
}

/* A step of the prologue: it is above nothing, and known before the tree. */
static void
push_step(struct walk *w, const struct event *ev, struct frame *f)
{
	struct step_span step = { .start_ns = ev->ts_ns };

	if (!step_of_name(dict_get(w->st, ev->name), &step.number))
		return;
	f->step = step.number;
	if (ev->shape->kind != KIND_ANNOTATION || w->is_sorted ||
	    (ev->shape->has & HAS_TS) == 0)
		return;
	if (!num_add(ev->ts_ns, ev->dur_ns, &step.end_ns))
		step.end_ns = INT64_MAX;
	vec_push(&w->steps, step);
}

void
walk_push(struct walk *w, const struct event *ev)
{
	struct frame f = {
		.self = { ev->uid, ev->name },
		.step = WALK_NO_STEP,
	};

	if (UNLIKELY(ev->src != w->src)) {
		w->src = ev->src;
		w->steps.n = 0;
		w->is_sorted = false;
	}
	/* outside the tree depth is 0: such an event stands alone */
	if (w->stack.n > ev->depth)
		w->stack.n = ev->depth;
	if (event_is(ev, KINDS_PROLOGUE)) {
		push_step(w, ev, &f);
	} else {
		if (UNLIKELY(!w->is_sorted)) {
			steps_sort(w->steps.v, w->steps.n);
			w->is_sorted = true;
		}
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

int64_t
walk_step(const struct walk *w)
{
	return w->stack.n > 0 ? w->stack.v[w->stack.n - 1].step : WALK_NO_STEP;
}
