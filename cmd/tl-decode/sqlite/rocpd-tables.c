/* SPDX-License-Identifier: MIT */
/* rocpd's tables of events: columns, and events of rows. */
#include "cmd/tl-decode/sqlite/rocpd.h"

enum {
	JOIN_EVENT = 1,
	JOIN_TRACK = ROCPD_TRACK,
	JOIN_PROCESS,
	JOIN_THREAD,
	JOIN_AGENT,
	JOIN_SOURCE, /* the agent a copy reads from */
	JOIN_SYMBOL,
	JOIN_COUNTER = JOIN_SYMBOL,
	JOIN_SAMPLE = JOIN_EVENT,
};

/* The first columns of all tables. */
enum {
	R_START,
	R_END,
	R_PROCESS, /* its row; the system's numbers follow */
	R_PID,
	R_TID,
	R_EVENT,
	R_CATEGORY,
	R_EXTDATA,
	R_STACK,
	R_OWN,
};

#define COLUMNS(start, end)                                           \
	[R_START] = { .name = start }, [R_END] = { .name = end },     \
	[R_PROCESS] = { .name = "pid" },                              \
	[R_PID] = { .name = "pid", .join = JOIN_PROCESS },            \
	[R_TID] = { .name = "tid", .join = JOIN_THREAD },             \
	[R_EVENT] = { .name = "event_id" },                           \
	[R_CATEGORY] = { .name = "category_id", .join = JOIN_EVENT }, \
	[R_EXTDATA] = { .name = "extdata", .join = JOIN_EVENT },      \
	[R_STACK] = { .name = "stack_id", .join = JOIN_EVENT }
#define ARG(column, as_key, how, from)                              \
	{                                                           \
		.name = column, .as = how, .key = STR_INIT(as_key), \
		.join = from                                        \
	}
#define DEVICE                                                                 \
	{                                                                      \
		.name = "type_index", .as = DB_ARG, .key = STR_INIT("device"), \
		.role = ROLE_DEV, .join = JOIN_AGENT                           \
	}
#define GPU_STREAM                                                            \
	{                                                                     \
		.name = "stream_id", .as = DB_ARG, .key = STR_INIT("stream"), \
		.role = ROLE_GPU_STREAM                                       \
	}
#define LAUNCH                                                     \
	{                                                          \
		.name = "stack_id", .as = DB_SET,                  \
		.key = STR_INIT("correlation"), .role = ROLE_CORR, \
		.join = JOIN_EVENT                                 \
	}
/* Ranges that a tool pushed, despite the name. */
#define EXTERNAL                                                  \
	{                                                         \
		.name = "correlation_id", .as = DB_SET,           \
		.key = STR_INIT("external_id"), .role = ROLE_EXT, \
		.join = JOIN_EVENT                                \
	}
#define JOINS                                                                 \
	[JOIN_EVENT - 1] = { "rocpd_event", "id", "event_id" },               \
		      [JOIN_TRACK - 1] = { "rocpd_track", "id", "track_id" }, \
		      [JOIN_PROCESS - 1] = { "rocpd_info_process", "id",      \
			      "pid" },                                        \
		      [JOIN_THREAD - 1] = { "rocpd_info_thread", "id", "tid" }
#define AGENT(no, column) [no - 1] = { "rocpd_info_agent", "id", column }
#define TABLE(of, list, make)                                            \
	.name = of, .columns = list,                                     \
	.ncolumns = sizeof(list) / sizeof *(list), .process = R_PROCESS, \
	.row = make

/* ---- common to all events ---- */

static struct str
category_of(struct db *db, const struct db_row *row)
{
	const struct rocpd *r = db->state;
	int64_t id;

	return db_int(row, R_CATEGORY, &id) ? db_string(db, r->categories, id)
					    : STR("");
}

static void
track(struct db *db, const struct db_row *row)
{
	int64_t tid;

	db_track(
	    db, db_number(row, R_PID), db_int(row, R_TID, &tid) ? &tid : NULL);
}

static void
put_counter(struct db *db, struct str name, double v)
{
	if (v >= -0x1p53 && v <= 0x1p53 && v == (double)(int64_t)v)
		maker_int(&db->maker, name, (int64_t)v, ROLE_NONE);
	else
		maker_double(&db->maker, name, v);
}

