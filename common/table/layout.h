/* SPDX-License-Identifier: MIT */
/* Private to this area: how a table is laid out on a terminal. */
#ifndef TL_TABLE_LAYOUT_H
#define TL_TABLE_LAYOUT_H

#include "table/view.h"

#define LAYOUT_GAP 2 /* blanks between columns */

struct layout {
	const struct column *col;
	struct column_shape shape;
	size_t width;
	/* what it would need: its cells, its head, the longer half of that */
	size_t cells, head, half;
	size_t split; /* bytes of the head's first line */
	/* texts that were cut, by row; NULL: none was */
	struct str *shown;
};

struct grid {
	struct layout *list;
	size_t n, nall; /* shown; behind them those that are left out */
	bool two_lines; /* of heads */
	struct arena *text;
};

void grid_open(struct grid *g, const struct view *v);
void grid_close(struct grid *g);
/* Whether all rows shown have the same in this column. */
bool grid_says_all(const struct view *v, const struct layout *l);

#endif
