/* SPDX-License-Identifier: MIT */
/*
 * Rows to events. SQLite sorts each table by part and time, in files if it
 * must; they are merged here.
 */
#include "cmd/tl-decode/sqlite/db.h"

#include "stream/from-json.h"

/* Before the table's columns. */
enum { COL_ROWID, COL_PART, COL_FIRST };

/* ---- queries ---- */

/* Tables of a query by alias, NULL if missing. */
struct tables {
	char *names[DB_JOINS + 1];
};

static void
put_column(struct db *db, sqlite3_str *sql, const struct tables *t,
    const struct db_column *c)
{
	const char *table = t->names[c->join];

	if (table == NULL || !db_has(db, table, c->name))
		sqlite3_str_appendall(sql, "NULL");
	else if (c->join == 0)
		sqlite3_str_appendf(sql, "c.\"%w\"", c->name);
	else
		sqlite3_str_appendf(sql, "j%u.\"%w\"", c->join, c->name);
}

static char *
query_of(struct db *db, const struct db_table *t, const struct tables *tables)
{
	sqlite3_str *sql = sqlite3_str_new(db->sql);
	char *text;

	sqlite3_str_appendall(sql, "SELECT c.rowid, ");
	if (t->process != 0 && db->parts.n > 1) {
		sqlite3_str_appendall(sql, "tl_part(");
		put_column(db, sql, tables, &t->columns[t->process]);
		sqlite3_str_appendall(sql, ")");
	} else {
		sqlite3_str_appendall(sql, "0");
	}
	for (size_t i = 0; i < t->ncolumns; i++) {
		sqlite3_str_appendall(sql, ", ");
		put_column(db, sql, tables, &t->columns[i]);
	}
	sqlite3_str_appendf(sql, " FROM \"%w\" c", tables->names[0]);
	for (unsigned i = 0; i < DB_JOINS; i++)
		if (tables->names[i + 1] != NULL)
			sqlite3_str_appendf(sql,
			    " LEFT JOIN \"%w\" j%u ON j%u.\"%w\" = %s",
			    tables->names[i + 1], i + 1, i + 1, t->joins[i].key,
			    t->joins[i].sql);
	if (t->where != NULL)
		sqlite3_str_appendf(sql, " WHERE %s", t->where);
	sqlite3_str_appendall(sql, " ORDER BY 2, 3");
	text = sqlite3_str_finish(sql);
	if (text == NULL)
		die("out of memory");
	return text;
}

noreturn static void
die_row(struct db *db, const struct db_row *row)
{
	struct buf where = { 0 };

	buf_printf(&where, "table %s", row->name);
	buf_putc(&where, '\0');
	db_die(db, where.p);
}

/* The next row; false: none. */
static bool
next(struct db *db, struct db_row *row)
{
	int rc = sqlite3_step(row->stmt);

	if (rc == SQLITE_DONE)
		return false;
	if (rc != SQLITE_ROW)
		die_row(db, row);
	row->rowid = sqlite3_column_int64(row->stmt, COL_ROWID);
	row->part = sqlite3_column_int64(row->stmt, COL_PART);
	if (!db_value_int(row->stmt, COL_FIRST, &row->time_ns))
		row->time_ns = INT64_MIN;
	return true;
}

static void
close_row(struct db_row *row)
{
	sqlite3_finalize(row->stmt);
	sqlite3_free(row->name);
}

void
db_rows_free(struct db *db)
{
	for (size_t i = 0; i < db->rows.n; i++)
		close_row(&db->rows.v[i]);
	vec_free(&db->rows);
}

/* A name with suffix; NULL: no such table or column. */
static char *
name_of(struct db *db, const char *table, const char *suffix, const char *key)
{
	char *name = sqlite3_mprintf("%s%s", table, suffix);

	if (name == NULL)
		die("out of memory");
	if (db_has(db, name, key))
		return name;
	sqlite3_free(name);
	return NULL;
}

