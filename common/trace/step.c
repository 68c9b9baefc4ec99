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

bool
step_of_args(const struct dict *st, const struct event *ev, int64_t *step)
{
	struct value v;

	if (!event_arg(st, ev, STR("step_num"), &v) || v.type != VAL_INT)
		return false;
	*step = v.i;
	return true;
}

size_t
step_ncalls(const struct dict *st, const struct event *ev)
{
	struct value v;

	if (!event_arg(st, ev, STR("calls"), &v) || v.type != VAL_INT ||
	    v.i <= 0)
		return 1;
	return (size_t)v.i;
}
