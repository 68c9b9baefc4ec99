/* SPDX-License-Identifier: MIT */
/* Which tables there are, and what several of them share. */
#include "cmd/tl-collective/tables.h"

#include <stdio.h>
#include <stdlib.h>

/* In the order of -d. */
const struct table_def *const table_defs[] = {
	&table_groups,
	&table_cause,
	&table_summary_sync,
	&table_summary_long,
	&table_coll_analysis,
	&table_summary_all2allv,
	&table_heatmap,
	&table_long,
	&table_sync,
	&table_sync_ranks,
	&table_all2allv,
	&table_all2allv_ranks,
	&table_straggler_summary,
	&table_bandwidth,
	&table_clocks,
	&table_missing,
};
const size_t ntable_defs = sizeof table_defs / sizeof *table_defs;

bool
has_all2allv(const struct job *j)
{
	for (size_t i = 0; i < j->colls.n; i++)
		if (j->colls.v[i].class == CLASS_ALLTOALLV)
			return true;
	return false;
}

bool
has_sync(const struct job *j)
{
	for (size_t i = 0; i < j->colls.n; i++)
		if (coll_is_sync(j, &j->colls.v[i]))
			return true;
	return false;
}

bool
is_wide(const struct job *j)
{
	return j->set->wide || j->ranks.n <= WIDE_RANKS;
}

/* ---- columns ---- */

void
columns_put(struct columns *c, const struct column *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		vec_push(&c->list, list[i]);
}

static void
put_named(struct columns *c, const struct column *of, const char *id,
    const char *label)
{
	struct column *col = vec_add(&c->list);

	*col = *of;
	col->id = arena_str(c->mem, str_of(id)).p;
	col->label = arena_str(c->mem, str_of(label)).p;
}

void
columns_of_ranks(
    struct columns *c, const struct job *j, const struct column *list, size_t n)
{
	char id[96], label[96];

	for (size_t r = 0; r < j->ranks.n; r++)
		for (size_t i = 0; i < n; i++) {
			snprintf(id, sizeof id, "rank_%" PRId64 "_%s",
			    j->ranks.v[r].rank, list[i].id);
			snprintf(label, sizeof label, "rank_%" PRId64 "_%s",
			    j->ranks.v[r].rank, list[i].label);
			put_named(c, &list[i], id, label);
		}
}

void
columns_of_aggs(struct columns *c, const struct column *of,
    const struct agg *aggs, size_t naggs)
{
	char id[96], label[96];

	for (size_t i = 0; i < naggs; i++) {
		snprintf(id, sizeof id, "%s_%s", of->id, aggs[i].word);
		snprintf(label, sizeof label, "%s_%s",
		    of->label != NULL ? of->label : of->id, aggs[i].word);
		put_named(c, of, id, label);
	}
}

void
print_table(const struct table_def *def, struct job *j, struct table_dest *d)
{
	static const struct column node_id = INT("node_id", NULL);
	static const struct column node_span = TEXT("node_span", NULL);
	struct columns c = { .mem = arena_create() };
	struct table *t;

	columns_put(&c, def->columns, def->ncolumns);
	if (def->more != NULL)
		def->more(j, &c);
	if (j->has_nodes && (def->nodes & WITH_NODE_ID) != 0)
		columns_put(&c, &node_id, 1);
	if (j->has_nodes && (def->nodes & WITH_NODE_SPAN) != 0)
		columns_put(&c, &node_span, 1);
	t = table_create(def->name, c.list.v, c.list.n);
	if (def->is_streamed)
		table_stream(t, d);
	def->fill(j, t);
	table_print(t, d);
	table_destroy(t);
	vec_free(&c.list);
	arena_destroy(c.mem);
}

/* ---- cells ---- */

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
cell_group(const struct job *j, const struct sig *s)
{
	return cell_text(s->pg.p != NULL ? s->pg : j->groups.v[s->group].pg);
}

struct cell
cell_quantile(const double *v, size_t n, double q)
{
	return n > 0 ? cell_real(quantile_sorted(v, n, q)) : cell_none();
}

struct cell
cell_start(const struct job *j, const struct rec *r)
{
	return cell_int(r->start_ns - j->parts.v[r->part].shift_ns);
}

size_t
put_aggs(struct cell *row, const struct agg *aggs, size_t naggs,
    const double *v, size_t n)
{
	for (size_t i = 0; i < naggs; i++)
		row[i] = cell_real(agg_of(&aggs[i], v, n));
	return naggs;
}

void
put_node_id(struct cell *c, const struct job *j, int64_t rank)
{
	if (j->has_nodes)
		*c = cell_int(rank / j->gpus_per_node);
}

void
put_node_span(struct cell *c, const struct job *j, uint32_t group)
{
	const struct pgroup *g = &j->groups.v[group];
	bool is_inter = false;

	if (!j->has_nodes)
		return;
	for (size_t i = 1; i < g->members.n; i++)
		is_inter |= g->members.v[i] / j->gpus_per_node !=
		    g->members.v[0] / j->gpus_per_node;
	*c = cell_text(!g->has_members || g->members.n == 0 ? STR("unknown")
		: is_inter                                  ? STR("inter_node")
			   : STR("intra_node"));
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
