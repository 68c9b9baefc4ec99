/* SPDX-License-Identifier: MIT */
/* Nsight Systems: facts, processes, lost events. */
#include "cmd/tl-decode/sqlite/nsys.h"
#include "json/json.h"

/* Later schemas may mean something else by the same names. */
#define SCHEMA_KNOWN 3
#define LOSSES_TOLD 5

/* ---- names by two numbers, processes ---- */

static uint64_t
pair_key(int64_t a, int64_t b)
{
	return hash_more(hash_u64((uint64_t)a), (uint64_t)b);
}

struct str
nsys_name(const struct nsys *n, int what, int64_t a, int64_t b)
{
	const uint64_t *no = map_get(&n->names[what], pair_key(a, b));

	return no != NULL ? intern_get(n->texts, (uint32_t)*no) : STR("");
}

/* A row: two numbers, a text, the number of a text. */
static void
add_name(struct db *db, sqlite3_stmt *row, void *arg)
{
	struct nsys *n = db->state;
	struct map *names = arg;
	struct str text = db_value_text(db, row, 2);
	int64_t a = 0, b = 0, id;

	(void)db_value_int(row, 0, &a);
	(void)db_value_int(row, 1, &b);
	if (text.len == 0 && db_value_int(row, 3, &id))
		text = db_string(db, n->strings, id);
	*map_put(names, pair_key(a, b), NULL) = intern_put(n->texts, text);
}

static bool
has_all(struct db *db, const char *table, const char *columns)
{
	struct str column;
	char name[64];

	while (str_next(&columns, ',', &column)) {
		memcpy(name, column.p, column.len);
		name[column.len] = '\0';
		if (!db_has(db, table, name))
			return false;
	}
	return true;
}

static void
find_names(struct db *db)
{
	struct nsys *n = db->state;

	if (has_all(db, "NVTX_EVENTS",
		"globalTid,domainId,category,text,textId,eventType")) {
		db_each(db, add_name, &n->names[NAMES_DOMAIN],
		    "SELECT globalTid & -16777216, domainId, text, textId "
		    "FROM NVTX_EVENTS WHERE eventType = 75");
		db_each(db, add_name, &n->names[NAMES_CATEGORY],
		    "SELECT globalTid & -16777216, category, text, textId "
		    "FROM NVTX_EVENTS WHERE eventType = 33");
	}
	if (has_all(
		db, "TARGET_INFO_GPU_METRICS", "typeId,metricId,metricName"))
		db_each(db, add_name, &n->names[NAMES_METRIC],
		    "SELECT typeId, metricId, metricName, NULL "
		    "FROM TARGET_INFO_GPU_METRICS");
}

void
nsys_track(struct db *db, int64_t global, const int64_t *tid)
{
	db_track(db, nsys_pid(global), tid);
}

void
nsys_corr(struct db *db, const struct db_row *row, size_t col, int64_t global)
{
	int64_t v;

	if (db_int(row, col, &v))
		maker_int(&db->maker, STR("correlation"), v,
		    db_is_part(db, global & ~NSYS_THREAD) ? ROLE_CORR
							  : ROLE_NONE);
}

/* Processes with GPU work become sources. */
static void
add_part(struct db *db, sqlite3_stmt *row, void *arg)
{
	int64_t process;

	(void)arg;
	if (db_value_int(row, 0, &process))
		db_part(db, process);
}

static void
find_parts(struct db *db)
{
	static const char *const tables[] = { CUPTI("KERNEL"), CUPTI("MEMCPY"),
		CUPTI("MEMSET"), CUPTI("GRAPH_TRACE") };

	db->process_mask = NSYS_THREAD;
	db_each(db, NULL, NULL,
	    "CREATE TEMP TABLE tl_parts (id INTEGER PRIMARY KEY)");
	for (size_t i = 0; i < DB_COUNT(tables); i++)
		if (db_has(db, tables[i], "globalPid"))
			db_each(db, NULL, NULL,
			    "INSERT OR IGNORE INTO tl_parts SELECT DISTINCT "
			    "globalPid & -16777216 FROM %s WHERE "
			    "typeof(globalPid) = 'integer'",
			    tables[i]);
	db_each(db, add_part, NULL, "SELECT id FROM tl_parts ORDER BY id");
}

/* ---- facts ---- */

/* Rows as JSON objects by column names, without NULLs. */
static void
list_row(struct db *db, sqlite3_stmt *row, void *arg)
{
	struct buf *b = arg;
	bool is_first = true;

	buf_puts(b, b->len > 0 ? ",{" : "[{");
	for (int i = 0; i < sqlite3_column_count(row); i++) {
		struct str text = db_value_text(db, row, i);
		int64_t v;

		if (!db_value_int(row, i, &v) && text.len == 0)
			continue;
		buf_puts(b, is_first ? "" : ",");
		is_first = false;
		json_put_string(b, str_of(sqlite3_column_name(row, i)));
		buf_putc(b, ':');
		if (text.len > 0)
			json_put_string(b, text);
		else
			buf_printf(b, "%" PRId64, v);
	}
	buf_putc(b, '}');
}

