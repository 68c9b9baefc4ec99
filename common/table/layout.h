/* SPDX-License-Identifier: MIT */
/* Inside table only: the layout of a table on a terminal. */
#ifndef TL_TABLE_LAYOUT_H
#define TL_TABLE_LAYOUT_H

#include "table/view.h"

#define LAYOUT_GAP 2 /* blanks between columns */

#define HEAD_LINES 3

struct layout {
	const struct column *col;
	struct column_shape shape;
	size_t width;
	/* widths needed: for cells, and for its head on 1, 2, 3 lines */
	size_t cells, heads[HEAD_LINES];
	/* common ending of all texts, as "_BOUND": the first to go, from all */
	size_t end;
	bool is_kept; /* the catalogue keeps it */
	bool below;   /* a sentence or sequence, on lines below each row */
	/* cut texts, by row, of sequences below in lines; NULL: none was cut */
	struct str *shown;
};

struct grid {
	struct layout *list;
	size_t n, nall; /* shown; after them, dropped ones */
	size_t nlines;  /* of heads */
	struct arena *text;
};

/*
 * Splits a head into at most n lines, the widest as short as possible; returns
 * its width.
 */
size_t head_split(struct str head, size_t n, struct str parts[HEAD_LINES]);
void grid_open(struct grid *g, const struct view *v);
void grid_close(struct grid *g);
/* Whether all shown rows have the same value in this column. */
bool grid_says_all(const struct view *v, const struct layout *l);

#endif
