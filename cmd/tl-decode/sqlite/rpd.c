/* SPDX-License-Identifier: MIT */
/*
 * rocmProfileData's .rpd: HIP calls (api), GPU work (op), which caused which
 * (api_ops), and arguments of some calls. Several processes may write one file;
 * numbers of calls are unique.
 */
#include "cmd/tl-decode/sqlite/db.h"

#include "stream/from-json.h"
#include "trace/link.h"

#define MARKER STR("UserMarker") /* a call's name, or its domain */

struct rpd {
	struct db_strings *strings, *texts; /* texts: arguments */
	const char *ops, *apis;             /* tables with keys */
	int64_t pid_stride, gpu_stride;     /* of nodes in merged files; 0 */
};

/* ---- GPU work ---- */

enum {
	OP_START,
	OP_ID,
	OP_END,
	OP_DESCRIPTION,
	OP_TYPE,
	OP_PID,
	OP_TID,
	OP_LAUNCH,
	OP_API_NAME,
	OP_GPU,
	OP_QUEUE,
	OP_GRID,
	OP_BLOCK = OP_GRID + 3,
	OP_GROUP_SIZE = OP_BLOCK + 3,
	OP_PRIVATE_SIZE,
	OP_SIZE,
	OP_KIND
};

enum { JOIN_LINK = 1, JOIN_API, JOIN_KERNEL, JOIN_COPY };

static const struct db_column op_columns[] = {
	[OP_ID] = { .name = "id" },
	[OP_START] = { .name = "start" },
	[OP_END] = { .name = "end" },
	[OP_DESCRIPTION] = { .name = "description_id" },
	[OP_TYPE] = { .name = "opType_id" },
	[OP_PID] = { .name = "pid", .join = JOIN_API },
	[OP_TID] = { .name = "tid", .join = JOIN_API },
	[OP_LAUNCH] = { .name = "launch", .join = JOIN_LINK },
	[OP_API_NAME] = { .name = "apiName_id", .join = JOIN_API },
	[OP_GPU] = { .name = "gpuId" },
	[OP_QUEUE] = { .name = "queueId" },
	[OP_GRID] = { .name = "gridX", .join = JOIN_KERNEL },
	{ .name = "gridY", .join = JOIN_KERNEL },
	{ .name = "gridZ", .join = JOIN_KERNEL },
	[OP_BLOCK] = { .name = "workgroupX", .join = JOIN_KERNEL },
	{ .name = "workgroupY", .join = JOIN_KERNEL },
	{ .name = "workgroupZ", .join = JOIN_KERNEL },
	[OP_GROUP_SIZE] = { .name = "groupSegmentSize", .join = JOIN_KERNEL },
	[OP_PRIVATE_SIZE] = { .name = "privateSegmentSize",
	    .join = JOIN_KERNEL },
	[OP_SIZE] = { .name = "size", .join = JOIN_COPY },
	[OP_KIND] = { .name = "kind", .join = JOIN_COPY },
};

static bool
has_word(struct str s, struct str word)
{
	return str_find(s, word, false) >= 0;
}

static enum kind
kind_of_op(struct str description, struct str type)
{
	if (description.len > 0 || str_eq(type, STR("KernelExecution")))
		return KIND_KERNEL;
	if (has_word(type, STR("Copy")) || has_word(type, STR("Memcpy")))
		return KIND_MEMCPY;
	if (has_word(type, STR("Fill")) || has_word(type, STR("Memset")))
		return KIND_MEMSET;
	return KIND_SLICE;
}

/* These two calls take work-items, others blocks. */
static bool
counts_items(struct str api)
{
	return str_eq(api, STR("hipExtModuleLaunchKernel")) ||
	    str_eq(api, STR("hipHccModuleLaunchKernel"));
}

static void
put_launch(struct db *db, const struct db_row *row)
{
	int64_t grid[3], block[3], shared;
	bool is_items = counts_items(db_row_string(db, row, OP_API_NAME));

	if (!db_row_dims(row, OP_GRID, grid) ||
	    !db_row_dims(row, OP_BLOCK, block))
		return;
	for (int i = 0; i < 3; i++) {
		grid[i] = decode_blocks(grid[i], is_items ? block[i] : 1);
		block[i] = block[i] < 1 ? 1 : block[i];
	}
	db_dims(db, STR("grid"), grid);
	db_dims(db, STR("block"), block);
	if (db_int(row, OP_GROUP_SIZE, &shared))
		maker_int(&db->maker, STR("shared memory"), shared, ROLE_NONE);
	if (db_int(row, OP_PRIVATE_SIZE, &shared))
		maker_int(&db->maker, STR("scratch"), shared, ROLE_NONE);
}

