/* SPDX-License-Identifier: MIT */
/*
 * table: what sinks print. A table is a fixed list of columns and rows of
 * typed cells; each format is a fmt-*.c.
 *
 *	static const struct column columns[] = {
 *		{ "type", "type", COL_TEXT, UNIT_NONE, 0, 0 },
 *		{ "time_ns", "time ms", COL_INT, UNIT_NS, 0, 1e6 },
 *		{ "percent", NULL, COL_REAL, UNIT_PERCENT, COL_SHARE, 0 },
 *	};
 *	struct table *t = table_create("gpu_timeline", columns, 3);
 *	struct cell *row = table_row(t);
 *	row[0] = cell_text(STR("busy_time"));
 *	row[1] = cell_int(1225310);
 *	row[2] = cell_none();		(an unknown figure)
 *	table_print(t, &dest);
 *	table_destroy(t);
 *	table_dest_finish(&dest);
 *
 * On a terminal: aligned, one unit per column, the first rows and what the rest
 * is worth. To a pipe: TSV with ids and full precision. The label of a column
 * is TraceLens's name if it has the table; with labels a value is printed in
 * the label's unit (label_div: "time ms" of ns is 1e6).
 */
#ifndef TL_TABLE_H
#define TL_TABLE_H

#include "io/io.h"

enum col_type {
	COL_TEXT, /* escaped for the format */
	COL_INT,
	COL_REAL,
	COL_BOOL,
	COL_JSON, /* JSON text: embedded as such in NDJSON, else as text */
};

enum unit {
	UNIT_NONE,
	UNIT_NS,
	UNIT_BYTES,
	UNIT_PERCENT,
	UNIT_COUNT,
};

enum {
	COL_DETAIL = 1, /* only with -c +details */
	COL_NAME = 2,   /* a kernel name: folded and elided on a terminal */
	COL_SHARE = 4,  /* a share: its sum says what omitted rows are worth */
	/* for layouts, in the schema line of NDJSON */
	COL_FOLDED = 8,       /* hidden at first: a workbook folds it away */
	COL_BETTER_LESS = 16, /* a difference, and which sign of it is good */
	COL_BETTER_MORE = 32,
	COL_MINOR = 64, /* the first to go on a narrow terminal */
	/* A point in time, not a duration: shown by what tells rows apart. */
	COL_POSITION = 128,
	COL_WRAPPED = 256, /* sentences: a workbook wraps them */
	/* Not in TraceLens's table: comparisons with that accept it. */
	COL_OURS = 512,
};

/* Words for the schema line of NDJSON, by number; ends with NULL. */
extern const char *const col_type_words[], *const col_unit_words[];

struct column {
	const char *id;    /* ASCII */
	const char *label; /* TraceLens's column; NULL: as id */
	enum col_type type;
	enum unit unit;
	unsigned flags;
	double label_div; /* value / label_div under its label; 0: 1 */
};

enum cell_type {
	CELL_NONE,
	CELL_TEXT,
	CELL_INT,
	CELL_REAL,
	CELL_BOOL,
};

struct cell {
	enum cell_type type;
	union {
		struct str text; /* borrowed until the next table_row() */
		int64_t i;
		double real;
		bool yes;
	};
};

static inline struct cell
cell_none(void)
{
	return (struct cell){ .type = CELL_NONE };
}
static inline struct cell
cell_text(struct str s)
{
	return (struct cell){ .type = CELL_TEXT, .text = s };
}
static inline struct cell
cell_int(int64_t i)
{
	return (struct cell){ .type = CELL_INT, .i = i };
}
/* NaN and infinities become empty cells. */
static inline struct cell
cell_real(double v)
{
	return v - v == 0 ? (struct cell){ .type = CELL_REAL, .real = v }
			  : cell_none();
}
static inline struct cell
cell_bool(bool b)
{
	return (struct cell){ .type = CELL_BOOL, .yes = b };
}

enum table_format {
	FMT_AUTO, /* by -o FILE's ending; table on a terminal, else tsv */
	FMT_TABLE,
	FMT_TSV,
	FMT_CSV,
	FMT_NDJSON, /* a schema line first, an end line last */
	FMT_MD,
};

#define TABLE_TOP_ALL INT64_MAX /* --top 0 */

/* Where and how tables go; starts as zeroes, filled by table_dest_opt(). */
struct table_dest {
	enum table_format format;
	const char *path;    /* -o FILE, NULL: standard output */
	const char *dir;     /* -d DIR: TABLE.csv there */
	const char *columns; /* -c */
	const char *sort;    /* --sort [-]COLUMN */
	int64_t top; /* 0: all (20 of a table on stdout), TABLE_TOP_ALL */
	bool no_header, labels;
	bool many; /* set by a sink of several tables: the first gets a title */
	int width; /* 0: of the terminal, else 100 */
	/* private from here */
	struct out *out; /* opened by the first table_print() */
	unsigned ntables;
};

