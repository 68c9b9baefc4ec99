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

/* How many of n events began by a time: nearly always all but a few. */
static size_t
begun_by(const struct host_event *v, size_t n, int64_t ns)
{
	size_t back = 1, first, at;

	while (back < n && v[n - back].start_ns > ns)
		back *= 2;
	first = back < n ? n - back : 0;
	bisect(at, n - first, mid, v[first + mid].start_ns <= ns);
	return first + at;
}

struct host_parts
host_parts_before(const struct host *h, const struct host_thread *t,
    uint32_t before, int64_t from, int64_t to)
{
	const struct host_event *v = h->events.v;
	uint32_t next = t->first +
	    (uint32_t)begun_by(v + t->first, before - t->first, from);
	uint32_t event = next > t->first ? next - 1 : HOST_NONE;

	if (event != HOST_NONE && !v[event].has_time)
		event = v[event].up;
	return (struct host_parts){ .end_ns = from,
		.event = event,
		.v = v,
		.next = next,
		.last = t->first + t->n,
		.to = to };
}

struct host_parts
host_parts_of(
    const struct host *h, const struct host_thread *t, int64_t from, int64_t to)
{
	return host_parts_before(h, t, t->first + t->n, from, to);
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
