/* SPDX-License-Identifier: MIT */
/*
 * steps: the windows that the steps of a source are, from its annotations.
 *
 * What a step is, the first that fits: what the user names; two ProfilerStep#N
 * or more; annotations of serving frameworks; one ProfilerStep#N. Where nothing
 * does, the span of all GPU events is the one window.
 *
 *	ProfilerStep#3 [      ][       ]	up to the next one's start
 *	decode[bs=8]   [    ]  [     ]		its own, and what is between
 *
 * Each process has steps of its own: those of the thread that launches most
 * inside of them. Of nested ones the outermost counts.
 *
 *	steps_find(&steps, &host, globs, nglobs);	after host_ready()
 *	for each of steps.processes: list.v[first] .. [first + n - 1], in time
 *
 * Memory: 48 bytes a window and 4 a thread.
 */
#ifndef TL_TRACE_STEPS_H
#define TL_TRACE_STEPS_H

#include "trace/host.h"

enum step_what {
	STEP_IS_STEP,
	STEP_IS_BETWEEN, /* behind a step of this number, up to the next one */
	STEP_IS_WHOLE,   /* no steps: all */
};

struct step_window {
	int64_t start_ns, end_ns;
	int64_t number;  /* N of ProfilerStep#N, else from 1 on */
	uint32_t marker; /* event; HOST_NONE: of the whole */
	uint8_t what;
	bool is_cut; /* the next one begins before its end */
};

struct step_process {
	struct key pid;
	uint32_t first, n; /* in list */
	uint32_t thread;   /* whose annotations they are */
};

struct steps {
	VEC(struct step_window) list;
	VEC(struct step_process) processes;
	VEC(uint32_t) process_of; /* of each thread; HOST_NONE: without steps */
};

/*
 * Empties it first. Nothing is found where nothing is named like the globs, if
 * there are any, or where there is neither a step nor a GPU event.
 */
void steps_find(struct steps *s, const struct host *h, const struct str *globs,
    size_t nglobs);
/* The window in which an event starts, or HOST_NONE. */
uint32_t steps_window_of(
    const struct steps *s, const struct host *h, uint32_t event);
void steps_free(struct steps *s);

#endif
