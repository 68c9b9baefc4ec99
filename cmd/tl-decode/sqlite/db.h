/* SPDX-License-Identifier: MIT */
/*
 * SQLite databases that profilers write. A schema says by the tables whose a
 * database is, and describes each table that holds events; what is common to
 * all is here:
 *
 *	db.c	opening, which tables and columns there are, errors
 *	text.c	strings by number
 *	rows.c	rows of all tables in the order of time, events made of them
 *	marker.c	ranges that programs mark, of which PyTorch's are ops
 *	environment.c	the rank of a process
 *
 * Tables are never trusted: columns may be missing, values of any type, and
 * only what is a table is read, since a view is a program.
 */
#ifndef TL_DECODE_SQLITE_H
#define TL_DECODE_SQLITE_H

#include <sqlite3.h>

#include "cmd/tl-decode/decode.h"

/* What becomes of a column by itself, behind what the schema's row() does. */
enum db_as {
	DB_ASKED,  /* nothing: row() asks for it */
	DB_ARG,    /* an argument, unless NULL or an empty text */
	DB_SET,    /* ... and unless 0 */
	DB_STRING, /* the string of this number, unless there is none */
};

struct db_column {
	const char *name;
	enum db_as as;
	struct str key; /* of the argument; empty: the name */
	enum role role;
	unsigned join; /* number of the table joined, from 1; 0: its own */
};

#define DB_JOINS 7

/* Of this table the row whose key has the value of SQL: j1., j2., ... */
struct db_join {
	const char *table, *key, *sql;
};

struct db;
struct db_row;

/* A table of events. */
struct db_table {
	const char *name;
	/* the columns that row() asks for, by number, and arguments; by the
	 * times in the first the rows are sorted */
	const struct db_column *columns;
	size_t ncolumns;
	struct db_join joins[DB_JOINS]; /* in SQL j1, j2, ..; its own is c */
	const char *where;              /* SQL: of these rows; NULL: of all */
	/* the column with the process, by which db_part() parts a file; 0: all
	 * rows are of the first part */
	size_t process;
	/* makes the event, or none */
	void (*row)(struct db *db, const struct db_row *row);
};

/* A row: column 0 is the first of the table's. */
struct db_row {
	const struct db_table *table;
	struct db_strings *strings;
	sqlite3_stmt *stmt;
	int64_t rowid;
	size_t tag; /* given to db_add() */
	/* private */
	char *name;
	int64_t part, time_ns;
};

#define DB_COUNT(list) (sizeof(list) / sizeof *(list))
#define DB_TABLE(n, list, fn) \
	.name = (n), .columns = (list), .ncolumns = DB_COUNT(list), .row = (fn)

struct db_schema {
	const char *format; /* the fact */
	bool (*is)(struct db *db);
	/* Looks up what events need and has the rows read; db->state is its
	 * own, which close() releases wherever it stopped. */
	void (*read)(struct db *db);
	/* The facts of a source that begins, of this part. */
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
	uint64_t done, total; /* rows, about */
	struct map parts;     /* by process */
	int64_t process_mask; /* bits of a column that are not the process */
	bool has_source;
	int64_t part; /* of the source at hand */
	VEC(struct db_row) rows;
	VEC(struct db_strings *) strings;
	VEC(char *) names;       /* of temporary tables */
	size_t rank_by, size_by; /* variables that counted so far */
	struct buf text;
};

/* ---- db.c ---- */

/* Whether there is such a table, which is no view. */
bool db_has_table(struct db *db, const char *table);
bool db_has(struct db *db, const char *table, const char *column);
/*
 * Calls fn (NULL: nothing) for each row of a query of sqlite3_mprintf()'s
 * formats. What it names must be there.
 */
typedef void db_fn(struct db *db, sqlite3_stmt *row, void *arg);
void db_each(struct db *db, db_fn *fn, void *arg, const char *fmt, ...);
/* Its first integer; false: there is none. */
bool db_query_int(struct db *db, int64_t *v, const char *fmt, ...);
/*
 * The name of a table in which the column is a key: its own, or that of a
 * temporary copy, which has one row of each value. Both columns must be there.
 */
const char *db_keyed(struct db *db, const char *table, const char *column);
/*
 * A process that becomes a source of its own, of the next part from 0 on; those
 * that don't are in part 0. Parts follow one another.
 */
void db_part(struct db *db, int64_t process);
/* The parts so far have ended: others follow, in sources of their own. */
void db_parts_end(struct db *db);
/* Whether it is one; of a file without such all are. */
bool db_is_part(const struct db *db, int64_t process);
/* Begins the source of a part, unless it is the one at hand. */
void db_source(struct db *db, int64_t part);
/* Dies with SQLite's reason. */
noreturn void db_die(struct db *db, const char *where);

/* ---- text.c ---- */

/*
 * Strings of a table by number, each read when it is first asked for. NULL: the
 * table is missing.
 */
struct db_strings *db_strings_open(
    struct db *db, const char *table, const char *id, const char *text);
/* Empty if there is none. It holds until the event is written. */
struct str db_string(struct db *db, struct db_strings *strings, int64_t id);
void db_strings_close(struct db_strings *strings);
/* Forgets what is too much to hold. */
void db_strings_trim(struct db *db);

/* A column of any query: an integer; false: it is none. */
bool db_value_int(sqlite3_stmt *row, int col, int64_t *v);
/* A text as UTF-8, empty if it is none. It holds until the next one. */
struct str db_value_text(struct db *db, sqlite3_stmt *row, int col);

/* ---- rows.c ---- */

/*
 * Adds a table's rows to those to read, if it is there. suffix: of its name and
 * of tables joined; strings: those of its DB_STRING.
 */
void db_add(struct db *db, const struct db_table *table, const char *suffix,
    struct db_strings *strings, size_t tag);
/* The rows of all tables added, in the order of time; then there are none. */
void db_read_rows(struct db *db);
void db_rows_free(struct db *db);

bool db_int(const struct db_row *row, size_t col, int64_t *v);
/* 0 where it is none. */
int64_t db_number(const struct db_row *row, size_t col);
struct str db_text(struct db *db, const struct db_row *row, size_t col);
/* The string of the number in this column. */
struct str db_row_string(struct db *db, const struct db_row *row, size_t col);

/* An event in parts: begin, time, args, end; the maker is db->maker. */
void db_begin(struct db *db, enum kind kind, struct str cat, struct str name);
void db_track(struct db *db, int64_t pid, const int64_t *tid);
/*
 * From these columns. A time that is none stays as an argument, an end before
 * the start is clamped, and of a range that has no end the phase is B.
 */
void db_times(
    struct db *db, const struct db_row *row, size_t start, size_t end);
bool db_start(struct db *db, const struct db_row *row, size_t start);
/* The columns that become arguments. */
void db_args(struct db *db, const struct db_row *row);
/* [x,y,z] as an argument. */
void db_dims(struct db *db, struct str key, const int64_t dims[3]);
/* The same of three columns, unless one is missing. */
bool db_row_dims(const struct db_row *row, size_t x, int64_t dims[3]);
/* Its table and row stand beside the arguments. */
void db_end(struct db *db, const struct db_row *row);

/* ---- marker.c ---- */

/* Begins the event of a range with this text: an op with what its text says
 * of it, else an annotation of this category. */
void marker_begin(struct db *db, struct str cat, struct str text);

/* ---- environment.c ---- */

/* Each NAME=VALUE of a process: those of its rank become facts. */
void environment_begin(struct db *db);
void environment_variable(struct db *db, struct str variable);

#endif
