/* SPDX-License-Identifier: MIT */
/* step: which annotations number steps */
#ifndef TL_TRACE_STEP_H
#define TL_TRACE_STEP_H

#include "stream/stream.h"

/* N of "ProfilerStep#N". */
bool step_of_name(struct str name, int64_t *step) USE_RESULT;
/* The number that a StepTraceAnnotation of JAX or TensorFlow has. */
bool step_of_args(
    const struct dict *st, const struct event *ev, int64_t *step) USE_RESULT;

/* The calls in a step that an inferred one has; 1 where it does not say. */
size_t step_ncalls(const struct dict *st, const struct event *ev) USE_RESULT;

#define WALK_NO_STEP INT64_MIN

#endif
