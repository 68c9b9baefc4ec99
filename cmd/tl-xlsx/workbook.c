/* SPDX-License-Identifier: MIT */
/*
 * The workbook: its sheets, and the file. The library writes to a name, but an
 * incomplete file must have none: it gets the name of an open, removed file,
 * whose content is copied to the output.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "table/catalogue.h"

#include "cmd/tl-xlsx/workbook.h"

/* Without SOURCE_DATE_EPOCH: the zip format's first date. */
#define CREATED 315532800 /* 1980-01-01 */

/* Each sheet has a temporary file open until the end. */
#define SHEETS_MAX 4096
#define FILES_SPARE 64

void
book_check(lxw_error err, const char *what)
{
	if (err == LXW_NO_ERROR)
		return;
	if (err == LXW_ERROR_MEMORY_MALLOC_FAILED)
		die("out of memory");
	die("%s: cannot write: %s", what, lxw_strerror(err));
}

const char *
book_text(struct book *b, struct str s, size_t *width)
{
	bool cut;

	b->text.len = 0;
	*width = text_clean(s, &b->text, &cut);
	b->ncut += cut;
	return b->text.p;
}

/* ---- making it ---- */

static time_t
created(void)
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	int64_t s;

	if (epoch == NULL || *epoch == '\0')
		return CREATED;
	/* 1 to the end of 9999; the library takes 0 for now */
	if (!num_i64(str_of(epoch), &s) || s < 1 || s > INT64_C(253402300799))
		die("SOURCE_DATE_EPOCH is no time in seconds: %s", epoch);
	return (time_t)s;
}

static void
make_formats(struct book *b)
{
	static const char *const numbers[] = { [BOOK_WHOLE] = NULL,
		[BOOK_GROUPED] = "#,##0",
		[BOOK_MILLI] = "#,##0.000",
		[BOOK_CENTI] = "0.00",
		[BOOK_HEAD] = NULL,
		[BOOK_WRAPPED] = NULL,
		[BOOK_LINK] = NULL };

	for (int i = BOOK_GENERAL + 1; i < BOOK_NFORMATS; i++) {
		b->formats[i] = workbook_add_format(b->wb);
		if (b->formats[i] == NULL)
			die("out of memory");
		if (numbers[i] != NULL)
			format_set_num_format(b->formats[i], numbers[i]);
		/* next to wrapped texts */
		if (i <= BOOK_CENTI || i == BOOK_WRAPPED)
			format_set_align(b->formats[i], LXW_ALIGN_VERTICAL_TOP);
	}
	/* by number: the library takes the text "0" for "General" */
	format_set_num_format_index(b->formats[BOOK_WHOLE], 1);
	format_set_text_wrap(b->formats[BOOK_WRAPPED]);
	format_set_font_name(b->formats[BOOK_SCREEN], "Courier New");
	format_set_font_name(b->formats[BOOK_TITLE], "Courier New");
	format_set_bold(b->formats[BOOK_TITLE]);
	format_set_font_color(b->formats[BOOK_LINK], 0x0563c1);
	format_set_underline(b->formats[BOOK_LINK], LXW_UNDERLINE_SINGLE);
	format_set_bold(b->formats[BOOK_HEAD]);
	format_set_align(b->formats[BOOK_HEAD], LXW_ALIGN_LEFT);
	format_set_bottom(b->formats[BOOK_HEAD], LXW_BORDER_THIN);
}

static void
allow_files(void)
{
	const rlim_t need = SHEETS_MAX + FILES_SPARE; /* infinity is more */
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) != 0 || lim.rlim_cur >= need)
		return;
	lim.rlim_cur = lim.rlim_max < need ? lim.rlim_max : need;
	(void)setrlimit(RLIMIT_NOFILE, &lim); /* on failure fewer sheets do */
}