/* Options that every sink shares, and what takes them. */
#define OPT_TABLE_FORMAT OPT_OF_TABLE
#define OPT_TABLE_SORT (OPT_OF_TABLE + 1)
#define OPT_TABLE_TOP (OPT_OF_TABLE + 2)
#define OPT_TABLE_NO_HEADER (OPT_OF_TABLE + 3)
#define OPT_TABLE_LABELS (OPT_OF_TABLE + 4)
#define OPT_TABLE_WIDTH (OPT_OF_TABLE + 5)
/* clang-format off */
#define OPT_TABLE OPT_TABLE_WITH("only the first N rows; 0: all")
/* The same, where --top has another meaning. */
#define OPT_TABLE_WITH(top_help)                                               \
	{ 'c', "columns", "COLUMNS", "only these columns; +details adds the wide ones" }, \
	{ 'd', "dir", "DIR", "write each table as a file into DIR" },          \
	{ OPT_TABLE_FORMAT, "format", "csv|md|ndjson|table|tsv",               \
	    "output format" },                                        \
	{ OPT_TABLE_LABELS, "labels", NULL, "labels with units instead of column ids" }, \
	{ OPT_TABLE_NO_HEADER, "no-header", NULL, "omit the header" },               \
	{ 'o', "output", "FILE", "write to FILE, complete or not at all" }, \
	{ OPT_TABLE_SORT, "sort", "COLUMN", "sort by COLUMN; -COLUMN: largest first" }, \
	{ OPT_TABLE_TOP, "top", "N", top_help },                                \
	{ OPT_TABLE_WIDTH, "width", "N", "width of the table" }
/* clang-format on */

/* Takes one shared option; false if ch is none of them. */
bool table_dest_opt(struct table_dest *d, const struct optparse *op, int ch);
/* For other output to out: columns of a line, or 0: any. */
size_t table_line_width(const struct table_dest *d, const struct out *out);
/*
 * A usage error if -c or --sort name a column that is not one of these, or -o a
 * workbook or page, as in table_print(): for a sink to call before it reads
 * input.
 */
void table_dest_check(const struct table_dest *d, const char *name,
    const struct column *columns, size_t ncolumns);
/* -d without -c adds the wide columns; returns whether any is shown. */
bool table_dest_details(struct table_dest *d);
/* Closes what table_print() opened: a sink's last action. */
void table_dest_finish(struct table_dest *d);

struct table;
/* columns are borrowed, and must outlive the table. */
struct table *table_create(
    const char *name, const struct column *columns, size_t ncolumns);
/*
 * A new row of empty cells, to be filled before the next call. Its texts must
 * stay valid until then; the table keeps copies (equal ones once). For a text
 * that is freed earlier (a reader's), and for a cell changed later by
 * table_cell(), table_text() makes one that lives with the table.
 */
struct cell *table_row(struct table *t);
struct str table_text(struct table *t, struct str s);
/* The same, for a text of the current row only. */
struct str table_row_text(struct table *t, struct str s);
/*
 * For a table that may be long: called before the first row, it says where the
 * table goes. Each row is printed when the next one begins; if all rows are
 * needed at once, for --sort and the formats table and md, only columns that
 * will be printed are kept. Rows cannot be changed or read back, and
 * table_print() must get the same d.
 */
void table_stream(struct table *t, struct table_dest *d);
/* For a streamed table: whether cells of this column are needed. */
bool table_keeps(const struct table *t, size_t column);
struct cell *table_cell(struct table *t, size_t row, size_t column);
/*
 * Appends s with control characters, direction marks and invalid UTF-8 as \n,
 * \x1b, \u202e: for names printed beside tables.
 */
void text_visible(struct str s, struct buf *out);
/* Columns that s takes on a terminal. */
size_t text_width(struct str s);
/* Appends s, with "..." in its middle if it is wider than width. */
void text_elide(struct str s, size_t width, struct buf *out);
/* Appends "1.234 s", "1.234 ms", "1.2 us" or "1 ns", for sentences. */
void put_time(struct buf *b, int64_t ns);
/* "1,360". */
void put_count(struct buf *b, int64_t n);
/* The increase over before, which is positive: "+7.8 %", or "x 12". */
void put_growth(struct buf *b, double before, double more);
/* Adds a line above the table, in the formats table and md only. */
void table_note(struct table *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Whether a table that goes there shows its notes. */
bool table_has_notes(const struct table_dest *d);
/* Those so far, in their order; they live as long as the table. */
size_t table_notes(const struct table *t);
struct str table_note_at(const struct table *t, size_t i);
/* Checks -c and --sort against the columns (usage error), then prints. */
void table_print(struct table *t, struct table_dest *d);
/*
 * The same for a summary: in a folder, beside long tables cut by --top, it
 * keeps all rows.
 */
void table_print_summary(struct table *t, struct table_dest *d);
/* Whether a file of this name is text, not a workbook. */
bool table_path_is_text(const char *path);
void table_destroy(struct table *t);

/*
 * Appends a kernel's name as a terminal shows it, in at most width columns:
 * without ".kd", control characters visible. A name that is too long loses,
 * step by step and no more than needed, its parameter list ("(...)") and return
 * type, template arguments from the innermost out ("<...>"), the namespaces,
 * and at last its middle. Width 0 folds all arguments and keeps the rest.
 */
void table_fold_name(struct str name, size_t width, struct buf *out);
/*
 * Changes shown texts that look alike though they differ: what follows the
 * common beginning is shown, at most width columns wide, as far as that
 * suffices. Both arrays have n; new texts live in the arena.
 */
void texts_distinct(const struct str *whole, struct str *shown, size_t n,
    size_t width, struct arena *text);

/*
 * A usage error: --table asks for none of n tables; suggests one. Their names
 * are at names, one every size bytes, as in an array of structs.
 */
noreturn void table_refuse(
    struct str name, const void *names, size_t n, size_t size);

#endif
