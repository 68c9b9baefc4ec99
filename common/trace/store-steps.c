/* SPDX-License-Identifier: MIT */
/*
 * Which annotations mark the steps and the iterations of a source, and which
 * step is the slowest. Both depend on what is launched, so it is decided here,
 * where all is known, for those who read the prologue of the tree.
 */
#include "trace/pace.h"
#include "trace/store-inside.h"

static void
add_markers(struct store *s, struct steps *steps)
{
	for (size_t k = 0; k < s->notes.n; k++) {
		struct event ev;

		store_event(s, s->notes.v[k], &ev);
		steps_add(steps, s->st, &ev, s->notes.v[k]);
	}
}

/* The nth GPU event. */
static const struct held *
gpu_at(const struct store *s, size_t n)
{
	return &s->items.v[n < s->gpus.n ? s->gpus.v[n].item
					 : s->loose.v[n - s->gpus.n]];
}

static void
find_windows(struct store *s, struct steps *steps)
{
	for (size_t i = 0; i < s->gpus.n + s->loose.n; i++) {
		const struct held *launch = item_launched_by(s, gpu_at(s, i));

		if (launch != NULL)
			steps_launched(steps, dict_thread(s->st, launch->track),
			    launch->ts_ns, 1);
	}
	steps_ready(steps);
}

static uint32_t
find_slowest(struct store *s, const struct steps *steps)
{
	pace_list paces = { 0 };
	uint32_t slowest;

	paces_start(&paces, steps);
	for (size_t i = 0; i < s->gpus.n + s->loose.n; i++) {
		const struct held *gpu = gpu_at(s, i);
		const struct held *launch = item_launched_by(s, gpu);
		const struct step_window *w = launch != NULL
		    ? steps_at(steps, &s->st->tracks.v[launch->track].pid,
			  launch->ts_ns)
		    : NULL;

		if (w != NULL)
			paces_add(&paces, (uint32_t)(w - steps->list.v),
			    item_end(gpu));
	}
	paces_ready(&paces, steps);
	slowest = paces_slowest(&paces, steps);
	vec_free(&paces);
	return slowest;
}

static void
mark(struct store *s, const struct steps *steps, uint32_t slowest)
{
	for (uint32_t i = 0; i < steps->list.n; i++)
		if (steps->list.v[i].what == STEP_IS_STEP)
			s->items.v[steps->list.v[i].marker].flags |=
			    EV_STEP | (i == slowest ? EV_SLOWEST : 0);
}

bool
store_mark_steps(struct store *s, struct tree_stats *stats)
{
	struct steps steps = { 0 }, iterations = { .only_iterations = true };
	uint32_t slowest = STEPS_NONE;
	bool any;

	add_markers(s, &steps);
	if (steps.markers.n > 0) {
		find_windows(s, &steps);
		slowest = find_slowest(s, &steps);
		stats->steps += steps.nlaunching;
		stats->steps_aside += steps.naside;
	}
	/* which may exist beside steps of another family */
	if (steps.iterations.n > 0 &&
	    steps_iteration(&steps, steps.list.v) == NULL) {
		add_markers(s, &iterations);
		find_windows(s, &iterations);
	}
	mark(s, &steps, slowest);
	mark(s, &iterations, STEPS_NONE);
	any = steps.list.n > 0;
	steps_free(&steps);
	steps_free(&iterations);
	return any;
}