static void
put_copy(struct db *db, const struct db_row *row)
{
	static const struct str kinds[] = { STR_INIT("HtoH"), STR_INIT("HtoD"),
		STR_INIT("DtoH"), STR_INIT("DtoD"), STR_INIT("default") };
	int64_t size, kind;

	if (db_int(row, OP_SIZE, &size))
		maker_int(&db->maker, STR("bytes"), size, ROLE_NONE);
	if (db_int(row, OP_KIND, &kind) && kind >= 0 && kind < 5)
		maker_str(&db->maker, STR("kind"), kinds[kind]);
}

/* A merged file's number, within its node. */
static int64_t
in_node(int64_t v, int64_t stride)
{
	return stride > 0 ? v % stride : v;
}

static void
put_gpu(struct db *db, const struct db_row *row, size_t col, struct str key,
    enum role role)
{
	const struct rpd *r = db->state;
	int64_t v;

	if (db_int(row, col, &v))
		maker_int(&db->maker, key, in_node(v, r->gpu_stride), role);
}

static void
track(struct db *db, const struct db_row *row, size_t pid, size_t tid)
{
	const struct rpd *r = db->state;
	int64_t thread;

	db_track(db, in_node(db_number(row, pid), r->pid_stride),
	    db_int(row, tid, &thread) ? &thread : NULL);
}

static void
on_op(struct db *db, const struct db_row *row)
{
	static const struct str cats[KIND_COUNT] = {
		[KIND_KERNEL] = STR_INIT("kernel"),
		[KIND_MEMCPY] = STR_INIT("gpu_memcpy"),
		[KIND_MEMSET] = STR_INIT("gpu_memset"),
		[KIND_SLICE] = STR_INIT("gpu_op"),
	};
	struct str description = db_row_string(db, row, OP_DESCRIPTION);
	struct str type = db_row_string(db, row, OP_TYPE);
	enum kind kind = kind_of_op(description, type);
	int64_t launch;

	if (kind == KIND_KERNEL && description.len == 0)
		description = STR("unknown_kernel");
	if (kind == KIND_SLICE && type.len == 0) /* may be any kind */
		db->s->skipped[SKIP_CATEGORY]++;
	db_begin(
	    db, kind, cats[kind], kind == KIND_KERNEL ? description : type);
	track(db, row, OP_PID, OP_TID);
	db_times(db, row, OP_START, OP_END);
	put_gpu(db, row, OP_GPU, STR("device"), ROLE_DEV);
	put_gpu(db, row, OP_QUEUE, STR("stream"), ROLE_GPU_STREAM);
	if (db_int(row, OP_LAUNCH, &launch))
		maker_int(&db->maker, STR("correlation"), launch, ROLE_CORR);
	if (kind == KIND_KERNEL)
		put_launch(db, row);
	if (kind == KIND_MEMCPY || kind == KIND_MEMSET)
		put_copy(db, row);
	db_end(db, row);
}

static const struct db_table op_table = {
	DB_TABLE("rocpd_op", op_columns, on_op),
	.joins = { { "tl_links", "op", "c.id" },
	    { "rocpd_api", "id", "j1.api" },
	    { "rocpd_kernelapi", "api_ptr_id", "j1.launch" },
	    { "rocpd_copyapi", "api_ptr_id", "j1.launch" } },
	.process = OP_PID,
};

/* In schema 1 launches refer to the op. */
static const struct db_table op1_table = {
	DB_TABLE("rocpd_op", op_columns, on_op),
	.joins = { { "tl_links", "op", "c.id" },
	    { "rocpd_api", "id", "j1.api" },
	    { "rocpd_kernelop", "op_ptr_id", "c.id" },
	    { "rocpd_copyop", "op_ptr_id", "c.id" } },
	.process = OP_PID,
};

/* ---- calls ---- */

enum {
	API_START,
	API_ID,
	API_END,
	API_PID,
	API_TID,
	API_NAME,
	API_ARGS,
	API_DOMAIN
};

