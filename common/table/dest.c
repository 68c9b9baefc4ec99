/* SPDX-License-Identifier: MIT */
/* Where tables go: shared options, formats, files in a folder. */
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "table/view.h"

#define TERMINAL_ROWS 20 /* so that the command stays in sight */
#define WIDTH_DEFAULT 100
#define WIDTH_MIN 20
#define WIDTH_MAX 100000

static const struct table_fmt formats[] = {
	[FMT_AUTO] = { .word = "auto" },
	[FMT_TABLE] = { .word = "table",
	    .ext = ".txt",
	    .between = BETWEEN_TITLE,
	    .labels = true,
	    .print = fmt_table_print },
	[FMT_TSV] = { .word = "tsv",
	    .ext = ".tsv",
	    .between = BETWEEN_BLANK,
	    .labels = true,
	    .dialect = &dialect_tsv,
	    .head = fmt_separated_head,
	    .row = fmt_separated_row },
	[FMT_CSV] = { .word = "csv",
	    .ext = ".csv",
	    .between = BETWEEN_BLANK,
	    .labels = true,
	    .dialect = &dialect_csv,
	    .head = fmt_separated_head,
	    .row = fmt_separated_row },
	[FMT_NDJSON] = { .word = "ndjson",
	    .ext = ".ndjson",
	    .between = BETWEEN_NOTHING,
	    .head = fmt_ndjson_head,
	    .row = fmt_ndjson_row,
	    .foot = fmt_ndjson_foot },
	[FMT_MD] = { .word = "md",
	    .ext = ".md",
	    .between = BETWEEN_TITLE,
	    .labels = true,
	    .print = fmt_md_print },
};

#define NFORMATS (sizeof formats / sizeof *formats)

static enum table_format
format_opt(const struct optparse *op)
{
	const char *words[NFORMATS] = { NULL };

	for (size_t i = 1; i < NFORMATS; i++)
		words[i - 1] = formats[i].word;
	return (enum table_format)(FMT_AUTO + 1 + opt_word(op, words));
}

bool
table_dest_opt(struct table_dest *d, const struct optparse *op, int ch)
{
	switch (ch) {
	case 'c': d->columns = op->arg; break;
	case 'd': d->dir = op->arg; break;
	case 'o': d->path = op->arg; break;
	case OPT_TABLE_FORMAT: d->format = format_opt(op); break;
	case OPT_TABLE_SORT: d->sort = op->arg; break;
	case OPT_TABLE_TOP:
		d->top = opt_int(op, 0, INT64_MAX - 1);
		if (d->top == 0)
			d->top = TABLE_TOP_ALL;
		break;
	case OPT_TABLE_NO_HEADER: d->no_header = true; break;
	case OPT_TABLE_LABELS: d->labels = true; break;
	case OPT_TABLE_WIDTH:
		d->width = (int)opt_int(op, WIDTH_MIN, WIDTH_MAX);
		break;
	default: return false;
	}
	return true;
}

bool
table_dest_details(struct table_dest *d)
{
	if (d->dir != NULL && d->columns == NULL)
		d->columns = "+details";
	return d->columns != NULL && strstr(d->columns, "details") != NULL;
}

/* The width of the terminal on standard output; for a pipe a constant. */
static size_t
line_width(const struct table_dest *d, bool terminal)
{
	const char *env = getenv("COLUMNS");
	struct winsize ws;
	int64_t n;

	if (d->width > 0)
		return (size_t)d->width;
	if (!terminal)
		return WIDTH_DEFAULT;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 0)
		return ws.ws_col < WIDTH_MIN ? WIDTH_MIN : ws.ws_col;
	if (env != NULL && num_i64(str_of(env), &n) && n >= WIDTH_MIN &&
	    n <= WIDTH_MAX)
		return (size_t)n;
	return WIDTH_DEFAULT;
}

size_t
table_line_width(const struct table_dest *d, const struct out *out)
{
	bool terminal = out_is_terminal(out);

	return terminal || d->width > 0 ? line_width(d, terminal) : 0;
}

/* By the ending of its name. */
static enum table_format
format_of_file(const char *path)
{
	if (str_ends(str_of(path), STR(".json")))
		return FMT_NDJSON;
	for (size_t i = FMT_TSV; i < NFORMATS; i++)
		if (str_ends(str_of(path), str_of(formats[i].ext)))
			return (enum table_format)i;
	return FMT_AUTO;
}

void
dest_check_path(const struct table_dest *d)
{
	struct str path = str_of(d->path != NULL ? d->path : "");

	if (d->format != FMT_AUTO)
		return;
	if (str_ends(path, STR(".xlsx")))
		die_usage("'%s': a table is no workbook: see tl-report and "
			  "tl-xlsx",
		    d->path);
	if (str_ends(path, STR(".html")))
		die_usage("'%s': a table is no page: see tl-report and tl-html",
		    d->path);
}

static enum table_format
choose_format(const struct table_dest *d, bool terminal)
{
	if (d->format != FMT_AUTO)
		return d->format;
	if (d->path != NULL && format_of_file(d->path) != FMT_AUTO)
		return format_of_file(d->path);
	if (d->dir != NULL)
		return FMT_CSV;
	return terminal ? FMT_TABLE : FMT_TSV;
}

bool
table_has_notes(const struct table_dest *d)
{
	enum table_format format =
	    choose_format(d, d->path == NULL && isatty(STDOUT_FILENO) == 1);

	return format == FMT_TABLE || format == FMT_MD;
}

static size_t
row_limit(const struct table_dest *d, enum table_format format)
{
	if (d->top > 0)
		return (uint64_t)d->top < SIZE_MAX ? (size_t)d->top : SIZE_MAX;
	/* a file is for keeping: it gets all rows */
	if (format == FMT_TABLE && d->path == NULL && d->dir == NULL)
		return TERMINAL_ROWS;
	return SIZE_MAX;
}

