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
	size_t from; /* column of the table */
	struct str id, label;
	enum col_type type;
	enum unit unit;
	double div;        /* divisor of values; 1: none */
	unsigned flags;    /* of its head_column */
	char letters[4];   /* A to XFD */
	lxw_format *whole; /* format of integers */
	lxw_format *real;
	lxw_format *text; /* NULL: default */
	size_t chars;     /* of the widest text */
	double least, most;
	double least_positive; /* 0: none; for a logarithmic axis */
	bool has_fraction;
};

/* A row with wrapped text. */
struct tall_row {
	size_t row;
	size_t lines;
};

struct book_sheet {
	lxw_worksheet *ws;
	char *name;        /* in the workbook */
	struct str wanted; /* before it was made valid */
	struct book_column *columns;
	size_t ncolumns; /* at most XLSX_COLUMNS */
	size_t nrows;    /* with the header */
	size_t ncharts;
	size_t charts_end[2]; /* rows that charts take: left, right */
	struct {
		struct buf xml;
		char number[20]; /* of the row, from 1 */
		size_t digits;
		size_t empty;      /* bytes of a row without cells */
		size_t lines;      /* of the highest text; 0: not wrapped */
	} row;                     /* being written */
	VEC(struct tall_row) tall; /* in order */
	bool is_part;              /* continues a full sheet */
};

enum book_format {
	BOOK_GENERAL,
	BOOK_WHOLE,   /* 0 */
	BOOK_GROUPED, /* #,##0 */
	BOOK_MILLI,   /* #,##0.000 */
	BOOK_CENTI,   /* 0.00 */
	BOOK_HEAD,
	BOOK_WRAPPED, /* top-aligned, wrapped */
	BOOK_SCREEN,  /* monospace */
	BOOK_TITLE,
	BOOK_LINK,
	BOOK_NFORMATS,
};

struct book {
	lxw_workbook *wb;
	lxw_format *formats[BOOK_NFORMATS];
	struct names names;
	VEC(struct book_sheet *) sheets;
	struct book_sheet *open;  /* the current one, or NULL */
	struct book_sheet *front; /* of front_begin(), or NULL */
	struct arena *arena;      /* of texts */
	struct buf text;
	struct table_sink sink;
	bool labels, main_first;
	int fd;           /* the finished, unnamed file */
	struct str input; /* the current input */
	const char *want; /* wanted name, or NULL */
	uint64_t nrows;
	uint64_t ncut, nbig; /* cells, over all tables */
};

struct book *book_create(bool labels);
/* Sets the input of the next tables; want: the sheet's name, or NULL. */
void book_input(struct book *b, const char *input, const char *want);
const struct table_sink *book_sink(struct book *b);
/* A sheet without a table. */
struct book_sheet *book_sheet(
    struct book *b, struct str wanted, const char *suffix);
/* The first sheet of this name, or NULL. */
struct book_sheet *book_find(const struct book *b, struct str name);
/* Text for the library, valid until the next call. */
const char *book_text(struct book *b, struct str s, size_t *width);
/* Makes the file, checks it, copies it to out. Frees b. */
void book_finish(struct book *b, struct out *out);
/* Ends the program on an error. */
void book_check(lxw_error err, const char *what);
/* Restores standard error for a message; false: the library was not writing. */
bool book_speak(void);

void sheet_begin(struct book *b, struct book_sheet *s);
void sheet_row(struct book *b, struct book_sheet *s, const struct val *cells);
/* Widths, filter, frozen header, bars, after the last row. */
void sheet_end(struct book *b, struct book_sheet *s);

/* Cells of a row, in order, follow row_begin(). */
void row_begin(struct book_sheet *s);
void row_number(struct book_sheet *s, size_t i, double v, lxw_format *format);
/* Not empty; from text_clean(). */
void row_text(struct book_sheet *s, size_t i, struct str text);
void row_bool(struct book_sheet *s, size_t i, bool yes);
void row_end(struct book_sheet *s);
/* Names columns, before the first row. */
void rows_letters(struct book_sheet *s);
/*
 * Pixels down to a row if all rows had the usual height: the library counts so,
 * as it does not know of higher ones.
 */
#define ROW_PIXELS 20
double rows_usual_pixels(const struct book_sheet *s, size_t row, double pixels);

/* A sheet before all tables with a file's lines; front_end() adds the links. */
void front_begin(struct book *b, const char *path);
void front_end(struct book *b);

/*
 * Charts of the catalogue next to their tables, or all on one sheet, next to
 * its table if any.
 */
void charts_add(struct book *b, const char *all);

#endif