/* Arguments, texts, counters. */
static void
put_args(struct db *db, const struct db_row *row)
{
	struct rocpd *r = db->state;
	int64_t event;

	if (!db_int(row, R_EVENT, &event))
		return;
	sqlite3_bind_int64(r->args, 1, event);
	while (sqlite3_step(r->args) == SQLITE_ROW) {
		struct str name = db_value_text(db, r->args, 0);

		r->text.len = 0;
		buf_put(&r->text, name.p, name.len);
		name = buf_str(&r->text);
		if (sqlite3_column_type(r->args, 1) == SQLITE_TEXT)
			maker_str(
			    &db->maker, name, db_value_text(db, r->args, 1));
		else
			put_counter(
			    db, name, sqlite3_column_double(r->args, 1));
	}
	if (sqlite3_reset(r->args) != SQLITE_OK)
		db_die(db, "arguments");
}

static void
finish(struct db *db, const struct db_row *row)
{
	db_args(db, row);
	put_args(db, row);
	db_end(db, row);
}

/* ---- kernels ---- */

enum {
	K_KERNEL = R_OWN,
	K_NAME,
	K_SYMBOL,
	K_MANGLED,
	K_GRID,
	K_BLOCK = K_GRID + 3,
	K_ARGS = K_BLOCK + 3,
};

static const struct db_column kernel_columns[] = {
	COLUMNS("start", "end"),
	[K_KERNEL] = ARG("kernel_id", "kernel_id", DB_ARG, 0),
	[K_NAME] = { .name = "display_name", .join = JOIN_SYMBOL },
	[K_SYMBOL] = { .name = "extdata", .join = JOIN_SYMBOL },
	[K_MANGLED] = { .name = "kernel_name", .join = JOIN_SYMBOL },
	[K_GRID] = { .name = "grid_size_x" },
	{ .name = "grid_size_y" },
	{ .name = "grid_size_z" },
	[K_BLOCK] = { .name = "workgroup_size_x" },
	{ .name = "workgroup_size_y" },
	{ .name = "workgroup_size_z" },
	[K_ARGS] = DEVICE,
	ARG("absolute_index", "agent", DB_ARG, JOIN_AGENT),
	ARG("logical_index", "logical", DB_ARG, JOIN_AGENT),
	GPU_STREAM,
	ARG("queue_id", "queue", DB_ARG, 0),
	LAUNCH,
	EXTERNAL,
	ARG("dispatch_id", "dispatch_id", DB_ARG, 0),
	ARG("group_segment_size", "shared memory", DB_ARG, 0),
	ARG("private_segment_size", "scratch", DB_ARG, 0),
	ARG("arch_vgpr_count", "VGPR", DB_ARG, JOIN_SYMBOL),
	ARG("accum_vgpr_count", "AGPR", DB_ARG, JOIN_SYMBOL),
	ARG("sgpr_count", "SGPR", DB_ARG, JOIN_SYMBOL),
	ARG("region_name_id", "region", DB_STRING, 0),
	ARG("graph_exec_id", "graph_exec_id", DB_SET, 0),
	ARG("graph_node_id", "graph_node_id", DB_SET, 0),
};

static struct str
kernel_name(struct db *db, const struct db_row *row)
{
	static const char *const keys[] = { "truncated_kernel_name",
		"formatted_kernel_name", "demangled_kernel_name" };
	struct rocpd *r = db->state;
	struct str name = db_text(db, row, K_NAME);

	for (size_t i = 0; i < 3 && name.len == 0; i++)
		name = rocpd_member(r, db_text(db, row, K_SYMBOL), keys[i]);
	if (name.len > 0)
		return name;
	name = db_text(db, row, K_MANGLED);
	if (str_ends(name, STR(".kd")))
		name.len -= 3;
	if (name.len > 0)
		return name;
	r->text.len = 0;
	buf_printf(
	    &r->text, "unknown_kernel_%" PRId64, db_number(row, K_KERNEL));
	return buf_str(&r->text);
}

/* From work-items, which the file has. */
static void
put_dims(struct db *db, const struct db_row *row)
{
	int64_t grid[3], block[3];

	if (!db_row_dims(row, K_GRID, grid) ||
	    !db_row_dims(row, K_BLOCK, block))
		return;
	for (int i = 0; i < 3; i++) {
		grid[i] = decode_blocks(grid[i], block[i]);
		block[i] = block[i] < 1 ? 1 : block[i];
	}
	db_dims(db, STR("grid"), grid);
	db_dims(db, STR("block"), block);
}

static void
on_kernel(struct db *db, const struct db_row *row)
{
	struct str cat = category_of(db, row);

	db_begin(db, KIND_KERNEL, cat.len > 0 ? cat : STR("KERNEL_DISPATCH"),
	    kernel_name(db, row));
	track(db, row);
	db_times(db, row, R_START, R_END);
	put_dims(db, row);
	finish(db, row);
}

