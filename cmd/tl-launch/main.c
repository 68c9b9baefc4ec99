/* SPDX-License-Identifier: MIT */
/*
 * tl-launch: what does launching cost?
 *
 * A sink: a record for each call that launches GPU work, and further ones for
 * queues, copies and what the host does between launches. See launch.h.
 */
#include "cmd/tl-launch/launch.h"

#define OPT_API_OUTLIER (OPT_LONG + 0)
#define OPT_BY (OPT_LONG + 1)
#define OPT_CAUSES (OPT_LONG + 2)
#define OPT_DELAY_OUTLIER (OPT_LONG + 3)
#define OPT_FULL (OPT_LONG + 4)

#define API_OUTLIER_NS 50000
#define DELAY_OUTLIER_NS 100000
#define FULL 1024 /* launches that a queue of CUDA holds */
/* Columns that may be keys. */
#define BY_WORDS "api, op, kernel, thread, pid, step, phase, dev, gpu_stream"

static const struct opt options[] = {
	{ OPT_API_OUTLIER, "api-outlier", "TIME",
	    "longer calls are outliers (50us)" },
	{ OPT_BY, "by", "WHAT,...", BY_WORDS },
	{ OPT_CAUSES, "causes", "FILE",
	    "more rules: names of calls and their cause" },
	{ OPT_DELAY_OUTLIER, "delay-outlier", "TIME",
	    "longer queue delays are outliers (100us)" },
	{ OPT_FULL, "full", "N", "a queue of N is full (1024)" },
	OPT_BUCKET,
	OPT_SINK_LIST_ROW,
	OPT_SINK_TABLE_ROW,
	OPT_SINK,
};

static const struct about about = {
	"what launching costs: API time, queue delay, what a graph would save",
	"[OPTIONS] [FILE...]",
	"tl-launch trace.json.gz",
};

/* ---- columns ---- */

#define AT(field) offsetof(struct launch_record, field)
#define OF_QUEUE(field) C_INT + offsetof(struct queue, field)
#define OF_BOTH(field) C_INT + offsetof(struct pace, field)
#define OF_STRETCH(field) C_INT + offsetof(struct stretch, field)
#define OF_COST(field) C_INT + offsetof(struct cost, field)
#define NONE UNIT_NONE
#define NS UNIT_NS
#define COUNT UNIT_COUNT
#define NAME COL_NAME
#define MINOR COL_MINOR

#define STAT(id, type, from, m)                                 \
	{                                                       \
		{ id, NULL, type, NS, 0, 0 }, from, false, m, 0 \
	}
#define STATS(id, m)                                      \
	STAT(id "_mean", COL_REAL, SINK_MEAN, m),         \
	    STAT(id "_median", COL_REAL, SINK_MEDIAN, m), \
	    STAT(id "_min", COL_INT, SINK_MIN, m),        \
	    STAT(id "_max", COL_INT, SINK_MAX, m),        \
	    STAT(id "_std_all", COL_REAL, SINK_STD_ALL, m)

