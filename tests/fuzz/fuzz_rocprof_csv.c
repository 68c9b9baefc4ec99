/* SPDX-License-Identifier: MIT */
/* rocprofv3's CSV, one table: the same events or error, whatever the window. */
#include "cmd/tl-decode/format.h"
#include "tests/fuzz/decode.h"

extern const struct format rocprof_csv_format;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	compare(&rocprof_csv_format, data, size);
	return 0;
}
