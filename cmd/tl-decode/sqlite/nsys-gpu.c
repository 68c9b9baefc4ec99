/* SPDX-License-Identifier: MIT */
/* Nsight Systems: GPU work. */
#include <stdio.h>

#include "cmd/tl-decode/sqlite/nsys.h"

/* No stream. */
#define STREAM_NONE INT64_C(0xffffffff)

/* The first columns of each table of GPU work. */
enum { GPU_START, GPU_END, GPU_DEVICE, GPU_STREAM, GPU_CORR, GPU_PID, GPU_N };
#define GPU_COLUMNS                                                       \
	[GPU_START] = { .name = "start" }, [GPU_END] = { .name = "end" }, \
	[GPU_DEVICE] = { .name = "deviceId" },                            \
	[GPU_STREAM] = { .name = "streamId" },                            \
	[GPU_CORR] = { .name = "correlationId" },                         \
	[GPU_PID] = { .name = "globalPid" }
#define CONTEXT                                                               \
	{                                                                     \
		.name = "contextId", .as = DB_ARG, .key = STR_INIT("context") \
	}

/* The track is the stream in its process. */
static void
put_place(struct db *db, const struct db_row *row)
{
	int64_t v, pid = db_number(row, GPU_PID);
	bool has_stream = db_int(row, GPU_STREAM, &v) && v != STREAM_NONE;

	nsys_track(db, pid, has_stream ? &v : NULL);
	if (has_stream)
		maker_int(&db->maker, STR("stream"), v, ROLE_GPU_STREAM);
	if (db_int(row, GPU_DEVICE, &v))
		maker_int(&db->maker, STR("device"), v, ROLE_DEV);
	nsys_corr(db, row, GPU_CORR, pid);
}

static void
end_work(struct db *db, const struct db_row *row)
{
	db_args(db, row);
	db_times(db, row, GPU_START, GPU_END);
	db_end(db, row);
}

/* ---- enumerations, in PyTorch's words ---- */

struct word {
	const char *label, *is;
};

/* The word for a number, by the file's label, or else the list's. */
static struct str
word_of(struct db *db, struct db_strings *labels, const struct word *list,
    size_t n, int64_t v)
{
	struct str label = db_string(db, labels, v);

	if (label.len == 0 && v >= 0 && (uint64_t)v < n)
		label = str_of(list[v].label);
	for (size_t i = 0; i < n; i++)
		if (str_eq(label, str_of(list[i].label)))
			return str_of(list[i].is);
	return label;
}

static const struct word copies[] = { { "Unknown", "" },
	{ "Host-to-Device", "HtoD" }, { "Device-to-Host", "DtoH" },
	{ "Host-to-Array", "HtoA" }, { "Array-to-Host", "AtoH" },
	{ "Array-to-Array", "AtoA" }, { "Array-to-Device", "AtoD" },
	{ "Device-to-Array", "DtoA" }, { "Device-to-Device", "DtoD" },
	{ "Host-to-Host", "HtoH" }, { "Peer-to-Peer", "PtoP" },
	{ "Unified Host-to-Device", "Unified HtoD" },
	{ "Unified Device-to-Host", "Unified DtoH" },
	{ "Unified Device-to-Device", "Unified DtoD" } };
static const struct word memories[] = { { "Pageable", "Pageable" },
	{ "Pinned", "Pinned" }, { "Device", "Device" }, { "Array", "Array" },
	{ "Managed", "Managed" }, { "Device Static", "Device Static" },
	{ "Managed Static", "Managed Static" }, { "Unknown", "Unknown" } };
static const struct word syncs[] = { { "Unknown", "Sync" },
	{ "Event sync", "Event Sync" },
	{ "Stream wait sync", "Stream Wait Event" },
	{ "Stream sync", "Stream Sync" }, { "Context sync", "Context Sync" } };
static const struct word launches[] = { { "Unknown", "" },
	{ "Regular", "Regular" },
	{ "Coop single device", "Coop single device" },
	{ "Coop multi device", "Coop multi device" } };

static struct str
memory_of(struct db *db, const struct db_row *row, size_t col)
{
	const struct nsys *n = db->state;
	int64_t v;

	return db_int(row, col, &v)
	    ? word_of(db, n->memory_kinds, memories, DB_COUNT(memories), v)
	    : STR("");
}

