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

/* When events are nested, and GPU events linked to them. */
void host_find_causes(struct host *h);

#endif
