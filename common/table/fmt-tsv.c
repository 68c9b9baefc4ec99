/* SPDX-License-Identifier: MIT */
/* TSV: for awk, cut, sort. The escapes keep a row on a line: \t \n \\ \xNN. */
#include "table/view.h"

static void
put_text(struct out *out, struct str s)
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

static void
put_cell(
    struct out *out, const struct view *v, size_t row, const struct column *col)
{
	const struct cell *c = view_cell(v, row, col);
	char text[VALUE_MAX];

	switch (c->type) {
	case CELL_NONE: break;
	case CELL_TEXT: put_text(out, c->text); break;
	case CELL_BOOL: out_puts(out, c->yes ? "true" : "false"); break;
	case CELL_INT:
	case CELL_REAL:
		out_write(out, text, value_number(text, c, col, v->labels));
		break;
	}
}

void
fmt_tsv_head(struct out *out, struct view *v)
{
	for (size_t i = 0; i < v->ncolumns; i++) {
		if (i > 0)
			out_puts(out, "\t");
		put_text(out, value_head(v->columns[i], v->labels));
	}
	out_puts(out, "\n");
}

void
fmt_tsv_row(struct out *out, struct view *v, size_t row)
{
	for (size_t i = 0; i < v->ncolumns; i++) {
		if (i > 0)
			out_puts(out, "\t");
		put_cell(out, v, row, v->columns[i]);
	}
	out_puts(out, "\n");
}