static const struct db_column api_columns[] = {
	[API_ID] = { .name = "id" },
	[API_START] = { .name = "start" },
	[API_END] = { .name = "end" },
	[API_PID] = { .name = "pid" },
	[API_TID] = { .name = "tid" },
	[API_NAME] = { .name = "apiName_id" },
	[API_ARGS] = { .name = "args_id" },
	[API_DOMAIN] = { .name = "domain_id" },
};

static struct str
text_of(struct db *db, const struct db_row *row)
{
	const struct rpd *r = db->state;
	int64_t id;

	return db_int(row, API_ARGS, &id) ? db_string(db, r->texts, id)
					  : STR("");
}

static bool
is_marker(struct db *db, const struct db_row *row)
{
	return str_eq(db_row_string(db, row, API_NAME), MARKER) ||
	    str_eq(db_row_string(db, row, API_DOMAIN), MARKER);
}

static bool
is_overhead(struct str name)
{
	return str_ends(name, STR("::writeRows")) ||
	    str_eq(name, STR("hcc_activity_callback"));
}

static void
begin_marker(struct db *db, const struct db_row *row)
{
	bool is_range = db_number(row, API_START) != db_number(row, API_END);
	struct str text = text_of(db, row);

	if (text.len == 0)
		text = db_row_string(db, row, API_NAME);
	if (is_range) {
		marker_begin(db, STR("marker_api"), text);
		return;
	}
	db_begin(db, KIND_INSTANT, STR("marker_api"), text);
	maker_phase(&db->maker, 'i');
}

static void
on_api(struct db *db, const struct db_row *row)
{
	struct str name = db_row_string(db, row, API_NAME), text;
	bool is_over = is_overhead(name), is_mark = is_marker(db, row);

	if (is_mark)
		begin_marker(db, row);
	else
		db_begin(db, is_over ? KIND_OVERHEAD : KIND_RUNTIME,
		    is_over ? STR("overhead") : STR("hip_api"), name);
	track(db, row, API_PID, API_TID);
	if (is_mark && db_number(row, API_START) == db_number(row, API_END))
		(void)db_start(db, row, API_START);
	else
		db_times(db, row, API_START, API_END);
	if (!is_mark) {
		text = text_of(db, row);
		if (text.len > 0)
			maker_str(&db->maker, STR("args"), text);
	}
	if (!is_mark && !is_over)
		maker_int(&db->maker, STR("correlation"),
		    db_number(row, API_ID), ROLE_CORR);
	db_end(db, row);
}

static const struct db_table api_table = {
	DB_TABLE("rocpd_api", api_columns, on_api),
	.process = API_PID,
};

/* ---- monitors ---- */

enum { MONITOR_START, MONITOR_TYPE, MONITOR_DEVICE, MONITOR_VALUE };

/* A value holds until the next one, the last until its end. */
#define MONITOR_COLUMNS(at)                                          \
	{                                                            \
		[MONITOR_START] = { .name = (at) },                  \
		[MONITOR_TYPE] = { .name = "monitorType" },          \
		[MONITOR_DEVICE] = { .name = "deviceId" },           \
		[MONITOR_VALUE] = { .name = "value", .as = DB_ARG }, \
	}
static const struct db_column monitor_columns[] = MONITOR_COLUMNS("start");
static const struct db_column last_columns[] = MONITOR_COLUMNS("end");

static void
on_monitor(struct db *db, const struct db_row *row)
{
	struct str text;
	struct value v;

	db_begin(db, KIND_COUNTER, STR(""), db_text(db, row, MONITOR_TYPE));
	maker_phase(&db->maker, 'C');
	db_track(db, db_number(row, MONITOR_DEVICE), NULL);
	(void)db_start(db, row, MONITOR_START);
	text = db_text(db, row, MONITOR_VALUE);
	v = value_of_digits(text);
	if (text.len > 0 && v.type != VAL_NUM)
		maker_arg(&db->maker, STR("value"), &v, ROLE_NONE);
	else
		db_args(db, row);
	db_end(db, row);
}

static const struct db_table monitor_table = {
	DB_TABLE("rocpd_monitor", monitor_columns, on_monitor),
};

static const struct db_table last_table = {
	DB_TABLE("rocpd_monitor", last_columns, on_monitor),
	.where = "c.rowid IN (SELECT id FROM (SELECT rowid AS id, max(\"end\") "
		 "FROM rocpd_monitor GROUP BY deviceType, deviceId, "
		 "monitorType))",
};

/* ---- all of it ---- */

