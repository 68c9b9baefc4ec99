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

/* A sheet of a report. A report without the sheet has no columns, no rows. */
struct data {
	VEC(struct str) columns; /* no two alike */
	VEC(struct val) cells;   /* row by row; no VAL_BOOL */
	size_t nrows;
};

struct report_sheet {
	struct str name;
	const char *path;  /* of its file, in a folder */
	struct data *data; /* NULL until it is read */
};

struct report {
	const char *path;
	struct str tag;        /* what it is called in columns */
	struct workbook *book; /* NULL: a folder */
	VEC(struct report_sheet) sheets;
	struct intern *texts;
	struct arena *arena;
};

struct reports {
	VEC(struct report) list;
};

/*
 * Opens them and tags each: by names ("A,B"), or by path if that is NULL. A
 * file that is no report, or two equal tags, end the program.
 */
void reports_open(
    struct reports *reports, char *const *paths, int n, const char *names);
void reports_close(struct reports *reports);
bool report_has(const struct report *r, struct str sheet);
/* Lives as long as the report. */
const struct data *report_read(struct report *r, struct str sheet);
/* NO_COLUMN if there is none. */
size_t data_column(const struct data *d, struct str name);
const struct val *data_cell(const struct data *d, size_t row, size_t column);

/* ---- spelling: what tools write differently ---- */

/* Equal bytes for equal values; is_type: of the type of an element. */
void spelling_put(struct buf *b, const struct val *v, bool is_type);
/* Whether a column has such types. */
bool spelling_is_type(struct str column);
/* Columns that a rule knows get its labels and units; params are no part. */
void spelling_columns(struct data *d, const struct sheet_rule *rule);
/* "Kernel Time (\302\265s)_sum" to "kernel_time_us_sum". */
void spelling_id(struct buf *b, struct str label);

/* ---- plans: how a sheet is compared ---- */

struct plan {
	const struct sheet_rule *rule;
	const char *sheet;
	const char *base;  /* what its tables are called */
	const char *small; /* that in sheets of a workbook, if too long */
};

struct plans {
	VEC(struct plan) list;
	VEC(struct str) left_out; /* sheets nobody knows how to compare */
	struct arena *arena;
};

/* The plans for what is in the reports, in the tables' order. */
void plans_make(
    struct plans *p, const struct reports *reports, const char *words);
void plans_free(struct plans *p);
/* The known sheet whose name a workbook shortened to this; empty: none. */
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
	size_t nown_keys;    /* behind them: of which rank or GPU a row is */
	size_t *key_columns; /* [report * keys.n + key] */
	VEC(struct measure) measures;
	size_t *measure_columns; /* [report * measures.n + measure] */
	uint32_t *rows;          /* [row * n + report], or NO_ROW */
	size_t nrows;
	uint64_t nrepeated; /* keys that stand more than once in a report */
	uint64_t nalike;    /* of them: with nothing else to tell rows apart */
	uint64_t nunclear;  /* keys that a report spells in several ways */
};

/*
 * Joins the sheet of all reports. Rows that have the same key are paired with
 * those of the same thread or the like, what is left in order. They come by the
 * baseline's first measure, downwards, then by key. False: there is nothing to
 * join, and it was said.
 */
bool join_sheet(struct joined *j, const struct plan *plan,
    struct reports *reports) USE_RESULT;
void join_free(struct joined *j);
/* Columns in which rows of the same key may be alike, joined by '|'. */
extern const char columns_alike[];
/* Fills rows, once keys and columns are known. */
void join_pair(struct joined *j);
static inline uint32_t
join_row(const struct joined *j, size_t row, size_t report)
{
	return j->rows[row * j->n + report];
}
/* VAL_NONE where there is none. */
struct val join_key(const struct joined *j, size_t row, size_t key);
struct val join_cell(
    const struct joined *j, size_t row, size_t report, size_t column);
/* A number or VAL_NONE. */
struct val join_measure(
    const struct joined *j, size_t row, size_t report, size_t measure);
/*
 * Rows by a report's first measure, downwards, empty ones last (NO_ROW: by
 * none), then by key; in place.
 */
void join_sort(
    const struct joined *j, uint32_t *order, size_t n, size_t report);

/* ---- tables ---- */

/* Where tables go, one after another. */
struct sink {
	struct table_dest dest;
	/* of columns that few people look at, and of all but the measures */
	unsigned folded, other;
	bool short_names;  /* for sheets */
	bool lists;        /* names only */
	const char *only;  /* the table of this name, or NULL: all */
	bool found;        /* any */
	VEC(char *) names; /* taken ones */
};

/* The table of this name, or another one if there was one, for sink_put(). */
struct table *sink_table(struct sink *s, const char *name,
    const struct column *columns, size_t ncolumns);
/* Whether the table that sink_table() made last is printed: others are empty.
 */
bool sink_wants(const struct sink *s);
/* Prints it if it is wanted, and destroys it. */
void sink_put(struct sink *s, struct table *t);
/* Closes what was printed to. */
void sink_finish(struct sink *s);

void tables_put(const struct joined *j, struct sink *sink);
struct cell cell_of(struct val v);
/* An integer where it is one: those are bare. */
struct cell cell_number(double v);
/* 100 * diff / base; empty when base is 0 */
struct cell percent_of(double diff, double base);

/* ---- the tables over all sheets ---- */

void summary_put(const struct joined *list, size_t n, const struct plans *plans,
    const struct reports *reports, struct sink *sink);

/* ---- workbook ---- */

/* Runs tl-xlsx on what put() prints to standard output as NDJSON. */
void excel_write(const char *path, void (*put)(void *ctx), void *ctx);

#endif
