/* SPDX-License-Identifier: MIT */
/*
 * Names and texts for a workbook, without libxlsxwriter: nothing here prints or
 * exits, so it can be fuzzed and tested.
 */
#ifndef TL_XLSX_TABLES_H
#define TL_XLSX_TABLES_H

#include "reader/reader.h"

/* ---- texts of cells ---- */

/* Limits of the format, in UTF-16 units. */
#define XLSX_ROWS 1048576
#define XLSX_COLUMNS 16384
#define XLSX_CELL 32767
#define XLSX_NAME 31

#define TEXT_CUT " ... (cut)"

/*
 * Appends s for XML, and a NUL: what XML cannot hold becomes _xNNNN_, as in
 * Excel, and so does text that looks like it. Longer texts end in TEXT_CUT and
 * set *cut. Returns the characters of the widest line, at most XLSX_CELL.
 */
size_t text_clean(struct str s, struct buf *out, bool *cut);

/* ---- names of sheets ---- */

struct names {
	VEC(char *) folded; /* names in use, in lower case */
};

/*
 * A free name near to the wanted one, with the suffix, now in use; the caller
 * frees it.
 */
char *names_make(struct names *n, struct str wanted, const char *suffix);
/* Whether Excel takes two names for the same. */
bool names_equal(struct str a, struct str b);
void names_free(struct names *n);

#endif
