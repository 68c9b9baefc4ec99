/* SPDX-License-Identifier: MIT */
/* Which tables there are, and which are asked for. */
#include <stdlib.h>

#include "cmd/tl-diff/kernels.h"
#include "cmd/tl-diff/ops.h"
#include "cmd/tl-diff/rows.h"

/* What a table for people begins with, as one of its own. */
static const struct column verdict_columns[] = {
	{ "text", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
};
static const size_t verdict_ncolumns = 1;

static void
print_ops(const struct found *f, struct table_dest *dest)
{
	ops_print(f->ops, dest);
}

static void
print_kernels(const struct found *f, struct table_dest *dest)
{
	kernels_print(f->kernels, dest);
}

static void
print_verdict(const struct found *f, struct table_dest *dest)
{
	struct table *from = table_create("", verdict_columns, 1);
	struct table *t = table_create("diff_verdict", verdict_columns, 1);

	if (f->set->by == BY_KERNEL) {
		kernels_notes(f->kernels, from);
	} else {
		ops_sort(f->ops);
		ops_notes(f->ops, from);
	}
	for (size_t i = 0; i < table_notes(from); i++)
		table_row(t)[0] = cell_text(table_note_at(from, i));
	table_print(t, dest);
	table_destroy(t);
	table_destroy(from);
}

static const struct kind_of_table {
	const char *name;
	enum what_by by;
	bool any; /* whatever --by says */
	/* at the end; or rows of events, for each run of before */
	void (*print)(const struct found *f, struct table_dest *dest);
	const struct column *columns;
	const size_t *ncolumns;
	enum rows_of rows;
} kinds[] = {
	{ "diff_ops_summary", BY_OP, false, print_ops, ops_columns,
	    &ops_ncolumns, 0 },
	{ "diff_kernels", BY_KERNEL, false, print_kernels, kernels_columns,
	    &kernels_ncolumns, 0 },
	{ "diff_verdict", BY_OP, true, print_verdict, verdict_columns,
	    &verdict_ncolumns, 0 },
	{ .name = "diff_stats", .rows = ROWS_EVENTS },
	{ .name = "diff_stats_unique_args_summary", .rows = ROWS_ALIKE },
	{ .name = "lca_summary", .rows = ROWS_POINTS },
	{ .name = "uid_map", .rows = ROWS_NODES },
};
#define NTABLES (sizeof kinds / sizeof *kinds)

static bool
is_wanted(const struct settings *set, const struct kind_of_table *k)
{
	if (set->table != NULL)
		return strcmp(set->table, k->name) == 0;
	if (set->dest.dir != NULL)
		return k->any || k->by == set->by;
	return k == &kinds[set->by == BY_KERNEL];
}

static void
check_columns(const struct settings *set, const struct kind_of_table *k)
{
	struct column columns[ROWS_MAX_COLUMNS];

	if (k->print != NULL)
		table_dest_check(&set->dest, k->name, k->columns, *k->ncolumns);
	else
		table_dest_check(&set->dest, k->name, columns,
		    rows_columns(k->rows, columns));
}

static void
check_named(struct settings *set)
{
	const struct kind_of_table *named = NULL;

	for (size_t i = 0; i < NTABLES; i++)
		if (strcmp(set->table, kinds[i].name) == 0)
			named = &kinds[i];
	if (named == NULL)
		die_usage("there is no table '%s': --list-tables says which "
			  "there are",
		    set->table);
	if (named->any)
		return;
	if (set->by == BY_KERNEL && named->by != BY_KERNEL)
		die_usage("table '%s' is not one of --by kernel", set->table);
	if (set->per == PER_STEP && named->print == NULL)
		die_usage("option '--per': table '%s' is of single events",
		    set->table);
	set->by = named->by;
}

void
tables_check(struct settings *set)
{
	if (set->table != NULL)
		check_named(set);
	for (size_t i = 0; i < NTABLES; i++)
		if (is_wanted(set, &kinds[i]))
			check_columns(set, &kinds[i]);
}

/* ---- tables of events ---- */

/* A table while it grows, run by run. */
struct growing {
	struct table *table; /* NULL: not begun */
	struct table_dest *dest, own;
	struct column columns[ROWS_MAX_COLUMNS];
};

struct tables {
	struct settings *set;
	struct growing list[NTABLES];
};

struct tables *
tables_create(struct settings *set)
{
	struct tables *t = xcalloc(1, sizeof *t);

	t->set = set;
	return t;
}

/* Each has its own file, or it is the only one. */
static void
begin(struct growing *g, const struct kind_of_table *k, struct settings *set,
    bool several)
{
	size_t n = rows_columns(k->rows, g->columns);

	for (size_t i = 0; i < NRUN_COLUMNS && several; i++)
		g->columns[i].flags &= ~(unsigned)COL_DETAIL;
	g->own = set->dest;
	g->dest = set->dest.dir != NULL ? &g->own : &set->dest;
	g->table = table_create(k->name, g->columns, n);
	table_stream(g->table, g->dest);
}

void
tables_add(struct tables *t, const struct diff *d, bool several)
{
	for (size_t i = 0; i < NTABLES; i++) {
		struct growing *g = &t->list[i];

		if (kinds[i].print != NULL || !is_wanted(t->set, &kinds[i]))
			continue;
		if (g->table == NULL)
			begin(g, &kinds[i], t->set, several);
		rows_list(g->table, kinds[i].rows, d);
	}
}

void
tables_finish(struct tables *t, const struct found *f)
{
	for (size_t i = 0; i < NTABLES; i++) {
		struct growing *g = &t->list[i];

		if (g->table != NULL) {
			table_print(g->table, g->dest);
			table_destroy(g->table);
		} else if (kinds[i].print != NULL &&
		    is_wanted(t->set, &kinds[i])) {
			kinds[i].print(f, &t->set->dest);
		}
	}
	table_dest_finish(&t->set->dest);
	free(t);
}
