/* SPDX-License-Identifier: MIT */
/* Shared by cost.c (launches, runs, layers) and graph.c (the estimate). */
#ifndef TL_LAUNCH_COST_H
#define TL_LAUNCH_COST_H

#include "cmd/tl-launch/launch.h"
#include "trace/launches.h"

/* Host time by layer, between launches of a thread. */
struct layers {
	int64_t ns[CAUSE_COUNT];
	int64_t nlaunches;
};

struct finder {
	struct program *g;
	const struct host *h;
	struct account account;
	struct gaps gaps;
	struct steps steps;
	struct launches launches; /* of the selection */
	struct cost cost;
};

static inline const struct host_event *
call_of(const struct finder *f, const struct launch *l)
{
	return &f->h->events.v[l->event];
}

/* The i-th GPU event of a launch. */
static inline const struct host_gpu *
gpu_of(const struct finder *f, uint32_t i)
{
	return &f->h->gpus.v[f->launches.gpus.v[i]];
}

/* graph.c */
/* Medians of a gap within a graph and of a graph launch in this trace. */
void graph_terms(struct finder *f);
/* From the first launch to the end of the last, or of all their work. */
struct span launches_span(
    const struct finder *f, const struct launch *v, size_t n);
/* Adds the estimate for these launches as one graph; step: the key of a
 * step. */
void graph_add(struct finder *f, const char *what, struct key step,
    const struct launch *v, size_t n, struct span window);

#endif
