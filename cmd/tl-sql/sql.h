/* SPDX-License-Identifier: MIT */
/*
 * Inside tl-sql: a new database file, in one transaction. Any failure ends the
 * program.
 */
#ifndef TL_SQL_H
#define TL_SQL_H

#include <sqlite3.h>

#include "reader/reader.h"
#include "stream/stream.h"

/* ---- db.c ---- */

struct db {
	sqlite3 *handle;
	const char *name; /* for messages */
	struct buf text;
};

/* path is the file until it is complete; both strings must live on. */
void db_open(struct db *db, const char *path, const char *name);
/* Runs statements that return no rows. */
void db_run(struct db *db, const char *sql);
sqlite3_stmt *db_prepare(struct db *db, const char *sql);
/*
 * Set a value of the next row, numbered from 1. Text is borrowed until
 * db_row(); invalid UTF-8 becomes U+FFFD.
 */
void db_int(struct db *db, sqlite3_stmt *st, int at, int64_t v);
void db_real(struct db *db, sqlite3_stmt *st, int at, double v);
void db_text(struct db *db, sqlite3_stmt *st, int at, struct str s);
/* Inserts the row; values not set again are NULL in the next. */
void db_row(struct db *db, sqlite3_stmt *st);
/* Appends a name as SQL quotes it. */
void db_quote(struct buf *sql, struct str name);
void db_finish(struct db *db);

/* ---- tables.c ---- */

/* Tables to come: with this name or, if NULL, the file's. */
struct tables {
	struct db *db;
	const char *path;
	char *want;
	sqlite3_stmt *insert;
	size_t ncolumns;
};

void tables_read(struct tables *t, struct in *in);

/* ---- events.c ---- */

struct events;

struct events *events_create(struct db *db);
/* Reads all of a stream or trace; sources are numbered on. */
void events_read(struct events *e, struct in *in);
/* Makes indexes and views. */
void events_finish(struct events *e);

#endif
