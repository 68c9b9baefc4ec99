/* SPDX-License-Identifier: MIT */
/* Which tables there are, and which are asked for. */
#include "cmd/tl-diff/kernels.h"
#include "cmd/tl-diff/ops.h"
#include "cmd/tl-diff/print.h"

static void
print_ops(const struct found *f, struct table_dest *dest)
{
	ops_print(f->ops, f->diff, dest);
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
		summary_notes(f->ops, f->diff, from);
	}
	for (size_t i = 0; i < table_notes(from); i++)
		table_row(t)[0] = cell_text(table_note_at(from, i));
	table_print(t, dest);
	table_destroy(t);
	table_destroy(from);
}

static void
print_stats(const struct found *f, struct table_dest *dest)
{
	stats_print(f->diff, dest);
}

static void
print_unique(const struct found *f, struct table_dest *dest)
{
	unique_print(f->diff, dest);
}

static void
print_lca(const struct found *f, struct table_dest *dest)
{
	lca_print(f->diff, dest);
}

static void
print_inline(const struct found *f, struct table_dest *dest)
{
	inline_print(f->diff, dest);
}

static void
print_uids(const struct found *f, struct table_dest *dest)
{
	uids_print(f->diff, dest);
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
	void (*print)(const struct found *f, struct table_dest *dest);
	const char *text;
} tables[] = {
	{ "diff_ops_summary", BY_OP, false, ops_columns, &ops_ncolumns,
	    print_ops, "GPU time by op and arguments, before and after" },
	{ "diff_verdict", BY_OP, true, verdict_columns, &verdict_ncolumns,
	    print_verdict, "what changed, in sentences" },
	{ "diff_stats", BY_OP, false, stats_columns, &stats_ncolumns,
	    print_stats, "each GPU event, and where the trees part above it" },
	{ "diff_stats_unique_args_summary", BY_OP, false, unique_columns,
	    &unique_ncolumns, print_unique, "the same, equal ones as one" },
	{ "lca_summary", BY_OP, false, lca_columns, &lca_ncolumns, print_lca,
	    "each point where the trees part, or a pair of GPU events" },
	{ "diff_inline", BY_OP, false, inline_columns, &inline_ncolumns,
	    print_inline,
	    "each op of before, with the points below it: for reports" },
	{ "uid_map", BY_OP, false, uids_columns, &uids_ncolumns, print_uids,
	    "which event is which" },
	{ "diff_kernels", BY_KERNEL, false, kernels_columns, &kernels_ncolumns,
	    print_kernels, "kernels of replays and steps (--by kernel)" },
};
#define NTABLES (sizeof tables / sizeof *tables)

void
tables_list(void)
{
	struct out *out = out_open(NULL);

	for (size_t i = 0; i < NTABLES; i++)
		out_printf(out, "%s\t%s\n", tables[i].name, tables[i].text);
	out_finish(out);
}

static bool
is_wanted(const struct settings *set, const struct kind_of_table *k)
{
	if (set->table != NULL)
		return strcmp(set->table, k->name) == 0;
	if (set->dest.dir != NULL)
		return k->any || k->by == set->by;
	return k == (set->by == BY_KERNEL ? &tables[NTABLES - 1] : &tables[0]);
}

void
tables_check(struct settings *set)
{
	const struct kind_of_table *named = NULL;

	for (size_t i = 0; i < NTABLES && set->table != NULL; i++)
		if (strcmp(set->table, tables[i].name) == 0)
			named = &tables[i];
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
		if (is_wanted(set, &tables[i]))
			table_dest_check(&set->dest, tables[i].name,
			    tables[i].columns, *tables[i].ncolumns);
}

void
tables_print(const struct found *f)
{
	for (size_t i = 0; i < NTABLES; i++)
		if (is_wanted(f->set, &tables[i]))
			tables[i].print(f, &f->set->dest);
	table_dest_finish(&f->set->dest);
}
