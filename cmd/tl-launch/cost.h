/* SPDX-License-Identifier: MIT */
/* What cost.c (launches, runs, layers) and graph.c (its estimate) share. */
#ifndef TL_LAUNCH_COST_H
#define TL_LAUNCH_COST_H

#include "cmd/tl-launch/launch.h"
#include "trace/launches.h"

/* Host time by layer, of threads from one of their launches to another. */
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
	struct launches launches; /* of what is chosen */
	struct cost cost;
};

static inline const struct host_event *
call_of(const struct finder *f, const struct launch *l)
{
	return &f->h->events.v[l->event];
}

/* What a launch launched, i from its first on. */
static inline const struct host_gpu *
gpu_of(const struct finder *f, uint32_t i)
{
	return &f->h->gpus.v[f->launches.gpus.v[i]];
}

/* graph.c */
/* What a gap within a graph and launching one take in this trace. */
void graph_terms(struct finder *f);
/* Launches as one graph: a record; of a step its number. */
void graph_add(struct finder *f, const char *what, struct key step,
    const struct launch *v, size_t n, struct span window);

#endif