static void
find_joins(struct db *db, const struct db_table *t, const char *suffix,
    struct tables *tables)
{
	for (size_t i = 0; i < DB_JOINS; i++) {
		const struct db_join *j = &t->joins[i];
		char *name;

		if (j->table == NULL)
			continue;
		name = name_of(db, j->table, suffix, j->key);
		if (name == NULL)
			continue;
		tables->names[i + 1] =
		    sqlite3_mprintf("%s", db_keyed(db, name, j->key));
		sqlite3_free(name);
	}
}

/* Estimated by the last row's number, at no cost. */
static void
count_rows(struct db *db, const char *table)
{
	int64_t n;

	if (db_query_int(db, &n, "SELECT max(rowid) FROM \"%w\"", table) &&
	    n > 0 && n < INT64_C(1) << 40)
		db->total += (uint64_t)n;
}

void
db_add(struct db *db, const struct db_table *table, const char *suffix,
    struct db_strings *strings, size_t tag)
{
	struct tables tables = { { NULL } };
	struct db_row *row;
	char *sql;

	tables.names[0] = name_of(db, table->name, suffix, NULL);
	if (tables.names[0] == NULL)
		return;
	find_joins(db, table, suffix, &tables);
	sql = query_of(db, table, &tables);
	for (size_t i = 1; i <= DB_JOINS; i++)
		sqlite3_free(tables.names[i]);
	row = vec_add(&db->rows);
	*row = (struct db_row){ .table = table,
		.strings = strings,
		.tag = tag,
		.name = tables.names[0] };
	if (sqlite3_prepare_v2(db->sql, sql, -1, &row->stmt, NULL) != SQLITE_OK)
		die_row(db, row);
	sqlite3_free(sql);
	if (!next(db, row)) {
		close_row(row);
		db->rows.n--;
		return;
	}
	count_rows(db, row->name);
}

static bool
is_before(const struct db_row *a, const struct db_row *b)
{
	return a->part != b->part ? a->part < b->part : a->time_ns < b->time_ns;
}

void
db_read_rows(struct db *db)
{
	while (db->rows.n > 0) {
		struct db_row *v = db->rows.v, *row = v;

		for (size_t i = 1; i < db->rows.n; i++)
			if (is_before(&v[i], row))
				row = &v[i];
		if (db->parts.n > 1 || !db->has_source)
			db_source(db, row->part);
		row->table->row(db, row);
		db->done++;
		if (progress_due)
			progress_show(
			    (uint64_t)((double)in_size(db->s->in) *
				(double)db->done / (double)(db->total + 1)),
			    in_size(db->s->in));
		if (next(db, row))
			continue;
		close_row(row);
		db->rows.n--;
		memmove(
		    row, row + 1, (size_t)(v + db->rows.n - row) * sizeof *row);
	}
}

/* ---- values ---- */

bool
db_int(const struct db_row *row, size_t col, int64_t *v)
{
	return db_value_int(row->stmt, (int)col + COL_FIRST, v);
}

int64_t
db_number(const struct db_row *row, size_t col)
{
	int64_t v;

	return db_int(row, col, &v) ? v : 0;
}

struct str
db_text(struct db *db, const struct db_row *row, size_t col)
{
	return db_value_text(db, row->stmt, (int)col + COL_FIRST);
}

struct str
db_row_string(struct db *db, const struct db_row *row, size_t col)
{
	int64_t id;

	return db_int(row, col, &id) ? db_string(db, row->strings, id)
				     : STR("");
}

/* ---- events ---- */

void
db_begin(struct db *db, enum kind kind, struct str cat, struct str name)
{
	maker_begin(&db->maker, kind, cat);
	maker_name(&db->maker, name);
}

void
db_track(struct db *db, int64_t pid, const int64_t *tid)
{
	maker_track(&db->maker, db->s->src, &pid, tid);
}

