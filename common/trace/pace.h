/* SPDX-License-Identifier: MIT */
/*
 * pace: what a step took: the time of the host or, where that only enqueues,
 * from the end of the GPU work of the one before to that of its own.
 *
 *	paces_start(&p, &steps);
 *	paces_add(&p, window, end_ns);	GPU work that was launched in a window
 *	paces_ready(&p, &steps);
 *	p.v[w].time_ns			of steps.list.v[w]
 */
#ifndef TL_TRACE_PACE_H
#define TL_TRACE_PACE_H

#include "trace/steps.h"

#define PACE_NONE INT64_MIN

/* Measures of a window. */
struct pace {
	int64_t start_ns, end_ns;
	int64_t done_ns;     /* the last end of its GPU work, if has_work */
	int64_t gpu_wall_ns; /* since the previous one was done; or PACE_NONE */
	/* its time; PACE_NONE: unknown, or between steps */
	int64_t time_ns;
	bool has_work;
	bool is_gpu; /* the GPU sets the pace of the process's steps */
};

typedef VEC(struct pace) pace_list;

void paces_start(pace_list *p, const struct steps *s);
void paces_add(pace_list *p, uint32_t window, int64_t end_ns);
/*
 * The GPU sets the pace of a process if it takes longer than the host for the
 * same steps, and falls behind. For the first step only the host's time is
 * known; it may be shorter.
 */
void paces_ready(pace_list *p, const struct steps *s);
/* All of it, for a source in memory. */
void paces_find(pace_list *p, const struct steps *s, const struct host *h);
/* The slowest step, the first of equals; STEPS_NONE: none. */
uint32_t paces_slowest(const pace_list *p, const struct steps *s);

#endif
