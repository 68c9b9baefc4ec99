/* SPDX-License-Identifier: MIT */
/*
 * catalogue: each table that our programs print, said once: what it is called,
 * who prints it, its place in a report, its chart, and how two reports of it
 * are compared. Whoever shows, joins or lists tables reads it here, so that a
 * new table is its sink and one entry in catalogue.c.
 *
 *	const struct sheet *s = sheet_find(STR("gpu_timeline"));
 *	for (size_t i = 0; i < sheets_n; i++)	(in a report's order)
 *		use(&sheets[i]);
 */
#ifndef TL_TABLE_CATALOGUE_H
#define TL_TABLE_CATALOGUE_H

#include "table/table.h"

/* Where a report shows it. */
enum {
	SHEET_BOOK = 1, /* a sheet of the workbook, a file of the folder */
	SHEET_PAGE = 2, /* in the page's list of tables */
	/* also without rows: that there are none is the answer */
	SHEET_EMPTY = 4,
	/*
	 * Not a table: here stand, by name, those without an entry, which are
	 * of the families of ops that op models name.
	 */
	SHEET_FAMILIES = 8,
};

/* When a report has it, if it is there and has rows. */
enum sheet_when {
	SHEET_ALWAYS,
	SHEET_IF_KERNELS, /* with --kernels */
	SHEET_IF_ROCPROF, /* of rocprofv3's traces */
	SHEET_IF_EITHER,
	SHEET_IF_XLA,      /* of JAX's */
	SHEET_IF_SHORT,    /* with --short */
	SHEET_IF_CRITICAL, /* with --critical-path */
	SHEET_IF_LAUNCH,   /* with --launch */
	SHEET_PATH,        /* with that, and where any sheets are asked for */
	SHEET_LAUNCHES,    /* the same; not of rocprofv3's by default */
};

/* Which rows of it a report leaves out, if any. */
enum sheet_top {
	TOP_NONE,
	TOP_OPS,
	TOP_KERNELS,
	TOP_ROOFLINE,
};

/*
 * A chart of a table. Of the tables of one figure the last that is there and
 * has two rows or more is drawn.
 */
struct sheet_chart {
	const char *figure; /* "ranks", "categories", "roofline" */
	const char *kind;   /* "bars", "stacked", "scatter" (log both ways) */
	const char *title;
	const char *x;     /* NULL: the first column */
	const char *y;     /* ids, by commas */
	const char *lines; /* a table of lines over its first column, or NULL */
};

/*
 * How reports of a table are compared, by labels as the reference has them,
 * which a report of its own has, too. Lists are joined by '|'; NULL: empty.
 * Measures of which less is better begin with '-', with '+' where more is.
 */
struct sheet_rule {
	const char *group; /* a word for several tables */
	const char *keys;
	const char *measures;     /* the first one says the rows' order */
	double measure_ns;        /* a unit of the first one */
	const char *drop;         /* columns that are left out */
	const char *drop_variant; /* and those only of the variants */
	bool is_split;         /* a table of what both have, two of the rest */
	bool has_params;       /* columns "param: x" are keys, too */
	bool keeps_keys_order; /* rows stay in the order of their keys */
	/* The rule of tables of this name that lack the first key; or NULL. */
	const struct sheet_rule *otherwise;
};

struct sheet {
	const char *name;
	const char *program; /* NULL: none of ours, the reference's */
	const char *text;    /* what it says, in a line */
	unsigned where;      /* 0: not in a report */
	enum sheet_when when;
	enum sheet_top top;
	const struct sheet_chart *chart; /* NULL: none */
	const struct sheet_rule *rule;   /* NULL: it can't be compared */
	/*
	 * Columns that a narrow terminal keeps longest, the most telling first:
	 * patterns of ids by '|'. NULL: those of all tables.
	 */
	const char *first;
	/* What its comparison is called, and in a workbook; NULL: as it is. */
	const char *compared, *small;
};

/* A workbook's first sheet, no table: the screen, links to the others. */
#define SHEET_FRONT "screen"

/* All, in the order in which a report has them. */
extern const struct sheet sheets[];
extern const size_t sheets_n;

/* NULL: none; a family of ops has no entry unless it is compared. */
const struct sheet *sheet_find(struct str name);
/* The same; of what has none that of the families. */
const struct sheet *sheet_of(struct str name);
/* The rule for tables with columns "param: x" that have no entry. */
extern const struct sheet_rule sheet_rule_params;
/* What labels of columns end in that are there for the record: folded away. */
extern const char sheets_folded[];

/*
 * How soon a column of a table may go where a line is too short: the larger,
 * the sooner; from SHEET_GOES on it is none of those to keep.
 */
#define SHEET_GOES 1000
#define SHEET_MINOR 2000 /* it says of itself that it is the first to go */
unsigned sheet_place(const struct sheet *s, const struct column *col);

/* For --list-tables: name and text of each of a program, on standard output. */
void sheets_list(const char *program);

#endif
