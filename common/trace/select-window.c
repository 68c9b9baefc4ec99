/* SPDX-License-Identifier: MIT */
/* Windows in time: which are asked for, and which one is the innermost. */
#include <stdlib.h>

#include "trace/select-inside.h"

static void
clear_segs(struct select_windows *w)
{
	for (size_t i = 0; i < w->by_track.n; i++)
		vec_free(&w->by_track.v[i].list);
	w->by_track.n = 0;
	w->steps.list.n = w->notes.list.n = 0;
	w->has_segs = false;
}

void
select_windows_clear(struct select_windows *w)
{
	clear_segs(w);
	w->all.n = 0;
	w->asked.n = 0;
	w->in_prologue = w->is_ready = w->has_asked = false;
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

static bool
step_asked(const struct select *s, const struct window *win, int64_t first,
    int64_t last)
{
	if (win->step == WALK_NO_STEP)
		return false;
	for (size_t i = 0; i < s->steps.words.n; i++)
		if (win->step ==
		    (str_eq(s->steps.words.v[i], STR("first")) ? first : last))
			return true;
	return id_set_has(&s->steps, win->step);
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
		if (step_asked(s, &w->all.v[i], first, last))
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
add_seg(struct segs *g, int64_t start, uint32_t window)
{
	size_t n = g->list.n;

	if (n > 0 && g->list.v[n - 1].start == start)
		g->list.v[n - 1].window = window;
	else
		vec_push(&g->list, ((struct seg){ start, window }));
}

/* Windows come by start, so the one that began last is on top. */
struct sweep {
	const struct select_windows *w;
	struct segs *out;
	VEC(uint32_t) open; /* index + 1 */
};

/* Closes what ends by then. */
static void
sweep_to(struct sweep *sw, int64_t t)
{
	while (sw->open.n > 0) {
		int64_t end = sw->w->all.v[sw->open.v[sw->open.n - 1] - 1].end;
		uint32_t top;

		if (end > t)
			break;
		while (sw->open.n > 0 &&
		    sw->w->all.v[sw->open.v[sw->open.n - 1] - 1].end <= end)
			sw->open.n--;
		top = sw->open.n > 0 ? sw->open.v[sw->open.n - 1] : 0;
		add_seg(sw->out, end, top);
	}
}

#define ANY_TRACK UINT32_MAX

static void
make_segs(const struct select_windows *w, bool steps, uint32_t track,
    struct segs *out)
{
	struct sweep sw = { .w = w, .out = out };

	for (size_t i = 0; i < w->all.n; i++) {
		const struct window *win = &w->all.v[i];

		if ((win->step != WALK_NO_STEP) != steps ||
		    (track != ANY_TRACK && win->track != track) ||
		    win->start == win->end)
			continue;
		sweep_to(&sw, win->start);
		add_seg(out, win->start, (uint32_t)i + 1);
		vec_push(&sw.open, (uint32_t)i + 1);
	}
	sweep_to(&sw, INT64_MAX);
	vec_free(&sw.open);
}

static void
make_all_segs(struct select_windows *w)
{
	clear_segs(w);
	make_segs(w, true, ANY_TRACK, &w->steps);
	make_segs(w, false, ANY_TRACK, &w->notes);
	w->has_segs = true;
}

/* Those of one thread, made when it is first asked about. */
static const struct segs *
track_segs(struct select_windows *w, uint32_t track)
{
	while (w->by_track.n <= track)
		vec_push(&w->by_track, (struct segs){ 0 });
	if (w->by_track.v[track].list.n == 0) {
		make_segs(w, false, track, &w->by_track.v[track]);
		/* found empty, it is not looked for again */
		add_seg(&w->by_track.v[track], INT64_MAX, 0);
	}
	return &w->by_track.v[track];
}

static const struct window *
seg_at(const struct select_windows *w, const struct segs *g, int64_t t)
{
	size_t low = 0, high = g->list.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (g->list.v[mid].start <= t)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == 0 || g->list.v[low - 1].window == 0)
		return NULL;
	return &w->all.v[g->list.v[low - 1].window - 1];
}

const struct window *
select_windows_step(struct select_windows *w, int64_t t)
{
	if (!w->has_segs)
		make_all_segs(w);
	return seg_at(w, &w->steps, t);
}

const struct window *
select_windows_note(struct select_windows *w, uint32_t track, int64_t t)
{
	const struct window *win;

	if (!w->has_segs)
		make_all_segs(w);
	win = seg_at(w, track_segs(w, track), t);
	return win != NULL ? win : seg_at(w, &w->notes, t);
}
