/* SPDX-License-Identifier: MIT */
/*
 * Inside table only: a view is what is printed of a table and how (columns
 * chosen, rows sorted and cut), as table_print() passes it to a format.
 */
#ifndef TL_TABLE_VIEW_H
#define TL_TABLE_VIEW_H

#include "table/table.h"

struct live;

struct table {
	const char *name;
	const struct column *columns;
	size_t ncolumns;
	struct cell *row; /* the current row */
	bool has_row;     /* it isn't in cells yet */
	/* row by row, kept columns only; none for a live table */
	VEC(struct cell) cells;
	size_t nkept;
	uint32_t *slots; /* by column: index, or NOT_KEPT; NULL: all kept */
	size_t nrows;
	struct intern *texts;
	struct arena *row_texts;
	VEC(struct str) notes;
	struct live *live; /* of table_stream(): each row is printed at once */
};

#define NOT_KEPT UINT32_MAX

/* A usage error: no column is named word; suggests one. */
noreturn void columns_refuse(const char *table, const struct column *columns,
    size_t n, const char *option, struct str word);

/* Prints the only row there is. */
void table_live_row(struct table *t);

/* Moves the current row, with copies of its texts, into the table. */
void table_finish_row(struct table *t);
/* Before the first row: only columns that d shows are kept. */
void table_keep(struct table *t, const struct table_dest *d);
/* A usage error: -o FILE ends as what is no table does. */
void dest_check_path(const struct table_dest *d);
/* The column that tells what omitted rows are worth, or NULL. */
const struct column *table_share(const struct table *t);

/* A number as text, and the number. */
struct number_text {
	uint64_t bits; /* its bits, as 0 and -0 have different texts */
	double div;
	size_t len;
	char text[NUM_DOUBLE_MAX];
};

/* A format with a line per row. */
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
	size_t *rows;                /* all rows, sorted */
	size_t nrows;                /* how many are printed */
	const struct column *sorted; /* NULL: unsorted */
	bool header, labels, bold;
	bool may_drop;           /* columns that do not fit are dropped */
	bool wraps;              /* sentences are wrapped */
	size_t width;            /* of the terminal */
	struct buf line;         /* buffer for a row */
	struct number_text last; /* printed last; len 0: none */
};

const struct cell *view_cell(
    const struct view *v, size_t row, const struct column *col);
/* The cells of a row; that of column i is at slots[i]. */
static inline const struct cell *
view_row(const struct view *v, size_t row)
{
	const struct table *t = v->table;

	return t->live != NULL ? t->row : t->cells.v + v->rows[row] * t->nkept;
}
void view_open(struct view *v, const struct table *t,
    const struct table_dest *d, size_t limit);
void view_close(struct view *v);

/* A format: adding one is a row in dest.c. */
struct table_fmt {
	const char *word; /* of --format */
	const char *ext;  /* of files in -d DIR */
	enum {
		BETWEEN_NOTHING,
		BETWEEN_BLANK,
		BETWEEN_TITLE,
	} between;   /* written between two tables */
	bool labels; /* -d asks for labels */
	const struct dialect *dialect;
	/*
	 * Prints the whole table; or NULL, if rows are independent, and these
	 * do.
	 */
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

/* A sequence of kernels, "a | b | c": how many; takes off the next one. */
size_t names_count(struct str s);
struct str names_take(struct str *s);

/* ---- values in full precision ---- */

#define VALUE_MAX NUM_DOUBLE_MAX
/*
 * The text of a number cell, with labels in the label's unit; at most
 * VALUE_MAX.
 */
size_t value_number(
    char *out, const struct cell *c, const struct column *col, bool labels);
/*
 * Appends the same for numbers of a row, where neighbours are often equal:
 * mean, median, minimum and maximum of a single value.
 */
void value_put(struct buf *out, struct view *v, const struct cell *c,
    const struct column *col, bool labels);
/* A header field: id or label. */
struct str value_head(const struct column *col, bool labels);
/* The unit that goes with it: values are divided by this. */
double value_div(const struct column *col, bool labels);

/* ---- values for people ---- */

/* How the numbers of a column look: one unit, one number of decimals. */
struct column_shape {
	bool right;
	bool labels;
	bool brief; /* of its head */
	double div;
	int decimals; /* -1: as %g */
	/* For points in time, else 0: the unit and its last decimal, in ns. */
	uint64_t unit_ns, digit_ns;
	const char *unit;
};

/* Those of all columns. */
void shapes_of(const struct view *v, struct column_shape *shapes);
void shape_head(
    const struct column_shape *s, const struct column *col, struct buf *out);
/* The short head of an id, which -c and --sort also accept. */
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
