/* SPDX-License-Identifier: MIT */
/* The time of each selected step. */
#include "cmd/tl-idle/idle.h"
#include "trace/pace.h"

/*
 * A step's wall time; where the host only enqueues, from the end of the
 * previous step's GPU work to the end of its own.
 */
static struct span
time_of(const struct pace *p)
{
	struct span s = { p->start_ns, p->end_ns };

	if (p->is_gpu && p->has_work) {
		s.end = p->done_ns;
		s.start = p->gpu_wall_ns == PACE_NONE
		    ? p->start_ns
		    : p->done_ns - p->gpu_wall_ns;
	}
	return s;
}

uint64_t
walls_of_steps(struct idle *g, struct spans *walls)
{
	const struct steps *steps = &g->step_list;
	VEC(bool) chosen = { 0 };
	pace_list paces = { 0 };
	uint64_t most = 0;
	bool has_gpu = false;

	for (size_t i = 0; i < steps->list.n; i++)
		vec_push(&chosen, false);
	if (steps->list.n > 0)
		(void)select_steps(&g->sink.select, steps, g->host.dict,
		    chosen.v, sink_sources_label(&g->sink.sources, g->source),
		    g->source);
	paces_find(&paces, steps, &g->host);
	for (size_t p = 0; p < steps->processes.n; p++) {
		const struct step_process *process = &steps->processes.v[p];
		uint64_t n = 0;

		for (uint32_t i = process->first;
		     i < process->first + process->n; i++)
			if (chosen.v[i]) {
				n++;
				has_gpu |= steps->list.v[i].has_gpu;
				vec_push(walls, time_of(&paces.v[i]));
			}
		most = n > most ? n : most;
	}
	vec_free(&chosen);
	vec_free(&paces);
	if (!has_gpu)
		walls->n = 0;
	spans_normalise(walls);
	return most;
}
