/* SPDX-License-Identifier: MIT */
/*
 * infer: steps of a source without markers, from its activity.
 *
 * They end with the optimizer's steps, or else repeat what is launched; of a
 * source without GPU work, its outermost ops. man/tl-steps.1 has the rules.
 * tl-tree calls it once, and adds an annotation per step (CATEGORY_INFERRED) to
 * the prologue, so that all programs know the same steps (steps.h).
 *
 *	struct infer f = { 0 };
 *	vec_push(&f.calls, ...);	and optimizers, first_ns
 *	if (infer_steps(&f))
 *		... f.steps.v[i].start, .end
 *	infer_free(&f);
 *
 * Memory while it works: INFER_CALL_BYTES a call at most.
 */
#ifndef TL_TRACE_INFER_H
#define TL_TRACE_INFER_H

#include "trace/repeat.h"
#include "trace/span.h"

#define INFER_CALL_BYTES 256

/* A step of an optimizer, not below an op. */
struct infer_optimizer {
	int64_t start_ns, end_ns;
	uint32_t thread;
};

struct infer {
	/* the process's activity, set by the caller */
	VEC(struct repeat_event) calls; /* event: the thread */
	/* by thread and start; the thread with most launches first */
	VEC(struct infer_optimizer) optimizers;
	VEC(int64_t) first_ns; /* by thread: when its first event begins */
	/* results */
	VEC(struct span) steps; /* by time, disjoint */
	size_t length;          /* calls in most steps */
	bool by_optimizer;
	uint32_t thread;
};

/* False: nothing repeats. Sorts the calls. */
bool infer_steps(struct infer *f) USE_RESULT;
/* infer-optimizer.c: those that end with the optimizer's; calls are sorted. */
bool infer_by_optimizer(struct infer *f) USE_RESULT;
void infer_free(struct infer *f);

#endif
