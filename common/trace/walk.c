/* SPDX-License-Identifier: MIT */
/*
 * The stack over a tree stream. Trees come in pre-order with depths, so the
 * events above one are the last ones of each smaller depth.
 */
#include "trace/walk.h"
#include "trace/process.h"
#include "trace/tree.h"

/* An open event, with what its descendants inherit. */
struct frame {
	struct walk_above self;
	uint32_t op, module; /* nearest from here upwards: index + 1, or 0 */
	const struct step_window *step;
};

struct walk {
	struct dict *st;
	VEC(struct frame) stack; /* the event itself is the last one */
	uint32_t src;
	bool has_steps; /* after the prologue */
	struct steps steps;
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
	steps_free(&w->steps);
	vec_release(w);
}

/* Inherited from the event above; nothing for a root. */
static void
inherit(struct walk *w, const struct event *ev, struct frame *f)
{
	static const struct frame nothing = { 0 };
	const struct frame *up =
	    w->stack.n > 0 ? &w->stack.v[w->stack.n - 1] : &nothing;
	uint32_t self = (uint32_t)w->stack.n + 1;

	f->op = ev->shape->kind == KIND_OP ? self : up->op;
	f->module = event_is_module(w->st, ev) ? self : up->module;
	if (event_is(ev, KINDS_GPU))
		f->step = up->step;
	else if (ev->shape->has & HAS_TS)
		f->step = steps_at(&w->steps, &ev->pid, ev->ts_ns);
}

void
walk_push(struct walk *w, const struct event *ev)
{
	struct frame f = { .self = { ev->uid, ev->name } };

	if (UNLIKELY(ev->src != w->src)) {
		w->src = ev->src;
		steps_clear(&w->steps);
		w->has_steps = false;
	}
	/* depth is 0 outside of the tree: such an event has no ancestors */
	if (w->stack.n > ev->depth)
		w->stack.n = ev->depth;
	if (event_is(ev, KINDS_PROLOGUE)) {
		if (!w->has_steps)
			steps_add(&w->steps, w->st, ev, 0);
	} else {
		if (UNLIKELY(!w->has_steps)) {
			steps_ready(&w->steps);
			w->has_steps = true;
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

const struct step_window *
walk_step(const struct walk *w)
{
	return w->stack.n > 0 ? w->stack.v[w->stack.n - 1].step : NULL;
}