struct book *
book_create(bool labels)
{
	struct book *b = xcalloc(1, sizeof *b);
	lxw_doc_properties props = { .created = created() };
	lxw_workbook_options options = { .constant_memory = LXW_TRUE,
		.tmpdir = (char *)(uintptr_t)io_tmpdir(),
		.use_zip64 = LXW_TRUE };
	char name[64];

	allow_files();
	b->arena = arena_create();
	b->labels = labels;
	b->fd = io_nameless();
	if (b->fd < 0)
		die_errno("%s: no temporary file", io_tmpdir());
	snprintf(name, sizeof name, "/proc/self/fd/%d", b->fd);
	if (access(name, W_OK) != 0)
		die_errno("%s", name);
	b->wb = workbook_new_opt(name, &options);
	if (b->wb == NULL)
		die("out of memory");
	book_check(workbook_set_properties(b->wb, &props), "the date");
	make_formats(b);
	return b;
}

void
book_input(struct book *b, const char *input, const char *want)
{
	b->input = str_of(input);
	b->want = want;
}

/* ---- sheets ---- */

struct book_sheet *
book_sheet(struct book *b, struct str wanted, const char *suffix)
{
	struct book_sheet *s = xcalloc(1, sizeof *s);

	if (b->sheets.n == SHEETS_MAX)
		die("more than %d sheets", SHEETS_MAX);
	s->wanted = arena_str(b->arena, wanted);
	s->name = names_make(&b->names, wanted, suffix);
	errno = 0;
	s->ws = workbook_add_worksheet(b->wb, s->name);
	if (s->ws == NULL && errno != 0)
		die_errno("%s: cannot make sheet \"%s\"", io_tmpdir(), s->name);
	if (s->ws == NULL)
		die("cannot make sheet \"%s\"", s->name);
	vec_push(&b->sheets, s);
	return s;
}

struct book_sheet *
book_find(const struct book *b, struct str name)
{
	for (size_t i = 0; i < b->sheets.n; i++)
		if (names_equal(name, str_of(b->sheets.v[i]->name)))
			return b->sheets.v[i];
	for (size_t i = 0; i < b->sheets.n; i++)
		if (!b->sheets.v[i]->is_part &&
		    str_eq(name, b->sheets.v[i]->wanted))
			return b->sheets.v[i];
	return NULL;
}

/*
 * The columns that a narrow terminal keeps after the first, in the catalogue's
 * order; then the others.
 */
static void
main_first(const struct head *head, struct book_sheet *s)
{
	const struct sheet *known = sheet_of(head->name);
	unsigned *places = xcalloc(s->ncolumns + 1, sizeof *places);

	for (size_t i = 1; i < s->ncolumns; i++) {
		struct buf id = { 0 };

		buf_put(&id, head->columns[i].id.p, head->columns[i].id.len);
		buf_putc(&id, '\0');
		places[i] = sheet_place(known, &(struct column){ .id = id.p });
		if (places[i] > SHEET_GOES)
			places[i] = SHEET_GOES;
		buf_free(&id);
	}
	for (size_t i = 2; i < s->ncolumns; i++)
		for (size_t k = i; k > 1 &&
		     places[s->columns[k - 1].from] >
			 places[s->columns[k].from];
		     k--) {
			size_t swap = s->columns[k].from;

			s->columns[k].from = s->columns[k - 1].from;
			s->columns[k - 1].from = swap;
		}
	free(places);
}

static void
begin(void *ctx, const struct head *head)
{
	struct book *b = ctx;
	struct str wanted = b->want != NULL ? str_of(b->want) : head->name;
	struct str file;
	struct book_sheet *s;

	file = table_name_of(b->input.p);
	s = book_sheet(b, wanted.len > 0 ? wanted : file, "");
	s->ncolumns = head->ncolumns;
	if (head->ncolumns > XLSX_COLUMNS) {
		report(MSG_COLUMNS_CUT, b->input.p, s->name, head->ncolumns,
		    XLSX_COLUMNS);
		s->ncolumns = XLSX_COLUMNS;
	}
	s->columns = xcalloc(s->ncolumns + 1, sizeof *s->columns);
	for (size_t i = 0; i < s->ncolumns; i++)
		s->columns[i].from = i;
	if (b->main_first)
		main_first(head, s);
	for (size_t i = 0; i < s->ncolumns; i++) {
		size_t at = s->columns[i].from;
		const struct head_column *from = &head->columns[at];
		bool is_number =
		    from->type == COL_INT || from->type == COL_REAL;

		s->columns[i] = (struct book_column){ .from = at,
			.id = arena_str(b->arena, from->id),
			.label = arena_str(b->arena, from->label),
			.type = from->type,
			.unit = is_number ? from->unit : UNIT_NONE,
			.div = b->labels && is_number ? from->label_div : 1,
			.flags = from->flags };
	}
	sheet_begin(b, s);
	b->open = s;
}

