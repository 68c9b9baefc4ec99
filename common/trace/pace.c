/* SPDX-License-Identifier: MIT */
#include "trace/pace.h"

#include "trace/host.h"
#include "trace/stat.h"

#define GPU_PACE 1.05 /* ratio from which the GPU sets the pace */

void
paces_start(pace_list *p, const struct steps *s)
{
	p->n = 0;
	for (size_t i = 0; i < s->list.n; i++)
		vec_push(p,
		    ((struct pace){ .start_ns = s->list.v[i].start_ns,
			.end_ns = s->list.v[i].end_ns,
			.gpu_wall_ns = PACE_NONE,
			.time_ns = PACE_NONE }));
}

void
paces_add(pace_list *p, uint32_t window, int64_t end_ns)
{
	struct pace *v = &p->v[window];

	if (!v->has_work || end_ns > v->done_ns)
		v->done_ns = end_ns;
	v->has_work = true;
}

/* Sets gpu_wall_ns of the process's n windows; whether that is their time. */
static bool
find_gpu_walls(struct pace *v, const struct step_window *w, size_t n)
{
	const struct pace *first = NULL, *last = NULL;
	VEC(int64_t) walls = { 0 }, gpu_walls = { 0 };
	struct stats wall, gpu_wall;

	for (size_t i = 0; i < n; i++) {
		if (w[i].what == STEP_IS_BETWEEN || !v[i].has_work)
			continue;
		if (last != NULL) {
			v[i].gpu_wall_ns = v[i].done_ns - last->done_ns;
			vec_push(&gpu_walls, v[i].gpu_wall_ns);
			vec_push(&walls, v[i].end_ns - v[i].start_ns);
		}
		first = first == NULL ? &v[i] : first;
		last = &v[i];
	}
	stat_of(&wall, walls.v, walls.n);
	stat_of(&gpu_wall, gpu_walls.v, gpu_walls.n);
	vec_free(&walls);
	vec_free(&gpu_walls);
	return gpu_wall.n > 0 && gpu_wall.median > GPU_PACE * wall.median &&
	    last->done_ns - last->end_ns > first->done_ns - first->end_ns &&
	    last->done_ns > last->end_ns;
}

void
paces_ready(pace_list *p, const struct steps *s)
{
	for (size_t k = 0; k < s->processes.n; k++) {
		size_t first = s->processes.v[k].first;
		size_t n = s->processes.v[k].n;
		bool is_gpu =
		    find_gpu_walls(p->v + first, s->list.v + first, n);

		for (size_t i = first; i < first + n; i++) {
			struct pace *v = &p->v[i];

			v->is_gpu = is_gpu;
			if (s->list.v[i].what != STEP_IS_BETWEEN)
				v->time_ns = is_gpu ? v->gpu_wall_ns
						    : v->end_ns - v->start_ns;
		}
	}
}

void
paces_find(pace_list *p, const struct steps *s, const struct host *h)
{
	paces_start(p, s);
	for (size_t i = 0; i < h->gpus.n; i++) {
		uint32_t launch = h->gpus.v[i].launch;
		uint32_t w = launch != HOST_NONE ? steps_window_of(s, h, launch)
						 : STEPS_NONE;

		if (w != STEPS_NONE)
			paces_add(p, w, h->gpus.v[i].end_ns);
	}
	paces_ready(p, s);
}

uint32_t
paces_slowest(const pace_list *p, const struct steps *s)
{
	uint32_t slowest = STEPS_NONE;

	for (uint32_t i = 0; i < p->n; i++)
		if (s->list.v[i].what == STEP_IS_STEP &&
		    p->v[i].time_ns != PACE_NONE &&
		    (slowest == STEPS_NONE ||
			p->v[i].time_ns > p->v[slowest].time_ns))
			slowest = i;
	return slowest;
}
