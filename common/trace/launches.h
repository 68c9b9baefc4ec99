/* SPDX-License-Identifier: MIT */
/*
 * launches: the calls that launched GPU work, their rate, and the cost of
 * launching all of it as one graph.
 *
 *	launches_find(&l, h, gpus, n);	places in h->gpus, ascending
 *	launches_starve(&l, h, &gaps);
 *	... launches_interval(h, l.list.v, l.list.n) ...
 *
 * Memory: 32 bytes a launch and 4 a GPU event.
 */
#ifndef TL_TRACE_LAUNCHES_H
#define TL_TRACE_LAUNCHES_H

#include "trace/gap.h"

struct launch {
	uint32_t event;    /* the call, in host.events */
	uint32_t first, n; /* what it launched, in launches.gpus */
	int64_t work_ns;   /* busy time of its GPU events */
	bool is_starved;   /* began after the GPU had run dry */
};

struct launches {
	VEC(struct launch) list; /* by thread and time */
	VEC(uint32_t) gpus;      /* in host.gpus, by launch and time */
	uint64_t nstarved;       /* gaps ended by starved launches */
};

/* Empties it first. GPU events without a launch are ignored. */
void launches_find(
    struct launches *l, const struct host *h, const uint32_t *gpus, size_t n);
/* Marks launches that end a gap and began in it. */
void launches_starve(
    struct launches *l, const struct host *h, const struct gaps *g);
void launches_free(struct launches *l);

/*
 * Upper medians; -1: none. From the start of a launch to that of the next one
 * of its thread; of the work of one.
 */
int64_t launches_interval(
    const struct host *h, const struct launch *v, size_t n);
int64_t launches_work(const struct launch *v, size_t n);

/* Source of a term of a graph's estimate. */
enum graph_from {
	FROM_GRAPHS, /* the graphs of the trace */
	FROM_QUEUE,  /* queued events */
	FROM_NOTHING /* neither in the trace: an assumption */
};
struct graph_terms {
	int64_t gap_ns; /* median between two of its events */
	/* likewise from its launch to its first event, including waits for an
	 * earlier replay */
	int64_t start_ns;
	uint8_t gap_from, start_from;
};
struct graph_terms launches_graph(
    const struct launches *l, const struct host *h, const struct gaps *g);
/* Sum of the gaps between n events of a graph, n > 0; INT64_MAX: overflow. */
int64_t graph_gaps_ns(int64_t gap_ns, uint64_t n);

#endif
