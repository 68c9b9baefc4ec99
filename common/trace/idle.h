/* SPDX-License-Identifier: MIT */
/*
 * idle: what the host did in a span of time, and so why the GPU was idle.
 *
 * A gap of the GPU ends with a piece of work; the thread that launched it is
 * the one that let the GPU wait. What this thread was in for longest, from the
 * gap's begin to the end of that launch, by the innermost of its events, is
 * the gap's cause.
 *
 *	GPU     ####______________####
 *	thread    [ step              ]
 *	             [ load   ]  [launch]   cause: load
 *
 * One pass over a stream, of which each event of the host and each piece of
 * GPU work is told once; questions come after the last one:
 *
 *	struct idle *idle = idle_new();
 *
 *	idle_clear(idle, in->dict);          for each source
 *	while (stream_next(in) == ITEM_EVENT) {
 *		if (event_is(&in->ev, KINDS_GPU))
 *			idle_gpu(idle, &in->ev);
 *		else if (event_is(&in->ev, KINDS_HOST))
 *			idle_host(idle, &in->ev);
 *	}
 *	idle_explain(idle, &busy);              spans_normalise()d
 *	name = idle_cause(idle, from, to, &ns);
 *
 * Memory: 64 bytes an event of the host, 24 more a launch, 16 a piece of GPU
 * work.
 */
#ifndef TL_TRACE_IDLE_H
#define TL_TRACE_IDLE_H

#include "stream/stream.h"
#include "trace/span.h"

struct idle;

struct idle *idle_new(void);
/* Forgets all, for the next source, whose events have these strings. */
void idle_clear(struct idle *h, const struct dict *st);
void idle_free(struct idle *h);

/* An event of the host, a piece of work of the GPU; what lacks a time, a
 * duration or a name is passed over. */
void idle_host(struct idle *h, const struct event *ev);
void idle_gpu(struct idle *h, const struct event *ev);

/*
 * After the last event, before any question: finds the causes of the gaps
 * between these spans, in which the GPU worked.
 */
void idle_explain(struct idle *h, const struct spans *gpu);

/* What a thread was in, as the innermost of its events. */
struct idle_act {
	uint32_t name; /* in the dictionary */
	enum kind kind;
	int64_t ns; /* in the span; sums of several events */
};

/*
 * What a thread, see dict_thread(), did from .. to: the acts that took
 * longest, longest first, at most most of them; how many there are. What is
 * left of the span it was in nothing that was recorded.
 */
size_t idle_acts(struct idle *h, uint32_t thread, int64_t from, int64_t to,
    struct idle_act *acts, size_t most);

/*
 * The largest cause of the gaps that lie in from .. to, its sum over these in
 * *ns; p is NULL where none is known. Borrowed from the strings.
 */
struct str idle_cause(struct idle *h, int64_t from, int64_t to, int64_t *ns);

#endif
