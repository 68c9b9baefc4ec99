/* SPDX-License-Identifier: MIT */
/* The cause of each event of the host. */
#include "trace/host-inside.h"

static enum cause
cause_of_call(const struct host *h, const struct host_event *e,
    const struct cause_name *n)
{
	bool is_long = e->end_ns - e->start_ns >= HOST_LONG_NS;

	if (n->call == CAUSE_NOTHING)
		return is_long ? CAUSE_INIT : CAUSE_RUNTIME;
	return n->call == CAUSE_LAUNCH_CALL && is_long &&
		str_find(dict_get(h->dict, e->name), STR("emcpy"), false) >= 0
	    ? CAUSE_COPY_BLOCK
	    : n->call;
}

/* Calls without a final cause of their own. */
static void
place_call(struct host *h, struct host_event *e)
{
	unsigned bits;

	if (e->cause != CAUSE_LAUNCH_CALL && e->cause != CAUSE_RUNTIME &&
	    e->cause != CAUSE_POLL)
		return;
	bits = (e->above | host_name(h, e)->above) &
	    ((1u << CAUSE_ABOVE_FINAL) - 1);
	if (bits != 0)
		e->cause = cause_above[__builtin_ctz(bits)];
}

void
host_set_cause_of_call(struct host *h, struct host_event *e)
{
	e->cause = (uint8_t)cause_of_call(h, e, host_name(h, e));
	if (e->ngpu == 0)
		place_call(h, e);
}

static void
set_blocking(struct host *h, uint32_t event, enum cause cause)
{
	h->events.v[event].cause = (uint8_t)cause;
	vec_push(&h->may_wait, event);
}

void
host_mark_launches(struct host *h)
{
	struct map seen = { 0 };
	VEC(uint32_t) order = { 0 };

	for (size_t i = 0; i < h->gpus.n; i++) {
		const struct host_gpu *g = &h->gpus.v[i];
		struct host_event *e;
		struct str name = dict_get(h->dict, g->name);

		if (g->launch == HOST_NONE)
			continue;
		e = &h->events.v[g->launch];
		for (uint32_t up = e->up;
		     up != HOST_NONE && !h->events.v[up].launches_below;
		     up = h->events.v[up].up)
			h->events.v[up].launches_below = true;
		if (e->cause == CAUSE_LAUNCH_CALL && g->kind == KIND_MEMCPY &&
		    str_find(name, STR("DtoH"), false) >= 0 &&
		    str_find(name, STR("Pageable"), false) >= 0)
			set_blocking(h, g->launch, CAUSE_COPY_BLOCK);
		if (g->kind == KIND_KERNEL)
			vec_push(&order, (uint32_t)i);
	}
	/* the first launch of a kernel may load its code */
	for (size_t i = 0; i < order.n; i++) {
		const struct host_gpu *g = &h->gpus.v[order.v[i]];
		bool is_new;
		uint64_t *first = map_put(&seen, g->name, &is_new);

		if (is_new ||
		    h->events.v[g->launch].start_ns <
			h->events.v[*first].start_ns)
			*first = g->launch;
	}
	for (size_t i = 0; i < order.n; i++) {
		const struct host_gpu *g = &h->gpus.v[order.v[i]];
		struct host_event *e = &h->events.v[g->launch];

		if (e->cause == CAUSE_LAUNCH_CALL && e->ngpu == 1 &&
		    e->end_ns - e->start_ns >= HOST_LONG_NS &&
		    *map_get(&seen, g->name) == g->launch)
			set_blocking(h, g->launch, CAUSE_MODULE_LOAD);
	}
	for (size_t i = 0; i < h->gpus.n; i++)
		if (h->gpus.v[i].launch != HOST_NONE)
			place_call(h, &h->events.v[h->gpus.v[i].launch]);
	map_free(&seen);
	vec_free(&order);
}

bool
host_is_graph(const struct host *h, uint32_t call)
{
	return str_find(dict_get(h->dict, h->events.v[call].name),
		   STR("GraphLaunch"), true) >= 0;
}
