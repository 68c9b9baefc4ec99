/* SPDX-License-Identifier: MIT */
/*
 * Timelines of steps: over their whole time, of what ran in it by the clock,
 * whoever launched it.
 */
#include "cmd/tl-timeline/timeline.h"

/* Adds the time of all steps, or of those that are selected. */
static void
add_windows(struct timeline *g, struct slice *slice, bool all)
{
	const struct steps *steps = select_all_steps(&g->sink.select);

	for (size_t i = 0; i < steps->list.n; i++) {
		const struct step_window *w = &steps->list.v[i];

		if (all || select_takes(&g->sink.select, w))
			spans_add(
			    &slice->sets[SET_WINDOW], w->start_ns, w->end_ns);
	}
}

/* Of no value of --by: with --by step of time outside steps. */
static struct slice *
slice_of_none(struct timeline *g)
{
	return slices_find(g, g->sink.source, (struct key){ 0, KEY_NONE });
}

/* A timeline for each step of the source, and one for all other time. */
static void
begin_each(struct timeline *g)
{
	const struct steps *steps = select_all_steps(&g->sink.select);

	for (size_t i = 0; i < steps->list.n; i++) {
		const struct step_window *w = &steps->list.v[i];

		if (select_takes(&g->sink.select, w))
			spans_add(&slices_find(g, g->sink.source,
				      step_key(w, g->sink.dict))
				       ->sets[SET_WINDOW],
			    w->start_ns, w->end_ns);
	}
	add_windows(g, slice_of_none(g), true);
}

/* A timeline of the selected steps, also where no GPU event ran in them. */
static void
begin_selected(struct timeline *g)
{
	const struct steps *steps = select_all_steps(&g->sink.select);

	for (size_t i = 0; i < steps->list.n; i++)
		if (select_takes(&g->sink.select, &steps->list.v[i])) {
			add_windows(g, slice_of_none(g), false);
			break;
		}
}

/* Once a source. */
static void
begin(struct timeline *g, bool is_each)
{
	if (g->has_windows && g->windows_of == g->sink.source)
		return;
	g->has_windows = true;
	g->windows_of = g->sink.source;
	if (is_each)
		begin_each(g);
	else
		begin_selected(g);
}

/* With --by step that of the step, else that of all which are selected. */
static struct slice *
slice_of_step(
    struct timeline *g, const struct step_window *w, const struct event *ev)
{
	struct slice *slice;

	if (g->by == BY_STEP)
		return slices_find(
		    g, g->sink.source, step_key(w, g->sink.dict));
	slice = slices_find(g, g->sink.source, timeline_key(g, ev));
	if (slice->sets[SET_WINDOW].n == 0)
		add_windows(g, slice, false);
	return slice;
}

/*
 * Adds an event to each step of a process that it overlaps. One that is not
 * selected still shows that GPU work was recorded. Returns whether there is
 * such a step.
 */
static bool
add_in_steps(struct timeline *g, const struct steps *steps,
    const struct step_process *p, const struct event *ev, int64_t end_ns,
    bool is_taken)
{
	const struct step_window *w = steps->list.v + p->first;
	const struct step_window *last = w + p->n;
	struct slice *slice;
	bool is_in = false;
	size_t at;

	bisect(at, p->n, mid, w[mid].end_ns <= ev->ts_ns);
	for (w += at;
	     w < last && (w->start_ns < end_ns || w->start_ns == ev->ts_ns);
	     w++) {
		if (!select_takes(&g->sink.select, w))
			continue;
		is_in = true;
		slice = slice_of_step(g, w, ev);
		slice->has_gpu = true;
		if (is_taken)
			timeline_add(g, slice, ev,
			    (struct span){ ev->ts_ns > w->start_ns
				    ? ev->ts_ns
				    : w->start_ns,
				end_ns < w->end_ns ? end_ns : w->end_ns });
	}
	return is_in;
}

/* Whether a selected step launched it: then GPU work of it was recorded. */
static bool
is_launched(struct timeline *g, const struct event *ev)
{
	const struct step_window *w = select_step(&g->sink.select);

	if (w == NULL || !select_takes(&g->sink.select, w))
		return false;
	slice_of_step(g, w, ev)->has_gpu = true;
	return true;
}

/* Adds an event to the timeline of other time, where steps are cut out. */
static void
add_outside(struct timeline *g, const struct event *ev, int64_t end_ns)
{
	struct slice *slice = slice_of_none(g);

	timeline_count(slice, ev);
	if (!select_chooses_steps(&g->sink.select))
		timeline_add(g, slice, ev, (struct span){ ev->ts_ns, end_ns });
}

void
steps_take(
    struct timeline *g, const struct event *ev, bool is_taken, int64_t end_ns)
{
	const struct steps *steps = select_all_steps(&g->sink.select);
	bool is_each = g->by == BY_STEP;
	bool is_in = false, is_asked;

	if (is_each ? is_taken : g->by == BY_NOTHING)
		begin(g, is_each);
	if (!is_taken && !is_each)
		return;
	is_asked = is_launched(g, ev);
	for (size_t i = 0; i < steps->processes.n; i++)
		is_in |= add_in_steps(
		    g, steps, &steps->processes.v[i], ev, end_ns, is_taken);
	if (is_each && is_taken)
		add_outside(g, ev, end_ns);
	if (is_each)
		return;
	if (is_in)
		timeline_count(
		    slices_find(g, g->sink.source, timeline_key(g, ev)), ev);
	else if (is_asked)
		g->nlater++;
	else /* the sink has counted it as chosen */
		g->sink.sources.list.v[g->sink.source].nchosen--;
}
