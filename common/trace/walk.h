/* SPDX-License-Identifier: MIT */
/*
 * walk: the stack over a tree stream.
 *
 * Says for each event of a tree stream what is above it. State: the open
 * events, and the source's steps (they stand in the prologue).
 *
 *	struct walk *w = walk_create(in->dict);
 *	while ((item = stream_next(in)) != ITEM_END)
 *		if (item == ITEM_EVENT) {
 *			walk_push(w, &in->ev);
 *			... walk_op(w), walk_step(w) ...
 *		}
 */
#ifndef TL_TRACE_WALK_H
#define TL_TRACE_WALK_H

#include "stream/stream.h"
#include "trace/step.h"

struct walk;

/* An event above: its uid and its name (INTERN_NONE: without). */
struct walk_above {
	struct uid uid;
	uint32_t name;
};

struct walk *walk_create(struct dict *st);
void walk_destroy(struct walk *w);
/* Every event of all sections, in order: what follows is about this one. */
void walk_push(struct walk *w, const struct event *ev);
/*
 * The nearest op and nn.Module frame above it, itself not counted; NULL when
 * there is none. Valid until the next walk_push().
 */
const struct walk_above *walk_op(const struct walk *w);
const struct walk_above *walk_module(const struct walk *w);
/*
 * N of the annotation ProfilerStep#N in which it starts, or WALK_NO_STEP. GPU
 * work belongs to the step of its launch, and to none without one. Of the
 * prologue's events only the steps themselves have one.
 */
int64_t walk_step(const struct walk *w);

#endif
