/* SPDX-License-Identifier: MIT */
/*
 * Inside tl-xlsx: the workbook, through libxlsxwriter in its mode of constant
 * memory, where a row leaves memory when the next one begins. Whatever fails
 * here ends the program.
 *
 *	struct book *b = book_create(labels);
 *	book_input(b, "stdin", wanted name or NULL);
 *	... the functions of book_sink(b) ...
 *	charts_add(b, NULL);
 *	book_finish(b, out);
 */
#ifndef TL_XLSX_WORKBOOK_H
#define TL_XLSX_WORKBOOK_H

#include <xlsxwriter.h>

#include "cmd/tl-xlsx/tables.h"

struct book_column {
	size_t from; /* its place in the table */
	struct str id, label;
	enum col_type type;
	enum unit unit;
	double div;        /* values are divided by it; 1: none */
	unsigned flags;    /* as in a head_column */
	char letters[4];   /* A to XFD */
	lxw_format *whole; /* of its numbers without fraction */
	lxw_format *real;
	lxw_format *text; /* NULL: as it comes */
	size_t chars;     /* of its widest text */
	double least, most;
	double least_positive; /* 0: none; where a logarithmic axis begins */
	bool has_fraction;
};

/* Where lines were broken. */
struct tall_row {
	size_t row;
	size_t lines;
};

struct book_sheet {
	lxw_worksheet *ws;
	char *name;        /* in the workbook */
	struct str wanted; /* before it was made one */
	struct book_column *columns;
	size_t ncolumns; /* at most XLSX_COLUMNS */
	size_t nrows;    /* with the header's */
	size_t ncharts;
	size_t charts_end[2]; /* rows that they take: left, right */
	struct {
		struct buf xml;
		char number[20]; /* of the row, from 1 */
		size_t digits;
		size_t empty;      /* bytes of one without cells */
		size_t lines;      /* of its highest text; 0: none is wrapped */
	} row;                     /* being written */
	VEC(struct tall_row) tall; /* in their order */
	bool is_part; /* goes on with a table whose sheet was full */
};

enum book_format {
	BOOK_GENERAL,
	BOOK_WHOLE,   /* 0 */
	BOOK_GROUPED, /* #,##0 */
	BOOK_MILLI,   /* #,##0.000 */
	BOOK_CENTI,   /* 0.00 */
	BOOK_HEAD,
	BOOK_WRAPPED, /* on top of the cell, in lines */
	BOOK_SCREEN,  /* letters of one width */
	BOOK_TITLE,
	BOOK_LINK,
	BOOK_NFORMATS,
};

struct book {
	lxw_workbook *wb;
	lxw_format *formats[BOOK_NFORMATS];
	struct names names;
	VEC(struct book_sheet *) sheets;
	struct book_sheet *open;  /* the one being filled, or NULL */
	struct book_sheet *front; /* see front_begin(), or NULL */
	struct arena *arena;      /* of texts that stay */
	struct buf text;
	struct table_sink sink;
	bool labels, main_first;
	int fd;           /* the finished file, which has no name */
	struct str input; /* being read */
	const char *want; /* the name asked for, or NULL */
	uint64_t nrows;
	uint64_t ncut, nbig; /* cells, over all tables */
};

struct book *book_create(bool labels);
/* Tables to come are of this input; want: the sheet's name, or NULL. */
void book_input(struct book *b, const char *input, const char *want);
const struct table_sink *book_sink(struct book *b);
/* A sheet without a table. */
struct book_sheet *book_sheet(
    struct book *b, struct str wanted, const char *suffix);
/* Its first sheet of this name, or NULL. */
struct book_sheet *book_find(const struct book *b, struct str name);
/* Text as the library takes it, until the next call. */
const char *book_text(struct book *b, struct str s, size_t *width);
/* Makes the file, checks it, and copies it to out. Frees b. */
void book_finish(struct book *b, struct out *out);
/* Ends the program unless err is none. */
void book_check(lxw_error err, const char *what);
/* Before a message from inside the library; false: it is not at its file. */
bool book_speak(void);

void sheet_begin(struct book *b, struct book_sheet *s);
void sheet_row(struct book *b, struct book_sheet *s, const struct val *cells);
/* Widths, filter, frozen header and bars: once all its rows are there. */
void sheet_end(struct book *b, struct book_sheet *s);

/* Of the cells of a row, in their order, after row_begin(). */
void row_begin(struct book_sheet *s);
void row_number(struct book_sheet *s, size_t i, double v, lxw_format *format);
/* Not empty, and as text_clean() leaves it. */
void row_text(struct book_sheet *s, size_t i, struct str text);
void row_bool(struct book_sheet *s, size_t i, bool yes);
void row_end(struct book_sheet *s);
/* The names of its columns, before the first row. */
void rows_letters(struct book_sheet *s);
/*
 * Pixels from the top of a row on, as they were if no row below it were
 * higher than the usual: so the library counts, which does not know of them.
 */
#define ROW_PIXELS 20
double rows_usual_pixels(const struct book_sheet *s, size_t row, double pixels);

/* Before all tables, a sheet of the lines of a file; front_end(): its links. */
void front_begin(struct book *b, const char *path);
void front_end(struct book *b);

/*
 * The charts that the catalogue has for tables that are there, each beside its
 * table; or all on one sheet, beside its table if it has one.
 */
void charts_add(struct book *b, const char *all);

#endif
