/* SPDX-License-Identifier: MIT */
/* step: the annotations ProfilerStep#N of a source */
#ifndef TL_TRACE_STEP_H
#define TL_TRACE_STEP_H

#include "base/base.h"

/* N of "ProfilerStep#N". */
bool step_of_name(struct str name, int64_t *step) USE_RESULT;

#define WALK_NO_STEP INT64_MIN

struct step_span {
	int64_t number;
	int64_t start_ns, end_ns;
	int64_t reach_ns; /* steps_sort(): the last end up to here */
};

/* Into the order that steps_at() needs: by start, of these the longer first. */
void steps_sort(struct step_span *v, size_t n);
/*
 * The number of the last of those that began by then and are not over; or
 * WALK_NO_STEP.
 */
int64_t steps_at(const struct step_span *v, size_t n, int64_t ts_ns);

#endif
