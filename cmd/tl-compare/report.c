/* SPDX-License-Identifier: MIT */
/* Reports: folders of CSV, and workbooks. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cmd/tl-compare/compare.h"

static const struct {
	const char *end;
	enum table_kind kind;
} file_ends[] = {
	{ ".csv", TABLE_CSV },
	{ ".csv.gz", TABLE_CSV },
	{ ".csv.zst", TABLE_CSV },
	{ ".tsv", TABLE_TSV },
};

/* ---- one sheet in memory ---- */

size_t
data_column(const struct data *d, struct str name)
{
	for (size_t i = 0; i < d->columns.n; i++)
		if (str_eq(d->columns.v[i], name))
			return i;
	return NO_COLUMN;
}

const struct val *
data_cell(const struct data *d, size_t row, size_t column)
{
	return &d->cells.v[row * d->columns.n + column];
}

struct filling {
	struct report *report;
	struct str sheet;
	struct data *data;
};

static struct str
keep(struct report *r, struct str s)
{
	return s.len == 0 ? STR("")
			  : intern_get(r->texts, intern_put(r->texts, s));
}

/* As pandas: a second "x" is "x.1", a column without a name gets one. */
static struct str
column_name(struct filling *f, struct intern *seen, struct str wanted)
{
	struct buf b = { 0 };
	size_t before = seen->list.n, len;
	struct str name;

	if (wanted.len == 0)
		buf_printf(&b, "Unnamed: %zu", f->data->columns.n);
	else if (str_take(&wanted, STR("param_")))
		buf_printf(&b, "param: %.*s", STR_ARGS(wanted));
	else
		buf_put(&b, wanted.p, wanted.len);
	len = b.len;
	(void)intern_put(seen, buf_str(&b));
	for (unsigned i = 1; seen->list.n == before; i++) {
		b.len = len;
		buf_printf(&b, ".%u", i);
		(void)intern_put(seen, buf_str(&b));
	}
	name = keep(f->report, buf_str(&b));
	buf_free(&b);
	return name;
}

static void
take_head(void *ctx, const struct head *head)
{
	struct filling *f = ctx;
	struct intern *seen = intern_create();

	for (size_t i = 0; i < head->ncolumns; i++) {
		struct str name = column_name(f, seen, head->columns[i].id);

		vec_push(&f->data->columns, name);
	}
	intern_destroy(seen);
}

/* pandas's missing values. */
static bool
is_missing(struct str s)
{
	static const struct str words[] = { STR_INIT("nan"), STR_INIT("NaN"),
		STR_INIT("NA"), STR_INIT("N/A"), STR_INIT("n/a"),
		STR_INIT("NULL"), STR_INIT("null") };

	if (s.len > 4)
		return false;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_eq(s, words[i]))
			return true;
	return s.len == 0;
}

static struct val
take_val(struct filling *f, const struct val *v)
{
	struct val out = *v;

	switch (v->type) {
	case VAL_TEXT:
		if (is_missing(v->text))
			return (struct val){ .type = VAL_NONE };
		out.text = keep(f->report, v->text);
		break;
	case VAL_BIG: out.text = keep(f->report, v->text); break;
	case VAL_BOOL: /* CSV has none, workbooks give text */
	case VAL_NUMBER:
	case VAL_NONE: break;
	}
	return out;
}

static void
take_row(void *ctx, const struct val *cells)
{
	struct filling *f = ctx;

	if (f->data->nrows + 1 == NO_ROW)
		die("%s: sheet %.*s: too many rows", f->report->path,
		    STR_ARGS(f->sheet));
	for (size_t i = 0; i < f->data->columns.n; i++)
		vec_push(&f->data->cells, take_val(f, &cells[i]));
	f->data->nrows++;
}

static void
take_end(void *ctx)
{
	(void)ctx;
}

/* ---- folders ---- */

/* Number of the ending, or -1: no table. */
static int
end_of(struct str name)
{
	for (int i = 0; i < (int)(sizeof file_ends / sizeof *file_ends); i++)
		if (name.len > strlen(file_ends[i].end) &&
		    str_ends(name, str_of(file_ends[i].end)))
			return i;
	return -1;
}

