/* SPDX-License-Identifier: MIT */
#include "trace/steps.h"
#include "trace/step.h"

/* What an annotation must be called to be a step. */
enum rule { BY_GLOB, BY_PROFILER, BY_SERVING, RULE_COUNT };

struct finder {
	struct steps *s;
	const struct host *h;
	const struct str *globs;
	size_t nglobs;
	enum rule rule;
};

/* Whether an event is a step by the rule, and its number if its name has it. */
static bool
is_marker(const struct finder *f, const struct host_event *e, int64_t *number)
{
	struct str name;

	if (e->kind != KIND_ANNOTATION)
		return false;
	name = dict_get(f->h->dict, e->name);
	switch (f->rule) {
	case BY_PROFILER: return step_of_name(name, number);
	case BY_SERVING: return serving_step_of(name).tier < 2;
	default: break;
	}
	for (size_t i = 0; i < f->nglobs; i++)
		if (str_glob(f->globs[i], name))
			return true;
	return false;
}

static struct key
pid_of(const struct host *h, const struct host_thread *t)
{
	return h->dict->tracks.v[t->track].pid;
}

/* ---- whose steps ---- */

/* GPU events that a thread launched inside its markers; -1: it has none. */
static int64_t
launched_in_markers(const struct finder *f, const struct host_thread *t)
{
	int64_t n = -1, end = INT64_MIN, number;

	for (uint32_t i = t->first; i < t->first + t->n; i++) {
		const struct host_event *e = &f->h->events.v[i];

		if (is_marker(f, e, &number)) {
			n = n < 0 ? 0 : n;
			end = e->end_ns > end ? e->end_ns : end;
		} else if (e->start_ns < end) {
			n += e->ngpu;
		}
	}
	return n;
}

/* The processes with steps, each with the thread that has them. */
static void
find_processes(struct finder *f)
{
	const struct host *h = f->h;
	VEC(int64_t) most = { 0 };

	f->s->processes.n = 0;
	for (uint32_t i = 0; i < h->threads.n; i++) {
		const struct host_thread *t = &h->threads.v[i];
		struct key pid = pid_of(h, t);
		int64_t n = launched_in_markers(f, t);
		size_t p = 0;

		if (n < 0)
			continue;
		while (p < f->s->processes.n &&
		    !key_eq(f->s->processes.v[p].pid, pid))
			p++;
		if (p == f->s->processes.n) {
			vec_push(&f->s->processes,
			    ((struct step_process){ .pid = pid, .thread = i }));
			vec_push(&most, n);
		} else if (n > most.v[p]) {
			f->s->processes.v[p].thread = i;
			most.v[p] = n;
		}
	}
	vec_free(&most);
}

/* ---- windows ---- */

/* The next window begins: what was open ends, and what is between them. */
static void
close_window(const struct finder *f, size_t first, int64_t start_ns)
{
	struct steps *s = f->s;
	struct step_window *last, rest;

	if (s->list.n == first)
		return;
	last = &s->list.v[s->list.n - 1];
	last->is_cut = last->end_ns > start_ns;
	if (last->is_cut || f->rule == BY_PROFILER) {
		last->end_ns = start_ns;
	} else if (last->end_ns < start_ns) {
		rest = *last;
		rest.what = STEP_IS_BETWEEN;
		rest.start_ns = last->end_ns;
		rest.end_ns = start_ns;
		vec_push(&s->list, rest);
	}
}

/* The windows of a process; the number of its steps. */
static size_t
find_windows(const struct finder *f, struct step_process *p)
{
	const struct host *h = f->h;
	const struct host_thread *t = &h->threads.v[p->thread];
	size_t nsteps = 0;
	int64_t end = INT64_MIN;

	p->first = (uint32_t)f->s->list.n;
	for (uint32_t i = t->first; i < t->first + t->n; i++) {
		const struct host_event *e = &h->events.v[i];
		int64_t number = (int64_t)nsteps + 1;

		if (!is_marker(f, e, &number) || e->end_ns <= end)
			continue;
		end = e->end_ns;
		close_window(f, p->first, e->start_ns);
		vec_push(&f->s->list,
		    ((struct step_window){ .start_ns = e->start_ns,
			.end_ns = e->end_ns,
			.number = number,
			.marker = i }));
		nsteps++;
	}
	p->n = (uint32_t)f->s->list.n - p->first;
	return nsteps;
}

/* Whether a rule finds this many steps in a process. */
static bool
try_rule(struct finder *f, enum rule rule, size_t least)
{
	size_t most = 0;

	f->rule = rule;
	f->s->list.n = 0;
	find_processes(f);
	for (size_t i = 0; i < f->s->processes.n; i++) {
		size_t n = find_windows(f, &f->s->processes.v[i]);

		most = n > most ? n : most;
	}
	return most >= least;
}

/* No steps: from the first GPU event's start to the last one's end. */
static void
take_whole(struct steps *s, const struct host *h)
{
	struct step_window w = { .start_ns = INT64_MAX,
		.end_ns = INT64_MIN,
		.marker = HOST_NONE,
		.what = STEP_IS_WHOLE };

	s->list.n = s->processes.n = 0;
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
	struct finder f = { s, h, globs, nglobs, BY_GLOB };
	bool has_steps, is_named = nglobs > 0;

	if (is_named)
		has_steps = try_rule(&f, BY_GLOB, 1);
	else
		has_steps = try_rule(&f, BY_PROFILER, 2) ||
		    try_rule(&f, BY_SERVING, 1) || try_rule(&f, BY_PROFILER, 1);
	if (!has_steps && !is_named)
		take_whole(s, h);
	s->process_of.n = 0;
	for (size_t i = 0; i < h->threads.n; i++) {
		struct key pid = pid_of(h, &h->threads.v[i]);
		uint32_t p = 0;

		while (has_steps && p < s->processes.n &&
		    !key_eq(s->processes.v[p].pid, pid))
			p++;
		vec_push(&s->process_of, p < s->processes.n ? p : HOST_NONE);
	}
}

uint32_t
steps_window_of(const struct steps *s, const struct host *h, uint32_t event)
{
	const struct host_event *e = &h->events.v[event];
	uint32_t process = s->process_of.v[e->thread];
	const struct step_process *p;
	const struct step_window *v;
	size_t at;

	if (process == HOST_NONE)
		return HOST_NONE;
	p = &s->processes.v[process];
	v = s->list.v + p->first;
	if (v->what == STEP_IS_WHOLE)
		return p->first;
	bisect(at, p->n, mid, v[mid].start_ns <= e->start_ns);
	return at > 0 && e->start_ns < v[at - 1].end_ns
	    ? p->first + (uint32_t)at - 1
	    : HOST_NONE;
}

void
steps_free(struct steps *s)
{
	vec_free(&s->list);
	vec_free(&s->processes);
	vec_free(&s->process_of);
}
