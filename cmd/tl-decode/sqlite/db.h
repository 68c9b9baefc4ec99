/* SPDX-License-Identifier: MIT */
/*
 * Databases of profilers in SQLite. A schema recognizes its databases by their
 * tables, and describes each table of events. Shared here: db.c: opening,
 * tables and columns, errors; text.c: strings by number; rows.c: rows of all
 * tables in time order, and their events; marker.c: ranges marked by programs,
 * of which PyTorch's are ops; environment.c: a process's rank. Tables are not
 * trusted: columns may be missing, values have any type, and views, which are
 * programs, are not read.
 */
#ifndef TL_DECODE_SQLITE_H
#define TL_DECODE_SQLITE_H

#include <sqlite3.h>

#include "cmd/tl-decode/decode.h"

/* How a column is used apart from the schema's row(). */
enum db_as {
	DB_ASKED,  /* by row() only */
	DB_ARG,    /* argument, unless NULL or an empty text */
	DB_SET,    /* ... and unless 0 */
	DB_STRING, /* argument: the string of this number, if any */
};

struct db_column {
	const char *name;
	enum db_as as;
	struct str key; /* the argument's; empty: the column's name */
	enum role role;
	unsigned join; /* table joined, from 1; 0: its own */
};

#define DB_JOINS 7

/* Joins the row of a table whose key has the value of SQL: j1., j2., ... */
struct db_join {
	const char *table, *key, *sql;
};

struct db;
struct db_row;

/* A table of events. */
struct db_table {
	const char *name;
	/*
	 * columns that row() asks for by number, and arguments; rows are sorted
	 * by the first, a time
	 */
	const struct db_column *columns;
	size_t ncolumns;
	struct db_join joins[DB_JOINS]; /* in SQL j1, j2, ..; its own is c */
	const char *where;              /* SQL condition; NULL: all rows */
	/*
	 * column with the process, by which db_part() splits the file; 0: all
	 * rows are in the first part
	 */
	size_t process;
	/* makes an event, or none */
	void (*row)(struct db *db, const struct db_row *row);
};

/* A row; column 0 is the table's first. */
struct db_row {
	const struct db_table *table;
	struct db_strings *strings;
	sqlite3_stmt *stmt;
	int64_t rowid;
	size_t tag; /* of db_add() */
	/* private */
	char *name;
	int64_t part, time_ns;
};

#define DB_COUNT(list) (sizeof(list) / sizeof *(list))
#define DB_TABLE(n, list, fn) \
	.name = (n), .columns = (list), .ncolumns = DB_COUNT(list), .row = (fn)

struct db_schema {
	const char *format; /* the fact "format" */
	bool (*is)(struct db *db);
	/*
	 * Prepares look-ups and reads the rows; close() releases its db->state,
	 * wherever reading stopped.
	 */
	void (*read)(struct db *db);
	/* Sets facts of a part's source. */
	void (*facts)(struct db *db, int64_t part);
	void (*close)(struct db *db);
};

extern const struct db_schema rocpd_schema, rpd_schema, nsys_schema;

struct db {
	struct source_state *s;
	sqlite3 *sql;
	const struct db_schema *schema;
	void *state;
	struct maker maker;
	/* private */
	uint64_t done, total; /* rows, roughly */
	struct map parts;     /* by process */
	int64_t process_mask; /* bits of the column that are not the process */
	bool has_source;
	int64_t part; /* of the current source */
	VEC(struct db_row) rows;
	VEC(struct db_strings *) strings;
	VEC(char *) names;       /* of temporary tables */
	size_t rank_by, size_by; /* variables that counted so far */
	struct buf text;
};

/* ---- db.c ---- */

/* Whether a table exists; views do not count. */
bool db_has_table(struct db *db, const char *table);
bool db_has(struct db *db, const char *table, const char *column);
/*
 * Calls fn (NULL: nothing) for each row of a query in sqlite3_mprintf()'s
 * format. Its tables and columns must exist.
 */
