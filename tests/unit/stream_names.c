/* SPDX-License-Identifier: MIT */
/* Which files of a folder are opened. */
#include "tests/unit/tap.h"

#include "stream/stream.h"

int
main(void)
{
	static const char *const ours[] = { "a.json", "a.json.gz", "a.json.zst",
		"a.ndjson", "a.ndjson.gz", "a.ndjson.zst", "a.tl", "a.tl.gz",
		"a.tl.zst", "rank.0.pt.trace.json", "a.txt.json" };
	static const char *const others[] = { "", ".", "..", ".json", ".a.json",
		".json.gz", ".gz", "a.gz", "json", "ajson", "a.jsonl",
		"a.json.gz.zst", "a.json.gz~", "a.JSON", "a.tl.tmp", "a.csv" };

	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		ok(stream_is_name(str_of(ours[i])), "'%s' is", ours[i]);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		ok(!stream_is_name(str_of(others[i])), "'%s' is not",
		    others[i]);
	done_testing();
}
