/* SPDX-License-Identifier: MIT */
/* Events of one name: the first of them, and how long they take. */
#include <stdlib.h>

#include "trace/host.h"

static uint64_t
name_and_kind(const struct host_event *e)
{
	return (uint64_t)e->name << 8 | e->kind;
}

bool
host_is_first_of_name(struct host *h, uint32_t event)
{
	if (h->first_of.n == 0)
		for (size_t i = 0; i < h->events.n; i++) {
			const struct host_event *e = &h->events.v[i], *first;
			bool is_new;
			uint64_t *at =
			    map_put(&h->first_of, name_and_kind(e), &is_new);

			first = &h->events.v[*at];
			if (is_new || e->start_ns < first->start_ns ||
			    (e->start_ns == first->start_ns &&
				uid_cmp(e->uid, first->uid) < 0))
				*at = i;
		}
	return *map_get(&h->first_of, name_and_kind(&h->events.v[event])) ==
	    event;
}

static int
self_order(const void *x, const void *y)
{
	const struct host_self *a = x, *b = y;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

/* What each event has of its thread's time. */
static void
find_selfs(struct host *h)
{
	int64_t *ns = xcalloc(h->events.n + 1, sizeof *ns);

	for (size_t i = 0; i < h->events.n; i++) {
		const struct host_event *e = &h->events.v[i];

		if (!is_nested(e))
			continue;
		ns[i] += e->end_ns - e->start_ns;
		if (e->up != HOST_NONE)
			ns[e->up] -= e->end_ns - e->start_ns;
	}
	for (size_t i = 0; i < h->events.n; i++)
		if (ns[i] > 0)
			vec_push(&h->selfs,
			    ((struct host_self){ h->events.v[i].name, ns[i] }));
	stable_sort(h->selfs.v, h->selfs.n, sizeof *h->selfs.v, self_order);
	free(ns);
}

int64_t
host_median_of_name(struct host *h, uint32_t name)
{
	size_t from, to;

	if (h->selfs.n == 0)
		find_selfs(h);
	bisect(from, h->selfs.n, mid, h->selfs.v[mid].name < name);
	bisect(to, h->selfs.n, mid, h->selfs.v[mid].name <= name);
	return to - from < HOST_MEDIAN_EVENTS
	    ? -1
	    : h->selfs.v[from + (to - from) / 2].ns;
}
