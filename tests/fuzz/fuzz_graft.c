/* SPDX-License-Identifier: MIT */
/*
 * One text, read as a list of captures and as the name of a step. What is told
 * of a capture is a string and an integer; a step has a batch if it is one.
 */
#include <stdlib.h>

#include "cmd/tl-graft/graft.h"

#define CHECK(x)                 \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *mem = arena_create();
	listed_vec list = { 0 };
	struct serving_step step;

	if (captures_list((struct str){ (const char *)data, size }, mem, &list))
		CHECK(list.n > 0);
	CHECK(list.n <= size);
	for (size_t i = 0; i < list.n; i++)
		CHECK(list.v[i].file.len <= size && list.v[i].mode.len <= size);
	/* the name alone, without a zero behind */
	step = serving_step_of((struct str){ (const char *)data, size });
	CHECK(step.tier >= 0 && step.tier <= 2);
	CHECK(step.tier == 2 ? step.batch == -1 : step.batch >= 0);
	vec_free(&list);
	arena_destroy(mem);
	return 0;
}
