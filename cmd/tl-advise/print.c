/* SPDX-License-Identifier: MIT */
/* Tables: findings, their figures, their ops. */
#include "cmd/tl-advise/advise.h"

/* A share of time, the mean over sources. */
static struct cell
share_cell(const struct advice *a, int64_t ns)
{
	return a->total_ns > 0
	    ? cell_real(100 * (double)ns / (double)a->total_ns)
	    : cell_none();
}

static struct cell
text_cell(struct str s)
{
	return s.len > 0 ? cell_text(s) : cell_none();
}

/* ---- advice ---- */

static const struct column advice_columns[] = {
	{ "place", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "section", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "category", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "insight", NULL, COL_TEXT, UNIT_NONE, COL_WRAPPED, 0 },
	{ "action", NULL, COL_TEXT, UNIT_NONE, COL_WRAPPED, 0 },
	{ "gain_ns_low", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "gain_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "gain_ns_high", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "pct_low", NULL, COL_REAL, UNIT_PERCENT, 0, 0 },
	{ "pct_gain", NULL, COL_REAL, UNIT_PERCENT, 0, 0 },
	{ "pct_high", NULL, COL_REAL, UNIT_PERCENT, 0, 0 },
	{ "confidence", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "overlaps", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "rule", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "evidence", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "rows", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	{ "uids", NULL, COL_JSON, UNIT_NONE, 0, 0 },
	{ "most_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
};

static void
put_advice(const struct advice *a, struct table *t)
{
	for (size_t i = 0; i < a->findings.n; i++) {
		const struct finding *f = &a->findings.v[i];
		struct cell *row = table_row(t);

		row[0] = cell_int((int64_t)f->place);
		row[1] = cell_text(f->rule->section);
		row[2] = text_cell(f->category);
		row[3] = cell_text(f->insight);
		row[4] = cell_text(f->action);
		for (size_t k = 0; f->has_gain && k < GAINS; k++) {
			row[5 + k] = cell_int(f->gain_ns[k]);
			row[8 + k] = cell_real(
			    advice_share(f->gain_ns[k], advice_window(a)));
		}
		row[11] = text_cell(f->confidence);
		if (f->overlaps > 0)
			row[12] = cell_int((int64_t)f->overlaps);
		row[13] = cell_text(f->rule->name);
		row[14] = cell_text(f->table);
		row[15] = cell_int(f->rows);
		row[16] = text_cell(f->uids);
		if (f->most_ns >= 0)
			row[17] = cell_int(f->most_ns);
	}
}

/* ---- advice_metrics ---- */

static const struct column metric_columns[] = {
	{ "total_ns", "Total Time (ms)", COL_INT, UNIT_NS, 0, 1e6 },
	{ "compute_ns", "Compute Time (ms)", COL_INT, UNIT_NS, 0, 1e6 },
	{ "pct_compute", "Compute %", COL_REAL, UNIT_PERCENT, 0, 0 },
	{ "idle_ns", "Idle Time (ms)", COL_INT, UNIT_NS, 0, 1e6 },
	{ "pct_idle", "Idle %", COL_REAL, UNIT_PERCENT, 0, 0 },
	{ "missing_ns", "Not Recorded (ms)", COL_INT, UNIT_NS, 0, 1e6 },
	{ "exposed_comm_ns", "Exposed Communication (ms)", COL_INT, UNIT_NS, 0,
	    1e6 },
	{ "pct_exposed_comm", "Exposed Communication %", COL_REAL, UNIT_PERCENT,
	    0, 0 },
	{ "top_category", "Top Bottleneck Category", COL_TEXT, UNIT_NONE, 0,
	    0 },
	{ "pct_top", "Top Bottleneck %", COL_REAL, UNIT_PERCENT, 0, 0 },
	{ "gain_ns", "Recoverable (ms)", COL_INT, UNIT_NS, 0, 1e6 },
	{ "pct_gain", "Recoverable %", COL_REAL, UNIT_PERCENT, 0, 0 },
	{ "sources", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	{ "window_ns", "Window (ms)", COL_INT, UNIT_NS, 0, 1e6 },
	{ "work_at_once", NULL, COL_REAL, UNIT_NONE, 0, 0 },
};

static void
put_metrics(const struct advice *a, struct table *t)
{
	struct cell *row = table_row(t);

	row[0] = cell_int(a->total_ns);
	row[1] = cell_int(a->compute_ns);
	row[2] = share_cell(a, a->compute_ns);
	row[3] = cell_int(a->idle_ns);
	row[4] = share_cell(a, a->idle_ns);
	if (a->whole->n > 0)
		row[5] = cell_int(a->missing_ns);
	if (a->has_comm) {
		row[6] = cell_int(a->exposed_comm_ns);
		row[7] = share_cell(a, a->exposed_comm_ns);
	}
	if (a->categories.n > 0 && a->compute_ns > 0) {
		row[8] = cell_text(a->categories.v[0].name);
		row[9] = cell_real(
		    advice_share(a->categories.v[0].ns, advice_ops_ns(a)));
	}
	row[10] = cell_int(advice_sum(a));
	row[11] = cell_real(advice_share(advice_sum(a), advice_window(a)));
	row[12] = cell_int(a->nsources);
	row[13] = cell_int(advice_window(a));
	row[14] = cell_real(a->at_once);
}

/* ---- advice_categories ---- */

static const struct column category_columns[] = {
	{ "place", "Rank", COL_INT, UNIT_NONE, 0, 0 },
	{ "op_category", "Category", COL_TEXT, UNIT_NONE, 0, 0 },
	{ "kernel_ns_sum", "Time (ms)", COL_INT, UNIT_NS, 0, 1e6 },
	{ "pct_of_compute", "% of Compute Time", COL_REAL, UNIT_PERCENT, 0, 0 },
	{ "ops", "Ops", COL_INT, UNIT_COUNT, 0, 0 },
};

static void
put_categories(const struct advice *a, struct table *t)
{
	for (size_t i = 0; i < a->categories.n; i++) {
		const struct category *c = &a->categories.v[i];
		struct cell *row = table_row(t);

		row[0] = cell_int((int64_t)i + 1);
		row[1] = cell_text(c->name);
		row[2] = cell_int(c->ns / a->nsources);
		row[3] = cell_real(advice_share(c->ns, advice_ops_ns(a)));
		row[4] = cell_int(c->ops);
	}
}

/* ---- advice_ops ---- */

static const struct column op_columns[] = {
	{ "op_category", "Category", COL_TEXT, UNIT_NONE, 0, 0 },
	{ "name", "Operation", COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "args", "Args", COL_TEXT, UNIT_NONE, 0, 0 },
	{ "library", "Kernel Path", COL_TEXT, UNIT_NONE, 0, 0 },
	{ "kernel", "Kernel Name", COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "kernel_ns_sum", "Time (ms)", COL_INT, UNIT_NS, 0, 1e6 },
	{ "percent", "%E2E", COL_REAL, UNIT_PERCENT, 0, 0 },
	{ "count", "Count", COL_INT, UNIT_COUNT, 0, 0 },
	{ "flop_per_byte", "FLOPS/Byte", COL_REAL, UNIT_NONE, 0, 0 },
	{ "pct_roofline", "Efficiency", COL_REAL, UNIT_PERCENT, 0, 0 },
	{ "bound", "Bound", COL_TEXT, UNIT_NONE, 0, 0 },
	{ "roof", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "uid", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "rank", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
};

static void
put_ops(const struct advice *a, struct table *t)
{
	for (size_t i = 0; i < a->ops.n; i++) {
		const struct op_row *o = &a->ops.v[i];
		struct cell *row = table_row(t);

		row[0] = cell_text(o->category);
		row[1] = cell_text(o->name);
		row[2] = text_cell(o->args);
		row[3] = text_cell(o->library);
		row[4] = text_cell(o->kernel);
		row[5] = cell_int(o->ns);
		row[6] = cell_real(advice_share(o->ns, advice_ops_whole(a)));
		row[7] = cell_int(o->count);
		if (o->flop_per_byte >= 0)
			row[8] = cell_real(o->flop_per_byte);
		if (o->reached >= 0)
			row[9] = cell_real(o->reached);
		row[10] = text_cell(o->bound);
		row[11] = text_cell(o->roof);
		row[12] = text_cell(o->uid);
		row[13] = text_cell(o->label);
	}
}

/* ---- all of them ---- */

#define OF(c) c, sizeof c / sizeof *c
static const struct {
	const char *name;
	const struct column *columns;
	size_t ncolumns;
	void (*put)(const struct advice *a, struct table *t);
} tables[] = {
	{ "advice", OF(advice_columns), put_advice },
	{ "advice_metrics", OF(metric_columns), put_metrics },
	{ "advice_categories", OF(category_columns), put_categories },
	{ "advice_ops", OF(op_columns), put_ops },
};
#undef OF
#define NTABLES (sizeof tables / sizeof *tables)

static size_t
table_named(const char *name)
{
	size_t i = 0;

	while (i < NTABLES && strcmp(tables[i].name, name) != 0)
		i++;
	if (i == NTABLES)
		table_refuse(
		    str_of(name), &tables[0].name, NTABLES, sizeof *tables);
	return i;
}

void
advice_check(const struct table_dest *d, const char *name)
{
	size_t i = table_named(name != NULL ? name : "advice");

	if (d->dir == NULL || name != NULL)
		table_dest_check(
		    d, tables[i].name, tables[i].columns, tables[i].ncolumns);
}

/* One table, or all into a folder. */
void
advice_print(struct advice *a, struct table_dest *d, const char *name)
{
	size_t only = table_named(name != NULL ? name : "advice");

	for (size_t i = 0; i < NTABLES; i++) {
		struct table *t;

		if (i != only && (d->dir == NULL || name != NULL))
			continue;
		t = table_create(
		    tables[i].name, tables[i].columns, tables[i].ncolumns);
		tables[i].put(a, t);
		table_print(t, d);
		table_destroy(t);
	}
	table_dest_finish(d);
}