static void
set_list(struct db *db, const char *fact, struct buf *list)
{
	if (list->len > 0) {
		buf_putc(list, ']');
		facts_json(&db->s->facts, fact, buf_str(list));
	}
	buf_free(list);
}

/*
 * GPUs as in PyTorch's traces, by events' numbers: CUDA's in this process,
 * which differ from the machine's where some are hidden.
 */
static void
set_devices(struct db *db, int64_t pid)
{
	static const struct {
		const char *column, *key;
	} columns[] = {
		{ "name", "name" },
		{ "totalMemory", "totalGlobalMem" },
		{ "computeMajor", "computeMajor" },
		{ "computeMinor", "computeMinor" },
		{ "maxThreadsPerBlock", "maxThreadsPerBlock" },
		{ "maxRegistersPerBlock", "regsPerBlock" },
		{ "threadsPerWarp", "warpSize" },
		{ "maxShmemPerBlock", "sharedMemPerBlock" },
		{ "smCount", "numSms" },
		{ "maxRegistersPerSm", "regsPerMultiprocessor" },
		{ "maxShmemPerBlockOptin", "sharedMemPerBlockOptin" },
		{ "maxShmemPerSm", "sharedMemPerMultiprocessor" },
		{ "clockRate", "clockRate" },
		{ "memoryBandwidth", "memoryBandwidth" },
		{ "l2CacheSize", "l2CacheSize" },
		{ "chipName", "chipName" },
		{ "busLocation", "busLocation" },
		{ "uuid", "uuid" },
	};
	struct buf sql = { 0 }, list = { 0 };
	bool by_process =
	    has_all(db, "TARGET_INFO_CUDA_DEVICE", "gpuId,cudaId,pid");

	if (!db_has(db, "TARGET_INFO_GPU", "id"))
		return;
	buf_puts(&sql, "SELECT coalesce(");
	if (by_process)
		buf_printf(&sql,
		    "(SELECT d.cudaId FROM TARGET_INFO_CUDA_DEVICE d "
		    "WHERE d.gpuId = g.id AND d.pid = %" PRId64 "), ",
		    pid);
	if (db_has(db, "TARGET_INFO_GPU", "cuDevice"))
		buf_puts(&sql, "g.cuDevice, ");
	buf_puts(&sql, "g.id, 0) AS id");
	for (size_t i = 0; i < DB_COUNT(columns); i++)
		if (db_has(db, "TARGET_INFO_GPU", columns[i].column))
			buf_printf(&sql, ", g.%s AS %s", columns[i].column,
			    columns[i].key);
	buf_puts(&sql, " FROM TARGET_INFO_GPU g ORDER BY 1 LIMIT 1024");
	buf_putc(&sql, '\0');
	db_each(db, list_row, &list, "%s", sql.p);
	buf_free(&sql);
	set_list(db, "devices", &list);
}

/* The stream's name in NVTX. */
#define STREAM_NAME                                                          \
	"(SELECT n.name FROM (SELECT streamId, processId, name FROM "        \
	"TARGET_INFO_NVTX_CUDA_STREAM "                                      \
	"LIMIT 4096) n WHERE n.streamId = TARGET_INFO_CUDA_STREAM.streamId " \
	"AND n.processId = TARGET_INFO_CUDA_STREAM.processId LIMIT 1) AS "   \
	"name,"

static void
set_streams(struct db *db, int64_t pid)
{
	struct buf list = { 0 };
	bool are_named = has_all(
	    db, "TARGET_INFO_NVTX_CUDA_STREAM", "streamId,processId,name");

	if (has_all(db, "TARGET_INFO_CUDA_STREAM",
		"streamId,processId,contextId,priority,flag"))
		db_each(db, list_row, &list,
		    "SELECT streamId AS id, %s contextId AS context, "
		    "CASE WHEN priority > 2147483647 THEN priority - "
		    "4294967296 "
		    "ELSE priority END AS priority, CASE flag WHEN 1 THEN "
		    "'Default' WHEN 2 THEN 'Non-blocking' WHEN 3 THEN 'Null' "
		    "ELSE 'Unknown' END AS flag FROM TARGET_INFO_CUDA_STREAM "
		    "WHERE processId = %lld ORDER BY 1 LIMIT 4096",
		    are_named ? STREAM_NAME : "", (long long)pid);
	set_list(db, "streams", &list);
}

