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

/* Of a call, by its name and length. */
void host_cause_of_call(struct host *h, struct host_event *e);
/* Of calls that launch, by what they launched: when all calls have a cause. */
void host_mark_launches(struct host *h);
/* Then, of each event, what is decided by what is above it. */
void host_cause_by_place(struct host *h, struct host_event *e);

#endif
