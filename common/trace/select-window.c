/* SPDX-License-Identifier: MIT */
/* Windows in time: which are selected, and which is the innermost. */
#include <stdlib.h>

#include "trace/select-inside.h"

void
select_windows_leave(struct select *s)
{
	struct select_windows *w = s->windows;

	s->has_unlooked |= w->all.n > 0 && !w->is_ready;
	w->all.n = w->chosen.n = w->since.n = w->asked.n = 0;
	steps_clear(&w->steps);
	steps_clear(&w->iterations);
	w->iterations.only_iterations = true;
	inner_clear(&w->notes);
	inner_clear(&w->thread_notes);
	w->in_prologue = w->is_ready = w->has_inner = false;
	w->has_steps = w->has_notes = w->are_markers = false;
}

void
select_windows_add(
    struct select_windows *w, const struct dict *st, const struct event *ev)
{
	struct select_window *win = vec_add(&w->all);
	int64_t number;

	*win = (struct select_window){
		.start = ev->ts_ns,
		.name = ev->name,
		.track = dict_thread(st, ev->track),
		.id = ev->uid.id,
		.step = STEPS_NONE,
		.is_inferred = ev->shape->is_inferred,
	};
	win->end = num_add_max(ev->ts_ns, ev->dur_ns);
	win->is_step = step_of_name(dict_get(st, ev->name), &number) ||
	    step_of_args(st, ev, &number);
	steps_add(&w->steps, st, ev, (uint32_t)w->all.n - 1);
	steps_add(&w->iterations, st, ev, (uint32_t)w->all.n - 1);
}