static const struct db_table kernel_table = {
	TABLE("rocpd_kernel_dispatch", kernel_columns, on_kernel),
	.joins = { JOINS, AGENT(JOIN_AGENT, "agent_id"),
	    [JOIN_SYMBOL - 1] = { "rocpd_info_kernel_symbol", "id",
		"kernel_id" } },
};

/* ---- copies ---- */

enum { C_NAME = R_OWN, C_DST_TYPE, C_DST, C_SRC_TYPE, C_SRC };

static const struct db_column copy_columns[] = {
	COLUMNS("start", "end"),
	[C_NAME] = { .name = "name_id" },
	[C_DST_TYPE] = { .name = "type", .join = JOIN_AGENT },
	[C_DST] = { .name = "type_index", .join = JOIN_AGENT },
	[C_SRC_TYPE] = { .name = "type", .join = JOIN_SOURCE },
	[C_SRC] = { .name = "type_index", .join = JOIN_SOURCE },
	GPU_STREAM,
	ARG("queue_id", "queue", DB_ARG, 0),
	LAUNCH,
	EXTERNAL,
	ARG("size", "bytes", DB_ARG, 0),
	ARG("dst_address", "dst_address", DB_SET, 0),
	ARG("src_address", "src_address", DB_SET, 0),
	ARG("region_name_id", "region", DB_STRING, 0),
	ARG("graph_exec_id", "graph_exec_id", DB_SET, 0),
	ARG("graph_node_id", "graph_node_id", DB_SET, 0),
};

/* Adds "GPU 0" as an argument; whether it is a GPU. */
static bool
put_agent(struct db *db, const struct db_row *row, struct str key, size_t type)
{
	struct rocpd *r = db->state;
	struct str text = db_text(db, row, type);
	bool is_gpu = str_eq(text, STR("GPU"));

	if (text.len == 0)
		return false;
	r->text.len = 0;
	buf_printf(&r->text, "%.*s %" PRId64, (int)text.len, text.p,
	    db_number(row, type + 1));
	maker_str(&db->maker, key, buf_str(&r->text));
	return is_gpu;
}

static void
on_copy(struct db *db, const struct db_row *row)
{
	struct str cat = category_of(db, row);
	bool to_gpu, from_gpu;

	db_begin(db, KIND_MEMCPY, cat.len > 0 ? cat : STR("MEMORY_COPY"),
	    db_row_string(db, row, C_NAME));
	track(db, row);
	db_times(db, row, R_START, R_END);
	to_gpu = put_agent(db, row, STR("dst"), C_DST_TYPE);
	from_gpu = put_agent(db, row, STR("src"), C_SRC_TYPE);
	if (to_gpu || from_gpu)
		maker_int(&db->maker, STR("device"),
		    db_number(row, to_gpu ? C_DST : C_SRC), ROLE_DEV);
	finish(db, row);
}

static const struct db_table copy_table = {
	TABLE("rocpd_memory_copy", copy_columns, on_copy),
	.joins = { JOINS, AGENT(JOIN_AGENT, "dst_agent_id"),
	    AGENT(JOIN_SOURCE, "src_agent_id") },
};

/* ---- memory ---- */

enum { M_TYPE = R_OWN, M_LEVEL, M_SIZE, M_ADDRESS };

static const struct db_column memory_columns[] = {
	COLUMNS("end", "start"),
	[M_TYPE] = { .name = "type" },
	[M_LEVEL] = { .name = "level" },
	[M_SIZE] = { .name = "size" },
	[M_ADDRESS] = { .name = "address" },
	DEVICE,
	GPU_STREAM,
	LAUNCH,
	EXTERNAL,
};

static int64_t
negative(uint64_t v)
{
	return (int64_t)(0 - v);
}

/* The size freed is that allocated. */
static int64_t
bytes_of(struct rocpd *r, const struct db_row *row, bool is_free)
{
	int64_t size = db_number(row, M_SIZE), address;
	uint64_t *live;

	if (!db_int(row, M_ADDRESS, &address))
		return is_free ? negative((uint64_t)size) : size;
	live = map_put(&r->live, (uint64_t)address, NULL);
	if (is_free)
		size = negative(*live != 0 ? *live : (uint64_t)size);
	*live = is_free ? 0 : (uint64_t)size;
	return size;
}

