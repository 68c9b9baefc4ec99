/* SPDX-License-Identifier: MIT */
/* Which files of a folder are ours, for the programs that take folders. */
#include "stream/stream.h"

static bool
ends_in(struct str s, struct str end)
{
	return s.len > end.len &&
	    memcmp(s.p + s.len - end.len, end.p, end.len) == 0;
}

bool
stream_is_name(struct str name)
{
	static const struct str packed[] = { STR_INIT(".gz"),
		STR_INIT(".zst") };
	static const struct str ends[] = { STR_INIT(".json"),
		STR_INIT(".ndjson"), STR_INIT(".tl") };

	if (name.len == 0 || name.p[0] == '.')
		return false;
	for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
		if (ends_in(name, packed[i])) {
			name.len -= packed[i].len;
			break;
		}
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (ends_in(name, ends[i]))
			return true;
	return false;
}
