/* SPDX-License-Identifier: MIT */
/* Dumps of the flight recorder, JSON or pickle: the same, whatever the window.
 */
#include "cmd/tl-decode/format.h"
#include "tests/fuzz/decode.h"

extern const struct format flight_format, flight_pickle_format;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool is_pickle = size > 0 && data[0] == 0x80;

	compare(is_pickle ? &flight_pickle_format : &flight_format, data, size);
	return 0;
}