/* Shortest name first, if a sheet has several files. */
static int
by_name(const void *a, const void *b)
{
	const struct report_sheet *x = a, *y = b;
	int c = str_cmp(x->name, y->name);

	return c != 0 ? c : strcmp(x->path, y->path);
}

static void
add_file(struct report *r, struct str file)
{
	struct report_sheet s = { .name = file };
	int end = end_of(file);

	if (end < 0 || file.p[0] == '.')
		return;
	s.name.len -= strlen(file_ends[end].end);
	s.name = arena_str(r->arena, s.name);
	s.path = arena_printf(r->arena, "%s/%.*s", r->path, STR_ARGS(file));
	vec_push(&r->sheets, s);
}

static void
list_folder(struct report *r)
{
	DIR *dir = opendir(r->path);
	struct dirent *entry;

	if (dir == NULL)
		die_errno("%s", r->path);
	while (errno = 0, (entry = readdir(dir)) != NULL)
		add_file(r, str_of(entry->d_name));
	if (errno != 0)
		die_errno("%s", r->path);
	closedir(dir);
	if (r->sheets.n == 0)
		die("%s: no CSV in this folder: is it a report (tl-report -d)?",
		    r->path);
	qsort(r->sheets.v, r->sheets.n, sizeof *r->sheets.v, by_name);
}

static void
read_csv(const char *path, const struct table_sink *sink)
{
	struct in *in = in_open(path);

	/* an empty file is a table without rows, as TraceLens writes it */
	if (in_need(in, 1))
		table_read_all(in, file_ends[end_of(str_of(path))].kind, sink);
	else
		in_close(in);
}

/* ---- workbooks ---- */

static void
open_book(struct report *r)
{
	struct buf error = { 0 };

	r->book = workbook_open(r->path, &error);
	if (r->book == NULL)
		die("%s: %s", r->path, error.p);
	for (size_t i = 0; i < workbook_count(r->book); i++)
		vec_push(&r->sheets,
		    ((struct report_sheet){
			.name = workbook_name(r->book, i) }));
}

static void
tell(const struct report *r, struct str sheet, uint64_t n, enum report_id what)
{
	if (n > 0)
		report(what, r->path, sheet, n);
}

static void
read_sheet(struct report *r, size_t i, const struct table_sink *sink)
{
	struct str sheet = r->sheets.v[i].name;
	struct oddities odd = { 0 };
	struct buf error = { 0 };

	if (!workbook_read(r->book, i, sink, &odd, &error))
		die("%s: sheet %.*s: %s", r->path, STR_ARGS(sheet), error.p);
	tell(r, sheet, odd.nstray, MSG_CELLS_OUTSIDE);
	tell(r, sheet, odd.nerrors, MSG_CELLS_ERROR);
	tell(r, sheet, odd.nunsolved, MSG_CELLS_UNSOLVED);
	tell(r, sheet, odd.nbad_texts, MSG_CELLS_NO_TEXT);
}

/* ---- for callers ---- */

static size_t
sheet_number(const struct report *r, struct str sheet)
{
	for (size_t i = 0; i < r->sheets.n; i++)
		if (str_eq(r->sheets.v[i].name, sheet))
			return i;
	return r->sheets.n;
}

bool
report_has(const struct report *r, struct str sheet)
{
	return sheet_number(r, sheet) < r->sheets.n;
}

const struct data *
report_read(struct report *r, struct str sheet)
{
	static const struct data empty;
	size_t i = sheet_number(r, sheet);
	struct filling f = { .report = r, .sheet = sheet };
	struct table_sink sink = { take_head, take_row, take_end, &f };
	const struct sheet *known;

	if (i == r->sheets.n)
		return &empty;
	if (r->sheets.v[i].data != NULL)
		return r->sheets.v[i].data;
	f.data = r->sheets.v[i].data = xcalloc(1, sizeof *f.data);
	if (r->book != NULL)
		read_sheet(r, i, &sink);
	else
		read_csv(r->sheets.v[i].path, &sink);
	known = sheet_find(sheet);
	spelling_columns(f.data,
	    known != NULL && known->rule != NULL ? known->rule
						 : &sheet_rule_params);
	return f.data;
}

