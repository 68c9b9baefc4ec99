/* SPDX-License-Identifier: MIT */
/* Finds threads that rest until another thread has done something. */
#include "cmd/tl-critical/critical.h"

#define PAUSE_NS 100000 /* shorter pauses are between ops */

/* The thread has nothing to do, or waits. */
static bool
is_rest(const struct host_event *e)
{
	return e->cause == CAUSE_WAIT || e->cause == CAUSE_ANNOTATED ||
	    (e->cause == CAUSE_SYNC && !is_call(e)) ||
	    (e->cause == CAUSE_AUTOGRAD && e->kind == KIND_PYTHON);
}

/* The event asks for a batch, which a worker may load. */
static bool
asks_for_data(const struct host *h, const struct host_event *e)
{
	return e->cause == CAUSE_DATA && e->kind != KIND_ANNOTATION &&
	    str_find(dict_get(h->dict, e->name), STR("__next__"), false) >= 0;
}

/* ---- parts of a thread's time ---- */

/* The innermost event at a time, or HOST_NONE. */
static uint32_t
event_at(const struct host *h, const struct host_thread *t, int64_t ns)
{
	struct host_parts p = host_parts_of(h, t, ns, ns + 1);

	return host_parts_next(&p) ? p.event : HOST_NONE;
}

/* The segment that ends at a time: its innermost event, or none, and its
 * start. */
static struct host_segment
part_before(const struct host *h, const struct host_thread *t, int64_t ns)
{
	struct host_segment s = { INT64_MIN, ns, HOST_NONE };
	const struct host_event *v = h->events.v;
	size_t n;

	bisect(n, t->n, mid, v[t->first + mid].start_ns < ns);
	if (n > 0)
		s.event = host_last_with_time(v, t->first + (uint32_t)n - 1);
	if (s.event == HOST_NONE)
		return s;
	s.start_ns = v[s.event].start_ns;
	if (v[s.event].end_ns < ns) {
		uint32_t over = host_last_over(v, s.event, ns - 1);

		s.start_ns = v[over].end_ns;
		s.event = v[over].up;
	}
	return s;
}

/* The node of a thread at which a segment begins. */
static bool
node_at_start(const struct recording *r, const struct host_thread *t,
    const struct host_segment *s, uint32_t *node)
{
	const struct host_event *v = r->host.events.v;
	uint32_t before;

	if (v[s->event].start_ns == s->start_ns) {
		*node = node_of_start(number_of_host(r, s->event));
		return true;
	}
	before = part_before(&r->host, t, s->start_ns).event;
	if (before == HOST_NONE || v[before].end_ns != s->start_ns)
		return false;
	*node = node_of_end(number_of_host(r, before));
	return true;
}

/* The node at which it ends. */
static bool
node_at_end(const struct recording *r, const struct host_thread *t,
    const struct host_segment *s, uint32_t *node)
{
	const struct host_event *v = r->host.events.v;
	uint32_t next;

	if (v[s->event].end_ns == s->end_ns) {
		*node = node_of_end(number_of_host(r, s->event));
		return true;
	}
	next = event_at(&r->host, t, s->end_ns);
	if (next == HOST_NONE || v[next].start_ns != s->end_ns)
		return false;
	*node = node_of_start(number_of_host(r, next));
	return true;
}

/* ---- what a thread did in a pause of another ---- */

/* A pause of a thread, and what may end it. */
struct awaited {
	struct recording *r;
	const struct pause *pause;
	bool says_so;  /* an event says that it waits */
	bool for_data; /* only data loading may end it */
};

static bool
takes(const struct awaited *w, const struct host_thread *t,
    const struct host_event *e)
{
	if (is_rest(e) || (w->for_data && e->cause != CAUSE_DATA))
		return false;
	return t->nlaunched > 0 || w->says_so ||
	    (e->cause != CAUSE_SYNC && e->cause != CAUSE_POLL);
}

static int64_t
busy_of(const struct host *h, const struct host_parts *p, int64_t until)
{
	int64_t end = p->end_ns < until ? p->end_ns : until;

	return p->event == HOST_NONE || is_rest(&h->events.v[p->event]) ||
		end <= p->start_ns
	    ? 0
	    : end - p->start_ns;
}

