/* SPDX-License-Identifier: MIT */
/* step: annotations that number steps */
#ifndef TL_TRACE_STEP_H
#define TL_TRACE_STEP_H

#include "stream/stream.h"

/* N of "ProfilerStep#N". */
bool step_of_name(struct str name, int64_t *step) USE_RESULT;
/* The number that a StepTraceAnnotation of JAX or TensorFlow has. */
bool step_of_args(
    const struct dict *st, const struct event *ev, int64_t *step) USE_RESULT;

/* The source of inferred steps. */
enum step_from {
	STEP_FROM_OPTIMIZER,
	STEP_FROM_GPU_WORK,
	STEP_FROM_OPS,
	STEP_FROM_REPEATS, /* their annotations do not say */
	STEP_FROM_COUNT
};
/* Of annotations. */
extern const char *const step_from_words[STEP_FROM_COUNT + 1];
/* In words, for messages. */
const char *step_from_reason(enum step_from from);

struct step_inferred {
	size_t ncalls; /* in a step; 1 if unknown */
	enum step_from from;
};
/* The data in the annotation of an inferred step. */
struct step_inferred step_inferred_of(
    const struct dict *st, const struct event *ev) USE_RESULT;

#define WALK_NO_STEP INT64_MIN

#endif