static struct str
tag_of_path(struct report *r, bool is_folder)
{
	char *real = realpath(r->path, NULL); /* a name for ".", too */
	const char *path = real != NULL ? real : r->path;
	const char *slash = strrchr(path, '/');
	struct str s =
	    arena_str(r->arena, str_of(slash != NULL ? slash + 1 : path));
	const char *dot = memrchr(s.p, '.', s.len);

	free(real);
	if (!is_folder && dot != NULL && dot > s.p)
		s.len = (size_t)(dot - s.p);
	return s;
}

static void
open_report(struct report *r, const char *path)
{
	struct stat st;

	*r = (struct report){
		.path = path, .texts = intern_create(), .arena = arena_create()
	};
	if (stat(path, &st) != 0)
		die_errno("%s", path);
	r->tag = tag_of_path(r, S_ISDIR(st.st_mode));
	if (S_ISDIR(st.st_mode))
		list_folder(r);
	else
		open_book(r);
}

/* The only sheet of another report that begins so. */
static struct str
whole_name(const struct reports *reports, struct str cut)
{
	struct str found = plans_whole_name(cut);

	for (size_t i = 0; i < reports->list.n; i++)
		for (size_t k = 0; k < reports->list.v[i].sheets.n; k++) {
			struct str s = reports->list.v[i].sheets.v[k].name;

			if (s.len <= cut.len || !str_starts(s, cut) ||
			    str_eq(s, found))
				continue;
			if (found.len > 0)
				return cut;
			found = s;
		}
	return found.len > 0 ? found : cut;
}

/* Workbooks cut names; a folder has the whole one. */
static void
restore_names(struct reports *reports)
{
	for (size_t i = 0; i < reports->list.n; i++) {
		struct report *r = &reports->list.v[i];

		for (size_t k = 0; r->book != NULL && k < r->sheets.n; k++) {
			struct str whole;

			if (r->sheets.v[k].name.len != SHEET_NAME_MAX)
				continue;
			whole = whole_name(reports, r->sheets.v[k].name);
			if (!report_has(r, whole))
				r->sheets.v[k].name = whole;
		}
	}
}

static void
take_names(struct reports *reports, const char *names)
{
	const char *list = names;
	struct str name;
	size_t n = 0;

	for (; str_next(&list, ',', &name); n++) {
		if (name.len == 0)
			die_usage(
			    "option '--names': an empty name in '%s'", names);
		if (n < reports->list.n)
			reports->list.v[n].tag = name;
	}
	if (n != reports->list.n)
		die_usage("option '--names': %zu names for %zu reports", n,
		    reports->list.n);
}

static void
check_tags(const struct reports *reports)
{
	for (size_t i = 0; i < reports->list.n; i++)
		for (size_t k = 0; k < i; k++)
			if (str_eq(
				reports->list.v[i].tag, reports->list.v[k].tag))
				die_usage("%s and %s are both called '%.*s': "
					  "--names tells them apart",
				    reports->list.v[k].path,
				    reports->list.v[i].path,
				    STR_ARGS(reports->list.v[i].tag));
}

void
reports_open(
    struct reports *reports, char *const *paths, int n, const char *names)
{
	for (int i = 0; i < n; i++)
		open_report(vec_add(&reports->list), paths[i]);
	restore_names(reports);
	if (names != NULL)
		take_names(reports, names);
	check_tags(reports);
}

static void
free_data(struct data *d)
{
	if (d == NULL)
		return;
	vec_free(&d->columns);
	vec_free(&d->cells);
	free(d);
}

void
reports_close(struct reports *reports)
{
	for (size_t i = 0; i < reports->list.n; i++) {
		struct report *r = &reports->list.v[i];

		workbook_close(r->book);
		for (size_t k = 0; k < r->sheets.n; k++)
			free_data(r->sheets.v[k].data);
		vec_free(&r->sheets);
		intern_destroy(r->texts);
		arena_destroy(r->arena);
	}
	vec_free(&reports->list);
}
