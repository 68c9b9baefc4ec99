/* SPDX-License-Identifier: MIT */
/* Names of what the GPU waits for. */
#include "cmd/tl-idle/idle.h"

uint32_t
kind_name(struct idle *g, uint32_t event)
{
	const struct host_event *e =
	    event != HOST_NONE ? &g->host.events.v[event] : NULL;
	struct buf b = { 0 };

	if (e == NULL)
		return INTERN_NONE;
	if (e->kind != KIND_ANNOTATION)
		return e->name;
	if (e->name != g->marker) {
		g->marker = g->marker_kind = e->name;
		if (steps_put_kind(dict_get(g->sink.dict, e->name), &b))
			g->marker_kind =
			    intern_put(g->sink.dict->text, buf_str(&b));
		buf_free(&b);
	}
	return g->marker_kind;
}
