/* SPDX-License-Identifier: MIT */
/* What the reference does not have: causes of lateness, clocks, holes. */
#include "cmd/tl-collective/tables.h"

#include <stdlib.h>

/* ---- straggler_cause ---- */

static const struct column cause_columns[] = {
	TEXT("group", "Process Group Name"),
	TEXT("desc", NULL),
	INT("rank", NULL),
	COUNTS("collectives", NULL),
	COUNTS("times_last", NULL),
	COUNTS("times_late", NULL),
	PCT("pct_late", NULL),
	{ "late_ns_sum", NULL, COL_INT, UNIT_NS, COL_SHARE, 0 },
	{ "late_ns_mean", NULL, COL_REAL, UNIT_NS, COL_MINOR, 0 },
	{ "late_ns_p50", NULL, COL_REAL, UNIT_NS, COL_MINOR, 0 },
	{ "late_ns_p95", NULL, COL_REAL, UNIT_NS, COL_MINOR, 0 },
	{ "late_ns_p99", NULL, COL_REAL, UNIT_NS, COL_MINOR, 0 },
	{ "busy_more_ns", NULL, COL_INT, UNIT_NS, COL_MINOR, 0 },
	{ "idle_more_ns", NULL, COL_INT, UNIT_NS, COL_MINOR, 0 },
	{ "elsewhere_more_ns", NULL, COL_INT, UNIT_NS, COL_MINOR, 0 },
	{ "same_work", NULL, COL_INT, UNIT_COUNT, COL_MINOR, 0 },
	{ "kernels_ratio", NULL, COL_REAL, UNIT_NONE, COL_MINOR, 0 },
	{ "slow_kernel", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "slow_kernel_ratio", NULL, COL_REAL, UNIT_NONE, COL_MINOR, 0 },
	{ "slow_op", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "slow_shape", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 },
	{ "idle_host", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "idle_host_ns", NULL, COL_INT, UNIT_NS, COL_MINOR, 0 },
	TEXT("verdict", NULL),
};

static int
by_lateness(const void *pa, const void *pb)
{
	const struct lateness *a = pa, *b = pb;

	if (a->late_ns != b->late_ns)
		return a->late_ns > b->late_ns ? -1 : 1;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return a->pos < b->pos ? -1 : a->pos > b->pos;
}

static struct cell
ratio_cell(double v)
{
	return v > 0 ? cell_real(v) : cell_none();
}

static void
cause_row(const struct job *j, struct table *t, const struct lateness *l)
{
	const struct pgroup *g = &j->groups.v[l->group];
	bool has = l->nknown > 0;
	struct cell *row = table_row(t);
	size_t n = 0;

	row[n++] = cell_text(g->label);
	row[n++] = cell_str(g->desc);
	row[n++] = cell_int(j->ranks.v[l->pos].rank);
	row[n++] = cell_int((int64_t)l->ncolls);
	row[n++] = cell_int((int64_t)l->nlast);
	row[n++] = cell_int((int64_t)l->nlate);
	row[n++] = cell_real(100 * (double)l->nlate / (double)l->ncolls);
	row[n++] = cell_int(l->late_ns);
	row[n++] = cell_real((double)l->late_ns / (double)l->nlate);
	row[n++] = cell_quantile(l->lates.v, l->lates.n, 0.5);
	row[n++] = cell_quantile(l->lates.v, l->lates.n, 0.95);
	row[n++] = cell_quantile(l->lates.v, l->lates.n, 0.99);
	row[n++] = cell_num(has, l->busy_ns);
	row[n++] = cell_num(has, l->idle_ns);
	row[n++] = cell_num(has, l->window_ns - l->busy_ns - l->idle_ns);
	row[n++] = cell_num(has, (int64_t)l->nsame);
	row[n++] = ratio_cell(l->all_ratio);
	row[n++] = l->kernel.p != NULL ? cell_text(l->kernel) : cell_none();
	row[n++] = ratio_cell(l->kernel_ratio);
	row[n++] = l->op.len > 0 ? cell_text(l->op) : cell_none();
	row[n++] = l->shape.len > 0 ? cell_text(l->shape) : cell_none();
	row[n++] = cell_str(l->host);
	row[n++] = cell_num(l->host.p != NULL, l->host_ns);
	row[n++] = cell_text(str_of(verdict_words[l->verdict]));
}

