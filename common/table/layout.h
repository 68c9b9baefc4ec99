/* SPDX-License-Identifier: MIT */
/* Private to this area: how a table is laid out on a terminal. */
#ifndef TL_TABLE_LAYOUT_H
#define TL_TABLE_LAYOUT_H

#include "table/view.h"

#define LAYOUT_GAP 2 /* blanks between columns */

#define HEAD_LINES 3

struct layout {
	const struct column *col;
	struct column_shape shape;
	size_t width;
	/* what it would need: its cells, its head on 1, 2, 3 lines */
	size_t cells, heads[HEAD_LINES];
	/* that all texts end in, as "_BOUND": the first to go */
	size_t end;
	bool below; /* a sentence that has lines of its own, below each row */
	/* texts that were cut, by row; NULL: none was */
	struct str *shown;
};

struct grid {
	struct layout *list;
	size_t n, nall; /* shown; behind them those that are left out */
	size_t nlines;  /* of heads */
	struct arena *text;
};

/* A head on at most n lines, the widest as short as can be: that width. */
size_t head_split(struct str head, size_t n, struct str parts[HEAD_LINES]);
void grid_open(struct grid *g, const struct view *v);
void grid_close(struct grid *g);
/* Whether all rows shown have the same in this column. */
bool grid_says_all(const struct view *v, const struct layout *l);

#endif
