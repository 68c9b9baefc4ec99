/* SPDX-License-Identifier: MIT */
/* Runtime calls that wait for another thread's lock. */
#include "cmd/tl-idle/idle.h"

#define LOCK_THREADS 256 /* threads that are compared */

/* Time of a thread in runtime calls during an event; the longest of them. */
static int64_t
in_calls(const struct host *h, const struct host_thread *t,
    const struct host_event *e, uint32_t *longest)
{
	struct host_parts p = host_parts_of(h, t, e->start_ns, e->end_ns);
	int64_t ns = 0, longest_ns = 0;

	while (host_parts_next(&p)) {
		if (p.event == HOST_NONE || !is_call(&h->events.v[p.event]))
			continue;
		ns += p.end_ns - p.start_ns;
		if (p.end_ns - p.start_ns > longest_ns) {
			longest_ns = p.end_ns - p.start_ns;
			*longest = p.event;
		}
	}
	return ns;
}

static uint32_t
find_lock(struct host *h, uint32_t event)
{
	uint32_t other = HOST_NONE;
	const struct host_event *e = &h->events.v[event];
	int64_t length = e->end_ns - e->start_ns, median;
	uint32_t i = 0;

	if (!is_call(e) || length == 0)
		return HOST_NONE;
	while (i < h->threads.n && i < LOCK_THREADS &&
	    (i == e->thread ||
		in_calls(h, &h->threads.v[i], e, &other) < length - length / 2))
		i++;
	if (i == h->threads.n || i == LOCK_THREADS)
		return HOST_NONE;
	/* last, as the median is expensive */
	median = host_median_of_name(h, e->name);
	return median >= 0 && length / 3 >= median ? other : HOST_NONE;
}

/* Many gaps and rows may have one long call in common. */
uint32_t
call_locked_by(struct idle *g, uint32_t event)
{
	bool is_new;
	uint64_t *other = map_put(&g->locks, event, &is_new);

	if (is_new)
		*other = find_lock(&g->host, event);
	return (uint32_t)*other;
}
