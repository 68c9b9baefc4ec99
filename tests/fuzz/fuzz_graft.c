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

static void
tell(void *arg, const struct listed *l)
{
	size_t *n = arg;

	CHECK(l->file.len == 0 || l->file.p != NULL);
	CHECK(l->mode.len == 0 || l->mode.p != NULL);
	++*n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *p = xcalloc(1, size + IN_PAD);
	struct serving_step step;
	struct json j;
	size_t n = 0;

	if (size > 0)
		memcpy(p, data, size);
	if (!captures_list(p, size, tell, &n, &j))
		CHECK(j.error == NULL || (j.where >= p && j.where <= p + size));
	CHECK(n <= size);
	/* the name alone, without a zero behind */
	step = serving_step_of((struct str){ (const char *)data, size });
	CHECK(step.tier >= 0 && step.tier <= 2);
	CHECK(step.tier == 2 ? step.batch == -1 : step.batch >= 0);
	free(p);
	return 0;
}
