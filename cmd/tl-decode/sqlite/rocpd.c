/* SPDX-License-Identifier: MIT */
/*
 * rocprofv3's rocpd: names of tables end in a recording's id; a merged file has
 * several. An event's times are in its table; category, caller, arguments and
 * counters hang on a row of "event".
 */
#include "cmd/tl-decode/sqlite/rocpd.h"

#include "json/json.h"

/* Later schemas may mean something else by the same names. */
#define SCHEMA_KNOWN 4

/* A table's name in the current recording. */
static const char *
named(struct rocpd *r, const char *table)
{
	return arena_printf(r->mem, "%s%s", table, r->suffix);
}

struct str
rocpd_member(struct rocpd *r, struct str object, const char *key)
{
	json_items items = { 0 };
	size_t mark = arena_mark(r->mem);
	const struct json_item *x;

	if (object.len == 0 || !json_split(&items, r->mem, object))
		return STR("");
	x = json_member(&items, str_of(key));
	r->json.len = 0;
	if (x != NULL && x->type == JSON_T_STRING)
		buf_put(&r->json, x->text.p, x->text.len);
	arena_reset(r->mem, mark);
	vec_free(&items);
	return buf_str(&r->json);
}

/* ---- facts ---- */

static void
set_text(struct db *db, sqlite3_stmt *row, void *arg)
{
	struct str s = db_value_text(db, row, 0);

	if (s.len > 0)
		facts_str(&db->s->facts, arg, s);
}

static void
set_devices(struct db *db, sqlite3_stmt *row, void *arg)
{
	struct str s = db_value_text(db, row, 0);

	(void)arg;
	if (s.len > 2)
		facts_json(&db->s->facts, "devices", s);
}

/* From a process's start to its end. */
static void
set_window(struct db *db, sqlite3_stmt *row, void *arg)
{
	int64_t init, fini;

	(void)arg;
	if (!db_value_int(row, 0, &init) || !db_value_int(row, 1, &fini) ||
	    !source_is_time(init) || !source_is_time(fini) || fini < init)
		return;
	init = source_time(db->s, init);
	facts_int(&db->s->facts, "window_start", init);
	facts_int(&db->s->facts, "window_end", source_time(db->s, fini));
}

static void
take_variable(struct db *db, sqlite3_stmt *row, void *arg)
{
	(void)arg;
	environment_variable(db, db_value_text(db, row, 0));
}

static void
set_rank(struct db *db, const char *table, int64_t process)
{
	environment_begin(db);
	db_each(db, take_variable, NULL,
	    "SELECT j.key || '=' || j.value FROM \"%w\" p, json_each(CASE "
	    "WHEN json_valid(p.environment) THEN p.environment ELSE '{}' END) "
	    "j WHERE p.id = %lld",
	    table, (long long)process);
}

static void
set_process(struct db *db, int64_t process)
{
	struct rocpd *r = db->state;
	const char *table = named(r, "rocpd_info_process");
	const char *node = named(r, "rocpd_info_node");

	if (db_has(db, table, "init") && db_has(db, table, "fini"))
		db_each(db, set_window, NULL,
		    "SELECT init, fini FROM \"%w\" WHERE id = %lld", table,
		    (long long)process);
	if (db_has(db, table, "command"))
		db_each(db, set_text, (void *)(uintptr_t) "command",
		    "SELECT command FROM \"%w\" WHERE id = %lld", table,
		    (long long)process);
	if (db_has(db, table, "nid") && db_has(db, node, "id") &&
	    db_has(db, node, "hostname"))
		db_each(db, set_text, (void *)(uintptr_t) "hostname",
		    "SELECT n.hostname FROM \"%w\" p JOIN \"%w\" n "
		    "ON n.id = p.nid WHERE p.id = %lld LIMIT 1",
		    table, node, (long long)process);
	if (db_has(db, table, "environment"))
		set_rank(db, table, process);
}

