/* SPDX-License-Identifier: MIT */
/*
 * Chrome traces: for any text, each written event is well formed, its times can
 * be added, and the size of the window does not matter.
 */
#include "cmd/tl-decode/format.h"
#include "tests/fuzz/decode.h"

extern const struct format chrome_format;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	compare(&chrome_format, data, size);
	return 0;
}
