/* SPDX-License-Identifier: MIT */
/* Private to the files of host.h. */
#ifndef TL_TRACE_HOST_INSIDE_H
#define TL_TRACE_HOST_INSIDE_H

#include "trace/host.h"

static inline const struct cause_name *
host_name(struct host *h, const struct host_event *e)
{
	return cause_of_name(h->causes, h->dict, e->name, is_call(e));
}

/* Sets the bits (its above has its ancestors' so far) and the cause of an event
 * that is no call. */
static inline void
host_set_cause_of_other(struct host *h, struct host_event *e)
{
	const struct cause_name *n =
	    cause_of_name(h->causes, h->dict, e->name, false);

	e->above |= n->above;
	e->cause = e->above != 0     ? cause_above[__builtin_ctz(e->above)]
	    : e->kind == KIND_PYTHON ? n->python
	    : e->kind == KIND_OP     ? n->op
				     : n->other;
}

/* The cause of a call, except of one that launches, by its own name. */
void host_set_cause_of_call(struct host *h, struct host_event *e);
/* Then the cause of calls that launch, by what they launched and their
 * ancestors. */
void host_mark_launches(struct host *h);

/* host-nest.c: the parent of each sorted event; then all of the above. */
void host_nest(struct host *h);

/* The nearest op, and the nearest module, from each event upwards. */
struct host_above {
	VEC(uint32_t) of[2];
};

/* The cache of host_above(): created with h->above, freed. */
void host_free_above(struct host *h);

#endif
