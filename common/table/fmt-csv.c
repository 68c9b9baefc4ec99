/* SPDX-License-Identifier: MIT */
/*
 * CSV as pandas writes it: comma, "\n", quotes only where they are needed,
 * True and False. A text that begins with = + - @ stays as it is: this is
 * data, and who opens it in a spreadsheet wants tl-xlsx.
 */
#include "table/view.h"

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
put_text(struct out *out, struct str s)
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
put_cell(
    struct out *out, const struct view *v, size_t row, const struct column *col)
{
	const struct cell *c = view_cell(v, row, col);
	char text[VALUE_MAX];

	switch (c->type) {
	case CELL_NONE: break;
	case CELL_TEXT: put_text(out, c->text); break;
	case CELL_BOOL: out_puts(out, c->yes ? "True" : "False"); break;
	case CELL_INT:
	case CELL_REAL:
		out_write(out, text, value_number(text, c, col, v->labels));
		break;
	}
}

void
fmt_csv_head(struct out *out, struct view *v)
{
	for (size_t i = 0; i < v->ncolumns; i++) {
		if (i > 0)
			out_puts(out, ",");
		put_text(out, value_head(v->columns[i], v->labels));
	}
	out_puts(out, "\n");
}

void
fmt_csv_row(struct out *out, struct view *v, size_t row)
{
	for (size_t i = 0; i < v->ncolumns; i++) {
		if (i > 0)
			out_puts(out, ",");
		put_cell(out, v, row, v->columns[i]);
	}
	out_puts(out, "\n");
}
