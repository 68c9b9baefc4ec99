/* SPDX-License-Identifier: MIT */
/* The rank in a file's name. */
#include "tests/unit/tap.h"

#include "stream/rank.h"

int
main(void)
{
	static const struct {
		const char *path;
		int64_t rank;
	} names[] = {
		{ "rank0.json", 0 },
		{ "trace_rank-34.json.gz", 34 },
		{ "RANK_7.tl", 7 },
		{ "worker3.pt.trace.json", 3 },
		{ "rank1/worker2.json", 2 },
		{ "rank1/trace.json", 1 },
		{ "runs/rank/5/trace.json", 5 },
		{ "ranks/trace[rank[2]].json", 2 },
		{ "trace.json", -1 },
		{ "rank99999999999999999999.json", -1 },
	};
	struct rank_rule *r = rank_rule_create(NULL);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		is_int(rank_of_path(r, names[i].path), names[i].rank, "%s",
		    names[i].path);
	rank_rule_destroy(r);
	r = rank_rule_create("n([0-9]+)g[0-9]+");
	is_int(rank_of_path(r, "n4g2.json"), 4, "an own expression's group");
	is_int(rank_of_path(r, "rank3.json"), -1, "... and no other");
	rank_rule_destroy(r);
	done_testing();
}
