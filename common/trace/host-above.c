/* SPDX-License-Identifier: MIT */
/* The op and the module above what a host did. */
#include "trace/host-inside.h"
#include "trace/process.h"

#define CLIMB_MAX 256 /* deeper ancestors are looked up */

static bool
is_above(const struct host *h, const struct host_event *e, bool is_module)
{
	return is_module ? e->kind == KIND_PYTHON &&
		name_is_module(dict_get(h->dict, e->name))
			 : e->kind == KIND_OP;
}

/* Ancestors precede an event. */
static void
find_above(const struct host *h, bool is_module)
{
	for (size_t i = 0; i < h->events.n; i++) {
		const struct host_event *e = &h->events.v[i];
		uint32_t up = host_up(e), name = INTERN_NONE;

		if (is_above(h, e, is_module))
			name = e->name;
		else if (up != HOST_NONE)
			name = h->above->of[is_module].v[up];
		vec_push(&h->above->of[is_module], name);
	}
}

uint32_t
host_above(const struct host *h, uint32_t event, bool is_module)
{
	for (size_t n = 0; event != HOST_NONE && n < CLIMB_MAX; n++) {
		const struct host_event *e = &h->events.v[event];

		if (is_above(h, e, is_module))
			return e->name;
		event = host_up(e);
	}
	if (event == HOST_NONE)
		return INTERN_NONE;
	if (h->above->of[is_module].n == 0)
		find_above(h, is_module);
	return h->above->of[is_module].v[event];
}

uint32_t
host_culprit(const struct host *h, uint32_t event, enum cause cause)
{
	const struct host_event *v = h->events.v;
	unsigned bit;

	if (event == HOST_NONE || v[event].above == 0)
		return event;
	bit = cause_above_bit(cause);
	while ((v[event].above & bit) != 0) {
		uint32_t up = host_up(&v[event]), jump = HOST_NONE;

		if (v[event].has_time)
			jump = v[event].jump;
		if (jump != HOST_NONE && (v[jump].above & bit) != 0)
			event = jump;
		else if (up != HOST_NONE && (v[up].above & bit) != 0)
			event = up;
		else
			break;
	}
	return event;
}

void
host_free_above(struct host *h)
{
	if (h->above == NULL)
		return;
	vec_free(&h->above->of[0]);
	vec_free(&h->above->of[1]);
	vec_release(h->above);
	h->above = NULL;
}
