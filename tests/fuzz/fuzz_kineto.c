/* SPDX-License-Identifier: MIT */
/*
 * Chrome traces: whatever the text, each event that is written is well formed,
 * its times can be added, and the size of the window makes no difference.
 */
#include "cmd/tl-decode/decode.h"
#include "tests/fuzz/decode.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	compare(data, size);
	return 0;
}