static bool
is_rpd(struct db *db)
{
	return db_has(db, "rocpd_api", "id") &&
	    db_has(db, "rocpd_api", "pid") &&
	    db_has(db, "rocpd_api", "start") && db_has(db, "rocpd_op", "id") &&
	    db_has(db, "rocpd_op", "start");
}

/*
 * One of several calls that the file gives for an op. It is proven to be the
 * launch if the op starts before all others, or if each call nests in the one
 * before, on one thread: then the innermost.
 */
struct rival {
	int64_t op, api, pid, tid, start, end;
	bool has_end, is_proven;
};

struct rivals {
	struct rival inner; /* of the current op */
	bool is_any, is_proven;
	VEC(struct rival) settled; /* of each op with any */
};

static void
rivals_settle(struct rivals *v)
{
	v->inner.is_proven = v->is_proven;
	if (v->is_any)
		vec_push(&v->settled, v->inner);
}

static bool
rival_launches(struct db *db, sqlite3_stmt *row)
{
	const struct rpd *r = db->state;
	struct str name = STR(""), domain = STR("");
	int64_t id;

	if (db_value_int(row, 6, &id))
		name = db_string(db, r->strings, id);
	if (link_launches_nothing(name) || str_eq(name, MARKER))
		return false;
	if (db_value_int(row, 7, &id))
		domain = db_string(db, r->strings, id);
	return !str_eq(domain, MARKER);
}

static bool
is_within(const struct rival *r, const struct rival *outer)
{
	return r->pid == outer->pid && r->tid == outer->tid && r->has_end &&
	    outer->has_end && r->end <= outer->end &&
	    (r->start > outer->start || r->end < outer->end);
}

/* By op and start, the longer one first. */
static void
add_rival(struct db *db, sqlite3_stmt *row, void *arg)
{
	struct rivals *v = arg;
	struct rival r = { 0 };

	if (!db_value_int(row, 0, &r.op) || !db_value_int(row, 1, &r.api) ||
	    !rival_launches(db, row))
		return;
	(void)db_value_int(row, 2, &r.pid);
	(void)db_value_int(row, 3, &r.tid);
	(void)db_value_int(row, 4, &r.start);
	r.has_end = db_value_int(row, 5, &r.end);
	if (!v->is_any || r.op != v->inner.op) {
		rivals_settle(v);
		v->is_any = v->is_proven = true;
	} else {
		v->is_proven &= is_within(&r, &v->inner);
	}
	v->inner = r;
	db_strings_trim(db);
}

static const char *
if_there(struct db *db, const char *column, const char *sql)
{
	return db_has(db, "rocpd_api", column) ? sql : "NULL";
}

static void
put_settled(struct db *db, const struct rivals *v)
{
	static const char sql[] =
	    "UPDATE tl_links SET api = coalesce(?1, api), launch = ?1, "
	    "is_any = 1 WHERE op = ?2";
	sqlite3_stmt *stmt;

	if (sqlite3_prepare_v2(db->sql, sql, -1, &stmt, NULL) != SQLITE_OK)
		db_die(db, sql);
	for (size_t i = 0; i < v->settled.n; i++) {
		const struct rival *r = &v->settled.v[i];

		sqlite3_clear_bindings(stmt);
		if (r->is_proven)
			sqlite3_bind_int64(stmt, 1, r->api);
		sqlite3_bind_int64(stmt, 2, r->op);
		if (sqlite3_step(stmt) != SQLITE_DONE)
			db_die(db, sql);
		sqlite3_reset(stmt);
	}
	sqlite3_finalize(stmt);
}

/* The one of several calls that is proven to be the launch. */
static void
settle_rivals(struct db *db)
{
	const struct rpd *r = db->state;
	struct rivals v = { 0 };
	int64_t n;

	if (!db_query_int(db, &n, "SELECT 1 FROM tl_links WHERE n > 1 LIMIT 1"))
		return;
	db_each(db, add_rival, &v,
	    "SELECT DISTINCT o.id, a.id, a.pid, %s, a.start, %s, %s, %s "
	    "FROM rocpd_api_ops l JOIN tl_links t ON t.op = l.op_id "
	    "JOIN \"%w\" o ON o.id = l.op_id JOIN \"%w\" a ON a.id = l.api_id "
	    "WHERE t.n > 1 AND a.start <= o.start ORDER BY 1, 5, 6 DESC, 2",
	    if_there(db, "tid", "a.tid"), if_there(db, "end", "a.\"end\""),
	    if_there(db, "apiName_id", "a.apiName_id"),
	    if_there(db, "domain_id", "a.domain_id"), r->ops, r->apis);
	rivals_settle(&v);
	put_settled(db, &v);
	vec_free(&v.settled);
}