/* ---- kernels ---- */

enum {
	K_NAME = GPU_N,
	K_SHORT,
	K_GRID,
	K_BLOCK = K_GRID + 3,
	K_STATIC = K_BLOCK + 3,
	K_DYNAMIC,
	K_LAUNCH,
	K_ARGS
};

static const struct db_column kernel_columns[] = {
	GPU_COLUMNS,
	[K_NAME] = { .name = "demangledName" },
	[K_SHORT] = { .name = "shortName",
	    .as = DB_STRING,
	    .key = STR_INIT("short name") },
	[K_GRID] = { .name = "gridX" },
	{ .name = "gridY" },
	{ .name = "gridZ" },
	[K_BLOCK] = { .name = "blockX" },
	{ .name = "blockY" },
	{ .name = "blockZ" },
	[K_STATIC] = { .name = "staticSharedMemory", .as = DB_ARG },
	[K_DYNAMIC] = { .name = "dynamicSharedMemory", .as = DB_ARG },
	[K_LAUNCH] = { .name = "launchType" },
	[K_ARGS] = CONTEXT,
	{ .name = "registersPerThread",
	    .as = DB_ARG,
	    .key = STR_INIT("registers per thread") },
	{ .name = "localMemoryPerThread", .as = DB_ARG },
	{ .name = "localMemoryTotal", .as = DB_ARG },
	{ .name = "sharedMemoryExecuted", .as = DB_ARG },
	{ .name = "sharedMemoryLimitConfig", .as = DB_ARG },
	{ .name = "cacheConfig", .as = DB_ARG },
	{ .name = "gridId", .as = DB_ARG },
	{ .name = "mangledName", .as = DB_STRING },
	{ .name = "graphNodeId", .as = DB_SET },
	{ .name = "graphId", .as = DB_SET },
	{ .name = "greenContextId", .as = DB_SET },
	{ .name = "clusterX", .as = DB_SET },
	{ .name = "clusterY", .as = DB_SET },
	{ .name = "clusterZ", .as = DB_SET },
	{ .name = "clusterSchedulingPolicy", .as = DB_SET },
	{ .name = "maxActiveClusters", .as = DB_SET },
};

static void
put_dims(struct db *db, const struct db_row *row, struct str key, size_t x)
{
	int64_t dims[3];

	if (db_row_dims(row, x, dims))
		db_dims(db, key, dims);
}

static void
on_kernel(struct db *db, const struct db_row *row)
{
	const struct nsys *n = db->state;
	struct str name = db_row_string(db, row, K_NAME);
	int64_t fixed, dynamic, v;

	if (name.len == 0)
		name = db_row_string(db, row, K_SHORT);
	db_begin(db, KIND_KERNEL, STR("kernel"),
	    name.len > 0 ? name : STR("unknown_kernel"));
	put_place(db, row);
	put_dims(db, row, STR("grid"), K_GRID);
	put_dims(db, row, STR("block"), K_BLOCK);
	if (db_int(row, K_STATIC, &fixed) && db_int(row, K_DYNAMIC, &dynamic) &&
	    !__builtin_add_overflow(fixed, dynamic, &v))
		maker_int(&db->maker, STR("shared memory"), v, ROLE_NONE);
	if (db_int(row, K_LAUNCH, &v))
		maker_str(&db->maker, STR("launchType"),
		    word_of(db, n->launches, launches, DB_COUNT(launches), v));
	end_work(db, row);
}

/* ---- copies and fills ---- */

enum { C_KIND = GPU_N, C_FROM, C_TO, C_ARGS };

static const struct db_column copy_columns[] = {
	GPU_COLUMNS,
	[C_KIND] = { .name = "copyKind" },
	[C_FROM] = { .name = "srcKind" },
	[C_TO] = { .name = "dstKind" },
	[C_ARGS] = CONTEXT,
	{ .name = "bytes", .as = DB_ARG },
	{ .name = "srcDeviceId", .as = DB_ARG },
	{ .name = "srcContextId", .as = DB_ARG },
	{ .name = "dstDeviceId", .as = DB_ARG },
	{ .name = "dstContextId", .as = DB_ARG },
	{ .name = "migrationCause", .as = DB_SET },
	{ .name = "virtualAddress", .as = DB_SET },
	{ .name = "copyCount", .as = DB_SET },
	{ .name = "graphNodeId", .as = DB_SET },
	{ .name = "greenContextId", .as = DB_SET },
};

