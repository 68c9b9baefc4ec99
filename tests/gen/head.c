/* SPDX-License-Identifier: MIT */
/* Around the events: metadata keys, M events, the span. */
#include "gen.h"

#include <inttypes.h>
#include <stdio.h>

enum { M_DEVICES = 16 }; /* Kineto names this many, there or not */

/* A group's ranks; torch omits the middle of more than 30. */
static void
ranks_text(const struct conf *cf, enum pg pg, char *p, size_t size)
{
	int64_t n = pg_size(cf, pg), shown = n;
	size_t at = 0;

	if (n > 30)
		shown = 29;
	if (quirk_on(cf, Q_ELIDED_RANKS) && n > 1)
		shown = 1;
	at += (size_t)snprintf(p, size, "[");
	for (int64_t i = 0; i < shown; i++)
		at += (size_t)snprintf(p + at, size - at, "%s%" PRId64,
		    i > 0 ? ", " : "", pg_member(cf, pg, cf->rank, i));
	if (shown < n && !quirk_on(cf, Q_ELIDED_RANKS))
		at += (size_t)snprintf(p + at, size - at, ", ..., %" PRId64,
		    pg_member(cf, pg, cf->rank, n - 1));
	else if (shown < n)
		at += (size_t)snprintf(p + at, size - at, ", ...");
	snprintf(p + at, size - at, "]");
}

void
emit_init(struct emit *e, const struct conf *cf, struct buf *b, struct sim *s)
{
	memset(e, 0, sizeof *e);
	e->cf = cf;
	e->b = b;
	e->s = s;
	e->start = s->now;
	e->base = cf->fp_epoch || cf->int_us ? 1760000000000000000
					     : 3700000000000000000 / 1000;
	e->base += (int64_t)(mix(cf->seed, 1) % 10000000000000u);
	e->shift = plant_value(cf->skew, cf->nskew, cf->rank);
	e->pid = 41000 + 61 * cf->rank;
	e->tid[THR_MAIN] = e->pid;
	e->tid[THR_AUTOGRAD] = e->pid + 37;
	e->tid[THR_LOADER] = e->pid + 41;
	e->device = cf->rank % cf->devices;
	for (enum pg pg = 0; pg < PG_COUNT; pg++)
		ranks_text(cf, pg, e->pgtext[pg], sizeof e->pgtext[pg]);
}

static void
device(struct emit *e, int64_t id)
{
	if (e->cf->cuda)
		put_fmt(e->b,
		    "\n    {\n      \"id\": %" PRId64
		    ", \"name\": \"NVIDIA H100 80GB HBM3\", "
		    "\"totalGlobalMem\": 85024112640,\n"
		    "      \"computeMajor\": 9, \"computeMinor\": 0,\n"
		    "      \"maxThreadsPerBlock\": 1024, "
		    "\"maxThreadsPerMultiprocessor\": 2048,\n"
		    "      \"regsPerBlock\": 65536, \"warpSize\": 32,\n"
		    "      \"sharedMemPerBlock\": 49152, \"numSms\": 132,\n"
		    "      \"regsPerMultiprocessor\": 65536, "
		    "\"sharedMemPerBlockOptin\": 232448, "
		    "\"sharedMemPerMultiprocessor\": 233472\n    }",
		    id);
	else
		put_fmt(e->b,
		    "\n    {\n      \"id\": %" PRId64
		    ", \"name\": \"AMD Instinct MI300X\", "
		    "\"totalGlobalMem\": 206141652992,\n"
		    "      \"computeMajor\": 9, \"computeMinor\": 4,\n"
		    "      \"maxThreadsPerBlock\": 1024, "
		    "\"maxThreadsPerMultiprocessor\": 2048,\n"
		    "      \"regsPerBlock\": 65536, \"warpSize\": 64,\n"
		    "      \"sharedMemPerBlock\": 65536, \"numSms\": 304,\n"
		    "      \"maxSharedMemoryPerMultiProcessor\": 65536\n    }",
		    id);
}

static void
group(struct emit *e, enum pg pg)
{
	static const char *const desc[] = { "default_pg", "tp", "dp" };
	const struct conf *cf = e->cf;
	bool text = quirk_on(cf, Q_STRING_RANKS);
	int64_t n = pg_size(cf, pg);

	put_fmt(e->b,
	    "{\"pg_name\": \"%" PRId64 "\", \"pg_desc\": \"%s\", "
	    "\"backend_config\": \"cuda:nccl\", \"pg_size\": %" PRId64
	    ", \"ranks\": %s[",
	    pg_name(cf, pg, cf->rank), desc[pg], n, text ? "\"" : "");
	for (int64_t i = 0; i < n; i++) {
		if (i > 0)
			PUT(e->b, ", ");
		put_i64(e->b, pg_member(cf, pg, cf->rank, i));
	}
	put_str(e->b, text ? "]\"}" : "]}");
}

