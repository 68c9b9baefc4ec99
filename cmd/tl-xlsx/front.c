/* SPDX-License-Identifier: MIT */
/* The first sheet: lines of text, and a link to each other sheet. */
#include "table/catalogue.h"

#include "cmd/tl-xlsx/workbook.h"

/*
 * Characters: of links; of a text line, which covers the columns to its right.
 */
#define WIDTH_LINKS 36.0
#define WIDTH_TEXTS 90.0

static void
put(struct book *b, size_t column, struct str s, enum book_format format)
{
	size_t width;
	const char *text = book_text(b, s, &width);

	if (*text != '\0')
		book_check(worksheet_write_string(b->front->ws,
			       (lxw_row_t)b->front->nrows, (lxw_col_t)column,
			       text, b->formats[format]),
		    "a line");
}

void
front_begin(struct book *b, const char *path)
{
	struct reader r = { .in = in_open(path) };
	struct in *in = r.in;
	const unsigned char *end;

	b->front = book_sheet(b, STR(SHEET_FRONT), "");
	while ((end = reader_line(&r)) != NULL) {
		put(b, 0,
		    (struct str){ (const char *)in->p, (size_t)(end - in->p) },
		    b->front->nrows == 0 ? BOOK_TITLE : BOOK_SCREEN);
		b->front->nrows++;
		in->p = end + !r.unfinished;
		in_release(in);
	}
	in_close(in);
}

/* In a quoted name a quote is doubled. */
static void
link_to(struct book *b, const struct book_sheet *s)
{
	struct buf url = { 0 };

	buf_puts(&url, "internal:'");
	for (const char *p = s->name; *p != '\0'; p++) {
		buf_putc(&url, *p);
		if (*p == '\'')
			buf_putc(&url, *p);
	}
	buf_puts(&url, "'!A1");
	buf_putc(&url, '\0');
	book_check(
	    worksheet_write_url_opt(b->front->ws, (lxw_row_t)b->front->nrows, 0,
		url.p, b->formats[BOOK_LINK], s->name, NULL),
	    "a link");
	buf_free(&url);
}

/*
 * Its entry in the catalogue; a family of ops, known by its parameters, has the
 * entry of all families.
 */
static const struct sheet *
known_of(const struct book_sheet *s)
{
	for (size_t i = 0; i < s->ncolumns; i++)
		if (str_starts(s->columns[i].id, STR("param_")))
			return sheet_of(s->wanted);
	return sheet_find(s->wanted);
}

void
front_end(struct book *b)
{
	lxw_worksheet *ws;

	if (b->front == NULL)
		return;
	ws = b->front->ws;
	b->front->nrows++;
	for (size_t i = 0; i < b->sheets.n; i++) {
		const struct book_sheet *s = b->sheets.v[i];
		const struct sheet *known = known_of(s);

		if (s == b->front)
			continue;
		link_to(b, s);
		if (known != NULL && known->text != NULL)
			put(b, 1, str_of(known->text), BOOK_GENERAL);
		b->front->nrows++;
	}
	book_check(
	    worksheet_set_column(ws, 0, 0, WIDTH_LINKS, NULL), "a width");
	book_check(
	    worksheet_set_column(ws, 1, 1, WIDTH_TEXTS, NULL), "a width");
	worksheet_gridlines(ws, LXW_HIDE_ALL_GRIDLINES);
	worksheet_set_landscape(ws);
	worksheet_fit_to_pages(ws, 1, 0);
}