static void
on_copy(struct db *db, const struct db_row *row)
{
	const struct nsys *n = db->state;
	struct str from = memory_of(db, row, C_FROM);
	struct str to = memory_of(db, row, C_TO);
	struct str kind = word_of(db, n->copy_kinds, copies, DB_COUNT(copies),
	    db_number(row, C_KIND));
	struct buf name = { 0 };

	buf_printf(&name, "Memcpy%s%.*s", kind.len > 0 ? " " : "",
	    (int)kind.len, kind.p);
	if (from.len > 0 && to.len > 0)
		buf_printf(&name, " (%.*s -> %.*s)", (int)from.len, from.p,
		    (int)to.len, to.p);
	db_begin(db, KIND_MEMCPY, STR("gpu_memcpy"), buf_str(&name));
	buf_free(&name);
	put_place(db, row);
	end_work(db, row);
}

enum { F_KIND = GPU_N, F_ARGS };

static const struct db_column fill_columns[] = {
	GPU_COLUMNS,
	[F_KIND] = { .name = "memKind" },
	[F_ARGS] = CONTEXT,
	{ .name = "bytes", .as = DB_ARG },
	{ .name = "value", .as = DB_ARG },
	{ .name = "graphNodeId", .as = DB_SET },
	{ .name = "greenContextId", .as = DB_SET },
};

static void
on_fill(struct db *db, const struct db_row *row)
{
	struct str kind = memory_of(db, row, F_KIND);
	struct buf name = { 0 };

	buf_puts(&name, "Memset");
	if (kind.len > 0)
		buf_printf(&name, " (%.*s)", (int)kind.len, kind.p);
	db_begin(db, KIND_MEMSET, STR("gpu_memset"), buf_str(&name));
	buf_free(&name);
	put_place(db, row);
	end_work(db, row);
}

/* ---- synchronisation, events, whole graphs ---- */

enum { S_TYPE = GPU_N, S_ARGS };

static const struct db_column sync_columns[] = {
	GPU_COLUMNS,
	[S_TYPE] = { .name = "syncType" },
	[S_ARGS] = CONTEXT,
	{ .name = "eventId",
	    .as = DB_SET,
	    .key = STR_INIT("wait_on_cuda_event_id") },
	{ .name = "eventSyncId", .as = DB_SET },
	{ .name = "greenContextId", .as = DB_SET },
};

static void
on_sync(struct db *db, const struct db_row *row)
{
	const struct nsys *n = db->state;

	db_begin(db, KIND_SYNC, STR("cuda_sync"),
	    word_of(db, n->sync_types, syncs, DB_COUNT(syncs),
		db_number(row, S_TYPE)));
	put_place(db, row);
	end_work(db, row);
}

/* tl_records has a time for each: its own, or its call's end. */
static const struct db_column record_columns[] = {
	[GPU_START] = { .name = "at", .join = 1 },
	[GPU_END] = { .name = "at", .join = 1 },
	[GPU_DEVICE] = { .name = "deviceId" },
	[GPU_STREAM] = { .name = "streamId" },
	[GPU_CORR] = { .name = "correlationId" },
	[GPU_PID] = { .name = "globalPid" },
	CONTEXT,
	{ .name = "eventId", .as = DB_ARG },
	{ .name = "eventSyncId", .as = DB_SET },
};

static void
on_record(struct db *db, const struct db_row *row)
{
	db_begin(db, KIND_GPU_EVENT, STR("cuda_event"), STR("Event Record"));
	put_place(db, row);
	end_work(db, row);
}

enum { G_GRAPH = GPU_N, G_ARGS };

static const struct db_column graph_columns[] = {
	GPU_COLUMNS,
	[G_GRAPH] = { .name = "graphId",
	    .as = DB_ARG,
	    .key = STR_INIT("graph") },
	[G_ARGS] = CONTEXT,
	{ .name = "graphExecId", .as = DB_ARG },
};

