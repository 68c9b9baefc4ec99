/* SPDX-License-Identifier: MIT */
/*
 * tl-xlsx: tables to one workbook.
 *
 * main.c      the command line
 * text.c      characters and lengths of cells
 * names.c     names of sheets
 * workbook.c  sheets, and the way into a file
 * sheet.c     cells of a sheet, and how they look
 * rows.c      rows as XML
 * chart.c     charts
 * front.c     the first sheet: a text, links to the others
 * library.c   what the library does not look at: memory, temporary files
 */
#include "cmd/tl-xlsx/workbook.h"

enum {
	OPT_CHART_SHEET = OPT_LONG,
	OPT_FRONT,
	OPT_FROM,
	OPT_LABELS,
	OPT_MAIN_FIRST,
};

static const struct opt options[] = {
	{ OPT_CHART_SHEET, "chart-sheet", "NAME",
	    "put all charts on this sheet" },
	{ OPT_FRONT, "front", "FILE",
	    "begin with a sheet of this text and links to the others" },
	{ OPT_FROM, "from", "FORMAT",
	    "format of the inputs: ndjson, tsv or csv" },
	{ OPT_LABELS, "labels", NULL,
	    "labels with units instead of column ids" },
	{ OPT_MAIN_FIRST, "main-first", NULL,
	    "put the main columns first, as on tl-report's page" },
	{ 'o', "output", "FILE", "write to FILE, complete or not at all" },
	{ 'v', "verbose", NULL, "print a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"write tables to one workbook for Excel, LibreOffice and others",
	"-o FILE [OPTIONS] [[SHEET=]TABLE...]",
	"tl-timeline --format ndjson t.tl | tl-xlsx -o timeline.xlsx",
};

struct settings {
	enum table_kind from;
	const char *path;
	bool labels, main_first, verbose;
	const char *charts; /* sheet of --chart-sheet, or NULL */
	const char *front;  /* file of --front, or NULL */
};

static void
take_option(struct settings *set, const struct optparse *op, int ch)
{
	static const char *const formats[] = { "ndjson", "tsv", "csv", NULL };
	static const enum table_kind kinds[] = { TABLE_NDJSON, TABLE_TSV,
		TABLE_CSV };

	switch (ch) {
	case OPT_CHART_SHEET: set->charts = op->arg; break;
	case OPT_FRONT: set->front = op->arg; break;
	case OPT_FROM: set->from = kinds[opt_word(op, formats)]; break;
	case OPT_LABELS: set->labels = true; break;
	case OPT_MAIN_FIRST: set->main_first = true; break;
	case 'o': set->path = op->arg; break;
	case 'v': set->verbose = true; break;
	default: break;
	}
}

static void
read_operand(struct book *b, const struct settings *set, const char *arg)
{
	char *want;
	const char *path = table_operand(arg, &want);

	book_input(b, strcmp(path, "-") == 0 ? "table" : path, want);
	table_read_all(in_open(path), set->from, book_sink(b));
	vec_release(want);
}

/* Warns once of each kind of loss. */
static void
tell_losses(const struct book *b)
{
	if (b->ncut > 0)
		report(MSG_TEXT_CUT, b->ncut, XLSX_CELL);
	if (b->nbig > 0)
		report(MSG_BIG_INTEGERS, b->nbig);
}

int
main(int argc, char *argv[])
{
	struct settings set = { 0 };
	struct optparse op;
	const char *path;
	struct out *out;
	struct book *b;
	uint64_t nrows;
	size_t nsheets;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &op, ch);
	if (set.path == NULL)
		die_usage("option '-o' is missing: a workbook needs a FILE");
	if (set.front != NULL && strcmp(set.front, "-") == 0 &&
	    (op.ind == argc || strcmp(argv[op.ind], "-") == 0))
		die_usage("only one of --front and the tables can be standard "
			  "input");

	out = out_open(set.path);
	if (out_is_terminal(out))
		die_usage(
		    "a workbook cannot go to a terminal: use -o FILE.xlsx");
	b = book_create(set.labels);
	b->main_first = set.main_first;
	if (set.front != NULL)
		front_begin(b, set.front);
	while ((path = opt_file(&op)) != NULL)
		read_operand(b, &set, path);
	charts_add(b, set.charts);
	front_end(b);
	tell_losses(b);
	nrows = b->nrows;
	nsheets = b->sheets.n;
	book_finish(b, out);
	if (set.verbose)
		note_cost("%zu sheets, %" PRIu64 " rows", nsheets, nrows);
	return exit_status();
}