/* The recorded environment; entries end in NUL. */
static void
take_environment(struct db *db, sqlite3_stmt *row, void *arg)
{
	struct str all = db_value_text(db, row, 0);

	(void)arg;
	while (all.len > 0) {
		const char *end = memchr(all.p, '\0', all.len);
		size_t n = end != NULL ? (size_t)(end - all.p) : all.len;

		environment_variable(db, (struct str){ all.p, n });
		n += end != NULL;
		all = (struct str){ all.p + n, all.len - n };
	}
}

static void
read_environment(struct db *db)
{
	environment_begin(db);
	if (has_all(db, "TARGET_INFO_SYSTEM_ENV", "name,value"))
		db_each(db, take_environment, NULL,
		    "SELECT value FROM TARGET_INFO_SYSTEM_ENV "
		    "WHERE name = 'DeviceEnvironment'");
	if (has_all(db, "META_DATA_CAPTURE", "name,value"))
		db_each(db, take_environment, NULL,
		    "SELECT value FROM META_DATA_CAPTURE "
		    "WHERE name = 'PROCESS_0:ENVIRONMENT_VARIABLE'");
}

static void
set_rank(struct db *db, int64_t process)
{
	int64_t rank;

	/* of several processes, the starter's */
	if (db->parts.n > 1) {
		facts_int(&db->s->facts, "rank", (int64_t)db->s->src);
		facts_str(&db->s->facts, "rank_from", STR("order"));
	} else {
		read_environment(db);
	}
	if (has_all(db, "MPI_RANKS", "globalTid,rank") &&
	    db_query_int(db, &rank,
		"SELECT rank FROM MPI_RANKS "
		"WHERE globalTid & -16777216 = %lld",
		(long long)process)) {
		facts_int(&db->s->facts, "rank", rank);
		facts_str(&db->s->facts, "rank_from", STR("MPI_RANKS"));
	}
}

static void
set_text(struct db *db, sqlite3_stmt *row, void *arg)
{
	struct str text = db_value_text(db, row, 0);

	if (text.len > 0)
		facts_str(&db->s->facts, arg, text);
}

static const char *
export_table(struct db *db)
{
	return has_all(db, "META_DATA_EXPORT", "name,value")
	    ? "META_DATA_EXPORT"
	    : has_all(db, "EXPORT_META_DATA", "name,value") ? "EXPORT_META_DATA"
							    : NULL;
}

