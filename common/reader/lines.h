/* SPDX-License-Identifier: MIT */
/*
 * lines: reads one of our tables row by row, cells by their columns' ids. A
 * fault in it ends the program.
 *
 *	static void
 *	take(void *ctx, const struct line *l)
 *	{
 *		*(int64_t *)ctx += line_int(l, "time_ns");
 *	}
 *
 *	if (!table_each("n/idle.ndjson", take, &sum))
 *		(there is no such file)
 */
#ifndef TL_READER_LINES_H
#define TL_READER_LINES_H

#include "reader/reader.h"

/* The current row. Columns that a table lacks are empty cells. */
struct line {
	const struct head *head;
	const struct val *cells;
};
typedef void line_fn(void *ctx, const struct line *l);

/* Calls back for each row of a table of NDJSON; false: no such file. */
bool table_each(const char *path, line_fn *take, void *ctx);

/* Cells by column id. A number's text lives until the program ends. */
const struct val *line_cell(const struct line *l, const char *id);
struct str line_text(const struct line *l, const char *id);
double line_real(const struct line *l, const char *id); /* 0: none */
int64_t line_int(const struct line *l, const char *id);
bool line_bool(const struct line *l, const char *id);
bool line_lacks(const struct line *l, const char *id);

/* The nearest integer; false: not a number, or beyond 64 bits. */
bool val_int(const struct val *v, int64_t *n) USE_RESULT;
/* A copy of a borrowed head, with columns and texts in mem. */
struct head head_copy(const struct head *head, struct arena *mem);

#endif