static void
set_facts(struct db *db, int64_t part)
{
	struct rocpd *r = db->state;
	const char *agents = named(r, "rocpd_info_agent");

	int64_t process =
	    (size_t)part < r->processes.n ? r->processes.v[part] : 0;

	map_free(&r->live);
	facts_int(&db->s->facts, "api_trace", 1);
	if (db_has(db, agents, "type_index") && db_has(db, agents, "type") &&
	    db_has(db, agents, "name") && db_has(db, agents, "product_name") &&
	    db_has(db, agents, "extdata") && db_has(db, agents, "pid"))
		/* as in PyTorch's traces, plus all other columns */
		db_each(db, set_devices, NULL,
		    "SELECT json_group_array(json(device)) FROM (SELECT "
		    "json_patch(extdata, json_object('id', type_index, 'name', "
		    "coalesce(nullif(product_name, ''), name), 'gfx', name, "
		    "'numSms', json_extract(extdata, '$.cu_count'), "
		    "'warpSize', json_extract(extdata, '$.wave_front_size'))) "
		    "AS device FROM (SELECT id, name, product_name, "
		    "type_index, CASE WHEN json_valid(extdata) AND "
		    "json_type(extdata) = 'object' THEN extdata ELSE '{}' END "
		    "AS extdata FROM \"%w\" WHERE type = 'GPU' AND (%d OR pid "
		    "= %lld)) "
		    "ORDER BY type_index, id LIMIT 1024)",
		    agents, r->processes.n < 2, (long long)process);
	set_process(db, process);
}

/* ---- recordings ---- */

static void
add_suffix(struct db *db, sqlite3_stmt *row, void *arg)
{
	struct rocpd *r = arg;
	struct str name = db_value_text(db, row, 0);
	const char *copy = arena_str(r->mem, name).p;

	r->suffix = copy + strlen("rocpd_metadata");
	if (db_has_table(db, named(r, "rocpd_kernel_dispatch")) ||
	    db_has_table(db, named(r, "rocpd_info_agent")))
		vec_push(&r->suffixes, r->suffix);
}

static void
find_suffixes(struct db *db, struct rocpd *r)
{
	r->mem = arena_create();
	db_each(db, add_suffix, r,
	    "SELECT name FROM sqlite_master WHERE type = 'table' AND name "
	    "GLOB 'rocpd_metadata*' ORDER BY rowid LIMIT 4096");
}

static void
free_rocpd(struct rocpd *r)
{
	sqlite3_finalize(r->args);
	vec_free(&r->suffixes);
	vec_free(&r->processes);
	map_free(&r->live);
	buf_free(&r->text);
	buf_free(&r->json);
	arena_destroy(r->mem);
}

static bool
is_rocpd(struct db *db)
{
	struct rocpd r = { 0 };
	bool is;

	find_suffixes(db, &r);
	is = r.suffixes.n > 0;
	free_rocpd(&r);
	return is;
}

/* The column's place: the table, its track, or NULL. */
static const char *
place_of(struct db *db, const char *table, const char *column)
{
	struct rocpd *r = db->state;

	if (strchr(column, '.') != NULL)
		return column;
	if (db_has(db, table, column))
		return arena_printf(r->mem, "c.%s", column);
	if (db_has(db, table, "track_id") &&
	    db_has(db, named(r, "rocpd_track"), column))
		return arena_printf(r->mem, "j2.%s", column);
	return NULL;
}

static void
add_table(struct db *db, const struct db_table *base)
{
	struct rocpd *r = db->state;
	struct db_table *t = arena_alloc(r->mem, sizeof *t);
	size_t size = base->ncolumns * sizeof *base->columns;
	struct db_column *columns = arena_alloc(r->mem, size);
	const char *name = named(r, base->name);

	*t = *base;
	memcpy(columns, base->columns, size);
	t->columns = columns;
	for (size_t i = 0; i < t->ncolumns; i++)
		if (columns[i].join == 0 && !db_has(db, name, columns[i].name))
			columns[i].join = ROCPD_TRACK;
	for (size_t i = 0; i < DB_JOINS; i++) {
		struct db_join *j = &t->joins[i];

		if (j->table == NULL)
			continue;
		j->sql = place_of(db, name, j->sql);
		if (j->sql == NULL)
			j->table = NULL;
	}
	db_add(db, t, r->suffix, r->strings, 0);
}

static void
add_process(struct db *db, sqlite3_stmt *row, void *arg)
{
	struct rocpd *r = arg;
	int64_t id;

	if (!db_value_int(row, 0, &id))
		return;
	db_part(db, id);
	vec_push(&r->processes, id);
}