/* A value; false: none. */
static bool
value_of(struct db *db, const struct db_row *row, size_t col, struct value *v)
{
	int at = (int)col + COL_FIRST;
	static char number[NUM_DOUBLE_MAX];

	switch (sqlite3_column_type(row->stmt, at)) {
	case SQLITE_INTEGER:
		*v = (struct value){ .type = VAL_INT,
			.i = sqlite3_column_int64(row->stmt, at) };
		return true;
	case SQLITE_FLOAT:
		*v = value_of_digits((struct str){ number,
		    num_put_double(
			number, sqlite3_column_double(row->stmt, at)) });
		return true;
	case SQLITE_TEXT:
		v->type = VAL_STR;
		v->s = db_text(db, row, col);
		return v->s.len > 0;
	default: return false;
	}
}

static struct str
key_of(const struct db_column *c)
{
	return c->key.len > 0 ? c->key : str_of(c->name);
}

static void
put_arg(struct db *db, const struct db_row *row, size_t col)
{
	const struct db_column *c = &row->table->columns[col];
	struct value v = { .type = VAL_NULL };

	if (!value_of(db, row, col, &v) ||
	    (c->as == DB_SET && v.type == VAL_INT && v.i == 0))
		return;
	if (c->as == DB_STRING && v.type == VAL_INT) {
		v.type = VAL_STR;
		v.s = db_string(db, row->strings, v.i);
		if (v.s.len == 0)
			return;
	}
	maker_arg(&db->maker, key_of(c), &v, c->role);
}

void
db_args(struct db *db, const struct db_row *row)
{
	for (size_t i = 0; i < row->table->ncolumns; i++)
		if (row->table->columns[i].as != DB_ASKED)
			put_arg(db, row, i);
}

bool
db_row_dims(const struct db_row *row, size_t x, int64_t dims[3])
{
	return db_int(row, x, &dims[0]) && db_int(row, x + 1, &dims[1]) &&
	    db_int(row, x + 2, &dims[2]);
}

void
db_dims(struct db *db, struct str key, const int64_t dims[3])
{
	struct buf b = { 0 };

	buf_printf(&b, "[%" PRId64 ",%" PRId64 ",%" PRId64 "]", dims[0],
	    dims[1], dims[2]);
	maker_json(&db->maker, key, buf_str(&b));
	buf_free(&b);
}

static void
keep_raw(struct db *db, const struct db_row *row, size_t col)
{
	struct value v;

	if (value_of(db, row, col, &v))
		maker_arg(&db->maker, key_of(&row->table->columns[col]), &v,
		    ROLE_NONE);
}

bool
db_start(struct db *db, const struct db_row *row, size_t col)
{
	int64_t ns;

	if (db_int(row, col, &ns) && source_is_time(ns)) {
		maker_start(&db->maker, source_time(db->s, ns));
		return true;
	}
	keep_raw(db, row, col);
	return false;
}

void
db_times(struct db *db, const struct db_row *row, size_t start, size_t end)
{
	bool has_start = db_start(db, row, start);
	int64_t from = db_number(row, start), to;

	if (!db_int(row, end, &to)) {
		/*
		 * a range may be open at the end of the recording; work lacks
		 * its duration
		 */
		if (has_start && db->maker.shape.kind == KIND_ANNOTATION)
			maker_phase(&db->maker, 'B');
		keep_raw(db, row, end);
	} else if (!has_start || !source_is_time(to)) {
		keep_raw(db, row, end);
	} else if (to < from) {
		keep_raw(db, row, end);
		maker_dur(&db->maker, 0, EV_CLAMPED);
	} else {
		maker_dur(&db->maker, to - from, 0);
	}
}

void
db_end(struct db *db, const struct db_row *row)
{
	struct value table = { .type = VAL_STR, .s = str_of(row->name) };
	struct value rowid = { .type = VAL_INT, .i = row->rowid };

	maker_member(&db->maker, STR("table"), &table);
	maker_member(&db->maker, STR("rowid"), &rowid);
	(void)source_write(db->s, &db->maker);
	db_strings_trim(db);
}
