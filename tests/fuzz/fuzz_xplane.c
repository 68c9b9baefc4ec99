/* SPDX-License-Identifier: MIT */
/* Planes, lines, events and HLO modules: events or an error, the same each
 * time; for whole ones the same with --salvage. */
#include "cmd/tl-decode/format.h"
#include "tests/fuzz/decode.h"

extern const struct format xplane_format;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct outcome whole, saved;

	compare(&xplane_format, data, size);
	whole = decode(&xplane_format, data, size, size + 1, KINDS_ALL);
	salvages = true;
	saved = decode(&xplane_format, data, size, size + 1, KINDS_ALL);
	salvages = false;
	CHECK(!whole.is_good ||
	    (saved.is_good && saved.events == whole.events &&
		saved.hash == whole.hash));
	return 0;
}
