/* SPDX-License-Identifier: MIT */
/* What each event of the host is a cause of. */
#include "trace/host-inside.h"

/* Of calls that launch, by what they launched. */
static void
mark_launches(struct host *h)
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
			e->cause = CAUSE_COPY_BLOCK;
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
			e->cause = CAUSE_MODULE_LOAD;
	}
	map_free(&seen);
	vec_free(&order);
}

static enum cause
cause_of_call(
    const struct host_event *e, const struct cause_name *n, struct str name)
{
	bool is_long = e->end_ns - e->start_ns >= HOST_LONG_NS;

	if (n->call == CAUSE_NOTHING)
		return is_long ? CAUSE_INIT : CAUSE_RUNTIME;
	if (n->call == CAUSE_LAUNCH_CALL && is_long &&
	    str_find(name, STR("emcpy"), false) >= 0)
		return CAUSE_COPY_BLOCK;
	return n->call;
}

static enum cause
cause_of_other(const struct host_event *e, const struct cause_name *n)
{
	if (n->self != CAUSE_NOTHING)
		return n->self;
	switch (e->kind) {
	case KIND_OP: return n->op != CAUSE_NOTHING ? n->op : CAUSE_OP;
	case KIND_PYTHON:
		return n->python != CAUSE_NOTHING ? n->python : CAUSE_PYTHON;
	default: return CAUSE_ANNOTATED;
	}
}

/* Of a call that is no final cause by itself, and of what is no call. */
static enum cause
cause_by_place(
    const struct host_event *e, const struct cause_name *n, enum cause own)
{
	unsigned bits = e->above | n->above;
	unsigned most = is_call(e) ? CAUSE_ABOVE_FINAL : CAUSE_ABOVE_COUNT;

	bits &= (1u << most) - 1;
	return bits != 0 ? cause_above[__builtin_ctz(bits)] : own;
}

void
host_find_causes(struct host *h)
{
	for (size_t i = 0; i < h->events.n; i++) {
		struct host_event *e = &h->events.v[i];

		if (is_call(e))
			e->cause = (uint8_t)cause_of_call(
			    e, host_name(h, e), dict_get(h->dict, e->name));
	}
	mark_launches(h);
	for (size_t i = 0; i < h->events.n; i++) {
		struct host_event *e = &h->events.v[i];
		const struct cause_name *n = host_name(h, e);

		if (!is_call(e))
			e->cause =
			    (uint8_t)cause_by_place(e, n, cause_of_other(e, n));
		else if (e->cause == CAUSE_LAUNCH_CALL ||
		    e->cause == CAUSE_RUNTIME || e->cause == CAUSE_POLL)
			e->cause = (uint8_t)cause_by_place(e, n, e->cause);
	}
}