/* clang-format off */
static const struct sink_column columns[] = {
	{ { "api", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_TEXT, true, AT(name), 0 },
	{ { "op", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_TEXT, true, AT(op), 0 },
	{ { "kernel", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_TEXT, true, AT(kernel), 0 },
	{ { "thread", NULL, COL_TEXT, NONE, 0, 0 }, SINK_THREAD, true, 0, 0 },
	{ { "pid", NULL, COL_INT, NONE, MINOR, 0 }, SINK_KEY, true, AT(pid), 0 },
	{ { "tid", NULL, COL_INT, NONE, MINOR, 0 }, SINK_KEY, true, AT(tid), 0 },
	{ { "step", NULL, COL_INT, NONE, 0, 0 }, SINK_KEY, true, AT(step), 0 },
	{ { "phase", NULL, COL_TEXT, NONE, 0, 0 }, SINK_KEY, true, AT(phase), 0 },
	{ { "dev", NULL, COL_INT, NONE, 0, 0 }, SINK_KEY, true, AT(dev), 0 },
	{ { "gpu_stream", NULL, COL_INT, NONE, 0, 0 }, SINK_KEY, true, AT(gpu_stream), 0 },
	{ { "copy", NULL, COL_TEXT, NONE, 0, 0 }, SINK_TEXT, true, AT(name), 0 },
	{ { "size", NULL, COL_TEXT, NONE, 0, 0 }, SINK_TEXT, true, AT(size), 0 },
	{ { "copy_bytes", NULL, COL_INT, UNIT_BYTES, 0, 0 }, SINK_INT, true, AT(bytes), 0 },
	{ { "direction", NULL, COL_TEXT, NONE, 0, 0 }, SINK_TEXT, true, AT(op), 0 },
	{ { "range", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_TEXT, true, AT(name), 0 },
	{ { "cat", NULL, COL_TEXT, NONE, 0, 0 }, SINK_TEXT, true, AT(op), 0 },

	/* of launches */
	{ { "count", NULL, COL_INT, COUNT, 0, 0 }, SINK_COUNT, false, 0, 0 },
	{ { "gpu_events", NULL, COL_INT, COUNT, MINOR, 0 }, SINK_SUM, false, M_GPU, 0 },
	{ { "total_ns_sum", NULL, COL_INT, NS, MINOR, 0 }, SINK_CELL, false, C_TOTAL_SUM, 0 },
	{ { "api_ns_sum", NULL, COL_INT, NS, COL_SHARE, 0 }, SINK_SUM, false, M_API, 0 },
	{ { "queue_ns_sum", NULL, COL_INT, NS, 0, 0 }, SINK_SUM, false, M_QUEUE, 0 },
	{ { "kernel_ns_sum", NULL, COL_INT, NS, 0, 0 }, SINK_SUM, false, M_KERNEL, 0 },
	STATS("total_ns", M_TOTAL),
	STATS("api_ns", M_API),
	STAT("api_ns_std", COL_REAL, SINK_STD, M_API),
	STATS("queue_ns", M_QUEUE),
	STATS("kernel_ns", M_KERNEL),
	{ { "pct_of_api", "Time %", COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_SHARE, false, M_API, 0 },
	{ { "api_ns_p95", NULL, COL_REAL, NS, 0, 0 }, SINK_P95, false, M_API, 0 },
	{ { "api_ns_p99", NULL, COL_REAL, NS, MINOR, 0 }, SINK_P99, false, M_API, 0 },
	{ { "queue_ns_p95", NULL, COL_REAL, NS, 0, 0 }, SINK_P95, false, M_QUEUE, 0 },
	{ { "queue_ns_p99", NULL, COL_REAL, NS, MINOR, 0 }, SINK_P99, false, M_QUEUE, 0 },
	{ { "api_longer_count", NULL, COL_INT, COUNT, 0, 0 }, SINK_CELL, false, C_LONGER, 0 },
	{ { "short_kernel_count", NULL, COL_INT, COUNT, MINOR, 0 }, SINK_CELL, false, C_SHORT, 0 },
	{ { "api_outlier_count", NULL, COL_INT, COUNT, MINOR, 0 }, SINK_CELL, false, C_API_OUTLIERS, 0 },
	{ { "delay_outlier_count", NULL, COL_INT, COUNT, MINOR, 0 }, SINK_CELL, false, C_DELAY_OUTLIERS, 0 },
	{ { "op_count", NULL, COL_INT, COUNT, 0, 0 }, SINK_CELL, false, C_DELAYS, 0 },
	{ { "op_delay_ns_sum", NULL, COL_INT, NS, COL_SHARE, 0 }, SINK_SUM, false, M_OP_DELAY, 0 },
	{ { "op_delay_ns_mean", NULL, COL_REAL, NS, 0, 0 }, SINK_MEAN, false, M_OP_DELAY, 0 },
	{ { "op_delay_ns_p95", NULL, COL_REAL, NS, 0, 0 }, SINK_P95, false, M_OP_DELAY, 0 },
	{ { "start_delay_ns_sum", NULL, COL_INT, NS, 0, 0 }, SINK_SUM, false, M_START_DELAY, 0 },
	{ { "start_delay_ns_mean", NULL, COL_REAL, NS, 0, 0 }, SINK_MEAN, false, M_START_DELAY, 0 },
	{ { "start_delay_ns_p95", NULL, COL_REAL, NS, 0, 0 }, SINK_P95, false, M_START_DELAY, 0 },

	/* of one launch */
	{ { "what", NULL, COL_TEXT, NONE, 0, 0 }, SINK_TEXT, false, AT(name), 0 },
	{ { "uid", NULL, COL_INT, NONE, 0, 0 }, SINK_UID, false, AT(rec.uid), 0 },
	{ { "last_uid", NULL, COL_INT, NONE, MINOR, 0 }, SINK_CELL, false, C_LAST_UID, 0 },
	{ { "ts_ns", NULL, COL_INT, NS, COL_POSITION, 0 }, SINK_CELL, false, C_START, 0 },
	{ { "api_ns", NULL, COL_INT, NS, COL_SHARE, 0 }, SINK_INT, false, AT(api_ns), 0 },
	{ { "queue_ns", NULL, COL_INT, NS, 0, 0 }, SINK_INT, false, AT(queue_ns), 0 },
	{ { "kernel_ns", NULL, COL_INT, NS, 0, 0 }, SINK_INT, false, AT(kernel_ns), 0 },
	{ { "total_ns", NULL, COL_INT, NS, MINOR, 0 }, SINK_CELL, false, C_TOTAL, 0 },
	{ { "op_delay_ns", NULL, COL_INT, NS, MINOR, 0 }, SINK_INT, false, AT(op_delay_ns), 0 },
	{ { "kernel_uid", NULL, COL_INT, NONE, MINOR, 0 }, SINK_UID, false, AT(kernel_uid), 0 },

	/* of queues */
	{ { "points", NULL, COL_INT, COUNT, MINOR, 0 }, SINK_CELL, false, OF_QUEUE(points), 0 },
	{ { "length_mean", NULL, COL_REAL, COUNT, 0, 0 }, SINK_CELL, false, C_REAL + offsetof(struct queue, mean), 0 },
	{ { "length_max", NULL, COL_INT, COUNT, 0, 0 }, SINK_CELL, false, OF_QUEUE(longest), 0 },
	{ { "length_time_mean", NULL, COL_REAL, COUNT, 0, 0 }, SINK_CELL, false, C_REAL + offsetof(struct queue, time_mean), 0 },
	{ { "length_time_median", NULL, COL_INT, COUNT, 0, 0 }, SINK_CELL, false, OF_QUEUE(median), 0 },
	{ { "length_time_p95", NULL, COL_INT, COUNT, 0, 0 }, SINK_CELL, false, OF_QUEUE(p95), 0 },
	{ { "length_time_p99", NULL, COL_INT, COUNT, MINOR, 0 }, SINK_CELL, false, OF_QUEUE(p99), 0 },
	{ { "span_ns", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, OF_QUEUE(span_ns), 0 },
	{ { "full_ns", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, OF_QUEUE(full_ns), 0 },
	{ { "full_percent", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_CELL, false, C_FULL_SHARE, 0 },
	{ { "length", NULL, COL_INT, COUNT, 0, 0 }, SINK_INT, false, AT(ngpu), 0 },

	/* of copies */
	{ { "is_pageable", NULL, COL_BOOL, NONE, 0, 0 }, SINK_CELL, false, C_PAGEABLE, 0 },
	{ { "bytes_sum", NULL, COL_INT, UNIT_BYTES, 0, 0 }, SINK_CELL, false, C_BYTES, 0 },
	{ { "time_ns_sum", NULL, COL_INT, NS, COL_SHARE, 0 }, SINK_SUM, false, M_KERNEL, 0 },
	{ { "time_ns_mean", NULL, COL_REAL, NS, 0, 0 }, SINK_MEAN, false, M_KERNEL, 0 },
	STAT("time_ns_median", COL_REAL, SINK_MEDIAN, M_KERNEL),
	STAT("time_ns_std", COL_REAL, SINK_STD, M_KERNEL),
	{ { "time_ns_min", NULL, COL_INT, NS, 0, 0 }, SINK_MIN, false, M_KERNEL, 0 },
	{ { "time_ns_max", NULL, COL_INT, NS, 0, 0 }, SINK_MAX, false, M_KERNEL, 0 },
	{ { "busy_ns", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, C_BUSY, 0 },
	{ { "gb_per_s", NULL, COL_REAL, NONE, 0, 0 }, SINK_CELL, false, C_RATE, 0 },
	{ { "zero_length_count", NULL, COL_INT, COUNT, MINOR, 0 }, SINK_CELL, false, C_UNTIMED, 0 },

	/* of ranges */
	{ { "range_count", NULL, COL_INT, COUNT, 0, 0 }, SINK_SUM, false, M_GPU, 0 },
	{ { "range_ns_sum", NULL, COL_INT, NS, 0, 0 }, SINK_SUM, false, M_API, 0 },
	{ { "proj_ns_sum", NULL, COL_INT, NS, COL_SHARE, 0 }, SINK_SUM, false, M_KERNEL, 0 },
	STAT("proj_ns_mean", COL_REAL, SINK_MEAN, M_KERNEL),
	STAT("proj_ns_median", COL_REAL, SINK_MEDIAN, M_KERNEL),
	STAT("proj_ns_min", COL_INT, SINK_MIN, M_KERNEL),
	STAT("proj_ns_max", COL_INT, SINK_MAX, M_KERNEL),
	STAT("proj_ns_std", COL_REAL, SINK_STD, M_KERNEL),
	STAT("kernel_ns_std", COL_REAL, SINK_STD, M_KERNEL),

	/* of what the host does */
	{ { "over", NULL, COL_TEXT, NONE, 0, 0 }, SINK_TEXT, false, AT(op), 0 },
	{ { "layer", NULL, COL_TEXT, NONE, 0, 0 }, SINK_TEXT, false, AT(name), 0 },
	{ { "time_ns", NULL, COL_INT, NS, COL_SHARE, 0 }, SINK_INT, false, AT(api_ns), 0 },
	{ { "percent", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_CELL, false, C_LAYER_SHARE, 0 },
	{ { "per_launch_ns", NULL, COL_REAL, NS, 0, 0 }, SINK_REAL, false, AT(real), 0 },
	{ { "launches", NULL, COL_INT, COUNT, 0, 0 }, SINK_CELL, false, OF_BOTH(nlaunches), 0 },
	{ { "starved", NULL, COL_INT, COUNT, 0, 0 }, SINK_CELL, false, OF_COST(nlate), 0 },
	{ { "launch_interval_ns", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, OF_BOTH(interval_ns), 0 },
	{ { "launch_work_ns", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, OF_BOTH(work_ns), 0 },
	{ { "graph_gap_ns", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, OF_COST(graph_gap_ns), 0 },
	{ { "graph_gap_from", NULL, COL_TEXT, NONE, MINOR, 0 }, SINK_CELL, false, C_GAP_FROM, 0 },
	{ { "graph_launch_ns", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, OF_COST(graph_launch_ns), 0 },
	{ { "graph_launch_from", NULL, COL_TEXT, NONE, MINOR, 0 }, SINK_CELL, false, C_LAUNCH_FROM, 0 },
	{ { "graph_ns", NULL, COL_INT, NS, COL_SHARE, 0 }, SINK_SUM, false, M_API, 0 },
	{ { "wall_ns", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, OF_STRETCH(wall_ns), 0 },
	{ { "gaps_ns", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, OF_STRETCH(gaps_ns), 0 },
	{ { "start_ns", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, OF_STRETCH(start_ns), 0 },
	{ { "sync_ns", NULL, COL_INT, NS, MINOR, 0 }, SINK_CELL, false, OF_STRETCH(blocked_ns[BLOCKED_SYNC]), 0 },
	{ { "copy_block_ns", NULL, COL_INT, NS, MINOR, 0 }, SINK_CELL, false, OF_STRETCH(blocked_ns[BLOCKED_COPY]), 0 },
	{ { "data_ns", NULL, COL_INT, NS, MINOR, 0 }, SINK_CELL, false, OF_STRETCH(blocked_ns[BLOCKED_DATA]), 0 },
	{ { "alloc_ns", NULL, COL_INT, NS, MINOR, 0 }, SINK_CELL, false, OF_STRETCH(blocked_ns[BLOCKED_ALLOC]), 0 },
	{ { "missing_ns", NULL, COL_INT, NS, MINOR, 0 }, SINK_CELL, false, OF_STRETCH(blocked_ns[BLOCKED_MISSING]), 0 },
	{ { "outside_ns", NULL, COL_INT, NS, MINOR, 0 }, SINK_CELL, false, OF_STRETCH(blocked_ns[BLOCKED_OUTSIDE]), 0 },
	{ { "host_ns", NULL, COL_INT, NS, MINOR, 0 }, SINK_CELL, false, OF_STRETCH(host_ns), 0 },
	{ { "other_ns", NULL, COL_INT, NS, MINOR, 0 }, SINK_CELL, false, C_OTHER, 0 },
	{ { "forbidden_by", NULL, COL_JSON, NONE, MINOR, 0 }, SINK_CELL, false, C_FORBIDS, 0 },
	SINK_COLUMNS_END,
};
/* clang-format on */

static const struct sink_measure measures[] = {
	[M_API] = { AT(api_ns), NULL, false },
	[M_QUEUE] = { AT(queue_ns), NULL, false },
	[M_KERNEL] = { AT(kernel_ns), NULL, false },
	[M_GPU] = { AT(ngpu), NULL, false },
	[M_OP_DELAY] = { AT(op_delay_ns), NULL, false },
	[M_START_DELAY] = { AT(start_delay_ns), NULL, false },
	[M_TOTAL] = { AT(total_ns), NULL, false },
};

/* ---- tables ---- */

enum {
	BY_API,
	BY_OP,
	OF_LAUNCHES,
	OF_QUEUES,
	OF_POINTS,
	OF_COPIES,
	OF_BANDWIDTH,
	OF_COST_OF_ALL,
	OF_LAYERS,
	OF_GRAPHS,
	OF_PAIRS,
	OF_HIP,
	OF_CALLS,
	OF_COPY_BYTES,
	OF_RANGES,
	OF_RANGE_KERNELS,
};

#define LABELS(...)                                                     \
	.labels = (const struct sink_label[]){ __VA_ARGS__ },           \
	.nlabels = sizeof((const struct sink_label[]){ __VA_ARGS__ }) / \
	    sizeof(struct sink_label)
#define API_SUMMARY                                                           \
	.keys = "api",                                                        \
	.columns = "count,api_ns_sum,pct_of_api,api_ns_mean,api_ns_median,"   \
		   "api_ns_min,api_ns_max,api_ns_std_all,+api_ns_std",        \
	.measure = M_API, .by = IS_CALL,                                      \
	LABELS({ "api", "Name", 0 }, { "count", "Instances", 0 },             \
	    { "api_ns_sum", "Total Time (ns)", 0 },                           \
	    { "api_ns_mean", "Avg (ns)", 0 },                                 \
	    { "api_ns_median", "Med (ns)", 0 },                               \
	    { "api_ns_min", "Min (ns)", 0 }, { "api_ns_max", "Max (ns)", 0 }, \
	    { "api_ns_std_all", "StdDev (ns)", 0 },                           \
	    { "api_ns_std", "sample StdDev (ns)", 0 })

/* .by: what a table's records are. */
static struct sink_table tables[] = {
	[BY_API] = { .name = "launches_by_api",
	    .keys = "api" /* what --by says */,
	    .columns =
		"count,gpu_events,total_ns_sum,api_ns_sum,queue_ns_sum,"
		"kernel_ns_sum,api_ns_median,api_ns_p95,api_ns_p99,"
		"queue_ns_median,queue_ns_p95,queue_ns_p99,api_longer_count,"
		"short_kernel_count,api_outlier_count,delay_outlier_count",
	    .measure = M_API,
	    .by = IS_LAUNCH },
	[BY_OP] = { .name = "launches_by_op",
	    .keys = "op",
	    .columns =
		"op_count,count,gpu_events,op_delay_ns_sum,op_delay_ns_mean,"
		"op_delay_ns_p95,start_delay_ns_sum,start_delay_ns_mean,"
		"start_delay_ns_p95,api_ns_sum,queue_ns_sum,kernel_ns_sum",
	    .measure = M_OP_DELAY,
	    .by = IS_LAUNCH },
	[OF_LAUNCHES] = { .name = "launches",
	    .columns = "uid,api,api_ns,queue_ns,kernel_ns,total_ns,op,"
		       "op_delay_ns,kernel,kernel_uid,gpu_events,thread,step,"
		       "dev,gpu_stream,ts_ns",
	    .measure = M_API,
	    .is_single = true,
	    .by = IS_LAUNCH },
	[OF_QUEUES] = { .name = "queue_length",
	    .columns = "pid,dev,gpu_stream,points,length_mean,length_max,"
		       "length_time_mean,length_time_median,length_time_p95,"
		       "length_time_p99,span_ns,full_ns,full_percent",
	    .order = SINK_AS_ADDED,
	    .is_single = true,
	    .by = IS_QUEUE },
	[OF_POINTS] = { .name = "queue_length_series",
	    .columns = "ts_ns,pid,dev,gpu_stream,length",
	    .order = SINK_AS_ADDED,
	    .is_single = true,
	    .by = IS_POINT },
	[OF_COPIES] = { .name = "copies",
	    .keys = "dev,copy,size",
	    .columns = "is_pageable,count,bytes_sum,time_ns_sum,busy_ns,"
		       "gb_per_s,zero_length_count,+time_ns_mean,"
		       "+time_ns_median,+time_ns_min,+time_ns_max,"
		       "+time_ns_std",
	    .measure = M_KERNEL,
	    .by = IS_COPY },
	[OF_BANDWIDTH] = { .name = "copy_bandwidth_series",
	    .columns = "ts_ns,dev,copy,gb_per_s",
	    .order = SINK_AS_ADDED,
	    .is_single = true,
	    .by = IS_BANDWIDTH },
	[OF_COST_OF_ALL] = { .name = "launch_cost",
	    .columns = "launches,gpu_events,starved,launch_interval_ns,"
		       "launch_work_ns,graph_gap_ns,graph_gap_from,"
		       "graph_launch_ns,graph_launch_from",
	    .order = SINK_AS_ADDED,
	    .is_single = true,
	    .by = IS_COST },
	[OF_LAYERS] = { .name = "launch_layers",
	    .columns = "over,layer,time_ns,percent,per_launch_ns",
	    .order = SINK_AS_ADDED,
	    .is_single = true,
	    .by = IS_LAYER },
	[OF_GRAPHS] = { .name = "graph_estimate",
	    .columns =
		"what,step,uid,last_uid,thread,launches,gpu_events,"
		"launch_interval_ns,launch_work_ns,wall_ns,busy_ns,gaps_ns,"
		"start_ns,sync_ns,copy_block_ns,data_ns,alloc_ns,missing_ns,"
		"outside_ns,host_ns,other_ns,graph_ns,forbidden_by,ts_ns",
	    .measure = M_API,
	    .is_single = true,
	    .by = IS_STRETCH },
	/* T = A + Q + K */
	[OF_PAIRS] = { .name = "api_kernel_summary",
	    .keys = "pid,tid,dev,api,kernel",
	    .columns =
		"count,total_ns_mean,total_ns_median,total_ns_min,"
		"total_ns_max,total_ns_std_all,api_ns_mean,api_ns_median,"
		"api_ns_min,api_ns_max,api_ns_std_all,queue_ns_mean,"
		"queue_ns_median,queue_ns_min,queue_ns_max,queue_ns_std_all,"
		"kernel_ns_mean,kernel_ns_median,kernel_ns_min,"
		"kernel_ns_max,kernel_ns_std_all",
	    .measure = M_KERNEL,
	    .by = IS_PAIR,
	    LABELS({ "pid", "PID", 0 }, { "tid", "TID", 0 },
		{ "dev", "DevId", 0 }, { "api", "API Name", 0 },
		{ "kernel", "Kernel Name", 0 }, { "count", "Count", 0 },
		{ "total_ns_mean", "TAvg_ns", 0 },
		{ "total_ns_median", "TMed_ns", 0 },
		{ "total_ns_min", "TMin_ns", 0 },
		{ "total_ns_max", "TMax_ns", 0 },
		{ "total_ns_std_all", "TStdDev_ns", 0 },
		{ "api_ns_mean", "AAvg_ns", 0 },
		{ "api_ns_median", "AMed_ns", 0 },
		{ "api_ns_min", "AMin_ns", 0 }, { "api_ns_max", "AMax_ns", 0 },
		{ "api_ns_std_all", "AStdDev_ns", 0 },
		{ "queue_ns_mean", "QAvg_ns", 0 },
		{ "queue_ns_median", "QMed_ns", 0 },
		{ "queue_ns_min", "QMin_ns", 0 },
		{ "queue_ns_max", "QMax_ns", 0 },
		{ "queue_ns_std_all", "QStdDev_ns", 0 },
		{ "kernel_ns_mean", "KAvg_ns", 0 },
		{ "kernel_ns_median", "KMed_ns", 0 },
		{ "kernel_ns_min", "KMin_ns", 0 },
		{ "kernel_ns_max", "KMax_ns", 0 },
		{ "kernel_ns_std_all", "KStdDev_ns", 0 }) },
	[OF_HIP] = { .name = "hip_summary", API_SUMMARY },
	[OF_CALLS] = { .name = "api_summary", API_SUMMARY },
	[OF_COPY_BYTES] = { .name = "memory_copy_by_copy_bytes",
	    .keys = "copy_bytes,direction",
	    .columns = "count,bytes_sum,time_ns_sum,time_ns_mean,"
		       "time_ns_min,time_ns_max,gb_per_s,+time_ns_median,"
		       "+time_ns_std",
	    .order = SINK_BY_KEY,
	    .measure = M_KERNEL,
	    .ties = "direction",
	    .by = IS_COPY },
	[OF_RANGES] = { .name = "launches_by_range",
	    .keys = "range,cat",
	    .columns = "count,gpu_events,range_ns_sum,proj_ns_sum,"
		       "proj_ns_mean,proj_ns_median,proj_ns_min,proj_ns_max,"
		       "proj_ns_std",
	    .measure = M_KERNEL,
	    .by = IS_RANGE },
	[OF_RANGE_KERNELS] = { .name = "kernels_by_range",
	    .keys = "range,cat,kernel",
	    .columns = "range_count,count,kernel_ns_sum,kernel_ns_mean,"
		       "kernel_ns_median,kernel_ns_min,kernel_ns_max,"
		       "kernel_ns_std",
	    .measure = M_KERNEL,
	    .by = IS_RANGE_KERNEL },
};

/* Series are long, and ranges mostly a program's own: printed only if named. */
static bool
is_asked(const struct sink *s, const struct sink_table *t)
{
	if (t == &tables[OF_POINTS] || t == &tables[OF_BANDWIDTH] ||
	    t == &tables[OF_RANGES] || t == &tables[OF_RANGE_KERNELS])
		return false;
	return s->dest.dir != NULL || t == &tables[BY_API];
}

static bool
is_member(const struct sink *s, const struct sink_plan *p, const void *record)
{
	const struct launch_record *r = record;

	if (p->table->by == IS_PAIR && r->what == IS_LAUNCH)
		return r->ngpu == 1;
	if (p->table == &tables[OF_COPY_BYTES] && r->op == INTERN_NONE)
		return false;
	/* HIP calls contain these, so their time is in HIP's */
	if (p->table == &tables[OF_HIP] && r->what == IS_CALL &&
	    str_starts(dict_get(s->dict, r->name), STR("hsa_")))
		return false;
	return r->what == p->table->by;
}

/* In a folder, calls of rocprofv3's traces go by TraceLens's name. */
static bool
fits(const struct sink *s, const struct sink_table *t)
{
	bool is_hip = s->sources.list.n > 0;

	for (size_t i = 0; i < s->sources.list.n; i++)
		is_hip = is_hip && s->sources.list.v[i].is_rocprof;
	return s->table != NULL || t->by != IS_CALL ||
	    is_hip == (t == &tables[OF_HIP]);
}

static void
add_notes(struct sink *s, const struct sink_plan *p, struct table *t)
{
	if (p->table->by != IS_COPY && p->table->by != IS_BANDWIDTH &&
	    p->table->by != IS_CALL)
		note_unlinked(t, &s->sources, "row");
	if (p->table->by == IS_STRETCH &&
	    ((const struct program *)s)->stretches.n == 0)
		table_note(t,
		    "no step, and no 20 launches that keep the GPU "
		    "waiting");
}

/* ---- reading ---- */

static void
take(struct sink *s, const struct stream_in *in, bool is_chosen)
{
	gather_event((struct program *)s, &in->ev, is_chosen);
}

static void
start(struct sink *s)
{
	struct program *g = (struct program *)s;

	if (!g->with_host)
		return;
	g->causes = causes_create();
	if (g->causes_file != NULL)
		causes_load(g->causes, g->causes_file);
}

/* Uids of grafted events are texts. */
static void
planned(struct sink *s, struct sink_plan *p)
{
	column_of_uids(p->columns.v, p->columns.n, "last_uid",
	    ((struct program *)s)->any_inst);
}

static void
explain_empty(struct sink *s)
{
	const struct sink_source sum = sink_sources_sum(&s->sources);

	sink_check_gpu(s);
	if (sum.nchosen > 0)
		die_nothing(MSG_NOT_LAUNCHED, s->sources.path, sum.nchosen);
	sink_die_empty(s);
}

static void
finish(struct sink *s)
{
	struct program *g = (struct program *)s;

	gather_end(g);
	sink_sources_check(&s->sources);
	if (g->nlaunches == 0 && !g->with_copies && g->ncalls == 0)
		explain_empty(s);
}

static void
free_all(struct sink *s)
{
	gather_free((struct program *)s);
}

/* ---- options ---- */

static bool
take_option(struct sink *s, const struct optparse *op, int ch)
{
	struct program *g = (struct program *)s;

	switch (ch) {
	case OPT_API_OUTLIER: g->api_outlier_ns = opt_time(op); return true;
	case OPT_BY: g->by = sink_opt_keys(op, BY_WORDS); return true;
	case OPT_CAUSES: g->causes_file = op->arg; return true;
	case OPT_DELAY_OUTLIER: g->delay_outlier_ns = opt_time(op); return true;
	case OPT_FULL: g->full = opt_int(op, 1, INT64_MAX); return true;
	default: return false;
	}
}

/* --by is about the printed table. */
static void
choose_keys(const struct program *g)
{
	static const char *const of_launches[] = { "op", "kernel", "step",
		"phase", "dev" };
	const struct sink_table *t = g->sink.named;

	if (g->by == NULL)
		return;
	if (t == NULL || t->by != IS_CALL) {
		tables[BY_API].keys = g->by;
		return;
	}
	for (size_t i = 0; i < sizeof of_launches / sizeof *of_launches; i++)
		if (sink_list_has(g->by, str_of(of_launches[i])))
			die_usage("option '--by': %s is by api, thread, pid or "
				  "gpu_stream",
			    t->name);
	tables[OF_HIP].keys = tables[OF_CALLS].keys = g->by;
}

/* Reads only what the printed tables need. */
static void
check_settings(struct sink *s)
{
	struct program *g = (struct program *)s;
	bool with_ops;

	choose_keys(g);
	with_ops = sink_list_has(tables[BY_API].keys, STR("op")) ||
	    sink_asked(s, &tables[BY_OP]) ||
	    sink_asked(s, &tables[OF_LAUNCHES]);

	select_check_gpu(&s->select);
	g->with_points = sink_asked(s, &tables[OF_POINTS]);
	g->with_queues = g->with_points || sink_asked(s, &tables[OF_QUEUES]);
	g->with_bandwidth = sink_asked(s, &tables[OF_BANDWIDTH]);
	g->with_copies = g->with_bandwidth ||
	    sink_asked(s, &tables[OF_COPIES]) ||
	    sink_asked(s, &tables[OF_COPY_BYTES]);
	g->with_calls =
	    sink_asked(s, &tables[OF_HIP]) || sink_asked(s, &tables[OF_CALLS]);
	g->with_range_kernels = sink_asked(s, &tables[OF_RANGE_KERNELS]);
	g->with_ranges =
	    g->with_range_kernels || sink_asked(s, &tables[OF_RANGES]);
	g->with_host = sink_asked(s, &tables[OF_COST_OF_ALL]) ||
	    sink_asked(s, &tables[OF_LAYERS]) ||
	    sink_asked(s, &tables[OF_GRAPHS]);
	g->by_phase = sink_list_has(tables[BY_API].keys, STR("phase"));
	s->select.need_windows |= g->by_phase ||
	    sink_asked(s, &tables[OF_LAUNCHES]) ||
	    sink_list_has(tables[BY_API].keys, STR("step"));
	s->kinds = select_kinds(&s->select, KINDS_GPU) | KINDS_LAUNCH;
	s->only_owners = !g->with_host && !g->with_calls && !g->with_ranges;
	if (g->with_ranges)
		s->kinds |= KIND_BIT(KIND_ANNOTATION);
	if (with_ops || g->with_host)
		s->kinds |= KIND_BIT(KIND_OP);
	if (g->with_host)
		s->kinds |= KIND_BIT(KIND_PYTHON) | KIND_BIT(KIND_ANNOTATION) |
		    KIND_BIT(KIND_OVERHEAD);
}

static const struct sink_def def = {
	.about = &about,
	.options = options,
	.columns = columns,
	.measures = measures,
	.nmeasures = sizeof measures / sizeof *measures,
	.tables = tables,
	.ntables = sizeof tables / sizeof *tables,
	.record_size = sizeof(struct launch_record),
	.want = WANT_TREE,
	.by_names = true,
	.option = take_option,
	.check = check_settings,
	.start = start,
	.take = take,
	.finish = finish,
	.empty = explain_empty,
	.free = free_all,
	.asked = is_asked,
	.fits = fits,
	.member = is_member,
	.planned = planned,
	.notes = add_notes,
	.cell = launch_cell,
};

int
main(int argc, char *argv[])
{
	struct program g = { .sink = { .def = &def },
		.api_outlier_ns = API_OUTLIER_NS,
		.delay_outlier_ns = DELAY_OUTLIER_NS,
		.full = FULL };

	return sink_main(&g.sink, argc, argv);
}
