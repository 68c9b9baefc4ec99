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
	/* also without rows: that is an answer, too */
	SHEET_EMPTY = 4,
	/*
	 * Not a table: the place of tables without an entry, those of the
	 * families of ops that op models name, by name.
	 */
	SHEET_FAMILIES = 8,
};

/* When a report has it, if the table exists and has rows. */
enum sheet_when {
	SHEET_ALWAYS,
	SHEET_IF_KERNELS, /* with --kernels */
	SHEET_IF_ROCPROF, /* of rocprofv3's traces */
	SHEET_IF_EITHER,
	SHEET_IF_XLA,      /* of JAX's */
	SHEET_IF_SHORT,    /* with --short */
	SHEET_IF_CRITICAL, /* with --critical-path */
	SHEET_IF_LAUNCH,   /* with --launch */
	SHEET_IF_LINKED,   /* of one trace with launches, GPU mostly idle */
	SHEET_PATH,        /* with that, and where any sheets are asked for */
	SHEET_LAUNCHES,    /* the same; not of rocprofv3's by default */
};

/* Which rows a report omits, if any. */
enum sheet_top {
	TOP_NONE,
	TOP_OPS,
	TOP_KERNELS,
	TOP_ROOFLINE,
};

/*
 * A chart of a table. Of the tables of one figure, the last that exists and has
 * two rows or more is drawn.
 */
struct sheet_chart {
	const char *figure; /* "ranks", "categories", "roofline" */
	const char *kind;   /* "bars", "stacked", "scatter" (log both ways) */
	const char *title;
	const char *x;     /* NULL: the first column */
	const char *y;     /* ids, separated by commas */
	const char *lines; /* a table of lines over its first column, or NULL */
};

/*
 * How reports are compared by this table; columns are named by TraceLens's
 * labels, which our reports have, too. Lists are joined by '|'; NULL: empty.
 * Measures begin with '-' if less is better, with '+' if more is.
 */
struct sheet_rule {
	const char *group; /* a name for several tables */
	const char *keys;
	const char *measures;     /* the first one gives the order of rows */
	double measure_ns;        /* unit of the first one, in ns */
	const char *drop;         /* columns that are dropped */
	const char *drop_variant; /* dropped only in variants */
	bool is_split;         /* one table of common rows, two of the others */
	bool has_params;       /* columns "param: x" are keys, too */
	bool keeps_keys_order; /* rows keep the order of their keys */
	/* The rule for tables of this name without the first key; or NULL. */
	const struct sheet_rule *otherwise;
};

struct sheet {
	const char *name;
	const char *program; /* NULL: none of ours, but TraceLens's */
	const char *text;    /* what it says, in one line */
	unsigned where;      /* 0: nowhere in a report */
	enum sheet_when when;
	enum sheet_top top;
	const struct sheet_chart *chart; /* NULL: none */
	const struct sheet_rule *rule;   /* NULL: not compared */
	/*
	 * Columns that a narrow terminal keeps longest, the most important
	 * first: patterns of ids, separated by '|'. NULL: those of all tables.
	 */
	const char *first;
	/* Names of its comparison, and in a workbook; NULL: unchanged. */
	const char *compared, *small;
};

/* A workbook's first sheet, not a table: the screen, with links to others. */
#define SHEET_FRONT "screen"

/* All entries, in the order of a report. */
extern const struct sheet sheets[];
extern const size_t sheets_n;

/* NULL: none; a family of ops has no entry unless it is compared. */
const struct sheet *sheet_find(struct str name);
/* The same; without an entry, that of the families. */
const struct sheet *sheet_of(struct str name);
/* The rule for tables with columns "param: x" that have no entry. */
extern const struct sheet_rule sheet_rule_params;
/* Endings of columns' labels that are folded away: they are for reference. */
extern const char sheets_folded[];

/*
 * How early a column is dropped if a line is too short: the larger, the
 * earlier; from SHEET_GOES on it is not one to keep.
 */
#define SHEET_GOES 1000
#define SHEET_MINOR 2000 /* its own flag says it is the first to go */
unsigned sheet_place(const struct sheet *s, const struct column *col);

/* For --list-tables: prints name and text of a program's tables. */
void sheets_list(const char *program);

#endif
