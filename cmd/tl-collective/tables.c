/* SPDX-License-Identifier: MIT */
/* Which tables there are, and what several of them share. */
#include "cmd/tl-collective/collective.h"

#include <stdlib.h>

static bool
has_all2allv(const struct job *j)
{
	for (size_t i = 0; i < j->colls.n; i++)
		if (j->colls.v[i].class == CLASS_ALLTOALLV)
			return true;
	return false;
}

static bool
has_sync(const struct job *j)
{
	for (size_t i = 0; i < j->colls.n; i++)
		if (coll_is_sync(j, &j->colls.v[i]))
			return true;
	return false;
}

static bool
is_long(const struct job *j)
{
	return has_sync(j) && !is_wide(j);
}

static bool
is_long_all2allv(const struct job *j)
{
	return has_all2allv(j) && !is_wide(j);
}

static bool
is_single(const struct job *j)
{
	return j->ranks.n == 1;
}

const struct table_def table_defs[] = {
	{ "nccl_groups", print_groups, NULL },
	{ "straggler_cause", print_cause, NULL },
	{ "nccl_summary_implicit_sync", print_summary_sync, NULL },
	{ "nccl_summary_long", print_summary_long, NULL },
	{ "coll_analysis", print_coll_analysis, is_single },
	{ "nccl_summary_all2allv", print_summary_all2allv, has_all2allv },
	{ "nccl_all2allv_heatmap", print_heatmap, has_all2allv },
	{ "nccl_long", print_long, NULL },
	{ "nccl_implicit_sync", print_sync, NULL },
	{ "nccl_implicit_sync_ranks", print_sync_ranks, is_long },
	{ "nccl_all2allv", print_all2allv, has_all2allv },
	{ "nccl_all2allv_ranks", print_all2allv_ranks, is_long_all2allv },
	{ "straggler_summary", print_straggler_summary, has_sync },
	{ "nccl_bandwidth", print_bandwidth, NULL },
	{ "nccl_clocks", print_clocks, NULL },
	{ "nccl_missing", print_missing, NULL },
};
const size_t ntable_defs = sizeof table_defs / sizeof *table_defs;

bool
is_wide(const struct job *j)
{
	return j->set->wide || j->ranks.n <= WIDE_RANKS;
}

size_t
columns_add(struct columns *c, const char *id, const char *label,
    enum col_type type, enum unit unit, double label_div)
{
	struct column col = {
		.type = type, .unit = unit, .label_div = label_div
	};

	if (c->mem == NULL)
		c->mem = arena_create();
	col.id = arena_str(c->mem, str_of(id)).p;
	col.label = label != NULL ? arena_str(c->mem, str_of(label)).p : NULL;
	vec_push(&c->list, col);
	return c->list.n - 1;
}

struct cell
cell_str(struct str s)
{
	return s.p != NULL ? cell_text(s) : cell_none();
}

struct cell
cell_num(bool has, int64_t v)
{
	return has ? cell_int(v) : cell_none();
}

struct cell
cell_bytes(int64_t bytes)
{
	return bytes >= 0 ? cell_int(bytes) : cell_none();
}

struct cell
node_span(const struct job *j, const struct pgroup *g)
{
	int64_t n = j->gpus_per_node;

	if (!g->has_members || g->members.n == 0)
		return cell_text(STR("unknown"));
	for (size_t i = 1; i < g->members.n; i++)
		if (g->members.v[i] / n != g->members.v[0] / n)
			return cell_text(STR("inter_node"));
	return cell_text(STR("intra_node"));
}

struct cell
id_cell(const struct job *j, const struct coll *c, struct table *t)
{
	struct buf b = { 0 };
	struct str s;

	coll_put_id(j, c, &b);
	s = table_text(t, buf_str(&b));
	buf_free(&b);
	return cell_text(s);
}
