/* SPDX-License-Identifier: MIT */
/*
 * Inside tl-compare: tables out of a workbook (.xlsx), whoever wrote it. The
 * zip is read by minizip, the XML by expat. Workbooks are hostile: nothing here
 * prints or exits, sizes are checked before they are used, and what is wrong
 * is a text.
 *
 *	struct workbook *w = workbook_open(path, &error);
 *	for (i = 0; i < workbook_count(w); i++)
 *		if (!workbook_read(w, i, &sink, &odd, &error))
 *			...
 *	workbook_close(w);
 */
#ifndef TL_COMPARE_WORKBOOK_H
#define TL_COMPARE_WORKBOOK_H

#include "reader/reader.h"

/* Bytes of XML in a part (a sheet, the shared texts). */
#define PART_MAX (UINT64_C(512) << 20)
/* A tag or comment; texts come in pieces and may be longer. */
#define XML_TOKEN_MAX ((uint64_t)4 << 20)
#define XML_DEPTH_MAX 256
/* Rows times columns of a sheet. */
#define GRID_CELLS_MAX ((uint64_t)1 << 24)
/* Of all sheets read: 60,000 sheets can share one part of some kB. */
#define BOOK_CELLS_MAX ((uint64_t)1 << 25)
/* XML of all parts, which is 10 to 50 times a good workbook's size. */
#define BOOK_XML_FREE (UINT64_C(64) << 20)
#define BOOK_XML_RATIO 256
/* Rows of a sheet, Excel's limit, and of all sheets read. */
#define GRID_ROWS_MAX ((uint64_t)1 << 20)
#define BOOK_ROWS_MAX ((uint64_t)1 << 21)
#define GRID_COLUMNS_MAX 16384
#define SHARED_MAX ((size_t)1 << 25) /* texts that cells share */

/* ---- the zip: parts by name ---- */

struct parts;
/* NULL: error is set. */
struct parts *parts_open(const char *path, struct buf *error);
void parts_close(struct parts *p);

/* ---- XML ---- */

/*
 * Names have no namespace; strings are valid during the call. A function
 * returns what is wrong, which ends the reading, or NULL. end and text may be
 * NULL.
 */
struct xml_sink {
	const char *(*start)(
	    void *ctx, const char *name, const char **attributes);
	const char *(*end)(void *ctx, const char *name);
	const char *(*text)(void *ctx, const char *p, size_t n);
	void *ctx;
};

/* The value or NULL; is_foreign: an attribute with a prefix. */
const char *xml_attribute(
    const char **attributes, const char *name, bool is_foreign);
/* Parses a whole part. */
bool parts_parse(struct parts *p, const char *name, const struct xml_sink *sink,
    struct buf *error) USE_RESULT;

/* XML in pieces, from parts_parse(); false: error is set, once. */
struct xml;
struct xml *xml_create(const struct xml_sink *sink, struct buf *error);
bool xml_feed(struct xml *x, const void *p, size_t n, bool is_last) USE_RESULT;
void xml_destroy(struct xml *x);

/* ---- sheets ---- */

/* What sheets share. */
struct book_cells {
	struct arena *arena;
	VEC(struct str) shared; /* texts, by number in cells */
	uint64_t ncells, nrows; /* over all sheets so far */
};

/* What was skipped in a sheet. */
struct oddities {
	uint64_t nstray;     /* cells outside the header's columns */
	uint64_t nerrors;    /* #DIV/0! and the like become empty */
	uint64_t nunsolved;  /* formulas without a value become empty */
	uint64_t nbad_texts; /* missing shared texts become empty */
};

/*
 * Reads a sheet's XML. The first row with a cell is the header; empty rows are
 * skipped. Cells are as in a table without types (reader.h), booleans True and
 * False; the sink is called as by a reader. Without sink and odd, reads the
 * shared texts into cells.
 */
struct grid;
struct grid *grid_create(const struct table_sink *sink,
    struct book_cells *cells, struct oddities *odd);
const struct xml_sink *grid_sink(const struct grid *g);
/* Ends the table after the last piece. */
void grid_finish(struct grid *g);
void grid_destroy(struct grid *g);

/* ---- the whole ---- */

struct workbook;
/* NULL: error is set. */
struct workbook *workbook_open(const char *path, struct buf *error);
void workbook_close(struct workbook *w);
size_t workbook_count(const struct workbook *w);
struct str workbook_name(const struct workbook *w, size_t sheet);
/* Rows are valid during the sink's call. */
bool workbook_read(struct workbook *w, size_t sheet,
    const struct table_sink *sink, struct oddities *odd,
    struct buf *error) USE_RESULT;

#endif