static void
distributed(struct emit *e)
{
	const struct conf *cf = e->cf;

	if (quirk_on(cf, Q_DISTINFO_STRING)) {
		put_fmt(e->b,
		    "  \"distributedInfo\": \"{\\\"backend\\\": \\\"nccl\\\", "
		    "\\\"rank\\\": %" PRId64 ", \\\"world_size\\\": %" PRId64
		    "}\",\n",
		    cf->rank, cf->ranks);
		return;
	}
	put_fmt(e->b,
	    "  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %" PRId64
	    ", \"world_size\": %" PRId64 ", \"pg_count\": %d, \"pg_config\": [",
	    cf->rank, cf->ranks, pg_size(cf, PG_TP) > 1 ? 3 : 1);
	group(e, PG_DEFAULT);
	if (pg_size(cf, PG_TP) > 1) {
		PUT(e->b, ", ");
		group(e, PG_TP);
		PUT(e->b, ", ");
		group(e, PG_DP);
	}
	PUT(e->b, "], \"nccl_version\": \"2.22.3\"},\n");
}

/* Every line ends in a comma and a newline. */
static void
metadata(struct emit *e)
{
	const struct conf *cf = e->cf;

	PUT(e->b, "  \"schemaVersion\": 1,\n  \"deviceProperties\": [");
	for (int64_t i = 0; i < cf->devices; i++) {
		if (i > 0)
			PUT(e->b, ",");
		device(e, i);
	}
	PUT(e->b, "\n  ],\n");
	if (cf->cuda)
		PUT(e->b,
		    "  \"cupti_version\": 24,\n"
		    "  \"cuda_runtime_version\": 12060,\n"
		    "  \"cuda_driver_version\": 12080,\n");
	else
		PUT(e->b,
		    "  \"roctracer_version\": 4.1,\n"
		    "  \"hip_runtime_version\": 60443484,\n"
		    "  \"hip_driver_version\": 60443484,\n");
	if (cf->ranks > 1)
		distributed(e);
	if (!cf->no_shapes)
		PUT(e->b, "  \"record_shapes\": 1,\n");
	if (!cf->no_python)
		PUT(e->b, "  \"with_stack\": 1,\n");
	if (!cf->no_memory)
		PUT(e->b, "  \"profile_memory\": 1,\n");
	if (quirk_on(cf, Q_EXTRA_KEYS))
		PUT(e->b,
		    "  \"WARNING\": [\"WARNING:2025-01-01 00:00:00 1:1 "
		    "Profiler.cpp:12] a \\\"quoted\\\" warning\"],\n"
		    "  \"metadata\": {\"job\": {\"id\": 7, \"tags\": []}, "
		    "\"big\": 12345678901234567890, \"pi\": 3.14},\n"
		    "  \"PYTORCH_VERSION\": \"2.7.1+gen\",\n"
		    "  \"traceEvent\": null,\n");
	put_fmt(e->b, "  \"trace_id\": \"%016" PRIX64 "%016" PRIX64 "\",\n",
	    mix(cf->seed, 2), mix(cf->seed, 3 + (uint64_t)cf->rank));
}

void
emit_head(struct emit *e)
{
	if (quirk_on(e->cf, Q_BOM))
		PUT(e->b, "\xef\xbb\xbf");
	if (e->cf->bare_array) {
		PUT(e->b, "[");
		return;
	}
	PUT(e->b, "{\n");
	if (!e->cf->metadata_last)
		metadata(e);
	PUT(e->b, "  \"traceEvents\": [");
}

