/* SPDX-License-Identifier: MIT */
/* The time of a thread, part by part. */
#include "trace/host.h"

uint32_t
host_last_over(const struct host_event *v, uint32_t event, int64_t ns)
{
	for (;;) {
		uint32_t up = v[event].up, jump = v[event].jump;

		if (jump != HOST_NONE && v[jump].end_ns <= ns)
			event = jump;
		else if (up != HOST_NONE && v[up].end_ns <= ns)
			event = up;
		else
			return event;
	}
}

/* The innermost event open at a time, from one with time of its own, or
 * HOST_NONE, that began by then. */
static inline uint32_t
open_at(const struct host_event *v, uint32_t event, int64_t ns)
{
	uint32_t up;

	if (event == HOST_NONE || v[event].end_ns > ns)
		return event;
	up = v[event].up;
	if (LIKELY(up == HOST_NONE || v[up].end_ns > ns))
		return up;
	return v[host_last_over(v, up, ns)].up;
}

struct host_parts
host_parts_of(
    const struct host *h, const struct host_thread *t, int64_t from, int64_t to)
{
	const struct host_event *v = h->events.v + t->first;
	uint32_t event = HOST_NONE;
	size_t n;

	bisect(n, t->n, mid, v[mid].start_ns <= from);
	if (n > 0) {
		event = t->first + (uint32_t)n - 1;
		if (!h->events.v[event].has_time)
			event = h->events.v[event].up;
	}
	return (struct host_parts){ .end_ns = from,
		.event = event,
		.v = h->events.v,
		.next = t->first + (uint32_t)n,
		.last = t->first + t->n,
		.to = to };
}

bool
host_parts_next(struct host_parts *p)
{
	const struct host_event *v = p->v;
	const int64_t start = p->end_ns;
	uint32_t next = p->next, last = p->last, event = p->event;
	int64_t end = p->to;

	if (start >= end)
		return false;
	for (; next < last && v[next].start_ns <= start; next++)
		if (v[next].has_time)
			event = next;
	event = open_at(v, event, start);
	p->cause = CAUSE_NOTHING;
	if (event != HOST_NONE) {
		end = v[event].end_ns < end ? v[event].end_ns : end;
		p->cause = v[event].cause;
	}
	for (; next < last && v[next].start_ns < end; next++)
		if (v[next].has_time) {
			end = v[next].start_ns;
			break;
		}
	p->start_ns = start;
	p->end_ns = end;
	p->next = next;
	p->event = event;
	return true;
}

uint32_t
host_blocked_in(const struct host *h, int64_t from, int64_t to)
{
	uint32_t found = HOST_NONE;
	int64_t most = 0;

	for (size_t i = 0; i < h->threads.n; i++) {
		const struct host_thread *t = &h->threads.v[i];
		struct host_parts at = host_parts_of(h, t, from, to);

		if (t->nlaunched == 0) /* nor do later ones */
			break;
		while (host_parts_next(&at))
			if ((at.cause == CAUSE_SYNC ||
				at.cause == CAUSE_COPY_BLOCK) &&
			    at.end_ns - at.start_ns > most) {
				most = at.end_ns - at.start_ns;
				found = at.event;
			}
	}
	return found;
}
