/* SPDX-License-Identifier: MIT */
/* What the files of host.h share. */
#ifndef TL_TRACE_HOST_INSIDE_H
#define TL_TRACE_HOST_INSIDE_H

#include "trace/host.h"

static inline const struct cause_name *
host_name(struct host *h, const struct host_event *e)
{
	return cause_of_name(h->causes, h->dict, e->name, is_call(e));
}

/*
 * Of an event whose above has the bits of what is above it: sets its own there,
 * and its cause, but of a call that launches what it is by itself.
 */
void host_set_cause(struct host *h, struct host_event *e);
/* Then, of calls that launch, by what they launched and what is above them. */
void host_mark_launches(struct host *h);

/* host-nest.c: of sorted events what is above each; then all of the above. */
void host_nest(struct host *h);

/* Of each event the nearest op, and the nearest module, from it on up. */
struct host_above {
	VEC(uint32_t) of[2];
};

/* What host_above() remembers: made with h->above, released. */
void host_free_above(struct host *h);

#endif
