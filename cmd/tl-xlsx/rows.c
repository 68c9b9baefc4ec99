/* SPDX-License-Identifier: MIT */
/*
 * Rows as XML, into the file where the library keeps a sheet's rows. The
 * library takes four times as long, with a printf and an allocation per cell,
 * and cuts numbers to 16 digits where some need 17. It writes the header and
 * what surrounds the rows.
 */
#include <stdio.h>

#include "cmd/tl-xlsx/workbook.h"

/* Charts begin above, and are lower. */
#define TALL_MAX 4096
#define ROW_POINTS 15 /* ROW_PIXELS at 96 DPI */

/* Appends a literal. */
#define PUT(b, s) buf_put(b, "" s, sizeof(s) - 1)

static void
put_number(struct buf *b, uint64_t v)
{
	buf_room(b, 20);
	b->len += num_put_u64(b->p + b->len, v);
}

/* <c r="B7" s="2", to be continued. */
static void
open_cell(
    struct buf *b, const struct book_sheet *s, size_t i, lxw_format *format)
{
	int32_t style = format != NULL ? lxw_format_get_xf_index(format) : 0;

	PUT(b, "<c r=\"");
	buf_puts(b, s->columns[i].letters);
	buf_put(b, s->row.number, s->row.digits);
	PUT(b, "\"");
	if (style != 0) {
		PUT(b, " s=\"");
		put_number(b, (uint64_t)style);
		PUT(b, "\"");
	}
}

void
row_number(struct book_sheet *s, size_t i, double v, lxw_format *format)
{
	struct buf *b = &s->row.xml;

	open_cell(b, s, i, format);
	PUT(b, "><v>");
	buf_room(b, NUM_DOUBLE_MAX);
	b->len += v >= -9e15 && v <= 9e15 && v == (double)(int64_t)v
	    ? num_put_i64(b->p + b->len, (int64_t)v)
	    : num_put_double(b->p + b->len, v);
	PUT(b, "</v></c>");
}

void
row_bool(struct book_sheet *s, size_t i, bool yes)
{
	struct buf *b = &s->row.xml;

	open_cell(b, s, i, NULL);
	if (yes)
		PUT(b, " t=\"b\"><v>1</v></c>");
	else
		PUT(b, " t=\"b\"><v>0</v></c>");
}

static bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static void
put_escaped(struct buf *b, struct str s)
{
	size_t from = 0;

	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];

		if (LIKELY(c != '&' && c != '<' && c != '>'))
			continue;
		buf_put(b, s.p + from, i - from);
		from = i + 1;
		buf_puts(b, c == '&' ? "&amp;" : c == '<' ? "&lt;" : "&gt;");
	}
	buf_put(b, s.p + from, s.len - from);
}

void
row_text(struct book_sheet *s, size_t i, struct str text)
{
	struct buf *b = &s->row.xml;

	open_cell(b, s, i, s->columns[i].text);
	if (is_space(text.p[0]) || is_space(text.p[text.len - 1]))
		PUT(b, " t=\"inlineStr\"><is><t xml:space=\"preserve\">");
	else
		PUT(b, " t=\"inlineStr\"><is><t>");
	put_escaped(b, text);
	PUT(b, "</t></is></c>");
}

void
row_begin(struct book_sheet *s)
{
	if (s->nrows == 1)
		lxw_worksheet_write_single_row(s->ws); /* the header */
	s->row.xml.len = 0;
	s->row.lines = 0;
	s->row.digits = num_put_u64(s->row.number, s->nrows + 1);
	PUT(&s->row.xml, "<row r=\"");
	buf_put(&s->row.xml, s->row.number, s->row.digits);
	PUT(&s->row.xml, "\">");
	s->row.empty = s->row.xml.len;
}

/* Errors are checked after all rows. */
static void
put(struct book_sheet *s, const char *p, size_t n)
{
	(void)!fwrite(p, 1, n, s->ws->optimize_tmpfile);
}

/* Fills in the height, known only now. */
static void
end_tall(struct book_sheet *s)
{
	char height[64];
	size_t tag = s->row.empty - 1; /* without the '>' */
	int n = snprintf(height, sizeof height,
	    " ht=\"%zu\" customHeight=\"1\"", s->row.lines * ROW_POINTS);

	put(s, s->row.xml.p, tag);
	put(s, height, (size_t)n);
	put(s, s->row.xml.p + tag, s->row.xml.len - tag);
	if (s->tall.n == TALL_MAX)
		return;
	vec_push(&s->tall,
	    ((struct tall_row){ .row = s->nrows, .lines = s->row.lines }));
}

double
rows_usual_pixels(const struct book_sheet *s, size_t row, double pixels)
{
	size_t last = row;

	for (size_t i = 0; i < s->tall.n; i++) {
		const struct tall_row *t = &s->tall.v[i];
		double more = (double)(t->lines - 1) * ROW_PIXELS;

		if (t->row < row)
			continue;
		if ((double)(t->row - row) * ROW_PIXELS >= pixels)
			break;
		pixels -= more;
		last = t->row;
	}
	/* not above a row that it reaches into */
	if (pixels < (double)(last + 1 - row) * ROW_PIXELS)
		pixels = (double)(last + 1 - row) * ROW_PIXELS;
	return pixels;
}

void
row_end(struct book_sheet *s)
{
	struct buf *b = &s->row.xml;

	if (b->len > s->row.empty) {
		PUT(b, "</row>");
		if (s->row.lines > 1)
			end_tall(s);
		else
			put(s, b->p, b->len);
		s->ws->dim_rowmax = (lxw_row_t)s->nrows;
	}
	s->nrows++;
}

void
rows_letters(struct book_sheet *s)
{
	for (size_t i = 0; i < s->ncolumns; i++) {
		char *p = s->columns[i].letters;
		char back[4];
		size_t n = 0;

		for (size_t k = i + 1; k > 0; k = (k - 1) / 26)
			back[n++] = (char)('A' + (k - 1) % 26);
		while (n > 0)
			*p++ = back[--n];
		*p = '\0';
	}
}
