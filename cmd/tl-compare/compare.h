/* SPDX-License-Identifier: MIT */
/*
 * Inside tl-compare: reports, which of their sheets are compared and how, the
 * join, and the tables that come out.
 *
 *	reports --report_read()--> struct data (a sheet each)
 *	        --join_sheet()---> struct joined (rows that belong together)
 *	        --tables_put()---> one table, or three a variant
 *
 * The first report is the baseline, the others are variants. A sheet is read
 * once and stays in memory with its report, as reports are small.
 */
#ifndef TL_COMPARE_COMPARE_H
#define TL_COMPARE_COMPARE_H

#include "table/catalogue.h"

#include "cmd/tl-compare/workbook.h"

#define NO_ROW UINT32_MAX
#define NO_COLUMN SIZE_MAX
#define SHEET_NAME_MAX 31 /* of a workbook */
/* For "%.*s". */
#define STR_ARGS(s) (int)(s).len, (s).p

/* ---- reports ---- */

/* A sheet; without columns and rows if the report lacks it. */
struct data {
	VEC(struct str) columns; /* distinct */
	VEC(struct val) cells;   /* row by row; no VAL_BOOL */
	size_t nrows;
};

struct report_sheet {
	struct str name;
	const char *path;  /* of a file in the folder */
	struct data *data; /* NULL: not read yet */
};

struct report {
	const char *path;
	struct str tag;        /* its name in columns */
	struct workbook *book; /* NULL: a folder */
	VEC(struct report_sheet) sheets;
	struct intern *texts;
	struct arena *arena;
};

struct reports {
	VEC(struct report) list;
};

/*
 * Opens reports and tags each: by names ("A,B"), or by path if NULL. No report,
 * or equal tags, end the program.
 */
void reports_open(
    struct reports *reports, char *const *paths, int n, const char *names);
void reports_close(struct reports *reports);
bool report_has(const struct report *r, struct str sheet);
/* Lives as long as the report. */
const struct data *report_read(struct report *r, struct str sheet);
/* Or NO_COLUMN. */
size_t data_column(const struct data *d, struct str name);
const struct val *data_cell(const struct data *d, size_t row, size_t column);

/* ---- spelling: what tools write differently ---- */

/* Equal values get equal bytes; is_type: a column of element types. */
void spelling_put(struct buf *b, const struct val *v, bool is_type);
/* Whether a column has element types. */
bool spelling_is_type(struct str column);
/* Columns of a rule get its labels and units, except parameters. */
void spelling_columns(struct data *d, const struct sheet_rule *rule);
/* "Kernel Time (\302\265s)_sum" to "kernel_time_us_sum". */
void spelling_id(struct buf *b, struct str label);

/* ---- plans: how a sheet is compared ---- */

struct plan {
	const struct sheet_rule *rule;
	const char *sheet;
	const char *base;  /* name of its tables */
	const char *small; /* short name for workbooks, or NULL */
};

struct plans {
	VEC(struct plan) list;
	VEC(struct str) left_out; /* sheets without a rule */
	struct arena *arena;
};

/* Plans for the sheets of the reports, in the order of tables. */
void plans_make(
    struct plans *p, const struct reports *reports, const char *words);
void plans_free(struct plans *p);
/* The known sheet that a workbook cut to this; empty: none. */
struct str plans_whole_name(struct str cut);

/* ---- join ---- */

struct measure {
	struct str label;
	unsigned better; /* COL_BETTER_LESS, COL_BETTER_MORE, or 0 */
};

struct joined {
	const struct plan *plan;
	const struct reports *reports;
	size_t n;                 /* reports */
	const struct data **data; /* of each report */
	VEC(struct str) keys;
	size_t nown_keys;    /* last keys: rank or GPU */
	size_t *key_columns; /* [report * keys.n + key] */
	VEC(struct measure) measures;
	size_t *measure_columns; /* [report * measures.n + measure] */
	uint32_t *rows;          /* [row * n + report], or NO_ROW */
	size_t nrows;
	uint64_t nrepeated; /* keys with several rows in a report */
	uint64_t nalike;    /* of these, with nothing else to tell rows apart */
	uint64_t nunclear;  /* keys with several spellings in a report */
};

/*
 * Joins a sheet of all reports. Rows with the same key are paired by thread and
 * the like, the rest in order; sorted by the baseline's first measure, then by
 * key. False: nothing to join, which was said.
 */
bool join_sheet(struct joined *j, const struct plan *plan,
    struct reports *reports) USE_RESULT;
void join_free(struct joined *j);
/* Columns that pair rows of one key, '|' between. */
extern const char columns_alike[];
/* Fills rows; keys and columns are set. */
void join_pair(struct joined *j);
static inline uint32_t
join_row(const struct joined *j, size_t row, size_t report)
{
	return j->rows[row * j->n + report];
}
/* Or VAL_NONE. */
struct val join_key(const struct joined *j, size_t row, size_t key);
struct val join_cell(
    const struct joined *j, size_t row, size_t report, size_t column);
/* A number or VAL_NONE. */
struct val join_measure(
    const struct joined *j, size_t row, size_t report, size_t measure);
/*
 * Sorts rows by a report's first measure (NO_ROW: none), largest first, empty
 * last, then by key.
 */
void join_sort(
    const struct joined *j, uint32_t *order, size_t n, size_t report);

/* ---- tables ---- */

/* Where tables go. */
struct sink {
	struct table_dest dest;
	/* flags of folded columns, and of all but measures */
	unsigned folded, other;
	bool short_names;  /* for sheets */
	bool lists;        /* names only */
	const char *only;  /* print only this table; NULL: all */
	bool found;        /* it was found */
	VEC(char *) names; /* names in use */
};

/* The table of this name, or with a number if taken; for sink_put(). */
struct table *sink_table(struct sink *s, const char *name,
    const struct column *columns, size_t ncolumns);
/* Whether the table that sink_table() made last is printed. */
bool sink_wants(const struct sink *s);
/* Prints it if wanted; destroys it. */
void sink_put(struct sink *s, struct table *t);
/* Closes what was printed to. */
void sink_finish(struct sink *s);

void tables_put(const struct joined *j, struct sink *sink);
struct cell cell_of(struct val v);
/* An integer if it is one. */
struct cell cell_number(double v);
/* 100 * diff / base; empty if base is 0 */
struct cell percent_of(double diff, double base);

/* ---- the tables over all sheets ---- */

void summary_put(const struct joined *list, size_t n, const struct plans *plans,
    const struct reports *reports, struct sink *sink);

/* ---- workbook ---- */

/* Runs tl-xlsx on the NDJSON that put() prints to standard output. */
void excel_write(const char *path, void (*put)(void *ctx), void *ctx);

#endif
