/* SPDX-License-Identifier: MIT */
/*
 * The table of a terminal: aligned columns that fit the line, kernel names
 * folded, and at the end what was left out and what it is worth.
 *
 * Numbers are never cut. When a line is too long the widest text columns give
 * way, down to TEXT_MIN; when that is not enough, lines are too long.
 */
#include <stdlib.h>

#include "table/view.h"

#define GAP 2       /* blanks between columns */
#define TEXT_MIN 12 /* what is left of a text column */

struct layout {
	struct shape shape;
	size_t width;
	bool can_shrink;
};

static void
put_blanks(struct out *out, size_t n)
{
	while (n-- > 0)
		out_write(out, " ", 1);
}

/* The text of a cell before it is cut. */
static void
cell_whole(const struct view *v, const struct layout *l, size_t row, size_t col,
    struct buf *b)
{
	b->len = 0;
	shape_cell(&l[col].shape, v->columns[col],
	    view_cell(v, row, v->columns[col]), b);
}

static void
head_whole(
    const struct view *v, const struct layout *l, size_t col, struct buf *b)
{
	b->len = 0;
	shape_head(&l[col].shape, v->columns[col], b);
}

static size_t
natural_width(const struct view *v, const struct layout *l, size_t col)
{
	struct buf b = { 0 };
	size_t width = 0;

	if (v->header) {
		head_whole(v, l, col, &b);
		width = text_width(buf_str(&b));
	}
	for (size_t row = 0; row < v->nrows; row++) {
		size_t w;

		cell_whole(v, l, row, col, &b);
		w = text_width(buf_str(&b));
		if (w > width)
			width = w;
	}
	buf_free(&b);
	return width;
}

static struct layout *
widest_to_shrink(struct layout *l, size_t n)
{
	struct layout *widest = NULL;

	for (size_t i = 0; i < n; i++)
		if (l[i].can_shrink && l[i].width > TEXT_MIN &&
		    (widest == NULL || l[i].width > widest->width))
			widest = &l[i];
	return widest;
}

static void
fit(struct layout *l, size_t n, size_t width)
{
	size_t total = n > 0 ? (n - 1) * GAP : 0;
	struct layout *widest;

	for (size_t i = 0; i < n; i++) {
		if (l[i].can_shrink && l[i].width > width)
			l[i].width = width;
		total += l[i].width;
	}
	for (; total > width; total--) {
		widest = widest_to_shrink(l, n);
		if (widest == NULL)
			return;
		widest->width--;
	}
}

/* A field: b or, if that is too wide, its elided text; last: unpadded. */
static void
put_field(struct out *out, const struct layout *l, struct str s, bool last)
{
	size_t w = text_width(s), pad = w < l->width ? l->width - w : 0;

	if (l->shape.right)
		put_blanks(out, pad);
	out_str(out, s);
	if (!last)
		put_blanks(out, GAP + (l->shape.right ? 0 : pad));
}

static void
put_head(struct out *out, const struct view *v, const struct layout *l)
{
	struct buf b = { 0 }, cut = { 0 };

	if (v->bold)
		out_puts(out, "\033[1m");
	for (size_t i = 0; i < v->ncolumns; i++) {
		head_whole(v, l, i, &b);
		cut.len = 0;
		text_elide(buf_str(&b), l[i].width, &cut);
		put_field(out, &l[i], buf_str(&cut), i + 1 == v->ncolumns);
	}
	out_puts(out, v->bold ? "\033[0m\n" : "\n");
	buf_free(&b);
	buf_free(&cut);
}

/* Nothing but blanks up to the end of the line is not worth writing. */
static bool
is_last(const struct view *v, size_t row, size_t col)
{
	while (++col < v->ncolumns)
		if (view_cell(v, row, v->columns[col])->type != CELL_NONE)
			return false;
	return true;
}

static void
put_row(
    struct out *out, const struct view *v, const struct layout *l, size_t row)
{
	struct buf b = { 0 }, cut = { 0 };

	for (size_t i = 0; i < v->ncolumns; i++) {
		const struct cell *c = view_cell(v, row, v->columns[i]);
		bool last = is_last(v, row, i);

		cut.len = 0;
		if (last && c->type == CELL_NONE)
			break;
		if (c->type == CELL_TEXT && v->columns[i]->flags & COL_NAME) {
			table_fold_name(c->text, l[i].width, &cut);
		} else {
			cell_whole(v, l, row, i, &b);
			text_elide(buf_str(&b), l[i].width, &cut);
		}
		put_field(out, &l[i], buf_str(&cut), last);
		if (last)
			break;
	}
	out_puts(out, "\n");
	buf_free(&b);
	buf_free(&cut);
}

/* What the rows left out are worth in %, by the column that says so. */
static bool
cut_share(const struct view *v, double *percent)
{
	const struct table *t = v->table;
	const struct column *col = NULL;
	double cut = 0, all = 0;

	for (size_t i = 0; i < t->ncolumns && col == NULL; i++)
		if (t->columns[i].flags & COL_SHARE)
			col = &t->columns[i];
	for (size_t row = 0; col != NULL && row < t->nrows; row++) {
		const struct cell *c = view_cell(v, row, col);
		double x = c->type == CELL_INT ? (double)c->i
		    : c->type == CELL_REAL     ? c->real
					       : 0;

		all += x;
		if (row >= v->nrows)
			cut += x;
	}
	if (col != NULL && col->unit == UNIT_PERCENT)
		*percent = cut;
	else if (all > 0)
		*percent = cut / all * 100;
	else
		return false;
	return true;
}

static void
put_more(struct out *out, const struct view *v)
{
	double percent;

	if (v->nrows == v->table->nrows)
		return;
	out_printf(out, "... %zu more", v->table->nrows - v->nrows);
	if (cut_share(v, &percent)) {
		if (percent > 0 && percent < 0.05)
			out_puts(out, ", < 0.1 %");
		else
			out_printf(out, ", %.1f %%", percent);
	}
	out_puts(out, "\n");
}

void
fmt_table_print(struct out *out, const struct view *v)
{
	struct layout *l = xcalloc(v->ncolumns + 1, sizeof *l);

	for (size_t i = 0; i < v->ncolumns; i++) {
		l[i].shape = shape_of(v, v->columns[i]);
		l[i].can_shrink = !l[i].shape.right;
		l[i].width = natural_width(v, l, i);
	}
	fit(l, v->ncolumns, v->width);
	for (size_t i = 0; i < v->table->notes.n; i++) {
		out_str(out, v->table->notes.v[i]);
		out_puts(out, "\n");
	}
	if (v->header)
		put_head(out, v, l);
	for (size_t row = 0; row < v->nrows; row++)
		put_row(out, v, l, row);
	if (v->header)
		put_more(out, v);
	free(l);
}
