/* SPDX-License-Identifier: MIT */
/* Windows in time: which are asked for, and which one is the innermost. */
#include <stdlib.h>

#include "trace/select-inside.h"

void
select_windows_clear(struct select_windows *w)
{
	w->all.n = w->steps.n = w->asked.n = 0;
	inner_clear(&w->notes);
	inner_clear(&w->thread_notes);
	w->in_prologue = w->is_ready = w->has_asked = w->has_inner = false;
}

void
select_windows_add(
    struct select_windows *w, const struct dict *st, const struct event *ev)
{
	struct window *win = vec_add(&w->all);

	*win = (struct window){
		.start = ev->ts_ns,
		.step = WALK_NO_STEP,
		.name = ev->name,
		.track = dict_thread(st, ev->track),
		.id = ev->uid.id,
	};
	if (!num_add(ev->ts_ns, ev->dur_ns, &win->end))
		win->end = INT64_MAX;
	if (!step_of_name(dict_get(st, ev->name), &win->step))
		win->step = WALK_NO_STEP;
}

/* Outer ones before inner ones. */
static int
window_cmp(const void *x, const void *y)
{
	const struct window *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* ---- what is asked for ---- */

bool
select_has_step(
    const struct select *s, int64_t step, int64_t first, int64_t last)
{
	for (size_t i = 0; i < s->steps.words.n; i++)
		if (step ==
		    (str_eq(s->steps.words.v[i], STR("first")) ? first : last))
			return true;
	return id_set_has(&s->steps, step);
}

static void
ask_steps(const struct select *s, struct spans *out)
{
	const struct select_windows *w = s->windows;
	int64_t first = INT64_MAX, last = INT64_MIN;

	for (size_t i = 0; i < w->all.n; i++) {
		int64_t step = w->all.v[i].step;

		if (step == WALK_NO_STEP)
			continue;
		first = step < first ? step : first;
		last = step > last ? step : last;
	}
	for (size_t i = 0; i < w->all.n; i++)
		if (w->all.v[i].step != WALK_NO_STEP &&
		    select_has_step(s, w->all.v[i].step, first, last))
			spans_add(out, w->all.v[i].start, w->all.v[i].end);
	if (out->n > 0)
		return;
	if (first > last)
		report(MSG_NO_STEPS, s->in->name, s->src);
	else
		report(MSG_NO_SUCH_STEP, s->in->name, s->src, first, last);
}

/* Those like pattern, or only the nth of them; whether there is one. */
static bool
ask_pattern(
    const struct select *s, struct str pattern, int64_t nth, struct spans *out)
{
	const struct select_windows *w = s->windows;
	int64_t n = 0;

	for (size_t i = 0; i < w->all.n; i++) {
		const struct window *win = &w->all.v[i];

		if (!str_glob(pattern, dict_get(s->in->dict, win->name)))
			continue;
		n++;
		if (nth == 0 || n == nth)
			spans_add(out, win->start, win->end);
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

/* NAME, and if there is none, NAME#N. */
static void
ask_annotation(const struct select *s, struct str text, struct spans *out)
{
	struct str name;
	int64_t nth;

	if (ask_pattern(s, text, 0, out))
		return;
	if (select_nth(text, &name, &nth) && ask_pattern(s, name, nth, out))
		return;
	report(MSG_NO_SUCH_ANNOTATION, s->in->name, s->src, text);
}

void
select_windows_ready(struct select *s)
{
	struct select_windows *w = s->windows;
	struct spans steps = { 0 }, notes = { 0 };
	bool by_step = s->steps.ranges.n + s->steps.words.n > 0;
	bool by_note = s->annotations.n > 0;

	w->is_ready = true;
	w->in_prologue = false;
	if (w->all.n > 0)
		qsort(w->all.v, w->all.n, sizeof *w->all.v, window_cmp);
	if (by_step)
		ask_steps(s, &steps);
	for (size_t i = 0; i < s->annotations.n; i++)
		ask_annotation(s, s->annotations.v[i], &notes);
	spans_normalise(&steps);
	spans_normalise(&notes);
	w->has_asked = by_step || by_note;
	if (by_step && by_note)
		spans_intersect(&w->asked, &steps, &notes);
	else
		spans_union(&w->asked, &steps, &notes);
	spans_free(&steps);
	spans_free(&notes);
}

/* ---- the innermost ---- */

static void
find_inner(struct select_windows *w)
{
	if (w->has_inner)
		return;
	for (uint32_t i = 0; i < w->all.n; i++) {
		const struct window *win = &w->all.v[i];

		if (win->step != WALK_NO_STEP) {
			vec_push(&w->steps,
			    ((struct step_span){
				.number = win->step,
				.start_ns = win->start,
				.end_ns = win->end,
			    }));
			continue;
		}
		inner_add(&w->notes, 0, win->start, win->end, i);
		inner_add(
		    &w->thread_notes, win->track, win->start, win->end, i);
	}
	steps_sort(w->steps.v, w->steps.n);
	inner_find(&w->notes);
	inner_find(&w->thread_notes);
	w->has_inner = true;
}

int64_t
select_windows_step(struct select_windows *w, int64_t t)
{
	find_inner(w);
	return steps_at(w->steps.v, w->steps.n, t);
}

const struct window *
select_windows_note(struct select_windows *w, uint32_t track, int64_t t)
{
	uint32_t i;

	find_inner(w);
	i = inner_at(&w->thread_notes, track, t);
	if (i == INNER_NONE)
		i = inner_at(&w->notes, 0, t);
	return i != INNER_NONE ? &w->all.v[i] : NULL;
}
