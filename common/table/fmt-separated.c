/* SPDX-License-Identifier: MIT */
/*
 * A row a line.
 *
 * CSV as pandas writes it: comma, "\n", quotes only where they are needed,
 * True and False. A text that begins with = + - @ stays as it is: this is
 * data, and who opens it in a spreadsheet wants tl-xlsx.
 *
 * TSV for awk, cut, sort: escapes keep a row on a line: \t \n \\ \xNN.
 */
#include "table/view.h"

struct dialect {
	const char *between, *yes, *no;
	void (*put_text)(struct out *, struct str);
};

static bool
needs_quotes(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] == ',' || s.p[i] == '"' || s.p[i] == '\n' ||
		    s.p[i] == '\r')
			return true;
	return false;
}

static void
put_quoted(struct out *out, struct str s)
{
	size_t from = 0;

	if (!needs_quotes(s)) {
		out_str(out, s);
		return;
	}
	out_puts(out, "\"");
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] != '"')
			continue;
		/* The quote once here and once with what follows. */
		out_write(out, s.p + from, i + 1 - from);
		from = i;
	}
	out_write(out, s.p + from, s.len - from);
	out_puts(out, "\"");
}

static void
put_escaped(struct out *out, struct str s)
{
	size_t from = 0;

	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (LIKELY(c >= ' ' && c != '\\' && c != 0x7f))
			continue;
		out_write(out, s.p + from, i - from);
		from = i + 1;
		switch (c) {
		case '\t': out_puts(out, "\\t"); break;
		case '\n': out_puts(out, "\\n"); break;
		case '\\': out_puts(out, "\\\\"); break;
		default: out_printf(out, "\\x%02x", c); break;
		}
	}
	out_write(out, s.p + from, s.len - from);
}

static const struct dialect csv = { ",", "True", "False", put_quoted };
static const struct dialect tsv = { "\t", "true", "false", put_escaped };

static void
put_cell(struct out *out, const struct dialect *d, const struct view *v,
    size_t row, const struct column *col)
{
	const struct cell *c = view_cell(v, row, col);
	char text[VALUE_MAX];

	switch (c->type) {
	case CELL_NONE: break;
	case CELL_TEXT: d->put_text(out, c->text); break;
	case CELL_BOOL: out_puts(out, c->yes ? d->yes : d->no); break;
	case CELL_INT:
	case CELL_REAL:
		out_write(out, text, value_number(text, c, col, v->labels));
		break;
	}
}

static void
put_head(struct out *out, const struct dialect *d, const struct view *v)
{
	for (size_t i = 0; i < v->ncolumns; i++) {
		if (i > 0)
			out_puts(out, d->between);
		d->put_text(out, value_head(v->columns[i], v->labels));
	}
	out_puts(out, "\n");
}

static void
put_row(
    struct out *out, const struct dialect *d, const struct view *v, size_t row)
{
	for (size_t i = 0; i < v->ncolumns; i++) {
		if (i > 0)
			out_puts(out, d->between);
		put_cell(out, d, v, row, v->columns[i]);
	}
	out_puts(out, "\n");
}

void
fmt_csv_head(struct out *out, struct view *v)
{
	put_head(out, &csv, v);
}

void
fmt_csv_row(struct out *out, struct view *v, size_t row)
{
	put_row(out, &csv, v, row);
}

void
fmt_tsv_head(struct out *out, struct view *v)
{
	put_head(out, &tsv, v);
}

void
fmt_tsv_row(struct out *out, struct view *v, size_t row)
{
	put_row(out, &tsv, v, row);
}
