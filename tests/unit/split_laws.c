/* SPDX-License-Identifier: MIT */
/* tl-split: a part that is busy for longer than its work takes ends it. */
#include "cmd/tl-split/split.h"
#include "tests/unit/child.h"
#include "tests/unit/tap.h"

static struct split s;
static struct run run;

static void
add(void)
{
	details_add(&s, &run, 7);
}

/* What it says at the end, or "". */
static const char *
said(int64_t gpu_sum_ns)
{
	static struct child end;

	s.its.roots.v[0].gpu_sum_ns = gpu_sum_ns;
	end = child_run(add);
	return end.status == EXIT_NO_ANSWER ? end.err : "";
}

int
main(void)
{
	struct root root = { .ngpu = 2 };

	/* 12 ns of GPU work in an iteration, in 11 of which the GPU is busy */
	spans_add(&root.gpu, 100, 106);
	spans_add(&root.gpu, 105, 111);
	vec_push(&s.its.roots, root);
	vec_push(&s.its.picked, 0);
	vec_push(&s.its.v, ((struct iteration){ .batch_size = 1 }));
	run = (struct run){ .path = STR("part.tl"), .w = { .end = 1 } };
	is_str(said(12), "", "events that overlap");
	is_str(said(11), "", "or follow each other");
	ok(strstr(said(10),
	       "table execution_details: gpu_busy_duration 11 is more than "
	       "gpu_sum 10: a defect") != NULL,
	    "an event that is not in the sum");
	done_testing();
}
