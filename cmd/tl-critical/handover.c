/* SPDX-License-Identifier: MIT */
/* What one thread leaves to another that was at rest until then. */
#include "cmd/tl-critical/critical.h"

#define PAUSE_NS 100000   /* shorter ones are between ops */
#define THREADS_ASKED 256 /* at most, what one at rest waits for */

/* It has nothing to do, or waits. */
static bool
is_rest(const struct host_event *e)
{
	return e->cause == CAUSE_WAIT || e->cause == CAUSE_ANNOTATED ||
	    (e->cause == CAUSE_AUTOGRAD && e->kind == KIND_PYTHON);
}

/* It asks for a batch, which a worker may load. */
static bool
asks_for_data(const struct host *h, const struct host_event *e)
{
	return e->cause == CAUSE_DATA && e->kind != KIND_ANNOTATION &&
	    str_find(dict_get(h->dict, e->name), STR("__next__"), false) >= 0;
}

/* The node of a thread at which one of its segments begins. */
static bool
node_at_start(const struct recording *r, const struct host_segment *v, size_t i,
    uint32_t *node)
{
	const struct host_event *events = r->host.events.v;

	if (events[v[i].event].start_ns == v[i].start_ns)
		*node = node_of_start(number_of_host(r, v[i].event));
	else if (i > 0 && v[i - 1].end_ns == v[i].start_ns &&
	    events[v[i - 1].event].end_ns == v[i].start_ns)
		*node = node_of_end(number_of_host(r, v[i - 1].event));
	else
		return false;
	return true;
}

/* The same of its end. */
static bool
node_at_end(const struct recording *r, const struct host_segment *v, size_t n,
    size_t i, uint32_t *node)
{
	const struct host_event *events = r->host.events.v;

	if (events[v[i].event].end_ns == v[i].end_ns)
		*node = node_of_end(number_of_host(r, v[i].event));
	else if (i + 1 < n && v[i + 1].start_ns == v[i].end_ns &&
	    events[v[i + 1].event].start_ns == v[i].end_ns)
		*node = node_of_start(number_of_host(r, v[i + 1].event));
	else
		return false;
	return true;
}

/* What a pause of a thread waits for. */
struct awaited {
	const struct recording *r;
	const struct pause *pause;
	bool says_so;  /* not only because nothing was recorded */
	bool for_data; /* only from data loading */
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

void
handover_ready(struct recording *r)
{
	const struct host *h = &r->host;

	r->busy_ns = xmalloc(h->segs.n * sizeof *r->busy_ns + 1);
	for (size_t i = 0; i < h->threads.n; i++) {
		const struct host_thread *t = &h->threads.v[i];
		int64_t ns = 0;

		for (uint32_t k = t->first_seg; k < t->first_seg + t->nsegs;
		     k++) {
			const struct host_segment *v = &h->segs.v[k];

			r->busy_ns[k] = ns;
			if (!is_rest(&h->events.v[v->event]))
				ns += v->end_ns - v->start_ns;
		}
	}
}

/* How long a thread was not at rest, from its first segment up to a time. */
static int64_t
busy_until(const struct recording *r, const struct host_thread *t, int64_t ns)
{
	const struct host *h = &r->host;
	const struct host_segment *v;
	size_t i = host_segment_at(h, t, ns);
	int64_t part;

	if (t->nsegs == 0)
		return 0;
	i = i < t->nsegs ? i : t->nsegs - 1;
	v = &h->segs.v[t->first_seg + i];
	part = ns < v->end_ns ? ns - v->start_ns : v->end_ns - v->start_ns;
	return r->busy_ns[t->first_seg + i] +
	    (part > 0 && !is_rest(&h->events.v[v->event]) ? part : 0);
}

/*
 * It was at work for most of the pause. That is all that a hole says, and a
 * short one not even that.
 */
static bool
fills(const struct awaited *w, const struct host_thread *t)
{
	const struct pause *p = w->pause;
	int64_t length = p->end_ns - p->start_ns, ns;

	if (length < PAUSE_NS)
		return false;
	ns = busy_until(w->r, t, p->end_ns) - busy_until(w->r, t, p->start_ns);
	return ns >= length - ns;
}

/*
 * When in the pause a thread had done what it did. Either the pause says that
 * it waits; or the thread is at rest again when it ends, and filled it.
 */
static bool
find_done(const struct awaited *w, const struct host_thread *t, int64_t *ns,
    uint32_t *node)
{
	const struct host *h = &w->r->host;
	const struct host_segment *v = h->segs.v + t->first_seg;
	const struct pause *p = w->pause;
	size_t i = host_segment_at(h, t, p->end_ns);

	if (!w->says_so && !fills(w, t))
		return false;
	if (i < t->nsegs && v[i].start_ns < p->end_ns &&
	    takes(w, t, &h->events.v[v[i].event])) {
		*ns = v[i].start_ns;
		return w->says_so && *ns > p->start_ns &&
		    node_at_start(w->r, v, i, node);
	}
	while (i > 0 && v[i - 1].end_ns > p->start_ns)
		if (takes(w, t, &h->events.v[v[--i].event])) {
			*ns = v[i].end_ns;
			return node_at_end(w->r, v, t->nsegs, i, node);
		}
	return false;
}

bool
awaited_by_thread(
    const struct recording *r, const struct pause *p, uint32_t *node)
{
	const struct host *h = &r->host;
	struct awaited w = { .r = r, .pause = p };
	int64_t latest = p->start_ns, ns;
	uint32_t found;

	if (p->owner != HOST_NONE) {
		const struct host_event *e = &h->events.v[p->owner];

		w.for_data = asks_for_data(h, e);
		w.says_so = w.for_data || e->cause == CAUSE_WAIT ||
		    (is_rest(e) && e->kind == KIND_PYTHON);
		if (!w.for_data && !is_rest(e))
			return false;
	}
	for (uint32_t i = 0; i < h->threads.n && i < THREADS_ASKED; i++)
		if (i != p->thread &&
		    find_done(&w, &h->threads.v[i], &ns, &found) &&
		    ns > latest) {
			latest = ns;
			*node = found;
		}
	return latest > p->start_ns;
}