static void
on_memory(struct db *db, const struct db_row *row)
{
	struct rocpd *r = db->state;
	struct str level = db_text(db, row, M_LEVEL), type;
	bool is_free;
	int64_t from, to, address;

	r->text.len = 0;
	buf_printf(&r->text, "%.*s ", (int)level.len, level.p);
	type = db_text(db, row, M_TYPE);
	is_free = str_eq(type, STR("FREE"));
	buf_put(&r->text, type.p, type.len);
	db_begin(db, KIND_MEMORY, STR("MEMORY_ALLOCATION"), buf_str(&r->text));
	maker_phase(&db->maker, 'i');
	track(db, row);
	(void)db_start(db, row, R_START);
	maker_int(
	    &db->maker, STR("Bytes"), bytes_of(r, row, is_free), ROLE_NONE);
	if (db_int(row, M_ADDRESS, &address))
		maker_int(&db->maker, STR("Addr"), address, ROLE_NONE);
	if (db_int(row, R_START, &to) && db_int(row, R_END, &from) &&
	    source_is_time(from) && source_is_time(to) && to >= from)
		maker_int(&db->maker, STR("duration"), to - from, ROLE_NONE);
	finish(db, row);
}

static const struct db_table memory_table = {
	TABLE("rocpd_memory_allocate", memory_columns, on_memory),
	.joins = { JOINS, AGENT(JOIN_AGENT, "agent_id") },
};

/* ---- calls and ranges ---- */

enum { H_NAME = R_OWN };

static const struct db_column region_columns[] = {
	COLUMNS("start", "end"),
	[H_NAME] = { .name = "name_id" },
	ARG("parent_stack_id", "ancestor", DB_SET, JOIN_EVENT),
	EXTERNAL,
};

static enum kind
kind_of_region(struct str cat)
{
	static const struct {
		struct str start;
		enum kind kind;
	} kinds[] = { { STR_INIT("HIP_"), KIND_RUNTIME },
		{ STR_INIT("HSA_"), KIND_DRIVER },
		{ STR_INIT("RCCL_API"), KIND_RUNTIME },
		{ STR_INIT("ROCDECODE_"), KIND_RUNTIME },
		{ STR_INIT("ROCJPEG_"), KIND_RUNTIME },
		{ STR_INIT("MARKER_CORE"), KIND_ANNOTATION } };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (str_starts(cat, kinds[i].start))
			return kinds[i].kind;
	return KIND_SLICE;
}

/* Process-wide ranges overlap. */
static void
begin_marker(struct db *db, const struct db_row *row, struct str cat)
{
	struct rocpd *r = db->state;
	struct str name = db_row_string(db, row, H_NAME);
	bool is_async = str_starts(name, STR("roctxProcessRange"));
	struct str text =
	    rocpd_member(r, db_text(db, row, R_EXTDATA), "message");

	if (text.len == 0)
		text = name;
	if (is_async)
		db_begin(db, KIND_ASYNC, cat, text);
	else
		marker_begin(db, cat, text);
	maker_str(&db->maker, STR("operation"), db_row_string(db, row, H_NAME));
}

static void
on_region(struct db *db, const struct db_row *row)
{
	struct str cat = category_of(db, row);
	enum kind kind = kind_of_region(cat);
	int64_t stack;

	if (cat.len == 0) /* maybe a call */
		db->s->skipped[SKIP_CATEGORY]++;
	if (kind == KIND_ANNOTATION)
		begin_marker(db, row, cat);
	else
		db_begin(db, kind, cat, db_row_string(db, row, H_NAME));
	track(db, row);
	db_times(db, row, R_START, R_END);
	if (db_int(row, R_STACK, &stack) && stack != 0)
		maker_int(&db->maker, STR("correlation"), stack,
		    (KIND_BIT(kind) & KINDS_LAUNCH) != 0 ? ROLE_CORR
							 : ROLE_NONE);
	finish(db, row);
}

static const struct db_table region_table = {
	TABLE("rocpd_region", region_columns, on_region),
	.joins = { JOINS },
};

/* ---- samples, counters, graphs ---- */

enum { S_NAME = R_OWN, S_TRACK };

static const struct db_column sample_columns[] = {
	COLUMNS("timestamp", "timestamp"),
	[S_NAME] = { .name = "name_id" },
	[S_TRACK] = { .name = "name_id", .join = JOIN_TRACK },
};

static void
on_sample(struct db *db, const struct db_row *row)
{
	struct str cat = category_of(db, row);
	struct str text =
	    rocpd_member(db->state, db_text(db, row, R_EXTDATA), "message");

	if (text.len == 0)
		text = db_row_string(db, row, S_NAME);
	if (text.len == 0)
		text = db_row_string(db, row, S_TRACK);
	db_begin(db, KIND_INSTANT, cat, text);
	maker_phase(&db->maker, 'i');
	track(db, row);
	(void)db_start(db, row, R_START);
	db_end(db, row);
}

