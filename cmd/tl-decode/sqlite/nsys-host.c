/* SPDX-License-Identifier: MIT */
/* Nsight Systems: calls, marked ranges, names. */
#include "cmd/tl-decode/sqlite/nsys.h"
#include "stream/from-json.h"

/* The first columns of each table of the host. */
enum { H_START, H_END, H_TID, H_NAME, H_TEXT, H_N };
#define HOST_COLUMNS(number, text)                                          \
	[H_START] = { .name = "start" }, [H_END] = { .name = "end" },       \
	[H_TID] = { .name = "globalTid" }, [H_NAME] = { .name = (number) }, \
	[H_TEXT] = { .name = (text) }

static void
track_thread(struct db *db, const struct db_row *row)
{
	int64_t global, tid;

	if (!db_int(row, H_TID, &global)) {
		nsys_track(db, 0, NULL);
		return;
	}
	tid = global & NSYS_THREAD;
	nsys_track(db, global, &tid);
}

/* The text, or the string of its number. */
static struct str
name_of(struct db *db, const struct db_row *row)
{
	struct str name = db_text(db, row, H_TEXT);

	return name.len > 0 ? name : db_row_string(db, row, H_NAME);
}

static void
end_call(struct db *db, const struct db_row *row)
{
	db_args(db, row);
	db_times(db, row, H_START, H_END);
	db_end(db, row);
}

/* ---- calls of CUDA ---- */

enum { CLASS_DRIVER = 1, CLASS_BACKTRACE = 67 };
enum { A_CLASS = H_N, A_CORR, A_ARGS };

#define CALL_COLUMNS                                                          \
	HOST_COLUMNS("nameId", "name"), [A_CLASS] = { .name = "eventClass" }, \
					[A_CORR] = { .name =                  \
							 "correlationId" },   \
					[A_ARGS] = { .name = "returnValue",   \
						.as = DB_SET }

static const struct db_column call_columns[] = {
	CALL_COLUMNS,
	{ .name = "callchainId", .as = DB_SET },
};
static const struct db_column traced_columns[] = {
	CALL_COLUMNS,
	{ .name = "chain",
	    .as = DB_SET,
	    .key = STR_INIT("callchainId"),
	    .join = 1 },
};

