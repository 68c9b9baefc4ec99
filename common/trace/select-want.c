/* SPDX-License-Identifier: MIT */
/* What must be read of a stream for a selection. */
#include "trace/select-inside.h"

bool
select_takes_any(const struct select *s)
{
	return s->kinds == 0 && s->names.n == 0 && s->min_dur_ns == 0 &&
	    id_set_is_empty(&s->devs) && id_set_is_empty(&s->gpu_streams);
}

bool
select_is_of_steps(const struct select *s)
{
	return select_takes_any(s) && select_asks_steps(s) &&
	    s->annotations.n == 0 && s->phases == 0 && !s->has_from &&
	    !s->has_to;
}

bool
select_by_annotations(const struct select *s)
{
	return s->need_windows || s->annotations.n > 0 || s->phases != 0 ||
	    select_asks_steps(s);
}

bool
select_by_launch(const struct select *s)
{
	return !s->by_gpu_time &&
	    (select_by_annotations(s) || s->has_from || s->has_to);
}

void
select_check_gpu(const struct select *s)
{
	if (s->kinds != 0 && (s->kinds & KINDS_GPU) == 0)
		die_usage("option '--kind' needs kernel, memcpy or memset: "
			  "what the GPU worked on");
}

enum want
select_want(const struct select *s, enum want want)
{
	if (select_by_annotations(s) || s->has_from || s->has_to ||
	    (!id_set_is_empty(&s->ranks) && !s->late_ranks))
		return WANT_TREE;
	return want;
}

uint32_t
select_kinds(const struct select *s, uint32_t kinds)
{
	if (s->kinds != 0)
		kinds &= s->kinds;
	if (select_by_annotations(s))
		kinds |= KIND_BIT(KIND_ANNOTATION);
	if (select_by_launch(s))
		kinds |= KINDS_LAUNCH;
	return kinds;
}