static const struct db_table sample_table = {
	TABLE("rocpd_sample", sample_columns, on_sample),
	.joins = { JOINS },
};

enum { P_TIME, P_NAME, P_VALUE, P_PROCESS, P_PID, P_SAMPLE };

static const struct db_column counter_columns[] = {
	[P_TIME] = { .name = "timestamp", .join = JOIN_SAMPLE },
	[P_NAME] = { .name = "name", .join = JOIN_COUNTER },
	[P_VALUE] = ARG("value", "value", DB_ARG, 0),
	[P_PROCESS] = { .name = "pid", .join = JOIN_TRACK },
	[P_PID] = { .name = "pid", .join = JOIN_PROCESS },
	[P_SAMPLE] = { .name = "sample_id" },
};

static void
on_counter(struct db *db, const struct db_row *row)
{
	const char *key = row->table->joins[JOIN_SAMPLE - 1].key;
	int64_t sample;

	/* each row fits one of the next two tables */
	if (db_int(row, P_SAMPLE, &sample) != (strcmp(key, "id") == 0))
		return;
	db_begin(db, KIND_COUNTER, STR(""), db_text(db, row, P_NAME));
	maker_phase(&db->maker, 'C');
	db_track(db, db_number(row, P_PID), NULL);
	(void)db_start(db, row, P_TIME);
	db_args(db, row);
	db_end(db, row);
}

/*
 * Counters of samples; those of dispatches are arguments. A sample is found by
 * its event, or a streaming counter's by number.
 */
#define COUNTERS(sample_key, by)                                               \
	.name = "rocpd_pmc_event", .columns = counter_columns,                 \
	.ncolumns = sizeof counter_columns / sizeof *counter_columns,          \
	.where = "j1.timestamp NOTNULL", .process = P_PROCESS,                 \
	.row = on_counter,                                                     \
	.joins = { [JOIN_SAMPLE - 1] = { "rocpd_sample", sample_key, by },     \
		[JOIN_TRACK - 1] = { "rocpd_track", "id", "j1.track_id" },     \
		[JOIN_PROCESS - 1] = { "rocpd_info_process", "id", "j2.pid" }, \
		[JOIN_COUNTER - 1] = { "rocpd_info_pmc", "id", "pmc_id" } }

static const struct db_table counter_table = { COUNTERS(
    "event_id", "event_id") };
static const struct db_table streamed_table = { COUNTERS("id", "sample_id") };

static const struct db_column graph_columns[] = {
	COLUMNS("start", "end"),
	DEVICE,
	LAUNCH,
	ARG("queue_id", "queue", DB_ARG, 0),
	ARG("graph_exec_id", "graph_exec_id", DB_SET, 0),
	ARG("kernel_dispatch_count", "kernels", DB_ARG, 0),
};

static void
on_graph(struct db *db, const struct db_row *row)
{
	db_begin(db, KIND_SLICE, category_of(db, row), STR("graph launch"));
	track(db, row);
	db_times(db, row, R_START, R_END);
	finish(db, row);
}

static const struct db_table graph_table = {
	TABLE("rocpd_graph_launch", graph_columns, on_graph),
	.joins = { JOINS, AGENT(JOIN_AGENT, "agent_id") },
};

/* HIP_EVENT_RECORD and HIP_EVENT_WAIT, when the GPU stream reaches them. */
static const struct db_column event_columns[] = {
	COLUMNS("start", "end"),
	[H_NAME] = { .name = "name_id" },
	DEVICE,
	GPU_STREAM,
	LAUNCH,
	EXTERNAL,
	ARG("queue_id", "queue", DB_ARG, 0),
	ARG("source_queue_id", "source_queue", DB_ARG, 0),
};

static void
on_event(struct db *db, const struct db_row *row)
{
	struct str name = db_row_string(db, row, H_NAME);
	bool waits = str_find(name, STR("WAIT"), false) >= 0;

	db_begin(
	    db, waits ? KIND_SYNC : KIND_GPU_EVENT, category_of(db, row), name);
	track(db, row);
	db_times(db, row, R_START, R_END);
	finish(db, row);
}

static const struct db_table event_table = {
	TABLE("rocpd_hip_event", event_columns, on_event),
	.joins = { JOINS, AGENT(JOIN_AGENT, "agent_id") },
};

const struct db_table *const rocpd_tables[] = { &kernel_table, &copy_table,
	&memory_table, &region_table, &sample_table, &graph_table, &event_table,
	&counter_table, &streamed_table, NULL };
