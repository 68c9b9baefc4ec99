/* SPDX-License-Identifier: MIT */
/*
 * launches: the calls that launched GPU work, how often one comes, and what it
 * would take to launch all of it as one graph.
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
	int64_t work_ns;   /* busy time of that */
	bool is_starved;   /* it began when the GPU had run dry */
};

struct launches {
	VEC(struct launch) list; /* by thread and time */
	VEC(uint32_t) gpus;      /* in host.gpus, by launch and time */
	uint64_t nstarved;       /* gaps that end with starved launches */
};

/* Empties it first. GPU events without a launch are in none. */
void launches_find(
    struct launches *l, const struct host *h, const uint32_t *gpus, size_t n);
/* Marks those that end a gap and began in it. */
void launches_starve(
    struct launches *l, const struct host *h, const struct gaps *g);
void launches_free(struct launches *l);

/*
 * Medians, the upper one of an even count; -1: there is none. From the start of
 * a launch to that of the next one of its thread; of the work of one.
 */
int64_t launches_interval(
    const struct host *h, const struct launch *v, size_t n);
int64_t launches_work(const struct launch *v, size_t n);

/* Where a term of a graph's estimate is from. */
enum graph_from {
	FROM_GRAPHS, /* the graphs of the trace */
	FROM_QUEUE,  /* events that were queued */
	FROM_NOTHING /* the trace has neither: it is assumed */
};
struct graph_terms {
	int64_t gap_ns; /* between two of its events, median */
	/* from its launch to its first event, likewise; what that waited
	 * behind an earlier replay is part of it */
	int64_t start_ns;
	uint8_t gap_from, start_from;
};
struct graph_terms launches_graph(
    const struct launches *l, const struct host *h, const struct gaps *g);
/* Between the n events of one graph, n > 0; INT64_MAX: more than that. */
int64_t graph_gaps_ns(int64_t gap_ns, uint64_t n);

#endif
