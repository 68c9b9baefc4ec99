/* SPDX-License-Identifier: MIT */
/* step: ProfilerStep#N */
#ifndef TL_TRACE_STEP_H
#define TL_TRACE_STEP_H

#include "base/base.h"

/* N of "ProfilerStep#N". */
bool step_of_name(struct str name, int64_t *step) USE_RESULT;

#define WALK_NO_STEP INT64_MIN

#endif
