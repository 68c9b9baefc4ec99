/* SPDX-License-Identifier: MIT */
/*
 * A table in GitHub's Markdown, for an issue or a report: units as on a
 * terminal, nothing folded or cut. Characters special in Markdown or HTML are
 * escaped: names are hostile, and "<float>" would vanish as a tag.
 */
#include <stdlib.h>

#include "table/view.h"

static bool
is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

/*
 * A _ between letters is literal in Markdown, and ids have many; brackets are
 * special only as [text](address).
 */
static bool
must_escape(struct str s, size_t i)
{
	if (s.p[i] == '_')
		return i == 0 || i + 1 == s.len || !is_word(s.p[i - 1]) ||
		    !is_word(s.p[i + 1]);
	if (s.p[i] == ']')
		return i + 1 < s.len && s.p[i + 1] == '(';
	return s.p[i] != '\0' && strchr("\\|<>&*`~$", s.p[i]) != NULL;
}

static void
put_escaped(struct out *out, struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (must_escape(s, i))
			out_write(out, "\\", 1);
		out_write(out, s.p + i, 1);
	}
}

static void
put_head(
    struct out *out, const struct view *v, const struct column_shape *shapes)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < v->ncolumns; i++) {
		b.len = 0;
		shape_head(&shapes[i], v->columns[i], &b);
		out_puts(out, "| ");
		put_escaped(out, buf_str(&b));
		out_puts(out, " ");
	}
	out_puts(out, "|\n");
	for (size_t i = 0; i < v->ncolumns; i++)
		out_puts(out, shapes[i].right ? "| ---: " : "| --- ");
	out_puts(out, "|\n");
	buf_free(&b);
}

static void
put_row(struct out *out, const struct view *v,
    const struct column_shape *shapes, size_t row)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < v->ncolumns; i++) {
		const struct column *col = v->columns[i];

		b.len = 0;
		shape_cell(&shapes[i], col, view_cell(v, row, col), &b);
		out_puts(out, "| ");
		put_escaped(out, buf_str(&b));
		out_puts(out, b.len > 0 ? " " : "");
	}
	out_puts(out, "|\n");
	buf_free(&b);
}

void
fmt_md_print(struct out *out, const struct view *v)
{
	struct column_shape *s = xcalloc(v->ncolumns + 1, sizeof *s);

	shapes_of(v, s);
	for (size_t i = 0; i < v->table->notes.n; i++) {
		put_escaped(out, v->table->notes.v[i]);
		out_puts(out, "\n\n");
	}
	if (v->header)
		put_head(out, v, s);
	for (size_t row = 0; row < v->nrows; row++)
		put_row(out, v, s, row);
	free(s);
}