static void
outer_frame(struct emit *e, int64_t id, const char *name)
{
	struct buf *b = e->b;
	int64_t t0 = file_time(e, e->start) - 90000 + 20000 * id;
	int64_t t1 = file_time(e, e->end) + 90000 - 20000 * id;

	event_open(e);
	PUT(b, "\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"");
	put_str(b, name);
	put_fmt(b,
	    "\", \"pid\": %" PRId64 ", \"tid\": %" PRId64 ",\n    \"ts\": ",
	    e->pid, e->tid[THR_MAIN]);
	put_ts(e, t0);
	PUT(b, ", \"dur\": ");
	put_dur(e, t0, t1);
	PUT(b, ",\n    \"args\": {\n      \"Python parent id\": ");
	put_str(b, id > 1 ? "1" : "null");
	put_fmt(b,
	    ", \"Python id\": %" PRId64 ", \"Ev Idx\": %" PRId64 "\n    }", id,
	    e->evidx++);
	event_close(e);
}

void
emit_frames(struct emit *e)
{
	outer_frame(e, 1, other_code(e->s, "train.py(140): <module>"));
	outer_frame(e, 2, other_code(e->s, "train.py(121): main"));
}

static void
meta(struct emit *e, const char *name, int64_t pid, int64_t tid,
    const char *key, const char *text, int64_t num)
{
	struct buf *b = e->b;

	event_open(e);
	put_fmt(b, "\"name\": \"%s\", \"ph\": \"M\", \"ts\": ", name);
	put_ts(e, file_time(e, e->start));
	put_fmt(b,
	    ", \"pid\": %" PRId64 ", \"tid\": %" PRId64
	    ",\n    \"args\": {\n      \"%s\": ",
	    pid, tid, key);
	if (text != NULL)
		put_fmt(b, "\"%s\"", text);
	else
		put_i64(b, num);
	PUT(b, "\n    }");
	event_close(e);
}

static void
process(struct emit *e, int64_t pid, const char *label, int64_t order)
{
	meta(e, "process_name", pid, 0, "name", "python3", 0);
	meta(e, "process_labels", pid, 0, "labels", label, 0);
	meta(e, "process_sort_index", pid, 0, "sort_index", NULL, order);
}

static void
thread(struct emit *e, int64_t pid, int64_t tid, const char *name)
{
	meta(e, "thread_name", pid, tid, "name", name, 0);
	meta(e, "thread_sort_index", pid, tid, "sort_index", NULL, tid);
}

static void
names(struct emit *e)
{
	char text[64];

	process(e, e->pid, "CPU", e->pid);
	for (int64_t i = 0; i < M_DEVICES; i++) {
		snprintf(text, sizeof text, "GPU %" PRId64, i);
		process(e, i, text, 16777216 + i);
	}
	for (int64_t i = 0; i < 2 + e->cf->streams; i++) {
		int64_t id = stream_id(e->cf, i);

		snprintf(text, sizeof text, "stream %" PRId64 " ", id);
		thread(e, e->device, id, text);
	}
	snprintf(text, sizeof text, "thread %" PRId64 " (python3)", e->pid);
	thread(e, e->pid, e->tid[THR_MAIN], text);
	snprintf(text, sizeof text, "thread %" PRId64 " (pt_autograd_0)",
	    e->tid[THR_AUTOGRAD]);
	thread(e, e->pid, e->tid[THR_AUTOGRAD], text);
}

/* The profiler's own span and the two instants without a category. */
static void
span(struct emit *e)
{
	struct buf *b = e->b;
	int64_t t0 = file_time(e, e->start) - 107000;
	int64_t t1 = file_time(e, e->end) + 107000;

	event_open(e);
	PUT(b, "\"ph\": \"X\", \"cat\": \"Trace\", \"ts\": ");
	put_ts(e, t0);
	PUT(b, ", \"dur\": ");
	put_dur(e, t0, t1);
	PUT(b,
	    ",\n    \"pid\": \"Spans\", \"tid\": \"PyTorch Profiler\",\n"
	    "    \"name\": \"PyTorch Profiler (0)\",\n    \"args\": {\n"
	    "      \"Op count\": 0\n    }");
	event_close(e);
	event_open(e);
	PUT(b, "\"name\": \"process_sort_index\", \"ph\": \"M\", \"ts\": ");
	put_ts(e, t0);
	PUT(b,
	    ",\n    \"pid\": \"Spans\", \"tid\": 0,\n    \"args\": {\n"
	    "      \"sort_index\": 536870912\n    }");
	event_close(e);
	event_open(e);
	PUT(b,
	    "\"name\": \"Iteration Start: PyTorch Profiler\", "
	    "\"ph\": \"i\", \"s\": \"g\",\n    \"pid\": \"Traces\", "
	    "\"tid\": \"Trace PyTorch Profiler\", \"ts\": ");
	put_ts(e, t0);
	event_close(e);
	event_open(e);
	PUT(b,
	    "\"name\": \"Record Window End\", \"ph\": \"i\", "
	    "\"s\": \"g\",\n    \"pid\": \"\", \"tid\": \"\", \"ts\": ");
	put_ts(e, t1 + 31000);
	event_close(e);
}

void
emit_tail(struct emit *e)
{
	const struct conf *cf = e->cf;

	if (!quirk_on(cf, Q_NO_META))
		names(e);
	span(e);
	if (quirk_on(cf, Q_TRAILING_COMMA))
		PUT(e->b, ",");
	PUT(e->b, "\n  ]");
	if (cf->bare_array) {
		PUT(e->b, "\n");
		return;
	}
	PUT(e->b, ",\n");
	if (cf->metadata_last)
		metadata(e);
	put_fmt(e->b,
	    "  \"traceName\": \"./traces/rank%" PRId64 ".json\",\n"
	    "  \"displayTimeUnit\": \"ms\"",
	    cf->rank);
	if (!cf->fp_epoch && !cf->int_us)
		PUT(e->b, ",\n  \"baseTimeNanoseconds\": 1751410836000000000");
	PUT(e->b, "\n}\n");
}
