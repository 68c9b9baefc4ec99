/* SPDX-License-Identifier: MIT */
/* Steps that time counts in, and the time of each selected one. */
#include "cmd/tl-idle/idle.h"
#include "trace/pace.h"

/*
 * A step's wall time; where the host only enqueues, from the end of the
 * previous step's GPU work to the end of its own, unless that ended before, or
 * steps are rows.
 */
static struct span
time_of(const struct idle *g, const struct pace *p)
{
	struct span s = { p->start_ns, p->end_ns };

	if (g->by_step || !p->is_gpu || !p->has_work)
		return s;
	if (p->gpu_wall_ns == PACE_NONE)
		s.end = p->done_ns;
	else if (p->gpu_wall_ns > 0)
		s = (struct span){ p->done_ns - p->gpu_wall_ns, p->done_ns };
	return s;
}

struct account_steps
walls_of_steps(struct idle *g)
{
	struct spans *walls = &g->walls;
	const struct steps *steps = &g->step_list;
	struct account_steps sum = { 0 };
	pace_list paces = { 0 };

	walls->n = g->asked_steps.n = 0;
	for (size_t i = 0; i < steps->list.n; i++)
		vec_push(&g->asked_steps, false);
	if (steps->list.n > 0)
		(void)select_steps(&g->sink.select, steps, g->host.dict,
		    g->asked_steps.v,
		    sink_sources_label(&g->sink.sources, g->source), g->source);
	paces_find(&paces, steps, &g->host);
	for (size_t p = 0; p < steps->processes.n; p++) {
		const struct step_process *process = &steps->processes.v[p];
		uint64_t n = 0;

		for (uint32_t i = process->first;
		     i < process->first + process->n; i++)
			if (g->asked_steps.v[i]) {
				n++;
				vec_push(walls, time_of(g, &paces.v[i]));
			}
		account_add_steps(&sum, n);
	}
	vec_free(&paces);
	spans_normalise(walls);
	return sum;
}

const struct key *
process_asked(const struct idle *g, const struct key *pid, int64_t ns)
{
	const struct steps *s = &g->step_list;
	const struct step_window *w = steps_at(s, pid, ns);

	if (g->walls.n == 0 || (w != NULL && g->asked_steps.v[w - s->list.v]))
		return pid;
	for (size_t p = 0; p < s->processes.n; p++) {
		w = steps_at(s, &s->processes.v[p].pid, ns);
		if (w != NULL && g->asked_steps.v[w - s->list.v])
			return &s->processes.v[p].pid;
	}
	return pid;
}

const struct key *
process_of(const struct idle *g, const struct host_gpu *next)
{
	const struct steps *of = g->by_step ? &g->step_list : &g->iterations;
	const struct key *pid;

	if ((!g->by_step && !g->by_phase) || next->launch == HOST_NONE)
		return NULL;
	pid = host_pid(&g->host, &g->host.events.v[next->launch]);
	return steps_process(of, pid) != STEPS_NONE ? pid : NULL;
}
