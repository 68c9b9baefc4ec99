/* SPDX-License-Identifier: MIT */
/*
 * Which columns fit a line, and how wide they are. Numbers are never cut. If a
 * line is too short, these steps are taken, no more than needed:
 *
 *	sequences of kernels move below their rows, one name a line;
 *	sentences move below their rows, where they are whole;
 *	heads take two lines, and three before an important column is dropped;
 *	what all texts of a column end in goes;
 *	types, categories and ids are dropped before shapes are shortened;
 *	texts are shortened, the widest first, as long as they are readable;
 *	columns are dropped that are equal in all rows, then those that the
 *	catalogue does not keep, the least important first, but none without
 *	which rows look alike;
 *	texts are shortened to TEXT_MIN;
 *	columns that the catalogue keeps are dropped, then texts shortened.
 *
 * Columns asked for by name stay, as do all columns in a file.
 */
#include <stdlib.h>

#include "table/catalogue.h"
#include "table/layout.h"

#define TEXT_MIN 12  /* shortest text column */
#define NAME_FAIR 26 /* from this width on a name is readable */
#define TEXT_FAIR 14
#define LIST_FAIR 20
#define LIST_ROOMY 44    /* the shapes of a convolution */
#define ROWS_COMPARED 64 /* to see what tells them apart */

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

size_t
head_split(struct str head, size_t n, struct str parts[HEAD_LINES])
{
	size_t best = text_width(head);

	parts[0] = head;
	for (size_t k = 1; k < n; k++)
		parts[k] = STR("");
	for (size_t i = 1; n > 1 && i + 1 < head.len; i++) {
		struct str a = { head.p, i + (head.p[i] == '_') };
		struct str b = { head.p + i + 1, head.len - i - 1 };
		struct str rest[HEAD_LINES];
		size_t w;

		if (head.p[i] != '_' && head.p[i] != ' ')
			continue;
		w = head_split(b, n - 1, rest);
		if (text_width(a) > w)
			w = text_width(a);
		if (w >= best)
			continue;
		best = w;
		parts[0] = a;
		memcpy(parts + 1, rest, (n - 1) * sizeof *rest);
	}
	return best;
}

/* The last word that different texts share, with the _ before it. */
static size_t
common_end(const struct view *v, const struct column *col)
{
	struct str end = { NULL, 0 }, last = { NULL, 0 };
	bool differ = false;

	if (col->type != COL_TEXT || col->flags & COL_NAME)
		return 0;
	for (size_t row = 0; row < v->nrows; row++) {
		const struct cell *c = view_cell(v, row, col);
		const char *at = c->type != CELL_TEXT || c->text.len == 0
		    ? NULL
		    : memrchr(c->text.p, '_', c->text.len);

		if (c->type != CELL_TEXT || c->text.len == 0)
			continue;
		if (at == NULL || at == c->text.p ||
		    (end.p != NULL && !str_ends(c->text, end)))
			return 0;
		end =
		    (struct str){ at, c->text.len - (size_t)(at - c->text.p) };
		differ |= last.p != NULL && !str_eq(last, c->text);
		last = c->text;
	}
	return differ ? end.len : 0;
}

static void
measure(const struct view *v, struct grid *g)
{
	struct column_shape *shapes = xcalloc(v->ncolumns + 1, sizeof *shapes);
	struct str parts[HEAD_LINES];
	struct buf b = { 0 };

	shapes_of(v, shapes);
	for (size_t i = 0; i < v->ncolumns; i++) {
		struct layout *l = &g->list[i];

		*l =
		    (struct layout){ .col = v->columns[i], .shape = shapes[i] };
		measure_cells(v, l, &b);
		l->end = common_end(v, l->col);
		if (!v->header)
			continue;
		b.len = 0;
		shape_head(&l->shape, l->col, &b);
		for (size_t n = 1; n <= HEAD_LINES; n++)
			l->heads[n - 1] = head_split(buf_str(&b), n, parts);
	}
	buf_free(&b);
	free(shapes);
}

