/* SPDX-License-Identifier: MIT */
#include "stream/run.h"

#include <string.h>

const struct str run_tables[RUN_TABLES] = { STR_INIT("agent_info.csv"),
	STR_INIT("counter_collection.csv"), STR_INIT("hip_api_trace.csv"),
	STR_INIT("hsa_api_trace.csv"), STR_INIT("marker_api_trace.csv"),
	STR_INIT("rccl_api_trace.csv"), STR_INIT("rocdecode_api_trace.csv"),
	STR_INIT("rocjpeg_api_trace.csv"), STR_INIT("kernel_trace.csv"),
	STR_INIT("memory_copy_trace.csv"),
	STR_INIT("memory_allocation_trace.csv"),
	STR_INIT("scratch_memory_trace.csv") };

size_t
run_table(struct str path, struct str *front, struct str *packing)
{
	static const struct str packings[] = { STR_INIT(""), STR_INIT(".gz"),
		STR_INIT(".zst") };

	for (size_t k = 0; k < sizeof packings / sizeof *packings; k++) {
		struct str bare = { path.p, path.len - packings[k].len };

		if (!str_ends(path, packings[k]))
			continue;
		for (size_t i = 0; i < RUN_TABLES; i++) {
			if (!str_ends(bare, run_tables[i]))
				continue;
			*front = (struct str){ path.p,
				bare.len - run_tables[i].len };
			*packing = packings[k];
			if (front->len == 0 ||
			    strchr("/_", front->p[front->len - 1]) != NULL)
				return i;
		}
	}
	return RUN_TABLES;
}

static bool
is_one(const char *path, const char *other)
{
	struct str front, other_front, packing, other_packing;

	return run_table(str_of(path), &front, &packing) < RUN_TABLES &&
	    run_table(str_of(other), &other_front, &other_packing) <
	    RUN_TABLES &&
	    str_eq(front, other_front) && str_eq(packing, other_packing);
}

bool
run_is_among(const char *const *paths, size_t n, const char *path)
{
	if (!is_one(path, path))
		return false;
	for (size_t i = 0; i < n; i++)
		if (is_one(paths[i], path))
			return true;
	return false;
}