/* Outer ones before inner ones. */
static int
window_cmp(const void *x, const void *y)
{
	const struct select_window *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* ---- selected windows ---- */

/* Those like pattern, or only the nth of them; returns whether there is one. */
static bool
ask_pattern(
    const struct select *s, struct str pattern, int64_t nth, struct spans *out)
{
	struct select_windows *w = s->windows;
	int64_t n = 0;

	for (size_t i = 0; i < w->all.n; i++) {
		const struct select_window *win = &w->all.v[i];

		if (win->is_inferred ||
		    !str_glob(pattern, dict_get(s->in->dict, win->name)))
			continue;
		n++;
		if (nth != 0 && n != nth)
			continue;
		spans_add(out, win->start, win->end);
		w->are_markers = w->are_markers && win->step != STEPS_NONE;
		if (w->are_markers)
			w->chosen.v[win->step] = true;
	}
	return nth == 0 ? n > 0 : n >= nth;
}

bool
select_nth(struct str text, struct str *name, int64_t *nth)
{
	size_t at = text.len;

	while (at > 0 && text.p[at - 1] != '#')
		at--;
	if (at == 0 ||
	    !num_i64((struct str){ text.p + at, text.len - at }, nth))
		return false;
	*name = (struct str){ text.p, at - 1 };
	return *nth > 0;
}

/* NAME, or else NAME#N. */
static void
ask_annotation(const struct select *s, struct str text, struct spans *out)
{
	const struct select_windows *w = s->windows;
	struct there there = { 0 };
	struct str name;
	int64_t nth;

	if (ask_pattern(s, text, 0, out))
		return;
	if (select_nth(text, &name, &nth) && ask_pattern(s, name, nth, out))
		return;
	for (size_t i = 0; i < w->all.n; i++)
		if (!w->all.v[i].is_inferred)
			there_meet_annotation(&there, text,
			    dict_get(s->in->dict, w->all.v[i].name),
			    w->all.v[i].is_step);
	report(
	    MSG_NO_SUCH_ANNOTATION, select_label(s), text, there_str(&there));
}

/* Consecutive steps, with the time between them, are one window. */
static void
find_rows(struct select_windows *w)
{
	const struct steps *steps = &w->steps;

	for (size_t i = 0; i < steps->list.n; i++)
		vec_push(&w->since, steps->list.v[i].start_ns);
	for (size_t k = 0; k < steps->processes.n; k++) {
		const struct step_process *p = &steps->processes.v[k];
		uint32_t last = STEPS_NONE;

		for (uint32_t i = p->first; i < p->first + p->n; i++) {
			if (steps->list.v[i].what != STEP_IS_STEP)
				continue;
			if (last != STEPS_NONE && w->chosen.v[last])
				w->since.v[i] = w->since.v[last];
			last = i;
		}
	}
}

/*
 * Notes which annotations mark steps, while they are in the order in which
 * steps know them; with late_steps these select their steps.
 */
static void
find_marked(struct select *s)
{
	struct select_windows *w = s->windows;

	for (size_t i = 0; i < w->steps.list.n; i++) {
		const struct step_window *step = &w->steps.list.v[i];

		vec_push(&w->chosen, false);
		if (step->what == STEP_IS_STEP)
			w->all.v[step->marker].step = (uint32_t)i;
	}
	w->are_markers = s->late_steps && !w->has_steps && s->annotations.n > 0;
}

void
select_windows_ready(struct select *s)
{
	struct select_windows *w = s->windows;

	w->is_ready = true;
	w->in_prologue = false;
	steps_ready(&w->steps);
	steps_ready(&w->iterations);
	s->inferred |= steps_inferred_from(&w->steps);
	for (size_t i = 0; s->phases != 0 && i < w->iterations.iterations.n;
	     i++)
		s->met.phases |=
		    (uint8_t)(1u << w->iterations.iterations.v[i].phase);
	if ((s->phases & ~(1u << PHASE_OUTSIDE)) != 0 &&
	    w->iterations.list.n == 0)
		report(MSG_NO_PHASES, select_label(s));
	w->has_steps = select_asks_steps(s);
	find_marked(s);
	if (w->all.n > 0)
		qsort(w->all.v, w->all.n, sizeof *w->all.v, window_cmp);
	if (w->has_steps)
		(void)select_steps(s, &w->steps, s->in->dict, w->chosen.v,
		    select_label(s), select_source_no(s));
	if (w->has_steps)
		find_rows(w);
	w->has_notes = s->annotations.n > 0;
	for (size_t i = 0; i < s->annotations.n; i++)
		ask_annotation(s, s->annotations.v[i], &w->asked);
	w->are_markers = w->are_markers && w->asked.n > 0;
	if (w->are_markers) {
		w->has_steps = true;
		w->has_notes = false;
	}
	spans_normalise(&w->asked);
}

/* The window of --step at a time; without a process: in any. */
static const struct step_window *
chosen_at(const struct select_windows *w, const struct key *pid, int64_t t)
{
	const struct steps *steps = &w->steps;
	const struct step_window *step;

	if (pid != NULL) {
		step = steps_at(steps, pid, t);
		return step != NULL && w->chosen.v[step - steps->list.v] ? step
									 : NULL;
	}
	for (size_t i = 0; i < steps->processes.n; i++) {
		step = chosen_at(w, &steps->processes.v[i].pid, t);
		if (step != NULL)
			return step;
	}
	return NULL;
}

bool
select_windows_hold(const struct select *s, const struct key *pid, int64_t t)
{
	const struct select_windows *w = s->windows;

	if (w->has_notes && !spans_hold(&w->asked, t))
		return false;
	if (s->phases != 0 &&
	    (s->phases & 1u << steps_phase(&w->iterations, pid, t)) == 0)
		return false;
	return !w->has_steps || s->late_steps || chosen_at(w, pid, t) != NULL;
}

int64_t
select_windows_since(const struct select *s, const struct key *pid, int64_t t)
{
	const struct select_windows *w = s->windows;
	const struct step_window *step;
	int64_t since = INT64_MIN;
	size_t n;

	if (w->has_notes) {
		bisect(n, w->asked.n, mid, w->asked.v[mid].start <= t);
		since = n > 0 ? w->asked.v[n - 1].start : since;
	}
	step = s->phases != 0 ? steps_at(&w->iterations, pid, t) : NULL;
	if (step != NULL && step->iteration != STEPS_NONE &&
	    step->start_ns > since)
		since = step->start_ns;
	step = w->has_steps && !s->late_steps ? chosen_at(w, pid, t) : NULL;
	if (step != NULL && w->since.v[step - w->steps.list.v] > since)
		since = w->since.v[step - w->steps.list.v];
	return since;
}

/* ---- the innermost ---- */

static void
find_inner(struct select_windows *w)
{
	if (w->has_inner)
		return;
	for (uint32_t i = 0; i < w->all.n; i++) {
		const struct select_window *win = &w->all.v[i];

		if (win->is_step)
			continue;
		inner_add(&w->notes, 0, win->start, win->end, i);
		inner_add(
		    &w->thread_notes, win->track, win->start, win->end, i);
	}
	inner_find(&w->notes);
	inner_find(&w->thread_notes);
	w->has_inner = true;
}

const struct select_window *
select_windows_note(struct select_windows *w, uint32_t track, int64_t t)
{
	uint32_t i;

	find_inner(w);
	i = inner_at(&w->thread_notes, track, t);
	if (i == INNER_NONE)
		i = inner_at(&w->notes, 0, t);
	return i != INNER_NONE ? &w->all.v[i] : NULL;
}
