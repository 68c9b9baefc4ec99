/* SPDX-License-Identifier: MIT */
/* Databases of all schemas: events or an error, the same each time. */
#include "cmd/tl-decode/format.h"
#include "cmd/tl-decode/sqlite/db.h"
#include "tests/fuzz/decode.h"

extern const struct format sqlite_format;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	compare(&sqlite_format, data, size);
	return 0;
}
