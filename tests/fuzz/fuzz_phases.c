/* SPDX-License-Identifier: MIT */
/*
 * A site's forms of annotations, which a stream may have: taken whole, or not
 * at all and with a reason. Then any name has a phase, and its list is inside
 * the name. The name follows the first zero byte.
 */
#include <stdlib.h>

#include "stream/stream.h"
#include "trace/phase.h"

#define CHECK(x)                 \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *zero = size > 0 ? memchr(data, 0, size) : NULL;
	size_t len = zero != NULL ? (size_t)(zero - data) : size;
	unsigned char *p = xcalloc(1, len + IN_PAD);
	struct str name = { (const char *)data, size };
	struct buf why = { 0 };
	struct iteration it;
	bool is_good;

	if (len > 0)
		memcpy(p, data, len);
	if (zero != NULL)
		name = (struct str){ (const char *)zero + 1, size - len - 1 };
	is_good =
	    iteration_formats_read((struct str){ (const char *)p, len }, &why);
	CHECK(is_good == (why.len == 0));
	if (iteration_of_name(name, &it))
		CHECK(iteration_format_name(it.format).p != NULL &&
		    it.tier < ITERATION_NOT);
	CHECK(it.phase < PHASE_COUNT && iteration_tokens(&it) >= -1);
	CHECK(it.ctx_at <= name.len && it.ctx_len <= name.len - it.ctx_at);
	buf_free(&why);
	iteration_formats_free();
	free(p);
	return 0;
}