/* Another sheet, as this one is full. */
static void
next_part(struct book *b)
{
	struct book_sheet *full = b->open, *s;
	char suffix[32];
	size_t part = 2;

	sheet_end(b, full);
	for (size_t i = b->sheets.n; i-- > 0 && b->sheets.v[i]->is_part;)
		part++;
	snprintf(suffix, sizeof suffix, " (%zu)", part);
	if (part == 2)
		report(
		    MSG_ROWS_CONTINUED, b->input.p, full->name, XLSX_ROWS - 1);
	s = book_sheet(b, full->wanted, suffix);
	s->is_part = true;
	s->ncolumns = full->ncolumns;
	s->columns = xcalloc(s->ncolumns + 1, sizeof *s->columns);
	for (size_t i = 0; i < s->ncolumns; i++) {
		s->columns[i] = full->columns[i];
		s->columns[i].has_fraction = false;
		s->columns[i].least = s->columns[i].most = 0;
		s->columns[i].least_positive = 0;
	}
	sheet_begin(b, s);
	b->open = s;
}

static void
row(void *ctx, const struct val *cells)
{
	struct book *b = ctx;

	if (b->open->nrows == XLSX_ROWS)
		next_part(b);
	b->nrows++;
	sheet_row(b, b->open, cells);
}

static void
end(void *ctx)
{
	struct book *b = ctx;

	sheet_end(b, b->open);
	b->open = NULL;
}

const struct table_sink *
book_sink(struct book *b)
{
	b->sink = (struct table_sink){ begin, row, end, b };
	return &b->sink;
}

/* ---- into a file ---- */

/* Standard error while the library must not write to it; -1: in place. */
static int aside = -1;
static bool is_closing;

bool
book_speak(void)
{
	if (aside >= 0)
		(void)!dup2(aside, STDERR_FILENO);
	return is_closing;
}

/* The library's own message would add to ours. */
static lxw_error
close_quietly(lxw_workbook *wb, int *error)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	lxw_error err;

	aside = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (null >= 0 && aside >= 0)
		(void)!dup2(null, STDERR_FILENO);
	errno = 0;
	is_closing = true;
	err = workbook_close(wb);
	is_closing = false;
	*error = errno;
	(void)book_speak();
	close(null);
	close(aside);
	aside = -1;
	return err;
}

static void
copy_out(int fd, struct out *out)
{
	static char bytes[1 << 16];
	off_t at = 0;
	ssize_t n;

	for (;;) {
		n = pread(fd, bytes, sizeof bytes, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			die_errno("%s: a temporary file", io_tmpdir());
		if (n == 0)
			return;
		out_write(out, bytes, (size_t)n);
		at += n;
	}
}

static void
free_book(struct book *b)
{
	for (size_t i = 0; i < b->sheets.n; i++) {
		struct book_sheet *s = b->sheets.v[i];

		free(s->columns);
		buf_free(&s->row.xml);
		vec_free(&s->tall);
		free(s->name);
		free(s);
	}
	vec_free(&b->sheets);
	names_free(&b->names);
	buf_free(&b->text);
	arena_destroy(b->arena);
	free(b);
}

void
book_finish(struct book *b, struct out *out)
{
	lxw_error err;
	int error;

	err = close_quietly(b->wb, &error);
	if (err != LXW_NO_ERROR && error != 0) {
		errno = error;
		die_errno("%s: cannot write the workbook", io_tmpdir());
	}
	book_check(err, "the workbook");
	copy_out(b->fd, out);
	close(b->fd);
	out_finish(out);
	free_book(b);
}
