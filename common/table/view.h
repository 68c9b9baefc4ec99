/* SPDX-License-Identifier: MIT */
/*
 * Private to this area: a view is what of a table is printed and how (columns
 * chosen, rows sorted and cut), as table_print() hands it to a format.
 */
#ifndef TL_TABLE_VIEW_H
#define TL_TABLE_VIEW_H

#include "table/table.h"

struct live;

struct table {
	const char *name;
	const struct column *columns;
	size_t ncolumns;
	struct cell *row; /* the one being made */
	bool has_row;     /* it isn't in cells yet */
	/* row by row, of the columns that are kept; none of a live table */
	VEC(struct cell) cells;
	size_t nkept;
	uint32_t *slots; /* by column: its place, or NOT_KEPT; NULL: all are */
	size_t nrows;
	struct intern *texts;
	struct arena *row_texts;
	VEC(struct str) notes;
	struct live *live; /* of table_stream(): each row leaves at once */
};

#define NOT_KEPT UINT32_MAX

/* A usage error: there is no column named word; which one may be meant. */
noreturn void columns_refuse(const char *table, const struct column *columns,
    size_t n, const char *option, struct str word);

/* The only row there is goes out. */
void table_live_row(struct table *t);

/* The row made last becomes the table's, with its texts. */
void table_finish_row(struct table *t);
/* Before the first row: only columns that d asks for will be looked at. */
void table_keep(struct table *t, const struct table_dest *d);
/* The column that says what rows left out are worth, or NULL. */
const struct column *table_share(const struct table *t);

/* A number as text, and of what it is. */
struct number_text {
	uint64_t bits; /* the number's, as 0 and -0 have other texts */
	double div;
	size_t len;
	char text[NUM_DOUBLE_MAX];
};

/* A row a line. */
struct dialect {
	char between;
	const char *yes, *no;
	void (*put_text)(struct buf *, struct str);
};
extern const struct dialect dialect_csv, dialect_tsv;

struct view {
	const struct table *table;
	const struct dialect *dialect;
	const struct column **columns; /* the chosen ones */
	uint32_t *slots;               /* where their cells are in a row */
	size_t ncolumns;
	size_t *rows;                /* numbers of all rows, sorted */
	size_t nrows;                /* so many of them are printed */
	const struct column *sorted; /* NULL: by none */
	bool header, labels, bold;
	bool may_drop;           /* columns that a line has no room for */
	bool wraps;              /* sentences: lines are of a terminal */
	size_t width;            /* of a terminal's line */
	struct buf line;         /* for a format to make a row in */
	struct number_text last; /* that was printed; len 0: none */
};

const struct cell *view_cell(
    const struct view *v, size_t row, const struct column *col);
/* The cells of a row, in which that of column i is at slots[i]. */
static inline const struct cell *
view_row(const struct view *v, size_t row)
{
	const struct table *t = v->table;

	return t->live != NULL ? t->row : t->cells.v + v->rows[row] * t->nkept;
}
void view_open(struct view *v, const struct table *t,
    const struct table_dest *d, size_t limit);
void view_close(struct view *v);

/* What a format is: adding one is a row in dest.c. */
struct table_fmt {
	const char *word; /* of --format */
	const char *ext;  /* of files in -d DIR */
	enum {
		BETWEEN_NOTHING,
		BETWEEN_BLANK,
		BETWEEN_TITLE,
	} between;   /* what stands between two tables */
	bool labels; /* -d asks for labels */
	const struct dialect *dialect;
	/* The whole table, or where a row needs no other: NULL, and these. */
	void (*print)(struct out *out, const struct view *v);
	void (*head)(struct out *out, struct view *v);
	void (*row)(struct out *out, struct view *v, size_t row);
	void (*foot)(struct out *out, const struct view *v, size_t nrows);
};

void fmt_table_print(struct out *out, const struct view *v);
void fmt_separated_head(struct out *out, struct view *v);
void fmt_separated_row(struct out *out, struct view *v, size_t row);
void fmt_ndjson_head(struct out *out, struct view *v);
void fmt_ndjson_row(struct out *out, struct view *v, size_t row);
void fmt_ndjson_foot(struct out *out, const struct view *v, size_t nrows);
void fmt_md_print(struct out *out, const struct view *v);

/* ---- values in full precision ---- */

#define VALUE_MAX NUM_DOUBLE_MAX
/* Text of a number cell, in the label's unit with labels; at most VALUE_MAX. */
size_t value_number(
    char *out, const struct cell *c, const struct column *col, bool labels);
/*
 * Appends the same for a row of numbers, in which neighbours are often the
 * same one: mean, median, least and greatest of a single value.
 */
void value_put(struct buf *out, struct view *v, const struct cell *c,
    const struct column *col, bool labels);
/* A header field: id or label. */
struct str value_head(const struct column *col, bool labels);
/* The unit that goes with it: what values are divided by. */
double value_div(const struct column *col, bool labels);

/* ---- values for people ---- */

/* How the numbers of one column look: one unit, one number of decimals. */
struct column_shape {
	bool right;
	bool labels;
	bool brief; /* of its head */
	double div;
	int decimals; /* -1: as %g */
	/* Of points in time, else 0: the unit and its last decimal, in ns. */
	uint64_t unit_ns, digit_ns;
	const char *unit;
};

struct column_shape shape_of(const struct view *v, const struct column *col);
void shape_head(
    const struct column_shape *s, const struct column *col, struct buf *out);
/* An id as a head says it, which -c and --sort understand, too. */
const char *column_short(const char *id);
/* A cell's text; control characters are visible, nothing is cut. */
void shape_cell(const struct column_shape *s, const struct column *col,
    const struct cell *c, struct buf *out);

/* ---- text on a terminal ---- */

/* Appends what begins s, or ends it, in at most width columns. */
void text_head(struct str s, size_t width, struct buf *out);
void text_tail(struct str s, size_t width, struct buf *out);

/*
 * Appends s as it stands in files of lines (CSV, TSV, folded stacks): the same
 * characters and bytes as \xNN a byte, but \t and \n, so that it is UTF-8, no
 * terminal obeys it and reader/tsv.c reads it back; with them the printable
 * ASCII characters in more, and without the controls in kept.
 */
void text_escape(
    struct str s, const char *kept, const char *more, struct buf *out);

#endif
