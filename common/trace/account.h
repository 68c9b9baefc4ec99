/* SPDX-License-Identifier: MIT */
/*
 * account: splits the time of a source's window into the classes that a verdict
 * compares. They add up to the window.
 *
 *	steps   [ step 1 ][ step 2 ]
 *	GPU        ###=__##__##=+
 *	window  [hhh###=dd##hh##=+h]	h, d: the causes of gaps (gap.h)
 *
 * The window begins with the first step or GPU event and ends with the last. A
 * head whose cause was not recorded is excluded, but not where it is a whole
 * step that was selected: its GPU work ran later.
 *
 *	account_find(&account, &gaps, h, list, n, &steps, NULL);
 *
 * The tag of each host_gpu is its enum bucket. steps NULL: the window is that
 * of the GPU events alone. gaps.list.v[account.first] .. are those of the
 * window. For selected steps the window is their spans (within); all GPU work
 * in these counts, while list holds what they launched.
 */
#ifndef TL_TRACE_ACCOUNT_H
#define TL_TRACE_ACCOUNT_H

#include "trace/bucket.h"
#include "trace/gap.h"
#include "trace/steps.h"

/* Causes by group, GPU work by bucket. */
enum account_class {
	ACCOUNT_COMM = GROUP_OF_MISSING + 1, /* exposed communication, and waits
	                                      * for it */
	ACCOUNT_COPY,                        /* exposed */
	ACCOUNT_COUNT,
};

extern const char *const account_words[ACCOUNT_COUNT];

/* Numbers of steps: of the process with most, of all processes with steps. */
struct account_steps {
	uint64_t most, all, processes;
};

/* Adds those of a process. */
static inline void
account_add_steps(struct account_steps *s, uint64_t n)
{
	s->most = n > s->most ? n : s->most;
	s->all += n;
	s->processes += n > 0;
}

struct account {
	struct span window;
	int64_t window_ns; /* less than from first to last if selected steps are
	                    * apart */
	struct account_steps
	    steps;    /* 0: the window is that of the GPU events */
	size_t first; /* 1: the head is excluded */
	int64_t ns[ACCOUNT_COUNT];
	int64_t inferred_ns[ACCOUNT_COUNT]; /* inferred from durations alone */
	/* launches: what, how often, and how long */
	uint64_t nlaunched;  /* GPU events with a launch */
	uint64_t nstarved;   /* launched after the GPU had run dry */
	int64_t interval_ns; /* median between launches of one thread; -1 */
	int64_t work_ns;     /* median of the work of one; -1 */
	/* idle time that a graph of each step, or one of all, would leave;
	 * INT64_MAX: no work could be in a graph */
	int64_t graph_ns;
	int64_t outside_ns; /* host time outside their launches */
	int64_t graph_gap_ns, graph_start_ns; /* the medians used for it */
	/* the gap with most host time; HOST_NONE: there is none */
	uint32_t largest;
	int64_t largest_ns; /* the recorded part of it */
	/* gaps up to HOST_LONG_NS opened by blocking calls; the longest */
	int64_t opened_ns;
	uint32_t opened_by; /* event, or HOST_NONE */
	/*
	 * The longest piece in which host and GPU both wait for work that was
	 * not recorded: the call in which the host waits, and the one that made
	 * the GPU wait; or HOST_NONE.
	 */
	uint32_t blocked_in, waits_by;
	uint32_t longest[BUCKET_COUNT]; /* GPU events; HOST_NONE: none */
};

/* The class of a piece of a gap. */
unsigned account_class_of(
    const struct host *h, const struct gap *gap, const struct gap_piece *p);
void account_find(struct account *a, struct gaps *g, struct host *h,
    const uint32_t *gpus, size_t n, const struct steps *steps,
    const struct spans *within);
/*
 * The window alone, of all steps and GPU events; steps if nothing else, of the
 * GPU. It starts after it ends: there are neither. room is overwritten.
 */
struct span account_window(
    struct gaps *room, struct host *h, const struct steps *steps) USE_RESULT;
/* The steps in it, and the idle time that a graph of each would leave. */
void account_set_steps(struct account *a, const struct account_steps *steps);

#endif
