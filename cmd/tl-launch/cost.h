/* SPDX-License-Identifier: MIT */
/* What cost.c (launches, runs, layers) and graph.c (its estimate) share. */
#ifndef TL_LAUNCH_COST_H
#define TL_LAUNCH_COST_H

#include "cmd/tl-launch/launch.h"

/* A call, and what it launched: from first on in finder.gpus. */
struct launch {
	uint32_t event; /* of the host */
	uint32_t first, n;
	int64_t work_ns; /* busy time */
	bool is_late;
};

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
	VEC(const struct host_gpu *) gpus; /* chosen, by launch and time */
	VEC(struct launch) launches;       /* by thread and time */
	struct cost cost;
};

typedef VEC(int64_t) ns_list;
/* The upper one of an even count; SINK_NONE of none. Empties the list. */
int64_t median_of(ns_list *list);
/* From launch to launch of one thread, and of the work of one. */
int64_t median_interval(
    const struct finder *f, const struct launch *v, size_t n);
int64_t median_work(const struct launch *v, size_t n);

static inline const struct host_event *
call_of(const struct finder *f, const struct launch *l)
{
	return &f->h->events.v[l->event];
}

/* graph.c */
/* What a gap within a graph and launching one take in this trace. */
void graph_terms(struct finder *f);
/* Launches as one graph: a record; of a step its number. */
void graph_add(struct finder *f, const char *what, struct key step,
    const struct launch *v, size_t n, struct span window);

#endif
