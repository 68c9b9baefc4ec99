/* SPDX-License-Identifier: MIT */
/* A database: opening, sources, tables and columns, errors. */
#include "cmd/tl-decode/sqlite/db.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/tl-decode/format.h"

/* A longer value is a fault. */
#define VALUE_MAX (64 << 20)

static const struct db_schema *const schemas[] = { &rocpd_schema, &rpd_schema,
	&nsys_schema };

/* Whether reading a table fails; *last is the row before the fault. */
static bool
is_torn(struct db *db, const char *table, int64_t *last)
{
	char *sql = sqlite3_mprintf("SELECT rowid, * FROM \"%w\"", table);
	sqlite3_stmt *stmt;
	int rc = SQLITE_DONE;

	*last = 0;
	if (sqlite3_prepare_v2(db->sql, sql, -1, &stmt, NULL) == SQLITE_OK)
		while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
			*last = sqlite3_column_int64(stmt, 0);
	sqlite3_free(sql);
	return rc != SQLITE_DONE;
}

/*
 * SQLite sorts and joins before it gives rows, so damage is located by reading
 * the tables in their own order.
 */
void
db_die(struct db *db, const char *where)
{
	bool is_damaged = sqlite3_errcode(db->sql) == SQLITE_CORRUPT;
	char *why = sqlite3_mprintf("%s", sqlite3_errmsg(db->sql));
	sqlite3_stmt *stmt;
	int64_t last;

	if (is_damaged &&
	    sqlite3_prepare_v2(db->sql,
		"SELECT name FROM main.sqlite_master WHERE rootpage > 0 "
		"AND type = 'table'",
		-1, &stmt, NULL) == SQLITE_OK)
		while (sqlite3_step(stmt) == SQLITE_ROW) {
			const char *table =
			    (const char *)sqlite3_column_text(stmt, 0);

			if (is_torn(db, table, &last))
				die("%s: table %s, behind row %" PRId64 ": %s",
				    db->s->in->name, table, last, why);
		}
	die("%s: %s: %s", db->s->in->name, where, why);
}

/* ---- queries ---- */

static sqlite3_stmt *
prepare(struct db *db, const char *fmt, va_list ap)
{
	char *sql = sqlite3_vmprintf(fmt, ap);
	sqlite3_stmt *stmt;

	if (sql == NULL)
		die("out of memory");
	if (sqlite3_prepare_v2(db->sql, sql, -1, &stmt, NULL) != SQLITE_OK)
		db_die(db, sql);
	sqlite3_free(sql);
	return stmt;
}

static bool
step(struct db *db, sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt);

	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		db_die(db, sqlite3_sql(stmt));
	return rc == SQLITE_ROW;
}

void
db_each(struct db *db, db_fn *fn, void *arg, const char *fmt, ...)
{
	sqlite3_stmt *stmt;
	va_list ap;

	va_start(ap, fmt);
	stmt = prepare(db, fmt, ap);
	va_end(ap);
	while (step(db, stmt))
		if (fn != NULL)
			fn(db, stmt, arg);
	sqlite3_finalize(stmt);
}

struct answer {
	int64_t v;
	bool is_there;
};

static void
take_int(struct db *db, sqlite3_stmt *row, void *arg)
{
	struct answer *a = arg;

	(void)db;
	if (!a->is_there)
		a->is_there = db_value_int(row, 0, &a->v);
}

bool
db_query_int(struct db *db, int64_t *v, const char *fmt, ...)
{
	struct answer a = { 0 };
	sqlite3_stmt *stmt;
	va_list ap;

	va_start(ap, fmt);
	stmt = prepare(db, fmt, ap);
	va_end(ap);
	while (!a.is_there && step(db, stmt))
		take_int(db, stmt, &a);
	sqlite3_finalize(stmt);
	*v = a.v;
	return a.is_there;
}

/* ---- tables and columns ---- */

bool
db_has(struct db *db, const char *table, const char *column)
{
	return sqlite3_table_column_metadata(db->sql, NULL, table, column, NULL,
		   NULL, NULL, NULL, NULL) == SQLITE_OK;
}

bool
db_has_table(struct db *db, const char *table)
{
	return db_has(db, table, NULL);
}

const char *
db_keyed(struct db *db, const char *table, const char *column)
{
	int is_key = 0;
	int64_t nkeys;
	char *name;

	(void)sqlite3_table_column_metadata(
	    db->sql, NULL, table, column, NULL, NULL, NULL, &is_key, NULL);
	if (is_key &&
	    db_query_int(db, &nkeys,
		"SELECT count(*) FROM pragma_table_info(%Q) WHERE pk > 0",
		table) &&
	    nkeys == 1)
		return table;
	name = sqlite3_mprintf("tl_key_%d", (int)db->names.n);
	if (name == NULL)
		die("out of memory");
	vec_push(&db->names, name);
	db_each(db, NULL, NULL,
	    "CREATE TEMP TABLE %s AS SELECT * FROM \"%w\" GROUP BY \"%w\"",
	    name, table, column);
	db_each(db, NULL, NULL, "CREATE INDEX temp.%s_i ON %s(\"%w\")", name,
	    name, column);
	return name;
}

/* ---- sources ---- */

static void
part_of(sqlite3_context *context, int n, sqlite3_value **values)
{
	struct db *db = sqlite3_user_data(context);
	const uint64_t *part = NULL;

	(void)n;
	if (sqlite3_value_type(values[0]) == SQLITE_INTEGER)
		part = map_get(&db->parts,
		    (uint64_t)(sqlite3_value_int64(values[0]) &
			~db->process_mask));
	sqlite3_result_int64(context, part != NULL ? (int64_t)*part : 0);
}