/* A replay as one kernel: its kernels are not recorded. */
static void
on_graph(struct db *db, const struct db_row *row)
{
	char name[48];

	snprintf(
	    name, sizeof name, "CUDA Graph %" PRId64, db_number(row, G_GRAPH));
	db_begin(db, KIND_KERNEL, STR("kernel"), str_of(name));
	put_place(db, row);
	end_work(db, row);
}

static const struct db_column slice_columns[] = {
	GPU_COLUMNS,
	CONTEXT,
	{ .name = "graphId", .as = DB_SET },
	{ .name = "graphNodeId", .as = DB_SET },
	{ .name = "bytes", .as = DB_SET },
	{ .name = "address", .as = DB_ARG },
	{ .name = "numberOfPageFaults", .as = DB_ARG },
	{ .name = "faultAccessType", .as = DB_ARG },
};

/* Named after the table. */
static void
on_slice(struct db *db, const struct db_row *row)
{
	static const struct str names[] = { STR_INIT("Graph Host Node"),
		STR_INIT("Memory Decompress"), STR_INIT("GPU Page Fault") };

	db_begin(db, KIND_SLICE, STR("gpu_op"), names[row->tag]);
	put_place(db, row);
	end_work(db, row);
}

/* ---- memory and counters ---- */

enum { M_START, M_PID, M_DEVICE, M_BYTES, M_KIND, M_IS_FREE, M_ARGS };

static const struct db_column memory_columns[] = {
	[M_START] = { .name = "start" },
	[M_PID] = { .name = "globalPid" },
	[M_DEVICE] = { .name = "deviceId" },
	[M_BYTES] = { .name = "bytes" },
	[M_KIND] = { .name = "memKind" },
	[M_IS_FREE] = { .name = "memoryOperationType" },
	[M_ARGS] = { .name = "address", .as = DB_ARG, .key = STR_INIT("Addr") },
	{ .name = "contextId", .as = DB_ARG, .key = STR_INIT("context") },
	{ .name = "streamId", .as = DB_SET },
	{ .name = "correlationId", .as = DB_SET },
	{ .name = "name", .as = DB_ARG },
};

/* As PyTorch's profiler writes an allocation. */
static void
on_memory(struct db *db, const struct db_row *row)
{
	int64_t v, pid = db_number(row, M_PID);
	struct str kind = memory_of(db, row, M_KIND);

	db_begin(db, KIND_MEMORY, STR("cpu_instant_event"), STR("[memory]"));
	maker_phase(&db->maker, 'i');
	nsys_track(db, pid, NULL);
	(void)db_start(db, row, M_START);
	if (db_int(row, M_BYTES, &v) && v != INT64_MIN)
		maker_int(&db->maker, STR("Bytes"),
		    db_number(row, M_IS_FREE) == 1 ? -v : v, ROLE_NONE);
	if (db_int(row, M_DEVICE, &v))
		maker_int(&db->maker, STR("Device Id"), v, ROLE_NONE);
	maker_int(&db->maker, STR("Device Type"),
	    !str_eq(kind, STR("Pageable")) && !str_eq(kind, STR("Pinned")),
	    ROLE_NONE);
	if (kind.len > 0)
		maker_str(&db->maker, STR("memKind"), kind);
	db_args(db, row);
	db_end(db, row);
}

enum { P_AT, P_TYPE, P_METRIC, P_VALUE };

static const struct db_column metric_columns[] = {
	[P_AT] = { .name = "timestamp" },
	[P_TYPE] = { .name = "typeId" },
	[P_METRIC] = { .name = "metricId" },
	[P_VALUE] = { .name = "value", .as = DB_ARG },
};

static void
on_metric(struct db *db, const struct db_row *row)
{
	int64_t type = db_number(row, P_TYPE);
	struct str name =
	    nsys_name(db->state, NAMES_METRIC, type, db_number(row, P_METRIC));

	db_begin(db, KIND_COUNTER, STR(""),
	    name.len > 0 ? name : STR("unknown metric"));
	maker_phase(&db->maker, 'C');
	db_track(db, type & 0xff, NULL); /* its GPU's number */
	(void)db_start(db, row, P_AT);
	db_args(db, row);
	db_end(db, row);
}