static size_t
max_of(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* The width of the column if it is not cut. */
static size_t
natural(const struct grid *g, const struct layout *l)
{
	return max_of(l->cells, l->heads[g->nlines - 1]);
}

/* The same if what all of its texts end in is dropped. */
static size_t
without_end(const struct grid *g, const struct layout *l)
{
	return max_of(l->cells - l->end, l->heads[g->nlines - 1]);
}

/*
 * How much of a text is wanted: all, with shapes that can be read, easily
 * readable, readable, or nothing.
 */
enum least { LEAST_WHOLE, LEAST_ROOMY, LEAST_FAIR, LEAST_READ, LEAST_CUT };

/* Sentences tell most about a row; other texts that sheets wrap may go. */
static bool
is_sentence(const struct column *col)
{
	return (col->flags & (COL_WRAPPED | COL_MINOR)) == COL_WRAPPED;
}

/* The least width of a column. */
static size_t
least_of(const struct grid *g, const struct layout *l, enum least how)
{
	size_t w = natural(g, l), least = how == LEAST_CUT ? 1 : TEXT_MIN;

	if (l->shape.right || how == LEAST_WHOLE)
		return w;
	if (how <= LEAST_FAIR && is_sentence(l->col))
		return w;
	w = without_end(g, l);
	if (how <= LEAST_FAIR)
		least = l->col->flags & COL_NAME       ? NAME_FAIR
		    : l->col->type != COL_JSON         ? TEXT_FAIR
		    : l->is_kept && how == LEAST_ROOMY ? LIST_ROOMY
						       : LIST_FAIR;
	else if (how == LEAST_READ && w <= TEXT_FAIR)
		least = l->cells - l->end; /* a word */
	if (how != LEAST_CUT && g->nlines > 1)
		least = max_of(least, l->heads[g->nlines - 1]);
	return w < least ? w : least;
}

static size_t
sum(const struct grid *g, enum least how)
{
	size_t total = g->n > 0 ? (g->n - 1) * LAYOUT_GAP : 0;

	for (size_t i = 0; i < g->n; i++)
		total += least_of(g, &g->list[i], how);
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

/* With a single row, equal values say nothing about a column, unless empty. */
static bool
is_constant(const struct view *v, const struct column *col)
{
	for (size_t row = 1; row < v->nrows; row++)
		if (!cells_equal(view_cell(v, 0, col), view_cell(v, row, col)))
			return false;
	return v->nrows > 1 ||
	    (v->nrows == 1 && view_cell(v, 0, col)->type == CELL_NONE);
}

/* The last column that says nothing, or the same in all rows; 0: none. */
static size_t
next_constant(const struct view *v, const struct grid *g)
{
	for (int empty = 1; empty >= 0; empty--)
		for (size_t i = g->n; i-- > 1;) {
			const struct column *col = g->list[i].col;

			if (col == v->sorted || col->flags & COL_SHARE ||
			    !is_constant(v, col))
				continue;
			if (!empty || view_cell(v, 0, col)->type == CELL_NONE)
				return i;
		}
	return 0;
}

/* The next sentence; 0: none. */
static size_t
next_sentence(const struct grid *g)
{
	size_t i = g->n;

	while (i-- > 1)
		if (is_sentence(g->list[i].col))
			return i;
	return 0;
}

/*
 * The place of columns that never go before others: they are what rows are
 * about.
 */
static unsigned
place_of(const struct view *v, const struct sheet *s, const struct column *col)
{
	if (col == v->sorted || col->flags & COL_SHARE)
		return 0;
	return sheet_place(s, col);
}

static void
mark_kept(const struct view *v, struct grid *g)
{
	const struct sheet *s = sheet_of(str_of(v->table->name));

	for (size_t i = 0; i < g->n; i++)
		g->list[i].is_kept =
		    place_of(v, s, g->list[i].col) < SHEET_GOES;
}

static bool
is_text(const struct column *col)
{
	return col->type == COL_TEXT || col->type == COL_JSON;
}

/* Whether two rows are equal except for this column. */
static bool
tells_apart(const struct view *v, const struct grid *g, size_t column)
{
	const struct column *col = g->list[column].col;
	size_t n = v->nrows < ROWS_COMPARED ? v->nrows : ROWS_COMPARED;

	for (size_t a = 0; is_text(col) && a < n; a++)
		for (size_t b = a + 1; b < n; b++) {
			bool alike = !cells_equal(
			    view_cell(v, a, col), view_cell(v, b, col));

			for (size_t i = 0; alike && i < g->n; i++)
				alike = i == column ||
				    !is_text(g->list[i].col) ||
				    cells_equal(view_cell(v, a, g->list[i].col),
					view_cell(v, b, g->list[i].col));
			if (alike)
				return true;
		}
	return false;
}

/* Types, categories and ids. */
static bool
is_for_reference(const struct column *col)
{
	return is_text(col) || str_ends(str_of(col->id), STR("uid"));
}

/*
 * The least important column from a place on, the last of equals, without which
 * rows still differ; 0: none.
 */
static size_t
next_of_place(const struct view *v, const struct grid *g, unsigned from,
    bool is_reference)
{
	const struct sheet *s = sheet_of(str_of(v->table->name));
	size_t found = 0;
	bool has_all = from == 0;

	for (size_t i = g->n; i-- > 1;) {
		unsigned place = place_of(v, s, g->list[i].col);

		if (is_reference && !is_for_reference(g->list[i].col))
			continue;
		if (place >= from && (has_all || !tells_apart(v, g, i))) {
			from = place + 1;
			found = i;
		}
	}
	return found;
}

static void
let_go(struct grid *g, size_t i)
{
	struct layout gone = g->list[i];

	memmove(g->list + i, g->list + i + 1, (g->n - i - 1) * sizeof *g->list);
	g->list[--g->n] = gone; /* after the others, the last one first */
}

/* ---- widths ---- */

/* Names are more important than other texts. */
static struct layout *
widest(struct grid *g, enum least how)
{
	struct layout *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < g->n; i++) {
		struct layout *l = &g->list[i];
		size_t w = l->width * (l->col->flags & COL_NAME ? 2 : 3);

		if (!l->shape.right && w > most &&
		    l->width > least_of(g, l, how)) {
			most = w;
			best = l;
		}
	}
	return best;
}

static void
shrink(struct grid *g, size_t *total, size_t width, enum least how)
{
	struct layout *l;

	for (; *total > width; --*total) {
		l = widest(g, how);
		if (l == NULL)
			return;
		l->width--;
	}
}

/* A common ending tells least; it goes from all texts of its column. */
static void
drop_ends(struct grid *g, size_t *total)
{
	for (size_t i = 0; i < g->n; i++) {
		struct layout *l = &g->list[i];
		size_t w = without_end(g, l);

		if (l->end > 0 && l->width > w) {
			*total -= l->width - w;
			l->width = w;
		}
	}
}

static void
fit(struct grid *g, size_t width, enum least most)
{
	size_t total = g->n > 0 ? (g->n - 1) * LAYOUT_GAP : 0;

	for (size_t i = 0; i < g->n; i++) {
		struct layout *l = &g->list[i];

		l->width = natural(g, l);
		if (!l->shape.right && l->width > width)
			l->width = width;
		total += l->width;
	}
	if (total > width)
		drop_ends(g, &total);
	for (enum least how = LEAST_ROOMY; how <= most; how++)
		shrink(g, &total, width, how);
}

/* Whether all cells are sequences of kernels. */
static bool
are_sequences(const struct view *v, const struct column *col)
{
	if ((col->flags & COL_NAME) == 0)
		return false;
	for (size_t row = 0; row < v->nrows; row++) {
		const struct cell *c = view_cell(v, row, col);

		if (c->type != CELL_TEXT || names_count(c->text) < 2)
			return false;
	}
	return v->nrows > 0;
}

/* Within a column, their names would be cut to what they have in common. */
static void
move_sequences(struct grid *g, const struct view *v)
{
	for (size_t i = g->n; i-- > 0;)
		if (g->n > 1 && sum(g, LEAST_WHOLE) > v->width &&
		    g->list[i].cells > NAME_FAIR &&
		    are_sequences(v, g->list[i].col)) {
			g->list[i].below = true;
			let_go(g, i);
		}
}

/* Whether a list stays that is more than fair. */
static bool
has_shapes(const struct grid *g)
{
	return sum(g, LEAST_ROOMY) > sum(g, LEAST_FAIR);
}

static void
drop(struct grid *g, const struct view *v)
{
	size_t i;

	while (sum(g, LEAST_FAIR) > v->width && (i = next_sentence(g)) > 0) {
		g->list[i].below = !is_constant(v, g->list[i].col);
		let_go(g, i);
	}
	while (has_shapes(g) && sum(g, LEAST_ROOMY) > v->width &&
	    (i = next_of_place(v, g, SHEET_GOES, true)) > 0)
		let_go(g, i);
	while (sum(g, LEAST_FAIR) > v->width && (i = next_constant(v, g)) > 0)
		let_go(g, i);
	while (sum(g, LEAST_FAIR) > v->width &&
	    (i = next_of_place(v, g, SHEET_MINOR, false)) > 0)
		let_go(g, i);
	if (sum(g, LEAST_FAIR) > v->width)
		g->nlines = HEAD_LINES;
	while (sum(g, LEAST_FAIR) > v->width &&
	    (i = next_of_place(v, g, SHEET_GOES, false)) > 0)
		let_go(g, i);
	while (sum(g, LEAST_READ) > v->width &&
	    (i = next_of_place(v, g, 0, false)) > 0)
		let_go(g, i);
}

void
grid_open(struct grid *g, const struct view *v)
{
	*g =
	    (struct grid){ .n = v->ncolumns, .nall = v->ncolumns, .nlines = 1 };
	g->list = xcalloc(v->ncolumns + 1, sizeof *g->list);
	g->text = arena_create();
	measure(v, g);
	mark_kept(v, g);
	if (v->header && sum(g, LEAST_WHOLE) > v->width)
		g->nlines = 2;
	move_sequences(g, v);
	if (v->may_drop)
		drop(g, v);
	/* columns asked for stay readable */
	fit(g, v->width, v->may_drop ? LEAST_CUT : LEAST_READ);
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
