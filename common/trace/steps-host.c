/* SPDX-License-Identifier: MIT */
/* The steps of a source in memory. */
#include "trace/host.h"
#include "trace/steps.h"

static void
add_markers(
    struct steps *s, const struct host *h, const struct str *globs, size_t n)
{
	for (size_t k = 0; k < h->annotations.n; k++) {
		uint32_t i = h->annotations.v[k];
		const struct host_event *e = &h->events.v[i];
		struct step_marker m = { 0 };
		const uint64_t *number;
		struct str name = dict_get(h->dict, e->name);

		if (n > 0 && !str_glob_any(globs, n, name))
			continue;
		m.is_run = e->is_hlo;
		m.is_step = n == 0 && e->is_step;
		if (m.is_run && !m.is_step && n == 0)
			continue;
		number = map_get(&h->step_numbers, uid_hash(e->uid));
		if (!steps_marker_of(s, name, &m) && n == 0 && number == NULL)
			continue;
		if (number != NULL && m.family >= STEP_TRACED &&
		    m.family <= STEP_RUN)
			m.number = (int64_t)*number;
		if (n > 0)
			m.family = STEP_NAMED;
		m.start_ns = e->start_ns;
		m.end_ns = e->end_ns;
		m.order = i;
		m.pid = *host_pid(h, e);
		m.thread = e->thread;
		m.event = i;
		m.is_slowest = n == 0 && e->is_slowest;
		vec_push(&s->markers, m);
	}
}

/* Those inferred by tl-tree. */
static void
add_inferred(struct steps *s, const struct host *h)
{
	for (size_t i = 0; i < h->steps.n; i++) {
		const struct host_step *w = &h->steps.v[i];
		const uint64_t *thread = map_get(&h->thread_of, w->track);
		struct step_marker m = { .start_ns = w->start_ns,
			.end_ns = w->end_ns,
			.number = w->number,
			.order = i,
			.event = STEPS_NONE,
			.iteration = STEPS_NONE,
			.family = STEP_INFERRED,
			.is_step = true,
			.is_slowest = w->is_slowest,
			.is_inferred = true };

		if (thread == NULL)
			continue;
		m.thread = (uint32_t)*thread;
		m.pid = h->dict->tracks.v[w->track].pid;
		s->said = w->said;
		vec_push(&s->markers, m);
	}
}

/* No steps: from the start of the first GPU event to the end of the last. */
static void
take_whole(struct steps *s, const struct host *h)
{
	struct step_window w = { .start_ns = INT64_MAX,
		.end_ns = INT64_MIN,
		.marker = STEPS_NONE,
		.iteration = STEPS_NONE,
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
	if (nglobs == 0 && !s->only_marked)
		add_inferred(s, h);
	for (size_t i = 0; i < h->gpus.n; i++) {
		uint32_t launch = h->gpus.v[i].launch;

		if (launch != HOST_NONE)
			steps_launched(s, h->events.v[launch].thread,
			    h->events.v[launch].start_ns, 1);
	}
	steps_ready(s);
	if (s->list.n == 0 && nglobs == 0 && !s->only_iterations)
		take_whole(s, h);
}

/* Of a process's windows in time; GPU events come by their start. */
static void
find_gpu_in_time(
    struct steps *s, const struct host *h, const struct step_process *p)
{
	int64_t end_ns = INT64_MIN; /* of all that began before the window's */
	size_t at = 0;

	for (uint32_t i = p->first; i < p->first + p->n; i++) {
		struct step_window *w = &s->list.v[i];

		for (; at < h->gpus.n && h->gpus.v[at].start_ns < w->end_ns;
		     at++)
			if (h->gpus.v[at].end_ns > end_ns)
				end_ns = h->gpus.v[at].end_ns;
		w->has_gpu = end_ns > w->start_ns;
	}
}

void
steps_find_gpu(struct steps *s, const struct host *h)
{
	for (size_t i = 0; i < s->processes.n; i++)
		find_gpu_in_time(s, h, &s->processes.v[i]);
	for (size_t i = 0; i < h->gpus.n; i++) {
		uint32_t launch = h->gpus.v[i].launch;
		uint32_t w = launch != HOST_NONE ? steps_window_of(s, h, launch)
						 : STEPS_NONE;

		if (w != STEPS_NONE)
			s->list.v[w].has_gpu = true;
	}
}

uint32_t
steps_window_of(const struct steps *s, const struct host *h, uint32_t event)
{
	const struct host_event *e = &h->events.v[event];
	const struct step_window *w;

	if (s->list.n > 0 && s->list.v[0].what == STEP_IS_WHOLE)
		return 0;
	w = steps_at(s, host_pid(h, e), e->start_ns);
	return w != NULL ? (uint32_t)(w - s->list.v) : STEPS_NONE;
}

uint32_t
steps_module(const struct steps *s, const struct host *h)
{
	return s->are_runs ? h->events.v[s->list.v[0].marker].name
			   : INTERN_NONE;
}

bool
steps_is_marker(const struct steps *s, const struct host *h, uint32_t event)
{
	const struct host_event *e = &h->events.v[event];
	uint32_t w;

	if (e->kind != KIND_ANNOTATION)
		return false;
	if (e->is_step || steps_is_name(dict_get(h->dict, e->name)))
		return true;
	w = steps_window_of(s, h, event);
	return w != STEPS_NONE && s->list.v[w].marker == event;
}
