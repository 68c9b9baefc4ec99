/* SPDX-License-Identifier: MIT */
/* The steps of a source that is kept whole. */
#include "trace/host.h"
#include "trace/repeat.h"
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

/* No steps: from the first GPU event's start to the last one's end. */
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

/* ---- without markers ---- */

typedef VEC(struct repeat_event) call_list;

static void
add_call(const struct host *h, uint32_t i, uint32_t name, uint64_t order,
    call_list *calls)
{
	const struct host_event *e = &h->events.v[i];

	/* threads are in the order of how much they launch */
	if (key_eq(*host_pid(h, e), *host_pid(h, &h->events.v[0])))
		vec_push(calls,
		    ((struct repeat_event){
			e->start_ns, e->end_ns, order, name, i }));
}

/* Those without another op above. */
static void
list_ops(const struct host *h, call_list *calls)
{
	VEC(bool) in_op = { 0 };

	for (uint32_t i = 0; i < h->events.n; i++) {
		const struct host_event *e = &h->events.v[i];
		bool is_below = e->up != HOST_NONE && in_op.v[e->up];

		vec_push(&in_op, is_below || e->kind == KIND_OP);
		if (e->kind == KIND_OP && !is_below)
			add_call(h, i, e->name, e->uid.id, calls);
	}
	vec_free(&in_op);
}

/* What is launched, by name of the GPU event; without any, the ops. */
static void
list_calls(const struct host *h, call_list *calls)
{
	if (h->gpus.n == 0)
		list_ops(h, calls);
	for (size_t i = 0; i < h->gpus.n; i++) {
		const struct host_gpu *k = &h->gpus.v[i];

		if (k->launch != HOST_NONE)
			add_call(h, k->launch, k->name, k->uid.id, calls);
	}
}

/* A step begins where the call in front of its first one ends. */
static int64_t
border(const call_list *calls, size_t at)
{
	int64_t start;

	if (at == calls->n)
		return calls->v[at - 1].end_ns;
	start = calls->v[at].start_ns;
	return at > 0 && calls->v[at - 1].end_ns < start
	    ? calls->v[at - 1].end_ns
	    : start;
}

/* False: two begin at once, as all that one graph launches does. */
static bool
take_repeats(struct steps *s, const struct host *h, const call_list *calls,
    const struct repeats *r)
{
	const struct host_event *first =
	    &h->events.v[calls->v[r->at.v[0]].event];

	steps_clear(s);
	s->inferred = r->length;
	for (size_t i = 0; i + 1 < r->at.n; i++) {
		struct step_window w = { .start_ns = border(calls, r->at.v[i]),
			.end_ns = border(calls, r->at.v[i + 1]),
			.number = (int64_t)i + 1,
			.marker = STEPS_NONE,
			.iteration = STEPS_NONE };

		if (w.start_ns >= w.end_ns)
			return false;
		vec_push(&s->list, w);
	}
	steps_add_process(s, *host_pid(h, first), first->thread);
	return true;
}

bool
steps_infer(struct steps *s, const struct host *h)
{
	call_list calls = { 0 };
	struct repeats r = { 0 };
	bool found;

	if (s->list.n > 0 && s->list.v[0].what != STEP_IS_WHOLE)
		return false;
	list_calls(h, &calls);
	repeat_events_sort(calls.v, calls.n);
	found = steps_infer_optimizer(s, h, calls.v, calls.n);
	if (!found && repeats_find(&r, calls.v, calls.n)) {
		found = take_repeats(s, h, &calls, &r);
		if (!found) {
			steps_clear(s);
			take_whole(s, h);
		}
	}
	vec_free(&calls);
	repeats_free(&r);
	return found;
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
