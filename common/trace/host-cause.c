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

static void
mark_copies(struct host *h)
{
	for (size_t i = 0; i < h->gpus.n; i++) {
		const struct host_gpu *g = &h->gpus.v[i];
		struct str name;

		if (g->kind != KIND_MEMCPY || g->launch == HOST_NONE ||
		    h->events.v[g->launch].cause != CAUSE_LAUNCH_CALL)
			continue;
		name = dict_get(h->dict, g->name);
		if (str_find(name, STR("DtoH"), false) >= 0 &&
		    str_find(name, STR("Pageable"), false) >= 0)
			set_blocking(h, g->launch, CAUSE_COPY_BLOCK);
	}
}

/* Whether a kernel's launch may have loaded its code, if it is the first. */
static bool
may_load(const struct host *h, const struct host_gpu *g)
{
	const struct host_event *e;

	if (g->kind != KIND_KERNEL || g->launch == HOST_NONE)
		return false;
	e = &h->events.v[g->launch];
	return e->cause == CAUSE_LAUNCH_CALL && e->ngpu == 1 &&
	    e->end_ns - e->start_ns >= HOST_LONG_NS;
}

/* Of these kernels. */
static void
find_first_launches(const struct host *h, struct map *names)
{
	for (size_t i = 0; i < h->gpus.n; i++) {
		const struct host_gpu *g = &h->gpus.v[i];
		uint64_t *first;

		if (g->kind != KIND_KERNEL || g->launch == HOST_NONE)
			continue;
		first = map_get(names, g->name);
		if (first != NULL &&
		    (*first == HOST_NONE ||
			h->events.v[g->launch].start_ns <
			    h->events.v[*first].start_ns))
			*first = g->launch;
	}
}

static void
mark_loads(struct host *h)
{
	struct map names = { 0 }; /* to first launch */

	for (size_t i = 0; i < h->gpus.n; i++)
		if (may_load(h, &h->gpus.v[i]))
			*map_put(&names, h->gpus.v[i].name, NULL) = HOST_NONE;
	if (names.n > 0)
		find_first_launches(h, &names);
	for (size_t i = 0; names.n > 0 && i < h->gpus.n; i++) {
		const struct host_gpu *g = &h->gpus.v[i];

		if (may_load(h, g) && *map_get(&names, g->name) == g->launch)
			set_blocking(h, g->launch, CAUSE_MODULE_LOAD);
	}
	map_free(&names);
}

void
host_mark_launches(struct host *h)
{
	mark_copies(h);
	mark_loads(h);
	for (size_t i = 0; i < h->gpus.n; i++)
		if (h->gpus.v[i].launch != HOST_NONE)
			place_call(h, &h->events.v[h->gpus.v[i].launch]);
}

bool
host_is_graph(const struct host *h, uint32_t call)
{
	return str_find(dict_get(h->dict, h->events.v[call].name),
		   STR("GraphLaunch"), true) >= 0;
}
