/* SPDX-License-Identifier: MIT */
/* Names of steps. */
#include "trace/step.h"

#include "base/report.h"

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

const char *const step_from_words[STEP_FROM_COUNT + 1] = {
	[STEP_FROM_OPTIMIZER] = "optimizer",
	[STEP_FROM_GPU_WORK] = "gpu_work",
	[STEP_FROM_OPS] = "ops",
	[STEP_FROM_REPEATS] = "repeats",
};

const char *
step_from_reason(enum step_from from)
{
	static const enum reason reasons[STEP_FROM_COUNT] = {
		[STEP_FROM_OPTIMIZER] = REASON_FROM_OPTIMIZER,
		[STEP_FROM_GPU_WORK] = REASON_FROM_GPU_WORK,
		[STEP_FROM_OPS] = REASON_FROM_OPS,
		[STEP_FROM_REPEATS] = REASON_FROM_REPEATS,
	};

	return report_reason(reasons[from]);
}

struct step_inferred
step_inferred_of(const struct dict *st, const struct event *ev)
{
	struct step_inferred s = { 1, STEP_FROM_REPEATS };
	struct value v;

	if (event_arg(st, ev, STR("calls"), &v) && v.type == VAL_INT && v.i > 0)
		s.ncalls = (size_t)v.i;
	if (!event_arg(st, ev, STR("inferred_from"), &v) || v.type != VAL_STR)
		return s;
	for (int i = 0; i < STEP_FROM_COUNT; i++)
		if (str_eq(dict_get(st, v.id), str_of(step_from_words[i])))
			s.from = (enum step_from)i;
	return s;
}
