/* SPDX-License-Identifier: MIT */
/* Perfetto's packets: the same events or error, whatever the window. */
#include "cmd/tl-decode/format.h"
#include "tests/fuzz/decode.h"

extern const struct format perfetto_format;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	compare(&perfetto_format, data, size);
	return 0;
}