static void
find_busy(struct recording *r)
{
	const struct host *h = &r->host;

	r->busy_ns =
	    xcalloc(h->events.n + h->threads.n + 1, sizeof *r->busy_ns);
	for (size_t i = 0; i < h->threads.n; i++) {
		const struct host_thread *t = &h->threads.v[i];
		struct host_parts p = host_parts_of(h, t, INT64_MIN, INT64_MAX);
		int64_t ns = 0;

		if (!host_parts_next(&p))
			continue;
		for (uint32_t k = t->first; k < t->first + t->n; k++) {
			int64_t start = h->events.v[k].start_ns;

			while (p.end_ns <= start) {
				ns += busy_of(h, &p, INT64_MAX);
				if (!host_parts_next(&p))
					break;
			}
			r->busy_ns[k] = ns + busy_of(h, &p, start);
		}
		do
			ns += busy_of(h, &p, INT64_MAX);
		while (host_parts_next(&p));
		r->busy_ns[h->events.n + i] = ns;
	}
}

/* Time in which a thread was busy, from its first event up to a time. */
static int64_t
busy_until(const struct recording *r, const struct host_thread *t, int64_t ns)
{
	const struct host_event *v = r->host.events.v + t->first;
	struct host_parts p;
	int64_t sum;
	size_t n;

	bisect(n, t->n, mid, v[mid].start_ns <= ns);
	if (n == 0)
		return 0;
	sum = r->busy_ns[t->first + n - 1];
	p = host_parts_of(&r->host, t, v[n - 1].start_ns, ns);
	while (host_parts_next(&p))
		sum += busy_of(&r->host, &p, ns);
	return sum;
}

/*
 * Whether the thread worked for most of the pause. An unexplained pause proves
 * no more, a short one not even that.
 */
static bool
fills(const struct awaited *w, const struct host_thread *t)
{
	const struct pause *p = w->pause;
	const struct host *h = &w->r->host;
	int64_t length = p->end_ns - p->start_ns, ns;

	if (w->r->busy_ns == NULL)
		find_busy(w->r);
	/* a cheap test that most threads fail */
	ns = w->r->busy_ns[h->events.n + (size_t)(t - h->threads.v)];
	if (ns < length - ns)
		return false;
	ns = busy_until(w->r, t, p->end_ns) - busy_until(w->r, t, p->start_ns);
	return ns >= length - ns;
}

/*
 * When in the pause the other thread was done. Either the pause says that it
 * waits, or the other thread filled it and rests at its end.
 */
static bool
find_done(const struct awaited *w, const struct host_thread *t, int64_t *ns,
    uint32_t *node)
{
	const struct host *h = &w->r->host;
	const struct pause *p = w->pause;
	struct host_segment s;

	if (!w->says_so && !fills(w, t))
		return false;
	s = part_before(h, t, p->end_ns);
	/* an event that is still open at the pause's end */
	if (s.event != HOST_NONE && s.event == event_at(h, t, p->end_ns)) {
		if (takes(w, t, &h->events.v[s.event])) {
			*ns = s.start_ns;
			return *ns > p->start_ns &&
			    node_at_start(w->r, t, &s, node);
		}
		s = part_before(h, t, s.start_ns);
	}
	for (; s.end_ns > p->start_ns && s.start_ns > INT64_MIN;
	     s = part_before(h, t, s.start_ns))
		if (s.event != HOST_NONE &&
		    takes(w, t, &h->events.v[s.event])) {
			*ns = s.end_ns;
			return node_at_end(w->r, t, &s, node);
		}
	return false;
}

bool
awaited_by_thread(struct recording *r, const struct pause *p, uint32_t *node)
{
	const struct host *h = &r->host;
	struct awaited w = { .r = r, .pause = p };
	struct host_busy busy;
	int64_t latest = p->start_ns, ns;
	uint32_t found = HOST_NONE;

	if (p->start_ns == p->end_ns)
		return false;
	if (p->owner != HOST_NONE) {
		const struct host_event *e = &h->events.v[p->owner];

		w.for_data = asks_for_data(h, e);
		w.says_so =
		    w.for_data || (is_rest(e) && e->cause != CAUSE_ANNOTATED);
		if (!w.for_data && !is_rest(e))
			return false;
	}
	if (!w.says_so && p->end_ns - p->start_ns < PAUSE_NS)
		return false;
	busy = host_busy(&r->host, p->start_ns, p->end_ns);
	for (uint32_t i = host_next_busy(h, &busy, 0); i != HOST_NONE;
	     i = host_next_busy(h, &busy, i + 1))
		if (i != p->thread &&
		    find_done(&w, &h->threads.v[i], &ns, &found) &&
		    ns > latest) {
			latest = ns;
			*node = found;
		}
	return latest > p->start_ns;
}
