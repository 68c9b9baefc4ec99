/* SPDX-License-Identifier: MIT */
/*
 * walk: the stack over a tree stream.
 *
 * Tells what is above each event. It holds the open events, and the source's
 * steps, which are in the prologue.
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
#include "trace/steps.h"

struct walk;

/* An ancestor: its uid and its name (INTERN_NONE: without). */
struct walk_above {
	struct uid uid;
	uint32_t name;
};

struct walk *walk_create(struct dict *st);
void walk_destroy(struct walk *w);
/* Every event of all sections, in order; later calls are about this one. */
void walk_push(struct walk *w, const struct event *ev);
/*
 * The nearest op and module (event_is_module()) above it, not itself; NULL:
 * none. Valid until the next walk_push().
 */
const struct walk_above *walk_op(const struct walk *w);
const struct walk_above *walk_module(const struct walk *w);
/*
 * The step in which it starts, or the time between two; NULL: neither. GPU work
 * belongs to the step of its launch; without a launch, to none. Events of the
 * prologue belong to none, as steps are known only after it.
 */
const struct step_window *walk_step(const struct walk *w);

#endif
