/* SPDX-License-Identifier: MIT */
/* Values of a row, and a table's strings by number. */
#include "cmd/tl-decode/sqlite/db.h"

/* Beyond, strings are read again when asked for. */
#define HELD_MAX (16 << 20)

struct db_strings {
	sqlite3_stmt *stmt;
	struct map ids; /* index in held */
	struct intern *held;
};

bool
db_value_int(sqlite3_stmt *row, int col, int64_t *v)
{
	if (sqlite3_column_type(row, col) != SQLITE_INTEGER)
		return false;
	*v = sqlite3_column_int64(row, col);
	return true;
}

struct str
db_value_text(struct db *db, sqlite3_stmt *row, int col)
{
	const char *p;

	if (sqlite3_column_type(row, col) != SQLITE_TEXT)
		return STR("");
	p = (const char *)sqlite3_column_text(row, col);
	if (p == NULL)
		die("out of memory");
	return json_as_utf8(
	    (struct str){ p, (size_t)sqlite3_column_bytes(row, col) },
	    &db->text);
}

struct db_strings *
db_strings_open(
    struct db *db, const char *table, const char *id, const char *text)
{
	struct db_strings *strings;
	char *sql;

	if (!db_has(db, table, id) || !db_has(db, table, text))
		return NULL;
	strings = xcalloc(1, sizeof *strings);
	strings->held = intern_create();
	vec_push(&db->strings, strings);
	sql = sqlite3_mprintf("SELECT \"%w\" FROM \"%w\" WHERE \"%w\" = ?",
	    text, db_keyed(db, table, id), id);
	if (sqlite3_prepare_v2(db->sql, sql, -1, &strings->stmt, NULL) !=
	    SQLITE_OK)
		db_die(db, table);
	sqlite3_free(sql);
	return strings;
}

void
db_strings_close(struct db_strings *strings)
{
	sqlite3_finalize(strings->stmt);
	map_free(&strings->ids);
	intern_destroy(strings->held);
	vec_release(strings);
}

static uint32_t
read_string(struct db *db, struct db_strings *strings, int64_t id)
{
	struct str text = STR("");
	uint32_t no;
	int rc;

	sqlite3_bind_int64(strings->stmt, 1, id);
	rc = sqlite3_step(strings->stmt);
	if (rc == SQLITE_ROW)
		text = db_value_text(db, strings->stmt, 0);
	else if (rc != SQLITE_DONE)
		db_die(db, "a string");
	no = intern_put(strings->held, text);
	sqlite3_reset(strings->stmt);
	*map_put(&strings->ids, (uint64_t)id, NULL) = no;
	return no;
}

void
db_strings_trim(struct db *db)
{
	for (size_t i = 0; i < db->strings.n; i++) {
		struct db_strings *strings = db->strings.v[i];

		if (intern_bytes(strings->held) > HELD_MAX) {
			intern_clear(strings->held);
			map_free(&strings->ids);
		}
	}
}

struct str
db_string(struct db *db, struct db_strings *strings, int64_t id)
{
	const uint64_t *no;

	if (strings == NULL)
		return STR("");
	no = map_get(&strings->ids, (uint64_t)id);
	return intern_get(strings->held,
	    no != NULL ? (uint32_t)*no : read_string(db, strings, id));
}
