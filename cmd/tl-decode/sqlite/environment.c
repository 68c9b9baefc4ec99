/* SPDX-License-Identifier: MIT */
/*
 * The rank of a process by its environment. Nothing else of it is copied, as it
 * may hold secrets.
 */
#include "cmd/tl-decode/sqlite/db.h"

/* Launchers' names; the first one set counts. */
static const struct str ranks[] = { STR_INIT("RANK"),
	STR_INIT("OMPI_COMM_WORLD_RANK"), STR_INIT("PMI_RANK"),
	STR_INIT("PMIX_RANK"), STR_INIT("MV2_COMM_WORLD_RANK"),
	STR_INIT("SLURM_PROCID"), STR_INIT("FLUX_TASK_RANK") };
static const struct str sizes[] = { STR_INIT("WORLD_SIZE"),
	STR_INIT("OMPI_COMM_WORLD_SIZE"), STR_INIT("PMI_SIZE"),
	STR_INIT("SLURM_NTASKS") };

void
environment_begin(struct db *db)
{
	db->rank_by = DB_COUNT(ranks);
	db->size_by = DB_COUNT(sizes);
}

/* Whether it is a number from an earlier name than *best. */
static bool
take(struct str variable, const struct str *names, size_t *best, int64_t *v)
{
	for (size_t i = 0; i < *best; i++) {
		size_t n = names[i].len;

		if (!str_starts(variable, names[i]) || n == variable.len ||
		    variable.p[n] != '=')
			continue;
		variable.p += n + 1;
		variable.len -= n + 1;
		if (!num_i64(variable, v) || *v < 0)
			return false;
		*best = i;
		return true;
	}
	return false;
}

void
environment_variable(struct db *db, struct str variable)
{
	int64_t v;

	if (take(variable, ranks, &db->rank_by, &v)) {
		facts_int(&db->s->facts, "rank", v);
		facts_str(&db->s->facts, "rank_from", STR("environment"));
	} else if (take(variable, sizes, &db->size_by, &v)) {
		facts_int(&db->s->facts, "world_size", v);
	}
}
