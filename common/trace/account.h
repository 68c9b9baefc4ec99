/* SPDX-License-Identifier: MIT */
/*
 * account: what the time of a source's window went on, in the classes that a
 * verdict compares. They add up to the window.
 *
 *	steps   [ step 1 ][ step 2 ]
 *	GPU        ###=__##__##=+
 *	window  [hhh###=dd##hh##=+h]	h, d: the causes of gaps (gap.h)
 *
 * The window begins with the first step or GPU event and ends with the last.
 * A head whose cause is not in the recording is left out of it.
 *
 *	account_find(&account, &gaps, h, list, n, &steps, NULL);
 *
 * The tag of each host_gpu is its enum bucket. steps NULL: the window is that
 * of the GPU events alone. gaps.list.v[account.first] .. are those of the
 * window. Of some steps alone the window is the walls of these (within), and
 * all GPU work counts that runs in them: list is then of what they launched.
 */
#ifndef TL_TRACE_ACCOUNT_H
#define TL_TRACE_ACCOUNT_H

#include "trace/gap.h"
#include "trace/steps.h"

/* Causes by their group, GPU work by what it is. */
enum account_class {
	ACCOUNT_COMM = GROUP_OF_MISSING + 1, /* exposed, and waiting for it */
	ACCOUNT_COPY,                        /* exposed */
	ACCOUNT_COUNT,
};

extern const char *const account_words[ACCOUNT_COUNT];

struct account {
	struct span window;
	int64_t window_ns; /* less than that if steps lie apart */
	uint64_t nsteps;   /* 0: the window is that of the GPU events */
	size_t first;      /* 1: the head is left out */
	int64_t ns[ACCOUNT_COUNT];
	int64_t inferred_ns[ACCOUNT_COUNT]; /* of it by lengths alone */
	/* launches: what they launch, how often, and for how long */
	uint64_t nlaunched;  /* GPU events with a launch */
	uint64_t nstarved;   /* those launched after the GPU had run dry */
	int64_t interval_ns; /* median between launches of one thread; -1 */
	int64_t work_ns;     /* median of what one launched; -1 */
	/* what a graph of each step, or one of all, would leave of idle time;
	 * INT64_MAX: there is nothing that one could hold */
	int64_t graph_ns;
	int64_t graph_gap_ns, graph_start_ns; /* median terms of that */
	/* the gap with most time of the host; HOST_NONE: there is no gap */
	uint32_t largest;
	int64_t largest_ns; /* of that, what was recorded */
	/* gaps up to HOST_LONG_NS that blocking calls opened; the longest */
	int64_t opened_ns;
	uint32_t opened_by; /* event, or HOST_NONE */
	/*
	 * Of the longest piece in which both host and GPU wait for work that is
	 * not in the recording: the call in which the host does, and the one
	 * that made the GPU wait; or HOST_NONE.
	 */
	uint32_t blocked_in, waits_by;
};

/* The class of a piece of a gap. */
unsigned account_class_of(
    const struct host *h, const struct gap *gap, const struct gap_piece *p);
void account_find(struct account *a, struct gaps *g, struct host *h,
    const uint32_t *gpus, size_t n, const struct steps *steps,
    const struct spans *within);
/* The number of steps within, and what a graph of each would leave. */
void account_set_steps(struct account *a, uint64_t nsteps);

#endif
