/* SPDX-License-Identifier: MIT */
/*
 * rocprofv3's results: the same, with the text of one process, as mutations
 * would rarely find the file around it.
 */
#include "cmd/tl-decode/format.h"
#include "tests/fuzz/decode.h"

extern const struct format rocprof_format;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char head[] = "{\"rocprofiler-sdk-tool\":[{",
			  tail[] = "}]}";
	struct buf whole = { 0 };

	buf_put(&whole, head, sizeof head - 1);
	buf_put(&whole, data, size);
	buf_put(&whole, tail, sizeof tail - 1);
	compare(&rocprof_format, (const uint8_t *)whole.p, whole.len);
	buf_free(&whole);
	return 0;
}
