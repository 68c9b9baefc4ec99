/* SPDX-License-Identifier: MIT */
/* The steps of a source that is kept whole. */
#include "trace/host.h"
#include "trace/steps.h"

static const struct key *
pid_of(const struct host *h, const struct host_event *e)
{
	return &h->dict->tracks.v[h->threads.v[e->thread].track].pid;
}

static void
add_markers(
    struct steps *s, const struct host *h, const struct str *globs, size_t n)
{
	for (uint32_t i = 0; i < h->events.n; i++) {
		const struct host_event *e = &h->events.v[i];
		struct step_marker m = { .family = STEP_NAMED };
		struct str name;

		if (e->kind != KIND_ANNOTATION)
			continue;
		name = dict_get(h->dict, e->name);
		if (n > 0 ? !str_glob_any(globs, n, name)
			  : !step_marker_of(name, &m))
			continue;
		m.start_ns = e->start_ns;
		m.end_ns = e->end_ns;
		m.order = i;
		m.pid = *pid_of(h, e);
		m.thread = e->thread;
		m.event = i;
		vec_push(&s->markers, m);
	}
}

/* GPU events that a thread launched inside its markers. */
static int64_t
launched(void *arg, const struct step_marker *v, size_t n)
{
	const struct host *h = arg;
	const struct host_thread *t = &h->threads.v[v->thread];
	int64_t count = 0, end = INT64_MIN;
	size_t at = 0;

	for (uint32_t i = t->first; i < t->first + t->n; i++) {
		const struct host_event *e = &h->events.v[i];

		for (; at < n && v[at].start_ns <= e->start_ns; at++)
			end = v[at].end_ns > end ? v[at].end_ns : end;
		if (e->start_ns < end)
			count += e->ngpu;
	}
	return count;
}

/* No steps: from the first GPU event's start to the last one's end. */
static void
take_whole(struct steps *s, const struct host *h)
{
	struct step_window w = { .start_ns = INT64_MAX,
		.end_ns = INT64_MIN,
		.marker = STEPS_NONE,
		.what = STEP_IS_WHOLE };

	for (size_t i = 0; i < h->gpus.n; i++) {
		const struct host_gpu *k = &h->gpus.v[i];

		w.start_ns =
		    k->start_ns < w.start_ns ? k->start_ns : w.start_ns;
		w.end_ns = k->end_ns > w.end_ns ? k->end_ns : w.end_ns;
	}
	if (h->gpus.n == 0)
		return;
	vec_push(&s->list, w);
	vec_push(&s->processes, ((struct step_process){ .n = 1 }));
}

void
steps_find(struct steps *s, const struct host *h, const struct str *globs,
    size_t nglobs)
{
	steps_clear(s);
	add_markers(s, h, globs, nglobs);
	steps_ready(s, launched, (void *)(uintptr_t)h);
	if (s->list.n == 0 && nglobs == 0)
		take_whole(s, h);
}

uint32_t
steps_window_of(const struct steps *s, const struct host *h, uint32_t event)
{
	const struct host_event *e = &h->events.v[event];
	const struct step_window *w;

	if (s->list.n > 0 && s->list.v[0].what == STEP_IS_WHOLE)
		return 0;
	w = steps_at(s, pid_of(h, e), e->start_ns);
	return w != NULL ? (uint32_t)(w - s->list.v) : STEPS_NONE;
}