/* DIR/TABLE.EXT, which never leaves the folder. */
static char *
file_name(const char *dir, const char *table, const char *ext)
{
	struct buf b = { 0 };

	buf_puts(&b, dir);
	if (b.len > 0 && b.p[b.len - 1] != '/')
		buf_putc(&b, '/');
	if (table[0] == '.' || table[0] == '\0')
		buf_putc(&b, '_');
	for (const char *p = table; *p != '\0'; p++)
		buf_putc(&b,
		    *p == '/' || (unsigned char)*p < ' ' || *p == 0x7f ? '_'
								       : *p);
	buf_puts(&b, ext);
	buf_putc(&b, '\0');
	return b.p;
}

static struct out *
open_file(struct table_dest *d, const char *table, const char *ext)
{
	char *path;
	struct out *out;

	if (d->path != NULL)
		die_usage("-d and -o exclude each other");
	if (d->ntables == 0)
		io_make_folder(d->dir);
	path = file_name(d->dir, table, ext);
	out = out_open(path);
	free(path);
	return out;
}

static void
separate(struct table_dest *d, const struct table_fmt *fmt, const char *name)
{
	bool first = d->ntables == 0 || d->dir != NULL;

	if (fmt->between == BETWEEN_NOTHING || d->dir != NULL)
		return;
	if (!first)
		out_puts(d->out, "\n");
	if (fmt->between == BETWEEN_TITLE && (!first || d->many))
		out_printf(d->out,
		    fmt->print == fmt_md_print ? "## %s\n\n" : "%s\n", name);
}

/* Opens standard output or -o FILE, whose kind decides the format. */
static enum table_format
open_out(struct table_dest *d, bool *terminal)
{
	if (d->dir == NULL && d->out == NULL) {
		dest_check_path(d);
		d->out = out_open(d->path);
	}
	*terminal = d->dir == NULL && out_is_terminal(d->out);
	return choose_format(d, *terminal);
}

/* Before the first row of table_print(). */
static void
begin(struct table *t, struct table_dest *d, struct view *v)
{
	bool terminal;
	enum table_format format = open_out(d, &terminal);

	view_open(v, t, d, row_limit(d, format));
	v->dialect = formats[format].dialect;
	v->header = !d->no_header;
	v->labels = (d->labels || d->dir != NULL) && formats[format].labels;
	v->bold = terminal && out_wants_colour(d->out);
	v->width = line_width(d, terminal);
	v->wraps = terminal || d->width > 0;
	v->may_drop = v->header && d->columns == NULL && d->path == NULL &&
	    d->dir == NULL;
	if (d->dir != NULL)
		d->out = open_file(d, t->name, formats[format].ext);
	separate(d, &formats[format], t->name);
	if (formats[format].head != NULL && v->header)
		formats[format].head(d->out, v);
}

/* And after the last. */
static void
end(struct table_dest *d, struct view *v)
{
	view_close(v);
	d->ntables++;
	if (d->dir != NULL) {
		out_finish(d->out);
		d->out = NULL;
	}
}

/* ---- row by row ---- */

struct live {
	struct table_dest *dest;
	const struct table_fmt *fmt;
	struct view view;
	size_t limit, nrows; /* rows that may be printed, and were */
};

void
table_stream(struct table *t, struct table_dest *d)
{
	bool terminal;
	enum table_format format = open_out(d, &terminal);
	struct live *live;

	table_keep(t, d);
	if (formats[format].row == NULL || d->sort != NULL)
		return;
	live = xcalloc(1, sizeof *live);
	live->dest = d;
	live->fmt = &formats[format];
	live->limit = row_limit(d, format);
	t->live = live;
	begin(t, d, &live->view);
}

void
table_live_row(struct table *t)
{
	struct live *live = t->live;

	if (live->nrows < live->limit) {
		live->fmt->row(live->dest->out, &live->view, 0);
		live->nrows++;
	}
}

static void
finish_live(struct table *t)
{
	struct live *live = t->live;

	table_finish_row(t);
	if (live->fmt->foot != NULL)
		live->fmt->foot(live->dest->out, &live->view, live->nrows);
	end(live->dest, &live->view);
}

/* ---- at once ---- */

void
table_print(struct table *t, struct table_dest *d)
{
	bool terminal;
	const struct table_fmt *fmt;
	struct view v;

	if (t->live != NULL) {
		finish_live(t);
		return;
	}
	fmt = &formats[open_out(d, &terminal)];
	table_finish_row(t);
	begin(t, d, &v);
	if (fmt->print != NULL)
		fmt->print(d->out, &v);
	for (size_t row = 0; row < v.nrows && fmt->row != NULL; row++)
		fmt->row(d->out, &v, row);
	if (fmt->foot != NULL)
		fmt->foot(d->out, &v, v.nrows);
	end(d, &v);
}

void
table_print_summary(struct table *t, struct table_dest *d)
{
	int64_t top = d->top;

	if (d->dir != NULL)
		d->top = 0;
	table_print(t, d);
	d->top = top;
}

void
table_dest_finish(struct table_dest *d)
{
	/*
	 * Without a table the file becomes empty, and does not stay that of an
	 * earlier run.
	 */
	if (d->dir == NULL && d->out == NULL && d->path != NULL)
		d->out = out_open(d->path);
	if (d->out != NULL)
		out_finish(d->out);
	d->out = NULL;
}

bool
table_path_is_text(const char *path)
{
	for (size_t i = FMT_AUTO + 1; i < NFORMATS; i++)
		if (str_ends(str_of(path), str_of(formats[i].ext)))
			return true;
	return false;
}
