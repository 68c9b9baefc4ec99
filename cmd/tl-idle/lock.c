/* SPDX-License-Identifier: MIT */
/* Runtime calls that wait for another thread's lock. */
#include "cmd/tl-idle/idle.h"

#define LOCK_THREADS 256 /* threads that are compared */

/* Time of a thread in runtime calls during an event. */
static int64_t
in_calls(const struct host *h, const struct host_thread *t,
    const struct host_event *e)
{
	struct host_parts p = host_parts_of(h, t, e->start_ns, e->end_ns);
	int64_t ns = 0;

	while (host_parts_next(&p))
		if (p.event != HOST_NONE && is_call(&h->events.v[p.event]))
			ns += p.end_ns - p.start_ns;
	return ns;
}

/* Whether a call took three times its name's median, half of it while another
 * thread was in a runtime call: a likely lock. */
bool
call_is_lock(struct host *h, uint32_t event)
{
	const struct host_event *e = &h->events.v[event];
	int64_t length = e->end_ns - e->start_ns, median;
	uint32_t i = 0;

	if (!is_call(e) || length == 0)
		return false;
	while (i < h->threads.n && i < LOCK_THREADS &&
	    (i == e->thread ||
		in_calls(h, &h->threads.v[i], e) < length - length / 2))
		i++;
	if (i == h->threads.n || i == LOCK_THREADS)
		return false;
	/* last, as the median is expensive */
	median = host_median_of_name(h, e->name);
	return median >= 0 && length / 3 >= median;
}
