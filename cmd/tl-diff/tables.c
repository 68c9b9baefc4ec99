/* SPDX-License-Identifier: MIT */
/* Which tables there are, and which are asked for. */
#include <stdlib.h>

#include "cmd/tl-diff/kernels.h"
#include "cmd/tl-diff/ops.h"
#include "cmd/tl-diff/print.h"

static void
print_ops(const struct found *f, struct table_dest *dest)
{
	ops_print(f->ops, dest);
}

/* What a table for people begins with, as one of its own. */
static const struct column verdict_columns[] = {
	{ "text", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
};
static const size_t verdict_ncolumns =
    sizeof verdict_columns / sizeof *verdict_columns;

static void
print_verdict(const struct found *f, struct table_dest *dest)
{
	struct table *from = table_create("", verdict_columns, 1);
	struct table *t =
	    table_create("diff_verdict", verdict_columns, verdict_ncolumns);

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

static void
print_kernels(const struct found *f, struct table_dest *dest)
{
	kernels_print(f->kernels, dest);
}

static const struct kind_of_table {
	const char *name;
	enum what_by by;
	bool any; /* whatever --by says */
	const struct column *columns;
	const size_t *ncolumns;
	/* one of the two: at the end, or a part of it for each run of before */
	void (*print)(const struct found *f, struct table_dest *dest);
	void (*list)(struct listing *l, const struct diff *d);
} kinds[] = {
	{ "diff_ops_summary", BY_OP, false, ops_columns, &ops_ncolumns,
	    print_ops, NULL },
	{ "diff_verdict", BY_OP, true, verdict_columns, &verdict_ncolumns,
	    print_verdict, NULL },
	{ "diff_stats", BY_OP, false, stats_columns, &stats_ncolumns, NULL,
	    stats_list },
	{ "diff_stats_unique_args_summary", BY_OP, false, unique_columns,
	    &unique_ncolumns, NULL, unique_list },
	{ "lca_summary", BY_OP, false, lca_columns, &lca_ncolumns, NULL,
	    lca_list },
	{ "diff_inline", BY_OP, false, inline_columns, &inline_ncolumns, NULL,
	    inline_list },
	{ "uid_map", BY_OP, false, uids_columns, &uids_ncolumns, NULL,
	    uids_list },
	{ "diff_kernels", BY_KERNEL, false, kernels_columns, &kernels_ncolumns,
	    print_kernels, NULL },
};
#define NTABLES (sizeof kinds / sizeof *kinds)

static bool
is_wanted(const struct settings *set, const struct kind_of_table *k)
{
	if (set->table != NULL)
		return strcmp(set->table, k->name) == 0;
	if (set->dest.dir != NULL)
		return k->any || k->by == set->by;
	return k == (set->by == BY_KERNEL ? &kinds[NTABLES - 1] : &kinds[0]);
}

void
tables_check(struct settings *set)
{
	const struct kind_of_table *named = NULL;

	for (size_t i = 0; i < NTABLES && set->table != NULL; i++)
		if (strcmp(set->table, kinds[i].name) == 0)
			named = &kinds[i];
	if (set->table != NULL && named == NULL)
		die_usage("there is no table '%s': --list-tables says which "
			  "there are",
		    set->table);
	if (named != NULL && named->any)
		named = NULL;
	if (named != NULL && set->by == BY_KERNEL && named->by != BY_KERNEL)
		die_usage("table '%s' is not one of --by kernel", set->table);
	if (named != NULL && set->per == PER_STEP &&
	    named->columns != ops_columns && named->columns != kernels_columns)
		die_usage("option '--per': table '%s' is of single events",
		    set->table);
	if (named != NULL)
		set->by = named->by;
	for (size_t i = 0; i < NTABLES; i++)
		if (is_wanted(set, &kinds[i]))
			table_dest_check(&set->dest, kinds[i].name,
			    kinds[i].columns, *kinds[i].ncolumns);
}

/* ---- tables of events ---- */

struct tables {
	struct settings *set;
	struct listing list[NTABLES]; /* of kinds; without table: not begun */
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
begin(struct listing *l, const struct kind_of_table *k, struct settings *set,
    bool several)
{
	size_t n = *k->ncolumns;

	l->columns = xmalloc(n * sizeof *l->columns);
	memcpy(l->columns, k->columns, n * sizeof *l->columns);
	for (size_t i = 0; i < NRUN_COLUMNS && several; i++)
		l->columns[i].flags &= ~(unsigned)COL_DETAIL;
	l->own = set->dest;
	l->dest = set->dest.dir != NULL ? &l->own : &set->dest;
	l->table = table_create(k->name, l->columns, n);
	table_stream(l->table, l->dest);
}

static void
finish(struct listing *l)
{
	table_print(l->table, l->dest);
	table_destroy(l->table);
	free(l->columns);
}

struct cell *
listing_row(struct listing *l)
{
	struct cell *row = table_row(l->table);

	if (l->run->has_rank)
		row[0] = cell_int(l->run->rank);
	row[1] = cell_int(l->run->no);
	return row + NRUN_COLUMNS;
}

void
tables_add(struct tables *t, const struct diff *d, bool several)
{
	for (size_t i = 0; i < NTABLES; i++) {
		struct listing *l = &t->list[i];

		if (kinds[i].list == NULL || !is_wanted(t->set, &kinds[i]))
			continue;
		if (l->table == NULL)
			begin(l, &kinds[i], t->set, several);
		l->run = d->side[0];
		kinds[i].list(l, d);
	}
}

void
tables_finish(struct tables *t, const struct found *f)
{
	for (size_t i = 0; i < NTABLES; i++) {
		if (t->list[i].table != NULL)
			finish(&t->list[i]);
		else if (kinds[i].print != NULL && is_wanted(t->set, &kinds[i]))
			kinds[i].print(f, &t->set->dest);
	}
	table_dest_finish(&t->set->dest);
	free(t);
}