typedef void db_fn(struct db *db, sqlite3_stmt *row, void *arg);
void db_each(struct db *db, db_fn *fn, void *arg, const char *fmt, ...);
/* The first integer of a query; false: none. */
bool db_query_int(struct db *db, int64_t *v, const char *fmt, ...);
/*
 * A table with this column as key: the table, or a temporary copy with a row
 * per value. Table and column must exist.
 */
const char *db_keyed(struct db *db, const char *table, const char *column);
/*
 * Makes a process the next part, from 0, with a source of its own; others are
 * in part 0. Parts follow one another.
 */
void db_part(struct db *db, int64_t process);
/* Ends these parts; others follow, in sources of their own. */
void db_parts_end(struct db *db);
/* Whether a process has a part; true for all in a file without parts. */
bool db_is_part(const struct db *db, int64_t process);
/* Begins a part's source, unless it is the current one. */
void db_source(struct db *db, int64_t part);
/* Ends the program with SQLite's reason. */
noreturn void db_die(struct db *db, const char *where);

/* ---- text.c ---- */

/*
 * Strings of a table by number, each read when first asked for. NULL: no such
 * table.
 */
struct db_strings *db_strings_open(
    struct db *db, const char *table, const char *id, const char *text);
/* Empty if missing; valid until the event is written. */
struct str db_string(struct db *db, struct db_strings *strings, int64_t id);
void db_strings_close(struct db_strings *strings);
/* Drops strings beyond a limit. */
void db_strings_trim(struct db *db);

/* An integer column; false: it is none. */
bool db_value_int(sqlite3_stmt *row, int col, int64_t *v);
/* A column as UTF-8, empty if no text; valid until the next call. */
struct str db_value_text(struct db *db, sqlite3_stmt *row, int col);

/* ---- rows.c ---- */

/*
 * Adds a table to those to read, if it exists. suffix: of its name and of
 * joined tables; strings: for DB_STRING.
 */
void db_add(struct db *db, const struct db_table *table, const char *suffix,
    struct db_strings *strings, size_t tag);
/* Reads the rows of all added tables in time order, and removes the tables. */
void db_read_rows(struct db *db);
void db_rows_free(struct db *db);

bool db_int(const struct db_row *row, size_t col, int64_t *v);
/* 0 if it is no number. */
int64_t db_number(const struct db_row *row, size_t col);
struct str db_text(struct db *db, const struct db_row *row, size_t col);
/* The string whose number is in this column. */
struct str db_row_string(struct db *db, const struct db_row *row, size_t col);

/* An event in parts: begin, times, args, end; the maker is db->maker. */
void db_begin(struct db *db, enum kind kind, struct str cat, struct str name);
void db_track(struct db *db, int64_t pid, const int64_t *tid);
/*
 * Sets times. An invalid time becomes an argument, an end before the start is
 * clamped, and a range without end has phase B.
 */
void db_times(
    struct db *db, const struct db_row *row, size_t start, size_t end);
bool db_start(struct db *db, const struct db_row *row, size_t start);
/* Columns that are arguments. */
void db_args(struct db *db, const struct db_row *row);
/* [x,y,z] as an argument. */
void db_dims(struct db *db, struct str key, const int64_t dims[3]);
/* From three columns; false: one is missing. */
bool db_row_dims(const struct db_row *row, size_t x, int64_t dims[3]);
/* Adds table and row, and writes the event. */
void db_end(struct db *db, const struct db_row *row);

/* ---- marker.c ---- */

/*
 * Begins the event of a range: an op with the details in its text, else an
 * annotation of this category.
 */
void marker_begin(struct db *db, struct str cat, struct str text);

/* ---- environment.c ---- */

/* Takes each NAME=VALUE of a process; ranks become facts. */
void environment_begin(struct db *db);
void environment_variable(struct db *db, struct str variable);

#endif
