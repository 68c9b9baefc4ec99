/* SPDX-License-Identifier: MIT */
/*
 * The database: a file that no other program knows yet, so it needs neither
 * locks nor a journal.
 */
#include "cmd/tl-sql/sql.h"

#include "json/json.h"

static noreturn void
die_sql(const struct db *db)
{
	die("%s: %s", db->name, sqlite3_errmsg(db->handle));
}

static void
check(const struct db *db, int status)
{
	if (UNLIKELY(status != SQLITE_OK))
		die_sql(db);
}

void
db_open(struct db *db, const char *path, const char *name)
{
	*db = (struct db){ .name = name };
	if (sqlite3_open_v2(path, &db->handle,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
		"unix-none") != SQLITE_OK) {
		if (db->handle == NULL)
			die("out of memory");
		die_sql(db);
	}
	db_run(db,
	    "PRAGMA journal_mode = OFF;"
	    "PRAGMA synchronous = OFF;"
	    "PRAGMA user_version = 1;"
	    "BEGIN");
}

void
db_run(struct db *db, const char *sql)
{
	check(db, sqlite3_exec(db->handle, sql, NULL, NULL, NULL));
}

sqlite3_stmt *
db_prepare(struct db *db, const char *sql)
{
	sqlite3_stmt *st = NULL;

	check(db, sqlite3_prepare_v2(db->handle, sql, -1, &st, NULL));
	return st;
}

void
db_int(struct db *db, sqlite3_stmt *st, int at, int64_t v)
{
	check(db, sqlite3_bind_int64(st, at, v));
}

void
db_real(struct db *db, sqlite3_stmt *st, int at, double v)
{
	check(db, sqlite3_bind_double(st, at, v));
}

void
db_text(struct db *db, sqlite3_stmt *st, int at, struct str s)
{
	struct str text = json_as_utf8(s, &db->text);

	check(db,
	    sqlite3_bind_text64(st, at, text.p, text.len,
		text.p == s.p ? SQLITE_STATIC : SQLITE_TRANSIENT, SQLITE_UTF8));
}

void
db_row(struct db *db, sqlite3_stmt *st)
{
	if (UNLIKELY(sqlite3_step(st) != SQLITE_DONE))
		die_sql(db);
	check(db, sqlite3_reset(st));
	check(db, sqlite3_clear_bindings(st));
}

/* SQL ends at a NUL. */
void
db_quote(struct buf *sql, struct str name)
{
	buf_putc(sql, '"');
	for (size_t i = 0; i < name.len; i++) {
		if (name.p[i] == '"')
			buf_putc(sql, '"');
		buf_putc(sql, name.p[i] != '\0' ? name.p[i] : '_');
	}
	buf_putc(sql, '"');
}

void
db_finish(struct db *db)
{
	db_run(db, "COMMIT");
	check(db, sqlite3_close(db->handle));
	buf_free(&db->text);
}