void
db_part(struct db *db, int64_t process)
{
	uint64_t n = db->parts.n;
	bool is_new;
	uint64_t *part = map_put(&db->parts, (uint64_t)process, &is_new);

	if (is_new)
		*part = n;
}

void
db_parts_end(struct db *db)
{
	map_free(&db->parts);
	db->part = -1;
}

bool
db_is_part(const struct db *db, int64_t process)
{
	return db->parts.n == 0 ||
	    map_get(&db->parts, (uint64_t)process) != NULL;
}

void
db_source(struct db *db, int64_t part)
{
	if (db->has_source && part == db->part)
		return;
	if (db->has_source)
		source_next(db->s);
	db->has_source = true;
	db->part = part;
	facts_str(&db->s->facts, "format", str_of(db->schema->format));
	db->schema->facts(db, part);
}

/* ---- the file ---- */

static void
close_db(void *reading)
{
	struct db *db = reading;

	if (db->schema != NULL)
		db->schema->close(db);
	db_rows_free(db);
	for (size_t i = 0; i < db->strings.n; i++)
		db_strings_close(db->strings.v[i]);
	vec_free(&db->strings);
	for (size_t i = 0; i < db->names.n; i++)
		sqlite3_free(db->names.v[i]);
	vec_free(&db->names);
	map_free(&db->parts);
	maker_free(&db->maker);
	buf_free(&db->text);
	(void)sqlite3_close_v2(db->sql);
	vec_release(db);
}

static int
open_link(const char *path, int flags, int mode)
{
	return open(path, flags & ~O_NOFOLLOW, mode);
}

/*
 * Opens the file by its descriptor, as it may have no name. SQLite must not
 * resolve the link of /proc to a name, so its lstat() becomes stat(), which
 * follows the link.
 */
static void
open_fd(struct db *db, int fd)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find("unix");
	char uri[80];

	if (vfs == NULL ||
	    vfs->xSetSystemCall(vfs, "lstat", (sqlite3_syscall_ptr)stat) !=
		SQLITE_OK ||
	    vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_link) !=
		SQLITE_OK)
		die("this SQLite cannot open files by descriptor");
	snprintf(
	    uri, sizeof uri, "file:/proc/self/fd/%d?mode=ro&immutable=1", fd);
	if (sqlite3_open_v2(uri, &db->sql,
		SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
		"unix") != SQLITE_OK)
		db_die(db, "opening");
	(void)sqlite3_limit(db->sql, SQLITE_LIMIT_LENGTH, VALUE_MAX);
	(void)sqlite3_db_config(
	    db->sql, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
	(void)sqlite3_db_config(
	    db->sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
	if (sqlite3_create_function(db->sql, "tl_part", 1,
		SQLITE_UTF8 | SQLITE_DETERMINISTIC, db, part_of, NULL,
		NULL) != SQLITE_OK)
		db_die(db, "opening");
	/* what is sorted may exceed memory, so it goes to files */
	db_each(db, NULL, NULL, "PRAGMA temp_store = FILE");
	db_each(db, NULL, NULL, "PRAGMA cell_size_check = ON");
}

/* Files beside the database hold what the writer has not put into it. */
static void
look_beside(const struct source_state *s)
{
	static const char *const ends[] = { "-wal", "-journal" };
	struct buf path = { 0 };
	struct stat st;

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		path.len = 0;
		buf_printf(&path, "%s%s", s->in->name, ends[i]);
		buf_putc(&path, '\0');
		if (stat(path.p, &st) == 0 && st.st_size > 0)
			report(MSG_DATABASE_OPEN, s->in->name, ends[i]);
	}
	buf_free(&path);
}

static void
list_table(struct db *db, sqlite3_stmt *row, void *arg)
{
	struct buf *list = arg;
	struct str name = db_value_text(db, row, 0);

	buf_puts(list, list->len > 0 ? ", " : "");
	buf_put(list, name.p, name.len < 64 ? name.len : 64);
}

noreturn static void
die_unknown(struct db *db)
{
	struct buf list = { 0 };

	if (db_has_table(db, "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL") ||
	    db_has_table(db, "StringTable"))
		die("%s: nvprof's database: not supported; record with Nsight "
		    "Systems",
		    db->s->in->name);
	db_each(db, list_table, &list,
	    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
	    "ORDER BY rowid LIMIT 8");
	if (list.len == 0)
		die("%s: an SQLite database without tables", db->s->in->name);
	die("%s: an SQLite database of no known profiler: its tables are %.*s",
	    db->s->in->name, (int)list.len, list.p);
}

static void
read_file(struct source_state *s, int fd)
{
	struct db *db = xcalloc(1, sizeof *db);
	struct stat st;

	db->s = s;
	db->maker.st = s->dict;
	s->is_binary = true;
	s->reading = db;
	s->release = close_db;
	look_beside(s);
	open_fd(db, fd);
	if (fstat(fd, &st) == 0) {
		s->counts->bytes += (uint64_t)st.st_size;
		if (in_consumed(s->in) == 0) /* the file itself */
			s->counts->compressed += (uint64_t)st.st_size;
	}
	for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++)
		if (db->schema == NULL && schemas[i]->is(db))
			db->schema = schemas[i];
	if (db->schema == NULL)
		die_unknown(db);
	db->schema->read(db);
	if (!db->has_source)
		db_source(db, 0);
}

static enum sniff
sniff(struct str head, const char *path)
{
	(void)path;
	return str_starts(head, STR("SQLite format 3\0")) ? SNIFF_SURE
							  : SNIFF_NO;
}

const struct format sqlite_format = {
	.name = "SQLite",
	.sniff = sniff,
	.read_file = read_file,
};