/*
 * Each op's call, for its process, and launch. They differ only for an op with
 * several calls: its process is that of the last one that began before the op.
 */
static void
make_links(struct db *db)
{
	const struct rpd *r = db->state;

	db_each(db, NULL, NULL,
	    "CREATE TEMP TABLE tl_links "
	    "(op INTEGER PRIMARY KEY, api, launch, n, is_any)");
	if (!db_has(db, "rocpd_api_ops", "op_id") ||
	    !db_has(db, "rocpd_api_ops", "api_id"))
		return;
	db_each(db, NULL, NULL,
	    "INSERT OR IGNORE INTO tl_links "
	    "SELECT op, api, CASE WHEN n = 1 THEN api END, n, NULL "
	    "FROM (SELECT o.id AS op, a.id AS api, "
	    "count(DISTINCT a.id) AS n, "
	    "max(CASE WHEN a.start <= o.start THEN a.start END) "
	    "FROM rocpd_api_ops l "
	    "JOIN \"%w\" o ON o.id = l.op_id "
	    "JOIN \"%w\" a ON a.id = l.api_id GROUP BY o.id)",
	    r->ops, r->apis);
	settle_rivals(db);
}

static void
add_part(struct db *db, sqlite3_stmt *row, void *arg)
{
	int64_t pid;

	(void)arg;
	if (db_value_int(row, 0, &pid))
		db_part(db, pid);
}

static int64_t
stride_of(struct db *db, const char *tag)
{
	int64_t v = 0;

	if (db_has(db, "rocpd_metadata", "tag") &&
	    db_has(db, "rocpd_metadata", "value"))
		(void)db_query_int(db, &v,
		    "SELECT CAST(value AS INTEGER) FROM rocpd_metadata "
		    "WHERE tag = %Q",
		    tag);
	return v;
}

static void
read_rpd(struct db *db)
{
	struct rpd *r = db->state = xcalloc(1, sizeof *r);

	r->strings = db_strings_open(db, "rocpd_string", "id", "string");
	r->texts = db_strings_open(db, "rocpd_ustring", "id", "string");
	if (r->texts == NULL)
		r->texts = r->strings;
	r->pid_stride = stride_of(db, "pid_stride");
	r->gpu_stride = stride_of(db, "gpu_stride");
	r->ops = db_keyed(db, "rocpd_op", "id");
	r->apis = db_keyed(db, "rocpd_api", "id");
	make_links(db);
	/* processes with GPU work */
	db_each(db, add_part, NULL,
	    "SELECT DISTINCT a.pid FROM tl_links l JOIN \"%w\" a "
	    "ON a.id = l.api ORDER BY 1",
	    r->apis);
	db_add(db, &api_table, "", r->strings, 0);
	db_add(db, db_has_table(db, "rocpd_kernelop") ? &op1_table : &op_table,
	    "", r->strings, 0);
	db_add(db, &monitor_table, "", r->strings, 0);
	db_add(db, &last_table, "", r->strings, 0);
	db_read_rows(db);
}

static void
set_facts(struct db *db, int64_t part)
{
	static const char *const facts[] = { "unlaunched_ops",
		"ambiguous_ops" };
	const struct rpd *r = db->state;
	int64_t n;

	for (int i = 0; i < 2; i++)
		if (db_query_int(db, &n,
			"SELECT count(*) FROM tl_links l JOIN \"%w\" a "
			"ON a.id = l.api WHERE l.launch IS NULL "
			"AND l.is_any IS %s AND tl_part(a.pid) = %lld",
			r->apis, i == 0 ? "NULL" : "1", (long long)part) &&
		    n > 0)
			facts_int(&db->s->facts, facts[i], n);
	if (db->parts.n > 1) {
		facts_int(&db->s->facts, "rank", (int64_t)db->s->src);
		facts_str(&db->s->facts, "rank_from", STR("order"));
	}
}

static void
close_rpd(struct db *db)
{
	vec_release(db->state);
}

const struct db_schema rpd_schema = {
	.format = "rpd",
	.is = is_rpd,
	.read = read_rpd,
	.facts = set_facts,
	.close = close_rpd,
};
