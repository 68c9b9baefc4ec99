/* SPDX-License-Identifier: MIT */
/* Names of steps. */
#include "trace/step.h"

bool
step_of_name(struct str name, int64_t *step)
{
	static const struct str prefix = STR_INIT("ProfilerStep#");

	if (!str_starts(name, prefix))
		return false;
	name.p += prefix.len;
	name.len -= prefix.len;
	return num_i64(name, step) && *step >= 0;
}