/* cudaMalloc_v3020 is cudaMalloc; cuMemcpyHtoD_v2 is another function. */
static struct str
without_version(struct str name)
{
	size_t n = name.len;

	while (n > 0 && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
		n--;
	if (name.len - n < 4 || name.len - n > 5 || n < 3 ||
	    name.p[n - 1] != 'v' || name.p[n - 2] != '_')
		return name;
	return (struct str){ name.p, n - 2 };
}

static void
on_call(struct db *db, const struct db_row *row)
{
	bool is_driver =
	    row->tag != 0 || db_number(row, A_CLASS) == CLASS_DRIVER;

	db_begin(db, is_driver ? KIND_DRIVER : KIND_RUNTIME,
	    is_driver ? STR("cuda_driver") : STR("cuda_runtime"),
	    without_version(name_of(db, row)));
	track_thread(db, row);
	nsys_corr(db, row, A_CORR, db_number(row, H_TID));
	end_call(db, row);
}

static const struct db_table call_tables[] = {
	{ DB_TABLE(CUPTI("RUNTIME"), call_columns, on_call), .process = H_TID },
	{ DB_TABLE(CUPTI("DRIVER"), call_columns, on_call), .process = H_TID },
};

/*
 * With backtraces a call may have a second row of class 67 with the chain: that
 * row counts only without the first one.
 */
#define CALL_KEY(alias)                                    \
	"((" alias ".globalTid >> 24 & 16777215) << 32 | " \
	"(" alias ".correlationId & 4294967295))"

static const struct db_table traced_table = {
	DB_TABLE(CUPTI("RUNTIME"), traced_columns, on_call),
	.joins = { { "tl_chains", "id", CALL_KEY("c") } },
	.where = "c.eventClass IS NOT 67 OR coalesce(" CALL_KEY(
	    "c") " NOT IN "
		 "(SELECT id FROM tl_twins), 1)",
	.process = H_TID,
};

/* Whether such rows exist. */
static bool
find_backtraces(struct db *db)
{
	static const char *const columns[] = { "eventClass", "correlationId",
		"globalTid", "callchainId" };
	int64_t n;

	for (size_t i = 0; i < DB_COUNT(columns); i++)
		if (!db_has(db, CUPTI("RUNTIME"), columns[i]))
			return false;
	db_each(db, NULL, NULL,
	    "CREATE TEMP TABLE tl_chains (id INTEGER PRIMARY KEY, chain)");
	db_each(db, NULL, NULL,
	    "INSERT OR IGNORE INTO tl_chains SELECT " CALL_KEY(
		"r") ", r.callchainId FROM " CUPTI("RUNTIME") " r "
							      "WHERE "
							      "r.eventClass = "
							      "67 AND "
							      "r.globalTid IS "
							      "NOT NULL "
							      "AND "
							      "r.correlationId "
							      "IS NOT NULL");
	if (!db_query_int(db, &n, "SELECT count(*) FROM tl_chains") || n == 0)
		return false;
	db_each(db, NULL, NULL,
	    "CREATE TEMP TABLE tl_twins (id INTEGER PRIMARY KEY)");
	db_each(db, NULL, NULL,
	    "INSERT OR IGNORE INTO tl_twins SELECT " CALL_KEY(
		"r") " FROM " CUPTI("RUNTIME") " r WHERE r.eventClass IS NOT "
					       "67 AND " CALL_KEY("r") " IN "
								       "(SELECT"
								       " id "
								       "FROM "
								       "tl_"
								       "chains"
								       ")");
	return true;
}

/* ---- other slices ---- */

static const struct db_column slice_columns[] = {
	HOST_COLUMNS("nameId", "name"),
	{ .name = "returnValue", .as = DB_SET },
	{ .name = "nestingLevel", .as = DB_SET },
	{ .name = "callchainId", .as = DB_SET },
	{ .name = "overheadType", .as = DB_ARG },
	{ .name = "graphId", .as = DB_SET },
	{ .name = "originalGraphId", .as = DB_SET },
	{ .name = "graphExecId", .as = DB_SET },
	{ .name = "graphNodeId", .as = DB_SET },
	{ .name = "originalGraphNodeId", .as = DB_SET },
};
static const struct db_column mpi_columns[] = {
	HOST_COLUMNS("textId", "text"),
	{ .name = "tag", .as = DB_ARG },
	{ .name = "remoteRank", .as = DB_ARG },
	{ .name = "rootRank", .as = DB_ARG },
	{ .name = "size", .as = DB_ARG },
	{ .name = "recvSize", .as = DB_ARG },
};

static void on_slice(struct db *db, const struct db_row *row);

static const struct slice_table {
	struct db_table table;
	enum kind kind;
	struct str cat;
	struct str name; /* of rows without a name */
} slice_tables[] = {
#define SLICES(n, list, k, c, text)                                     \
	{                                                               \
		{ DB_TABLE(n, list, on_slice), .process = H_TID }, (k), \
		    STR_INIT(c), STR_INIT(text)                         \
	}
	SLICES("OSRT_API", slice_columns, KIND_SLICE, "osrt", "unknown"),
	SLICES("CUDNN_EVENTS", slice_columns, KIND_SLICE, "cudnn", "unknown"),
	SLICES("CUBLAS_EVENTS", slice_columns, KIND_SLICE, "cublas", "unknown"),
	SLICES("CUDA_GRAPH_EVENTS", slice_columns, KIND_SLICE, "cuda_graph",
	    "CUDA graph"),
	SLICES("CUDA_GRAPH_NODE_EVENTS", slice_columns, KIND_SLICE,
	    "cuda_graph", "CUDA graph node"),
	SLICES("PROFILER_OVERHEAD", slice_columns, KIND_OVERHEAD, "overhead",
	    "overhead"),
	SLICES(CUPTI("OVERHEAD"), slice_columns, KIND_OVERHEAD, "overhead",
	    "CUPTI overhead"),
	SLICES(CUPTI("JIT"), slice_columns, KIND_OVERHEAD, "overhead", "JIT"),
	SLICES("MPI_P2P_EVENTS", mpi_columns, KIND_ANNOTATION, "mpi", "MPI"),
	SLICES("MPI_COLLECTIVES_EVENTS", mpi_columns, KIND_ANNOTATION, "mpi",
	    "MPI"),
	SLICES("MPI_START_WAIT_EVENTS", mpi_columns, KIND_ANNOTATION, "mpi",
	    "MPI"),
	SLICES("MPI_OTHER_EVENTS", mpi_columns, KIND_ANNOTATION, "mpi", "MPI"),
#undef SLICES
};

static void
on_slice(struct db *db, const struct db_row *row)
{
	const struct slice_table *t = &slice_tables[row->tag];
	struct str name = name_of(db, row);

	db_begin(db, t->kind, t->cat, name.len > 0 ? name : t->name);
	track_thread(db, row);
	end_call(db, row);
}

/* ---- page faults of the host ---- */

enum { F_START, F_PID, F_ARGS };

static const struct db_column fault_columns[] = {
	[F_START] = { .name = "start" },
	[F_PID] = { .name = "globalPid" },
	[F_ARGS] = { .name = "address", .as = DB_ARG },
	{ .name = "module", .as = DB_STRING },
};

static void
on_fault(struct db *db, const struct db_row *row)
{
	db_begin(db, KIND_INSTANT, STR("cuda_um"), STR("CPU Page Fault"));
	maker_phase(&db->maker, 'i');
	nsys_track(db, db_number(row, F_PID), NULL);
	(void)db_start(db, row, F_START);
	db_args(db, row);
	db_end(db, row);
}

static const struct db_table fault_table = {
	DB_TABLE("CUDA_UM_CPU_PAGE_FAULT_EVENTS", fault_columns, on_fault),
	.process = F_PID,
};

/* ---- NVTX ---- */

enum {
	NVTX_CATEGORY = 33,
	NVTX_THREAD = 39,
	NVTX_PUSH_POP = 59,
	NVTX_START_END = 60,
	NVTX_PUSH_POP_IMPORTED = 70,
	NVTX_START_END_IMPORTED = 71,
	NVTX_DOMAIN = 75,
	NVTX_DOMAIN_END = 76,
};

enum {
	N_TYPE = H_N,
	N_DOMAIN,
	N_CATEGORY,
	N_END_TID,
	N_JSON,
	N_JSON_ID,
	N_ARGS
};

static const struct db_column nvtx_columns[] = {
	HOST_COLUMNS("textId", "text"),
	[N_TYPE] = { .name = "eventType" },
	[N_DOMAIN] = { .name = "domainId" },
	[N_CATEGORY] = { .name = "category" },
	[N_END_TID] = { .name = "endGlobalTid" },
	[N_JSON] = { .name = "jsonText" },
	[N_JSON_ID] = { .name = "jsonTextId" },
	[N_ARGS] = { .name = "rangeId", .as = DB_SET },
	{ .name = "color", .as = DB_SET },
#define PAYLOAD(column)                                                    \
	{                                                                  \
		.name = (column), .as = DB_ARG, .key = STR_INIT("payload") \
	}
	PAYLOAD("uint64Value"),
	PAYLOAD("int64Value"),
	PAYLOAD("doubleValue"),
	PAYLOAD("uint32Value"),
	PAYLOAD("int32Value"),
	PAYLOAD("floatValue"),
#undef PAYLOAD
};

static void
put_json(struct db *db, struct str text)
{
	static const struct str key = STR_INIT("json");
	struct buf padded = { 0 }, scratch = { 0 };
	struct json j;
	struct value v;

	if (text.len == 0)
		return;
	buf_put(&padded, text.p, text.len);
	buf_room(&padded, IN_PAD);
	memset(padded.p + padded.len, 0, IN_PAD);
	if (value_of_text(
		&j, (struct str){ padded.p, text.len }, 2, &scratch, &v))
		maker_arg(&db->maker, key, &v, ROLE_NONE);
	else
		maker_str(&db->maker, key, text);
	buf_free(&padded);
	buf_free(&scratch);
}

/* Whether a range nests in the open ones of its thread. */
static bool
nests(struct nsys *n, int64_t tid, int64_t start, int64_t end)
{
	bool is_new;
	uint64_t *place = map_put(&n->thread_of, (uint64_t)tid, &is_new);
	struct nsys_ends *ends;

	if (is_new) {
		*place = n->threads.n;
		*vec_add(&n->threads) = (struct nsys_ends){ { 0 } };
	}
	ends = &n->threads.v[*place];
	while (ends->list.n > 0 && ends->list.v[ends->list.n - 1] <= start)
		ends->list.n--;
	if (ends->list.n > 0 && ends->list.v[ends->list.n - 1] < end)
		return false;
	vec_push(&ends->list, end);
	return true;
}

/* Start and end on two threads, or crossing another range. */
static bool
is_async(struct db *db, const struct db_row *row, int64_t type)
{
	int64_t tid = db_number(row, H_TID), end_tid, end;
	bool is_nested = !db_int(row, H_END, &end) ||
	    nests(db->state, tid, db_number(row, H_START), end);

	if (type != NVTX_START_END && type != NVTX_START_END_IMPORTED)
		return false;
	return !is_nested ||
	    (db_int(row, N_END_TID, &end_tid) && end_tid != 0 &&
		end_tid != tid);
}

static void
put_name(
    struct db *db, const struct db_row *row, struct str what, struct str name)
{
	db_begin(db, KIND_META, STR(""), what);
	maker_phase(&db->maker, 'M');
	track_thread(db, row);
	maker_str(&db->maker, STR("name"), name);
	db_end(db, row);
}

static void
begin_range(struct db *db, const struct db_row *row, int64_t type,
    struct str domain, struct str text)
{
	bool is_range = type == NVTX_PUSH_POP ||
	    type == NVTX_PUSH_POP_IMPORTED || type == NVTX_START_END ||
	    type == NVTX_START_END_IMPORTED;
	struct str cat = domain.len > 0 ? domain : STR("nvtx");

	if (!is_range) {
		db_begin(db, KIND_INSTANT, cat, text);
		maker_phase(&db->maker, 'i');
		(void)db_start(db, row, H_START);
		return;
	}
	if (is_async(db, row, type))
		db_begin(db, KIND_ASYNC, cat, text);
	else if (domain.len > 0)
		db_begin(db, KIND_ANNOTATION, cat, text);
	else
		marker_begin(db, cat, text);
	db_times(db, row, H_START, H_END);
}

static void
on_nvtx(struct db *db, const struct db_row *row)
{
	int64_t type = db_number(row, N_TYPE), id;
	int64_t process = db_number(row, H_TID) & ~NSYS_THREAD;
	const struct nsys *n = db->state;
	struct str category;

	if (type == NVTX_THREAD) {
		put_name(db, row, STR("thread_name"), name_of(db, row));
		return;
	}
	begin_range(db, row, type,
	    nsys_name(n, NAMES_DOMAIN, process, db_number(row, N_DOMAIN)),
	    name_of(db, row));
	track_thread(db, row);
	if (db_int(row, N_CATEGORY, &id) && id != 0) {
		category = nsys_name(n, NAMES_CATEGORY, process, id);
		if (category.len > 0)
			maker_str(&db->maker, STR("category"), category);
		else
			maker_int(&db->maker, STR("category"), id, ROLE_NONE);
	}
	db_args(db, row);
	put_json(db, db_text(db, row, N_JSON));
	put_json(db, db_row_string(db, row, N_JSON_ID));
	db_end(db, row);
}

static const struct db_table nvtx_table = {
	DB_TABLE("NVTX_EVENTS", nvtx_columns, on_nvtx),
	.where = "c.eventType IS NULL OR c.eventType NOT IN "
		 "(33, 75, 76, 97, 98, 99)",
	.process = H_TID,
};

/* ---- names of processes and threads ---- */

/* Without time, so they come first. */
#define NAME_COLUMNS(global, number, text)                                  \
	[H_START] = { .name = "no time" }, [H_END] = { .name = "no time" }, \
	[H_TID] = { .name = (global) }, [H_NAME] = { .name = (number) },    \
	[H_TEXT] = { .name = (text) }

static const struct db_column process_columns[] = { NAME_COLUMNS(
    "globalPid", "nameId", "name") };
static const struct db_column thread_columns[] = { NAME_COLUMNS(
    "globalTid", "nameId", "name") };

static void
on_process(struct db *db, const struct db_row *row)
{
	put_name(db, row, STR("process_name"), name_of(db, row));
}

static void
on_thread(struct db *db, const struct db_row *row)
{
	put_name(db, row, STR("thread_name"), name_of(db, row));
}

/* All processes of the machine are listed: take those with events. */
static const struct db_table process_table = {
	DB_TABLE("PROCESSES", process_columns, on_process),
	.where = "c.globalPid IN (SELECT id FROM tl_processes)",
	.process = H_TID,
};
static const struct db_table thread_table = {
	DB_TABLE("ThreadNames", thread_columns, on_thread),
	.where = "c.globalTid & -16777216 IN (SELECT id FROM tl_processes)",
	.process = H_TID,
};

static void
find_processes(struct db *db)
{
	static const struct {
		const char *table, *column;
	} from[] = {
		{ CUPTI("KERNEL"), "globalPid" },
		{ CUPTI("MEMCPY"), "globalPid" },
		{ CUPTI("RUNTIME"), "globalTid" },
		{ "NVTX_EVENTS", "globalTid" },
		{ "OSRT_API", "globalTid" },
	};

	db_each(db, NULL, NULL,
	    "CREATE TEMP TABLE tl_processes (id INTEGER PRIMARY KEY)");
	for (size_t i = 0; i < DB_COUNT(from); i++)
		if (db_has(db, from[i].table, from[i].column))
			db_each(db, NULL, NULL,
			    "INSERT OR IGNORE INTO tl_processes SELECT "
			    "DISTINCT %s & -16777216 FROM %s WHERE %s NOTNULL",
			    from[i].column, from[i].table, from[i].column);
}

/* ---- all of it ---- */

void
nsys_add_host(struct db *db)
{
	struct nsys *n = db->state;

	find_processes(db);
	if (db_has(db, "PROCESSES", "globalPid"))
		db_add(db, &process_table, "", n->strings, 0);
	if (db_has(db, "ThreadNames", "globalTid"))
		db_add(db, &thread_table, "", n->strings, 0);
	db_add(db, find_backtraces(db) ? &traced_table : &call_tables[0], "",
	    n->strings, 0);
	db_add(db, &call_tables[1], "", n->strings, 1);
	if (db_has(db, "NVTX_EVENTS", "eventType"))
		db_add(db, &nvtx_table, "", n->strings, 0);
	for (size_t i = 0; i < DB_COUNT(slice_tables); i++)
		db_add(db, &slice_tables[i].table, "", n->strings, i);
	db_add(db, &fault_table, "", n->strings, 0);
}
