/* SPDX-License-Identifier: MIT */
/*
 * One text, read as a list of captures and as the name of a step. A capture has
 * a string and an integer; no iteration has negative counts.
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
	struct iteration it;

	if (captures_list((struct str){ (const char *)data, size }, mem, &list))
		CHECK(list.n > 0);
	CHECK(list.n <= size);
	for (size_t i = 0; i < list.n; i++)
		CHECK(list.v[i].file.len <= size && list.v[i].mode.len <= size);
	/* only the name, without a zero after it */
	CHECK(iteration_of_name((struct str){ (const char *)data, size },
		  &it) == (it.tier != ITERATION_NOT));
	CHECK(it.batch_size >= 0 && it.num_requests >= 0);
	CHECK(it.ctx_at <= size && it.ctx_len <= size - it.ctx_at);
	vec_free(&list);
	arena_destroy(mem);
	return 0;
}
