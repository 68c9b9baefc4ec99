/* SPDX-License-Identifier: MIT */
/*
 * tl-compare: what differs between finished reports?
 *
 * main.c      the command line
 * report.c    reports: folders of CSV or TSV, workbooks
 * xml.c grid.c workbook.c  tables out of a workbook
 * plan.c      which sheets are compared, and how
 * join.c      a sheet of all reports
 * pair.c      which of its rows belong together
 * spelling.c  what tools write differently: keys, names of columns
 * tables.c    the tables of a sheet
 * sink.c      names of tables, and which are wanted
 * summary.c   the tables over all sheets
 * excel.c     tables into a workbook
 */
#include <stdio.h>

#include "cmd/tl-compare/compare.h"

enum {
	OPT_LIST_TABLES = OPT_LONG,
	OPT_NAMES,
	OPT_SHEETS,
	OPT_TABLE_NAME,
};

static const struct opt options[] = {
	{ OPT_LIST_TABLES, "list-tables", NULL,
	    "list the tables these reports give" },
	{ OPT_NAMES, "names", "A,B,...", "names for the reports" },
	{ OPT_SHEETS, "sheets", "SHEET,...",
	    "only these sheets or groups of sheets" },
	{ OPT_TABLE_NAME, "table", "NAME", "print this table" },
	OPT_TABLE,
	{ 'v', "verbose", NULL, "print a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"what differs between finished reports",
	"[OPTIONS] BASELINE VARIANT...",
	"tl-compare before.xlsx after.xlsx -o comparison.xlsx",
};

struct settings {
	struct table_dest dest; /* without -d and -o of a workbook */
	const char *dir, *book;
	const char *names, *sheets, *table;
	bool list, verbose;
};

/* What is compared, for functions that print it. */
struct compared {
	const struct settings *set;
	struct reports reports;
	struct plans plans;
	VEC(struct joined) sheets;
	bool found;        /* the table of --table was found */
	VEC(char *) names; /* tables, if it was not */
};

static void
take_option(struct settings *set, const struct optparse *op, int ch)
{
	switch (ch) {
	case OPT_LIST_TABLES: set->list = true; break;
	case OPT_NAMES: set->names = op->arg; break;
	case OPT_SHEETS: set->sheets = op->arg; break;
	case OPT_TABLE_NAME: set->table = op->arg; break;
	case 'd': set->dir = op->arg; break;
	case 'v': set->verbose = true; break;
	default: (void)table_dest_opt(&set->dest, op, ch); break;
	}
}

static bool
is_book(const char *path)
{
	size_t n = strlen(path);

	return n > 5 && strcmp(path + n - 5, ".xlsx") == 0;
}

/* -o is a workbook unless --table is given and the ending differs. */
static void
check_settings(struct settings *set, char *const paths[], int nreports)
{
	const struct table_dest *d = &set->dest;

	if (nreports < 2)
		die_usage("at least two reports are needed");
	for (int i = 0; i < nreports; i++)
		if (strcmp(paths[i], "-") == 0)
			die_usage("a report is a folder or a workbook, not "
				  "standard input");
	if (d->path != NULL && set->table == NULL &&
	    table_path_is_text(d->path))
		die_usage("option '--output': '%s' does not end in .xlsx (one "
			  "table: --table NAME; all as CSV: -d DIR)",
		    d->path);
	if (d->path != NULL && (set->table == NULL || is_book(d->path))) {
		set->book = d->path;
		set->dest.path = NULL;
	}
	if (set->book != NULL && d->format != FMT_AUTO)
		die_usage("option '--format' needs -d DIR or --table NAME, not "
			  "a workbook");
	if (set->book != NULL && (d->labels || d->no_header))
		die_usage("options '--labels' and '--no-header' are for text, "
			  "not for a workbook");
	if ((d->columns != NULL || d->sort != NULL) && set->table == NULL)
		die_usage("options '-c' and '--sort' need --table NAME");
	if ((d->columns != NULL || d->sort != NULL) &&
	    (set->book != NULL || set->dir != NULL))
		die_usage("options '-c' and '--sort' are for a printed table, "
			  "not for -d and workbooks");
}

static void
join_all(struct compared *c)
{
	for (size_t i = 0; i < c->plans.list.n; i++) {
		struct joined j;

		if (join_sheet(&j, &c->plans.list.v[i], &c->reports))
			vec_push(&c->sheets, j);
	}
	if (c->sheets.n == 0)
		die("nothing to compare");
}

/* ---- where tables go ---- */

/* Names of all tables, once, if --table matches none. */
static void
keep_names(struct compared *c, struct sink *sink)
{
	if (sink->found || sink->lists || c->names.n > 0)
		return;
	for (size_t i = 0; i < sink->names.n; i++)
		vec_push(&c->names, sink->names.v[i]);
	sink->names.n = 0;
}

/* Summary and changes, and the tables of each sheet. */
static void
put_tables(struct compared *c, struct sink *sink, bool all)
{
	sink->only = c->set->table;
	summary_put(c->sheets.v, c->sheets.n, &c->plans, &c->reports, sink);
	for (size_t i = 0; i < c->sheets.n && all; i++)
		tables_put(&c->sheets.v[i], sink);
	c->found |= sink->found;
	keep_names(c, sink);
	sink_finish(sink);
}

static void
put_folder(struct compared *c)
{
	struct sink sink = { .dest = c->set->dest };

	sink.dest.dir = c->set->dir;
	sink.dest.columns = "+details";
	sink.dest.path = NULL;
	put_tables(c, &sink, true);
}

static void
put_book(void *ctx)
{
	struct compared *c = ctx;
	struct sink sink = { .dest = { .format = FMT_NDJSON,
				 .columns = "+details",
				 .top = c->set->dest.top },
		.folded = COL_FOLDED,
		.short_names = true };

	put_tables(c, &sink, true);
}

/* One table, or summary and changes. */
static void
put_stdout(struct compared *c)
{
	const struct settings *set = c->set;
	struct sink sink = { .dest = set->dest,
		.folded = COL_DETAIL,
		.other = COL_DETAIL,
		.lists = set->list };

	sink.dest.many = set->table == NULL;
	put_tables(c, &sink, set->list || set->table != NULL);
}

static void
put_everywhere(struct compared *c)
{
	const struct settings *set = c->set;

	if (set->dir != NULL && !set->list)
		put_folder(c);
	if (set->book != NULL && !set->list)
		excel_write(set->book, put_book, c);
	if (set->list || (set->dir == NULL && set->book == NULL))
		put_stdout(c);
	if (!c->found && !set->list)
		table_refuse(str_of(set->table), c->names.v, c->names.n,
		    sizeof *c->names.v);
}

static void
free_all(struct compared *c)
{
	for (size_t i = 0; i < c->sheets.n; i++)
		join_free(&c->sheets.v[i]);
	vec_free(&c->sheets);
	for (size_t i = 0; i < c->names.n; i++)
		vec_release(c->names.v[i]);
	vec_free(&c->names);
	plans_free(&c->plans);
	reports_close(&c->reports);
}

int
main(int argc, char *argv[])
{
	struct settings set = { 0 };
	struct compared c = { .set = &set };
	struct optparse op;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &op, ch);
	check_settings(&set, argv + op.ind, argc - op.ind);
	reports_open(&c.reports, argv + op.ind, argc - op.ind, set.names);
	plans_make(&c.plans, &c.reports, set.sheets);
	join_all(&c);
	put_everywhere(&c);
	if (set.verbose)
		note_cost(
		    "%zu reports, %zu sheets", c.reports.list.n, c.sheets.n);
	free_all(&c);
	return exit_status();
}
