/* SPDX-License-Identifier: MIT */
/*
 * Inside tl-sql: a new database file, in one transaction. Whatever fails here
 * ends the program.
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

/* path is where it is until it is whole; both stay. */
void db_open(struct db *db, const char *path, const char *name);
/* Statements that give no rows. */
void db_run(struct db *db, const char *sql);
sqlite3_stmt *db_prepare(struct db *db, const char *sql);
/*
 * What the row to come holds at a place, from 1 on. The text is borrowed until
 * db_row(); where it is no UTF-8, U+FFFD stands.
 */
void db_int(struct db *db, sqlite3_stmt *st, int at, int64_t v);
void db_real(struct db *db, sqlite3_stmt *st, int at, double v);
void db_text(struct db *db, sqlite3_stmt *st, int at, struct str s);
/* Inserts it; in the next one what is not set is NULL. */
void db_row(struct db *db, sqlite3_stmt *st);
/* Appends a name as SQL quotes it. */
void db_quote(struct buf *sql, struct str name);
void db_finish(struct db *db);

/* ---- tables.c ---- */

/* Tables to come: of this name, if it is not NULL, or by the file. */
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
/* All of a stream or trace, whose sources are numbered on. */
void events_read(struct events *e, struct in *in);
/* Indexes and views. */
void events_finish(struct events *e);

#endif