static void
fill_cause(struct job *j, struct table *t)
{
	struct causes c = { 0 };

	causes_find(j, &c);
	if (c.list.n > 0)
		qsort(c.list.v, c.list.n, sizeof *c.list.v, by_lateness);
	for (size_t i = 0; i < c.list.n; i++)
		if (c.list.v[i].ncolls > 0)
			cause_row(j, t, &c.list.v[i]);
}

const struct table_def table_cause = {
	.name = "straggler_cause",
	COLUMNS(cause_columns),
	.fill = fill_cause,
};

/* ---- nccl_clocks ---- */

static const struct column clock_columns[] = {
	INT("rank", NULL),
	TEXT("hostname", NULL),
	{ "offset_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "spread_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	COUNTS("collectives", NULL),
	BOOL("corrected", NULL),
};

static void
fill_clocks(struct job *j, struct table *t)
{

	for (size_t r = 0; r < j->ranks.n; r++) {
		const struct rank_info *i = &j->ranks.v[r];
		struct cell *row = table_row(t);

		row[0] = cell_int(i->rank);
		row[1] = i->host.len > 0 ? cell_text(i->host) : cell_none();
		row[2] = cell_num(i->nclock > 0, i->offset_ns);
		row[3] = cell_num(i->nclock > 0, i->spread_ns);
		row[4] = cell_int((int64_t)i->nclock);
		row[5] = cell_bool(j->set->align_clocks && i->nclock > 0);
	}
}

const struct table_def table_clocks = {
	.name = "nccl_clocks",
	COLUMNS(clock_columns),
	.fill = fill_clocks,
};

/* ---- nccl_missing ---- */

static const struct column missing_columns[] = {
	TEXT("collective_id", NULL),
	TEXT("collective", "Collective name"),
	COUNTS("ranks_present", NULL),
	TEXT("ranks_missing", NULL),
	BOOL("mismatch", NULL),
};

static void
absent_ranks(const struct job *j, const struct coll *c, int_vec *out)
{
	const struct pgroup *g = &j->groups.v[c->group];
	size_t n = g->has_members ? g->members.n : j->ranks.n;
	uint32_t m = 0;

	out->n = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t rank =
		    g->has_members ? g->members.v[i] : j->ranks.v[i].rank;

		while (m < c->n && rec_rank(j, j->members[c->first + m]) < rank)
			m++;
		if (m == c->n || rec_rank(j, j->members[c->first + m]) != rank)
			vec_push(out, rank);
	}
}

static void
fill_missing(struct job *j, struct table *t)
{
	int_vec absent = { 0 };
	struct buf b = { 0 };

	for (size_t i = 0; i < j->order.n; i++) {
		const struct coll *c = &j->colls.v[j->order.v[i]];
		struct cell id, *row;
		struct str missing;

		if ((c->flags & (COLL_INCOMPLETE | COLL_MISMATCH)) == 0)
			continue;
		absent_ranks(j, c, &absent);
		b.len = 0;
		put_ranges(&b, absent.v, absent.n);
		id = id_cell(j, c, t);
		missing = table_text(t, buf_str(&b));
		row = table_row(t);
		row[0] = id;
		row[1] = cell_str(j->sigs.v[c->sig].name);
		row[2] = cell_int(c->n);
		row[3] = cell_text(missing);
		row[4] = cell_bool((c->flags & COLL_MISMATCH) != 0);
	}
	vec_free(&absent);
	buf_free(&b);
}

const struct table_def table_missing = {
	.name = "nccl_missing",
	COLUMNS(missing_columns),
	.fill = fill_missing,
};