/* ---- all of it ---- */

static const struct db_table tables[] = {
	{ DB_TABLE(CUPTI("KERNEL"), kernel_columns, on_kernel),
	    .process = GPU_PID },
	{ DB_TABLE(CUPTI("MEMCPY"), copy_columns, on_copy),
	    .process = GPU_PID },
	{ DB_TABLE(CUPTI("MEMSET"), fill_columns, on_fill),
	    .process = GPU_PID },
	{ DB_TABLE(CUPTI("SYNCHRONIZATION"), sync_columns, on_sync),
	    .process = GPU_PID },
	{ DB_TABLE(CUPTI("CUDA_EVENT"), record_columns, on_record),
	    .joins = { { "tl_records", "id", "c.rowid" } },
	    .process = GPU_PID },
	{ DB_TABLE(CUPTI("GRAPH_TRACE"), graph_columns, on_graph),
	    .process = GPU_PID },
	{ DB_TABLE("CUDA_GPU_MEMORY_USAGE_EVENTS", memory_columns, on_memory),
	    .process = M_PID },
	{ DB_TABLE("GPU_METRICS", metric_columns, on_metric) },
};

static const struct db_table slices[] = {
	{ DB_TABLE(CUPTI("GRAPH_HOST_NODE_AND_HOST_LAUNCH"), slice_columns,
	      on_slice),
	    .process = GPU_PID },
	{ DB_TABLE(CUPTI("MEM_DECOMPRESS"), slice_columns, on_slice),
	    .process = GPU_PID },
	{ DB_TABLE("CUDA_UM_GPU_PAGE_FAULT_EVENTS", slice_columns, on_slice),
	    .process = GPU_PID },
};

/* Recorded events have no time in most versions. */
static void
time_records(struct db *db)
{
	const char *own = db_has(db, CUPTI("CUDA_EVENT"), "timestamp")
	    ? "nullif(max(e.timestamp, 0), 0)"
	    : "NULL";

	if (!db_has(db, CUPTI("CUDA_EVENT"), "correlationId") ||
	    !db_has(db, CUPTI("CUDA_EVENT"), "globalPid"))
		return;
	db_each(db, NULL, NULL,
	    "CREATE TEMP TABLE tl_ends (process, corr, at, "
	    "PRIMARY KEY (process, corr)) WITHOUT ROWID");
	if (db_has(db, CUPTI("RUNTIME"), "correlationId") &&
	    db_has(db, CUPTI("RUNTIME"), "globalTid"))
		db_each(db, NULL, NULL,
		    "INSERT OR IGNORE INTO tl_ends "
		    "SELECT globalTid & -16777216, correlationId, \"end\" "
		    "FROM " CUPTI(
			"RUNTIME") " WHERE correlationId IN "
				   "(SELECT correlationId FROM " CUPTI(
				       "CUDA_EVENT") ") "
						     "AND globalTid IS NOT "
						     "NULL AND correlationId "
						     "IS NOT NULL");
	db_each(db, NULL, NULL,
	    "CREATE TEMP TABLE tl_records (id INTEGER PRIMARY KEY, at)");
	db_each(db, NULL, NULL,
	    "INSERT INTO tl_records SELECT e.rowid, coalesce(%s, t.at) "
	    "FROM " CUPTI("CUDA_EVENT") " e LEFT JOIN tl_ends t "
					"ON t.process = e.globalPid AND t.corr "
					"= e.correlationId",
	    own);
}

void
nsys_add_gpu(struct db *db)
{
	struct nsys *n = db->state;
	int64_t graphs;

	time_records(db);
	for (size_t i = 0; i < DB_COUNT(tables); i++)
		db_add(db, &tables[i], "", n->strings, 0);
	for (size_t i = 0; i < DB_COUNT(slices); i++)
		db_add(db, &slices[i], "", n->strings, i);
	if (db_has_table(db, CUPTI("GRAPH_TRACE")) &&
	    db_query_int(
		db, &graphs, "SELECT count(*) FROM " CUPTI("GRAPH_TRACE")) &&
	    graphs > 0)
		report(MSG_GRAPHS_WHOLE, db->s->in->name, graphs);
}
