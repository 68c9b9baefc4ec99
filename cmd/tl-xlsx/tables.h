/* SPDX-License-Identifier: MIT */
/*
 * Inside tl-xlsx: what is done to names and texts before they go into a
 * workbook. Nothing here knows libxlsxwriter, prints or exits, so that all of
 * it can be fuzzed and tested.
 */
#ifndef TL_XLSX_TABLES_H
#define TL_XLSX_TABLES_H

#include "reader/reader.h"

/* ---- texts of cells ---- */

/* Limits of the format, in UTF-16 units where they count characters. */
#define XLSX_ROWS 1048576
#define XLSX_COLUMNS 16384
#define XLSX_CELL 32767
#define XLSX_NAME 31

#define TEXT_CUT " ... (cut)"

/*
 * Appends s as it may stand in XML, and a NUL behind: what XML can't hold is
 * written _xNNNN_, as Excel does, and so is a text that looks like it. Longer
 * texts end in TEXT_CUT, and *cut is set. Returns the characters of its widest
 * line, at most XLSX_CELL.
 */
size_t text_clean(struct str s, struct buf *out, bool *cut);

/* ---- names of sheets ---- */

struct names {
	VEC(char *) folded; /* the taken ones, as they are compared */
};

/*
 * A name for a sheet as near to the wanted one as the format allows, with the
 * suffix at its end, and taken from now on. Owned by the caller.
 */
char *names_make(struct names *n, struct str wanted, const char *suffix);
/* Whether two names are the same to Excel. */
bool names_equal(struct str a, struct str b);
void names_free(struct names *n);

#endif
