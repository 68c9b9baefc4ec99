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

/*
 * Sets an event's bits (its above has its ancestors' so far) and its cause,
 * except for calls that launch, by its own name.
 */
void host_set_cause(struct host *h, struct host_event *e);
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
