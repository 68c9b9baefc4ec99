/* SPDX-License-Identifier: MIT */
/*
 * Which columns a line has room for, and how wide they are. Numbers are never
 * cut. Where a line is too short, step by step and no more than needed:
 *
 *	heads take two lines;
 *	texts give way, the widest first, down to what can be read;
 *	columns go that say the same in all rows, then those marked as minor;
 *	texts give way down to TEXT_MIN; and then the line is too long.
 *
 * Columns that were asked for by name stay, and so do all in a file.
 */
#include <stdlib.h>

#include "table/layout.h"

#define TEXT_MIN 12  /* what is left of a text column */
#define NAME_FAIR 26 /* from here on a name can be read */
#define TEXT_FAIR 14

/* ---- natural widths ---- */

static void
measure_cells(const struct view *v, struct layout *l, struct buf *b)
{
	for (size_t row = 0; row < v->nrows; row++) {
		size_t w;

		b->len = 0;
		shape_cell(&l->shape, l->col, view_cell(v, row, l->col), b);
		w = text_width(buf_str(b));
		if (w > l->cells)
			l->cells = w;
	}
}

/* Where a head is cut so that its longer half is the shortest. */
static void
split_head(struct layout *l, struct str head)
{
	l->head = l->half = text_width(head);
	l->split = head.len;
	for (size_t i = 1; i + 1 < head.len; i++) {
		struct str a = { head.p, i + (head.p[i] == '_') };
		struct str b = { head.p + i + 1, head.len - i - 1 };
		size_t w, wb = text_width(b);

		if (head.p[i] != '_' && head.p[i] != ' ')
			continue;
		w = text_width(a) > wb ? text_width(a) : wb;
		if (w < l->half) {
			l->half = w;
			l->split = i;
		}
	}
}

static void
measure(const struct view *v, struct grid *g)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < v->ncolumns; i++) {
		struct layout *l = &g->list[i];

		*l = (struct layout){ .col = v->columns[i] };
		l->shape = shape_of(v, l->col);
		measure_cells(v, l, &b);
		if (!v->header)
			continue;
		b.len = 0;
		shape_head(&l->shape, l->col, &b);
		split_head(l, buf_str(&b));
	}
	buf_free(&b);
}

static size_t
max_of(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* What the column takes when it is not cut. */
static size_t
natural(const struct grid *g, const struct layout *l)
{
	return max_of(l->cells, g->two_lines ? l->half : l->head);
}

/* What it takes at least, so that it can be read. */
static size_t
fair(const struct grid *g, const struct layout *l, size_t name, size_t text)
{
	size_t w = natural(g, l), least = text;

	if (l->shape.right)
		return w;
	if (l->col->flags & COL_NAME)
		least = name;
	least = max_of(least, g->two_lines ? l->half : 0);
	return w < least ? w : least;
}

static size_t
sum(const struct grid *g, bool is_fair)
{
	size_t total = g->n > 0 ? (g->n - 1) * LAYOUT_GAP : 0;

	for (size_t i = 0; i < g->n; i++)
		total += is_fair ? fair(g, &g->list[i], NAME_FAIR, TEXT_FAIR)
				 : natural(g, &g->list[i]);
	return total;
}

/* ---- columns that go ---- */

static bool
cells_equal(const struct cell *a, const struct cell *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case CELL_NONE: return true;
	case CELL_TEXT: return str_eq(a->text, b->text);
	case CELL_INT: return a->i == b->i;
	case CELL_REAL: return !(a->real < b->real || a->real > b->real);
	case CELL_BOOL: return a->yes == b->yes;
	}
	return false;
}

/* One row says nothing about what columns are for. */
static bool
is_constant(const struct view *v, const struct column *col)
{
	for (size_t row = 1; row < v->nrows; row++)
		if (!cells_equal(view_cell(v, 0, col), view_cell(v, row, col)))
			return false;
	return v->nrows > 1;
}

enum why { WHY_EMPTY, WHY_CONSTANT, WHY_MINOR, WHY_COUNT };

static bool
may_go(const struct view *v, const struct column *col, enum why why)
{
	if (col == v->sorted || col->flags & COL_SHARE)
		return false;
	if (why == WHY_MINOR)
		return (col->flags & COL_MINOR) != 0;
	return is_constant(v, col) &&
	    (why == WHY_CONSTANT || view_cell(v, 0, col)->type == CELL_NONE);
}

/* The last one that may go, those that say nothing first; 0: none. */
static size_t
next_to_go(const struct view *v, const struct grid *g)
{
	for (enum why why = WHY_EMPTY; why < WHY_COUNT; why++)
		for (size_t i = g->n; i-- > 1;)
			if (may_go(v, g->list[i].col, why))
				return i;
	return 0;
}

static void
let_go(struct grid *g, size_t i)
{
	struct layout gone = g->list[i];

	memmove(g->list + i, g->list + i + 1, (g->n - i - 1) * sizeof *g->list);
	g->list[--g->n] = gone; /* behind the others, the last one first */
}

/* ---- widths ---- */

/* Names are worth more than other texts. */
static struct layout *
widest(struct grid *g, size_t name, size_t text)
{
	struct layout *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < g->n; i++) {
		struct layout *l = &g->list[i];
		size_t w = l->width * (l->col->flags & COL_NAME ? 2 : 3);

		if (!l->shape.right && w > most &&
		    l->width > fair(g, l, name, text)) {
			most = w;
			best = l;
		}
	}
	return best;
}

static void
shrink(struct grid *g, size_t *total, size_t width, size_t name, size_t text)
{
	struct layout *l;

	for (; *total > width; --*total) {
		l = widest(g, name, text);
		if (l == NULL)
			return;
		l->width--;
	}
}

static void
fit(struct grid *g, size_t width)
{
	size_t total = g->n > 0 ? (g->n - 1) * LAYOUT_GAP : 0;

	for (size_t i = 0; i < g->n; i++) {
		struct layout *l = &g->list[i];

		l->width = natural(g, l);
		if (!l->shape.right && l->width > width)
			l->width = width;
		total += l->width;
	}
	shrink(g, &total, width, NAME_FAIR, TEXT_FAIR);
	shrink(g, &total, width, TEXT_MIN, TEXT_MIN);
}

void
grid_open(struct grid *g, const struct view *v)
{
	size_t i;

	*g = (struct grid){ .n = v->ncolumns, .nall = v->ncolumns };
	g->list = xcalloc(v->ncolumns + 1, sizeof *g->list);
	g->text = arena_create();
	measure(v, g);
	g->two_lines = v->header && sum(g, false) > v->width;
	while (v->may_drop && sum(g, true) > v->width &&
	    (i = next_to_go(v, g)) > 0)
		let_go(g, i);
	fit(g, v->width);
}

void
grid_close(struct grid *g)
{
	free(g->list);
	arena_destroy(g->text);
}

bool
grid_says_all(const struct view *v, const struct layout *l)
{
	return is_constant(v, l->col);
}
