/* SPDX-License-Identifier: MIT */
/*
 * A row a line.
 *
 * CSV as pandas writes it: comma, "\n", quotes only where they are needed,
 * True and False. A text that begins with = + - @ stays as it is: this is
 * data, and who opens it in a spreadsheet wants tl-xlsx.
 *
 * TSV for awk, cut, sort: escapes keep a row on a line: \t \n \\ \xNN. Both
 * are UTF-8 and without controls: see text_escape().
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

/* Doubles quotes: lists of kernels have many. */
static void
put_quoted(struct buf *out, struct str s)
{
	size_t at = out->len, n;

	text_escape(s, "\t\n\r", "", out);
	s = (struct str){ out->p + at, out->len - at };
	if (!needs_quotes(s))
		return;
	n = s.len;
	for (size_t i = 0; i < s.len; i++)
		n += s.p[i] == '"';
	buf_room(out, n + 2);
	/* from the end, in place */
	char *to = out->p + at + n + 2;

	*--to = '"';
	for (size_t i = s.len; i-- > 0;) {
		char c = out->p[at + i];

		*--to = c;
		if (c == '"')
			*--to = c;
	}
	*--to = '"';
	out->len = at + n + 2;
}

static void
put_escaped(struct buf *out, struct str s)
{
	text_escape(s, "", "\\", out);
}

const struct dialect dialect_csv = { ',', "True", "False", put_quoted };
const struct dialect dialect_tsv = { '\t', "true", "false", put_escaped };

static void
put_cell(struct view *v, const struct cell *c, const struct column *col)
{
	const struct dialect *d = v->dialect;

	switch (c->type) {
	case CELL_NONE: break;
	case CELL_TEXT: d->put_text(&v->line, c->text); break;
	case CELL_BOOL: buf_puts(&v->line, c->yes ? d->yes : d->no); break;
	case CELL_INT:
	case CELL_REAL: value_put(&v->line, v, c, col, v->labels); break;
	}
}

void
fmt_separated_head(struct out *out, struct view *v)
{
	v->line.len = 0;
	for (size_t i = 0; i < v->ncolumns; i++) {
		if (i > 0)
			buf_putc(&v->line, v->dialect->between);
		v->dialect->put_text(
		    &v->line, value_head(v->columns[i], v->labels));
	}
	buf_putc(&v->line, '\n');
	out_str(out, buf_str(&v->line));
}

void
fmt_separated_row(struct out *out, struct view *v, size_t row)
{
	const struct cell *cells = view_row(v, row);

	v->line.len = 0;
	for (size_t i = 0; i < v->ncolumns; i++) {
		if (i > 0)
			buf_putc(&v->line, v->dialect->between);
		put_cell(v, &cells[v->slots[i]], v->columns[i]);
	}
	buf_putc(&v->line, '\n');
	out_str(out, buf_str(&v->line));
}
