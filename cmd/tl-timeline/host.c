/* SPDX-License-Identifier: MIT */
/*
 * --clock cpu: how long each host thread worked; also answers for traces
 * without GPU work.
 */
#include <stdlib.h>

#include "cmd/tl-timeline/timeline.h"

static unsigned
set_of(const struct event *ev)
{
	switch (ev->shape->kind) {
	case KIND_OP: return SET_OP;
	case KIND_PYTHON: return SET_PYTHON;
	case KIND_SLICE: return SET_SLICE;
	default: return SET_CALL;
	}
}

void
host_take(struct timeline *g, const struct event *ev)
{
	struct sink_source *o = &g->sink.sources.list.v[g->sink.source];
	struct slice *thread;
	int64_t end;

	if (!event_is(ev, KINDS_WORK) || (ev->shape->has & HAS_TS) == 0 ||
	    ev->dur_ns <= 0)
		return;
	if (!num_add(ev->ts_ns, ev->dur_ns, &end))
		die("%s: event %" PRIu64 ": its end is out of range", o->path,
		    ev->uid.id);
	thread = slices_find(g, o->no,
	    (struct key){ dict_thread(g->sink.dict, ev->track), KEY_INT });
	thread->nevents++;
	o->nchosen++;
	spans_add(&thread->sets[set_of(ev)], ev->ts_ns, end);
}

static void
widen(struct span *whole, const struct spans *s)
{
	if (s->n == 0)
		return;
	if (whole->start > s->v[0].start)
		whole->start = s->v[0].start;
	if (whole->end < s->v[s->n - 1].end)
		whole->end = s->v[s->n - 1].end;
}

/* What was recorded on a source's host: the kinds, and from when to when. */
struct recorded {
	struct span time;
	bool has[HOST_SETS];
};

/* A thread's row, but for the source's total, to which it adds. */
static void
add_thread(struct timeline *g, struct slice *slice, struct recorded *whole)
{
	uint32_t number = (uint32_t)slice->key.n;
	const struct track *track = &g->sink.dict->tracks.v[number];
	struct row *r = sink_add(&g->sink);
	struct spans all = { 0 }, sum = { 0 };

	r->rec =
	    (struct sink_record){ { .id = number }, slice->source, number, 0 };
	r->pid = track->pid;
	r->tid = track->tid;
	r->count = (int64_t)slice->nevents;
	for (int i = 0; i < HOST_SETS; i++) {
		struct spans empty = all;

		spans_normalise(&slice->sets[i]);
		widen(&whole->time, &slice->sets[i]);
		whole->has[i] |= slice->sets[i].n > 0;
		spans_union(&sum, &all, &slice->sets[i]);
		all = sum;
		sum = empty;
		r->host_ns[i] = spans_total(&slice->sets[i]);
		spans_free(&slice->sets[i]);
	}
	r->ns = spans_total(&all);
	spans_free(&all);
	spans_free(&sum);
}

void
host_add(struct timeline *g)
{
	struct recorded *wholes =
	    xcalloc(g->sink.sources.list.n + 1, sizeof *wholes);

	for (size_t i = 0; i < g->sink.sources.list.n; i++)
		wholes[i].time = (struct span){ INT64_MAX, INT64_MIN };
	for (size_t i = 0; i < g->slices.n; i++)
		add_thread(g, &g->slices.v[i], &wholes[g->slices.v[i].source]);
	for (size_t i = 0; i < g->sink.records.n; i++) {
		struct row *r = sink_record(&g->sink, i);
		const struct recorded *w = &wholes[r->rec.source];

		r->total_ns = w->time.end - w->time.start;
		/* a kind that no thread has was not recorded */
		for (int k = 0; k < HOST_SETS; k++)
			if (!w->has[k])
				r->host_ns[k] = SINK_NONE;
		r->percent = 100 * (double)r->ns / (double)r->total_ns;
	}
	free(wholes);
}