/* Times are ns since the session began, or Unix time on request. */
static void
set_clock(struct db *db)
{
	const char *table = export_table(db);
	int64_t epoch, shift = 0, is_unix = 0, v;

	if (table != NULL) {
		(void)db_query_int(db, &is_unix,
		    "SELECT lower(value) = 'true' FROM %s "
		    "WHERE name = 'EXPORT_PARAM_TIME_NORMALIZE'",
		    table);
		(void)db_query_int(db, &shift,
		    "SELECT CAST(value AS INTEGER) FROM %s "
		    "WHERE name = 'EXPORT_PARAM_TIME_SHIFT'",
		    table);
	}
	if (is_unix != 0)
		facts_ns(&db->s->facts, "epoch", 0);
	else if (db_has(db, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs") &&
	    db_query_int(db, &epoch,
		"SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME") &&
	    !__builtin_sub_overflow(epoch, shift, &epoch))
		facts_ns(&db->s->facts, "epoch", epoch);
	if (db_has(db, "ANALYSIS_DETAILS", "duration") &&
	    db_query_int(db, &v, "SELECT duration FROM ANALYSIS_DETAILS"))
		facts_ns(&db->s->facts, "recording_ns", v);
}

static void
set_command(struct db *db, int64_t process)
{
	if (has_all(db, "META_DATA_CAPTURE", "name,value"))
		db_each(db, set_text, (void *)(uintptr_t) "command",
		    "SELECT group_concat(value, ' ') FROM (SELECT value FROM "
		    "META_DATA_CAPTURE WHERE name = 'PROCESS_0:COMMAND' "
		    "OR name GLOB 'PROCESS_0:ARGUMENT_*' ORDER BY rowid)");
	else if (has_all(db, "PROCESSES", "globalPid,name"))
		db_each(db, set_text, (void *)(uintptr_t) "command",
		    "SELECT name FROM PROCESSES WHERE globalPid = %lld LIMIT 1",
		    (long long)process);
}

static void
find_process(struct db *db, sqlite3_stmt *row, void *arg)
{
	(void)db;
	(void)db_value_int(row, 0, arg);
}

static void
set_facts(struct db *db, int64_t part)
{
	struct nsys *n = db->state;
	int64_t process = 0;

	db_each(db, find_process, &process,
	    "SELECT id FROM tl_parts ORDER BY id LIMIT 1 OFFSET %lld",
	    (long long)part);
	set_rank(db, process);
	set_clock(db);
	set_command(db, process);
	set_devices(db, nsys_pid(process));
	set_streams(db, nsys_pid(process));
	if (export_table(db) != NULL)
		db_each(db, set_text, (void *)(uintptr_t) "profiler",
		    "SELECT 'Nsight Systems ' || value FROM %s "
		    "WHERE name = 'EXPORT_PRODUCT_VERSION'",
		    export_table(db));
	if (has_all(db, "TARGET_INFO_SYSTEM_ENV", "name,value"))
		db_each(db, set_text, (void *)(uintptr_t) "hostname",
		    "SELECT value FROM TARGET_INFO_SYSTEM_ENV "
		    "WHERE name = 'Hostname'");
	if (n->nlosses > 0)
		facts_int(&db->s->facts, "losses", n->nlosses);
}

/* ---- what was lost ---- */

static void
take_loss(struct db *db, sqlite3_stmt *row, void *arg)
{
	static const struct str signs[] = { STR_INIT("not all"),
		STR_INIT("lost"), STR_INIT("dropped"),
		STR_INIT("might have been"), STR_INIT("buffer"),
		STR_INIT("overflow") };
	struct nsys *n = db->state;
	struct str text = db_value_text(db, row, 0);
	int64_t times = 0;

	(void)arg;
	(void)db_value_int(row, 1, &times);
	for (size_t i = 0; i < DB_COUNT(signs); i++) {
		if (str_find(text, signs[i], true) < 0)
			continue;
		if (n->nlosses++ < LOSSES_TOLD)
			report(
			    MSG_RECORDING_LOSSES, db->s->in->name, times, text);
		break;
	}
}

static void
judge(struct db *db)
{
	const char *table = export_table(db);
	int64_t major, npayloads;

	if (has_all(db, "DIAGNOSTIC_EVENT", "severity,text"))
		db_each(db, take_loss, NULL,
		    "SELECT text, count(*) FROM DIAGNOSTIC_EVENT "
		    "WHERE severity IN (2, 3) GROUP BY text "
		    "ORDER BY min(rowid)");
	if (db_has(db, "NVTX_EVENTS", "binaryData") &&
	    db_query_int(db, &npayloads,
		"SELECT count(*) FROM NVTX_EVENTS "
		"WHERE binaryData NOTNULL") &&
	    npayloads > 0)
		report(MSG_PAYLOADS_BINARY, db->s->in->name, npayloads);
	if (table != NULL &&
	    db_query_int(db, &major,
		"SELECT CAST(value AS INTEGER) FROM %s "
		"WHERE name = 'EXPORT_SCHEMA_VERSION'",
		table) &&
	    major > SCHEMA_KNOWN)
		report(MSG_SCHEMA_NEWER, db->s->in->name, major);
}

/* ---- all of it ---- */

static bool
is_nsys(struct db *db)
{
	static const char *const tables[] = { CUPTI("KERNEL"), CUPTI("MEMCPY"),
		CUPTI("MEMSET"), CUPTI("RUNTIME"), CUPTI("SYNCHRONIZATION"),
		CUPTI("GRAPH_TRACE"), "NVTX_EVENTS", "TARGET_INFO_SYSTEM_ENV",
		"META_DATA_EXPORT", "EXPORT_META_DATA" };

	if (!has_all(db, "StringIds", "id,value"))
		return false;
	for (size_t i = 0; i < DB_COUNT(tables); i++)
		if (db_has_table(db, tables[i]))
			return true;
	return false;
}

static void
read_nsys(struct db *db)
{
	struct nsys *n = db->state = xcalloc(1, sizeof *n);

	n->texts = intern_create();
	n->strings = db_strings_open(db, "StringIds", "id", "value");
	n->copy_kinds =
	    db_strings_open(db, "ENUM_CUDA_MEMCPY_OPER", "id", "label");
	n->memory_kinds =
	    db_strings_open(db, "ENUM_CUDA_MEM_KIND", "id", "label");
	n->sync_types =
	    db_strings_open(db, "ENUM_CUPTI_SYNC_TYPE", "id", "label");
	n->launches =
	    db_strings_open(db, "ENUM_CUDA_KERNEL_LAUNCH_TYPE", "id", "label");
	judge(db);
	find_names(db);
	find_parts(db);
	nsys_add_gpu(db);
	nsys_add_host(db);
	db_read_rows(db);
}

static void
close_nsys(struct db *db)
{
	struct nsys *n = db->state;

	if (n == NULL)
		return;
	for (size_t i = 0; i < DB_COUNT(n->names); i++)
		map_free(&n->names[i]);
	intern_destroy(n->texts);
	map_free(&n->thread_of);
	for (size_t i = 0; i < n->threads.n; i++)
		vec_free(&n->threads.v[i].list);
	vec_free(&n->threads);
	vec_release(n);
}

const struct db_schema nsys_schema = {
	.format = "nsys",
	.is = is_nsys,
	.read = read_nsys,
	.facts = set_facts,
	.close = close_nsys,
};