/* Arguments by event; counters, with a row per instance. */
static void
find_args(struct db *db)
{
	struct rocpd *r = db->state;
	const char *args = named(r, "rocpd_arg");
	const char *values = named(r, "rocpd_pmc_event");
	const char *counters = named(r, "rocpd_info_pmc");

	sqlite3_finalize(r->args);
	r->args = NULL;
	db_each(db, NULL, NULL, "DROP TABLE IF EXISTS temp.tl_args");
	db_each(db, NULL, NULL, "CREATE TEMP TABLE tl_args (event, name, v)");
	if (db_has(db, args, "event_id") && db_has(db, args, "name") &&
	    db_has(db, args, "value") && db_has(db, args, "position"))
		db_each(db, NULL, NULL,
		    "INSERT INTO tl_args SELECT event_id, name, value FROM "
		    "\"%w\" WHERE typeof(value) = 'text' "
		    "ORDER BY event_id, position",
		    args);
	if (db_has(db, values, "event_id") && db_has(db, values, "pmc_id") &&
	    db_has(db, values, "value") && db_has(db, counters, "name"))
		db_each(db, NULL, NULL,
		    "INSERT INTO tl_args SELECT v.event_id, p.name, "
		    "sum(v.value) FROM \"%w\" v JOIN \"%w\" p ON p.id = "
		    "v.pmc_id WHERE v.event_id NOTNULL %s GROUP BY v.event_id, "
		    "p.name ORDER BY v.event_id, min(p.id)",
		    values, db_keyed(db, counters, "id"),
		    db_has(db, values, "sample_id") ? "AND v.sample_id ISNULL"
						    : "");
	db_each(
	    db, NULL, NULL, "CREATE INDEX temp.tl_args_i ON tl_args(event)");
	if (sqlite3_prepare_v2(db->sql,
		"SELECT name, v FROM tl_args WHERE event = ? ORDER BY rowid",
		-1, &r->args, NULL) != SQLITE_OK)
		db_die(db, "arguments");
}

static void
judge(struct db *db)
{
	struct rocpd *r = db->state;
	const char *table = named(r, "rocpd_metadata");
	int64_t v;

	if (!db_has(db, table, "tag") || !db_has(db, table, "value"))
		return;
	if (db_query_int(db, &v,
		"SELECT 1 FROM \"%w\" WHERE tag = 'compression'", table))
		report(MSG_EXTDATA_COMPRESSED, db->s->in->name);
	if (db_query_int(db, &v,
		"SELECT CAST(value AS INTEGER) FROM \"%w\" "
		"WHERE tag = 'schema_version'",
		table) &&
	    v > SCHEMA_KNOWN)
		report(MSG_SCHEMA_NEWER, db->s->in->name, v);
}

/* Whether the tables that samples' counters need exist. */
static bool
has_samples(struct db *db, const struct db_join *sample)
{
	struct rocpd *r = db->state;
	const char *samples = named(r, sample->table);
	const char *tracks = named(r, "rocpd_track");

	return db_has(db, samples, sample->key) &&
	    db_has(db, samples, "timestamp") &&
	    db_has(db, samples, "track_id") && db_has(db, tracks, "pid") &&
	    db_has(db, tracks, "id") &&
	    db_has(db, named(r, "rocpd_pmc_event"), sample->sql);
}

static void
read_recording(struct db *db)
{
	struct rocpd *r = db->state;
	const char *processes = named(r, "rocpd_info_process");

	r->strings =
	    db_strings_open(db, named(r, "rocpd_string"), "id", "string");
	r->categories =
	    db_strings_open(db, named(r, "rocpd_info_category"), "id", "name");
	if (r->categories == NULL)
		r->categories = r->strings;
	judge(db);
	find_args(db);
	db_parts_end(db);
	r->processes.n = 0;
	if (db_has(db, processes, "id"))
		db_each(db, add_process, r,
		    "SELECT DISTINCT id FROM \"%w\" ORDER BY id", processes);
	for (size_t i = 0; rocpd_tables[i] != NULL; i++)
		if (rocpd_tables[i]->where == NULL ||
		    has_samples(db, &rocpd_tables[i]->joins[0]))
			add_table(db, rocpd_tables[i]);
	if (r->processes.n < 2)
		db_source(db, 0);
	db_read_rows(db);
}

static void
read_rocpd(struct db *db)
{
	struct rocpd *r = db->state = xcalloc(1, sizeof *r);

	find_suffixes(db, r);
	for (size_t i = 0; i < r->suffixes.n; i++) {
		r->suffix = r->suffixes.v[i];
		read_recording(db);
	}
}

static void
close_rocpd(struct db *db)
{
	struct rocpd *r = db->state;

	if (r == NULL)
		return;
	free_rocpd(r);
	vec_release(r);
}

const struct db_schema rocpd_schema = {
	.format = "rocpd",
	.is = is_rocpd,
	.read = read_rocpd,
	.facts = set_facts,
	.close = close_rocpd,
};
