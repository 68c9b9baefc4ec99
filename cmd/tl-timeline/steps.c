/* SPDX-License-Identifier: MIT */
/* Timelines of steps: over their whole time, of what ran in it by the clock. */
#include "cmd/tl-timeline/timeline.h"

/* A timeline for each step, over its whole time, and one for all other time. */
static void
begin_windows(struct timeline *g, const struct steps *steps)
{
	struct spans *all;

	for (size_t i = 0; i < steps->list.n; i++) {
		const struct step_window *w = &steps->list.v[i];

		if (select_takes(&g->sink.select, w))
			spans_add(&slices_find(g, g->sink.source,
				      step_key(w, g->sink.dict))
				       ->sets[SET_WINDOW],
			    w->start_ns, w->end_ns);
	}
	all = &slices_find(g, g->sink.source, (struct key){ 0, KEY_NONE })
		   ->sets[SET_WINDOW];
	for (size_t i = 0; i < steps->list.n; i++)
		spans_add(
		    all, steps->list.v[i].start_ns, steps->list.v[i].end_ns);
}

/*
 * With --by step each has a slice of its own, else all that are selected are
 * the window of a slice.
 */
static struct slice *
slice_of_step(
    struct timeline *g, const struct step_window *w, const struct event *ev)
{
	const struct steps *steps = select_all_steps(&g->sink.select);
	struct slice *slice;

	if (g->by == BY_STEP)
		return slices_find(
		    g, g->sink.source, step_key(w, g->sink.dict));
	slice = slices_find(g, g->sink.source, timeline_key(g, ev));
	if (slice->sets[SET_WINDOW].n > 0)
		return slice;
	for (size_t i = 0; i < steps->list.n; i++) {
		w = &steps->list.v[i];
		if (select_takes(&g->sink.select, w))
			spans_add(
			    &slice->sets[SET_WINDOW], w->start_ns, w->end_ns);
	}
	return slice;
}

/*
 * Adds an event to each step of a process that it overlaps. One that is not
 * selected still shows that GPU work was recorded. Returns a slice that has the
 * event, or NULL.
 */
static struct slice *
add_in_steps(struct timeline *g, const struct steps *steps,
    const struct step_process *p, const struct event *ev, int64_t end_ns,
    bool is_taken)
{
	const struct step_window *w = steps->list.v + p->first;
	const struct step_window *last = w + p->n;
	struct slice *slice = NULL;
	size_t at;

	bisect(at, p->n, mid, w[mid].end_ns <= ev->ts_ns);
	for (w += at;
	     w < last && (w->start_ns < end_ns || w->start_ns == ev->ts_ns);
	     w++) {
		if (!select_takes(&g->sink.select, w))
			continue;
		slice = slice_of_step(g, w, ev);
		slice->has_gpu = true;
		if (is_taken)
			timeline_add(g, slice, ev,
			    (struct span){ ev->ts_ns > w->start_ns
				    ? ev->ts_ns
				    : w->start_ns,
				end_ns < w->end_ns ? end_ns : w->end_ns });
	}
	return slice;
}

void
steps_take(struct timeline *g, const struct event *ev, int64_t end_ns)
{
	const struct steps *steps = select_all_steps(&g->sink.select);
	struct slice *slice = NULL;

	for (size_t i = 0; i < steps->processes.n; i++) {
		struct slice *has = add_in_steps(
		    g, steps, &steps->processes.v[i], ev, end_ns, true);

		slice = has != NULL ? has : slice;
	}
	if (slice != NULL)
		timeline_count(slice, ev);
}

void
steps_take_each(
    struct timeline *g, const struct event *ev, bool is_taken, int64_t end_ns)
{
	const struct steps *steps = select_all_steps(&g->sink.select);
	const struct step_window *launched = select_step(&g->sink.select);
	struct slice *outside;

	if (is_taken && (!g->has_windows || g->windows_of != g->sink.source)) {
		g->has_windows = true;
		g->windows_of = g->sink.source;
		begin_windows(g, steps);
	}
	for (size_t i = 0; i < steps->processes.n; i++)
		(void)add_in_steps(
		    g, steps, &steps->processes.v[i], ev, end_ns, is_taken);
	if (launched != NULL && select_takes(&g->sink.select, launched))
		slices_find(g, g->sink.source, step_key(launched, g->sink.dict))
		    ->has_gpu = true;
	if (!is_taken)
		return;
	outside = slices_find(g, g->sink.source, (struct key){ 0, KEY_NONE });
	timeline_count(outside, ev);
	if (!select_asks_steps(&g->sink.select))
		timeline_add(
		    g, outside, ev, (struct span){ ev->ts_ns, end_ns });
}
