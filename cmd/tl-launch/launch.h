/* SPDX-License-Identifier: MIT */
/*
 * tl-launch: keeps each call that launches GPU work with that work (gather.c).
 * When a source ends, each becomes a record, and the work of each GPU stream a
 * queue (queue.c). What launching costs the host (cost.c) needs all host events
 * (trace/host.h), which are read only for these tables.
 */
#ifndef TL_LAUNCH_H
#define TL_LAUNCH_H

#include "sink/sink.h"
#include "trace/account.h"

enum what {
	IS_LAUNCH,
	IS_PAIR, /* a launch and one of its several GPU events */
	IS_CALL, /* launching or not */
	IS_QUEUE,
	IS_POINT, /* a change of a queue's length */
	IS_COPY,
	IS_BANDWIDTH, /* a change of copy bandwidth */
	IS_COST,
	IS_LAYER,
	IS_STRETCH,      /* a run or a step */
	IS_RANGE,        /* an annotation around launches */
	IS_RANGE_KERNEL, /* a kernel, in an annotation around its launch */
};

struct launch_record {
	struct sink_record rec; /* uid, track, ts: of the call or copy */
	uint8_t what;
	uint32_t name; /* of the call or copy; word of a layer or stretch */
	/* op: a copy's direction, a range's category */
	uint32_t op, kernel, size;
	uint32_t more; /* index in queues, costs or stretches */
	struct uid kernel_uid;
	struct key pid, tid, dev, gpu_stream, step, phase;
	/* api_ns: time of a layer or range, too */
	int64_t api_ns, queue_ns, kernel_ns;
	int64_t total_ns; /* sum of the three */
	int64_t ngpu; /* of a point: length; in a range: 1 for the first of a
	                 name */
	union {
		int64_t op_delay_ns; /* SINK_NONE: not the op's first launch */
		int64_t bytes;       /* SINK_NONE: not recorded */
	};
	int64_t start_delay_ns; /* SINK_NONE: as above */
	double real;            /* ns of a layer per launch; GB/s */
};

/* A runtime or driver API call. */
struct call {
	struct uid uid;
	int64_t ts_ns, dur_ns;
	uint32_t name, track;
	uint32_t op; /* index in ops, or CALL_NONE */
};
#define CALL_NONE UINT32_MAX

/* An op with GPU work below it. */
struct call_op {
	int64_t ts_ns;
	uint32_t name;
	bool has_launched;
};

struct open_op {
	uint32_t depth, thread;
	uint32_t place; /* index in ops */
	int64_t ts_ns, dur_ns;
};

/* A GPU event and the call that launched it. */
struct launched {
	uint32_t call; /* CALL_NONE: not yet found */
	uint32_t name;
	int64_t start_ns, end_ns;
	struct uid uid, launch;
	struct key dev, gpu_stream, step, phase;
	bool is_kernel;
};

/* An annotation. */
struct range {
	struct uid uid;
	int64_t start_ns, end_ns;
	uint32_t name, cat, track;
};

/* A copy begins, or ends if the rate is negative. */
struct copy_change {
	struct key dev;
	uint32_t name, track;
	struct uid uid;
	int64_t ts_ns;
	double gb_per_s;
};

/* A GPU stream's work that was launched and has not started. */
struct queue {
	int64_t points, longest; /* points: number of changes */
	int64_t median, p95, p99;
	int64_t span_ns, full_ns;
	double mean, time_mean; /* over points, over time */
};

/*
 * Idle time that a graph cannot hold: the host's, unexplained, or before the
 * first of its launches and after the last of its work.
 */
enum blocked {
	BLOCKED_SYNC,
	BLOCKED_COPY,
	BLOCKED_DATA,
	BLOCKED_ALLOC,
	BLOCKED_MISSING,
	BLOCKED_OUTSIDE,
	BLOCKED_COUNT
};

/* How often launches come, and how much work each has. */
struct pace {
	int64_t nlaunches, ngpu;
	int64_t interval_ns, work_ns; /* medians; -1: none */
};

/* The estimate for a run of late launches or a step. */
struct stretch {
	struct pace pace;
	int64_t wall_ns, busy_ns;
	int64_t gaps_ns, start_ns; /* within the graph */
	int64_t blocked_ns[BLOCKED_COUNT];
	int64_t host_ns, other_ns; /* rest of the time that is not busy */
	int64_t graph_ns;
	struct uid last;
	uint32_t forbids; /* JSON text */
};

/* Of one source. */
struct cost {
	struct pace pace;
	int64_t nlate;
	int64_t graph_gap_ns, graph_launch_ns;
	uint32_t gap_from, launch_from; /* words: measured or assumed */
};

struct program {
	struct sink sink;
	int64_t api_outlier_ns, delay_outlier_ns, full; /* options */
	const char *causes_file, *by;
	bool with_ops, with_queues, with_points, with_copies, with_bandwidth;
	bool with_host, with_calls, with_ranges, with_range_kernels, by_phase;
	bool any_inst; /* some event was added by tl-graft */
	/* of the current source */
	bool has_source;
	uint32_t source;
	VEC(struct call) calls;
	VEC(struct call_op) ops;
	VEC(struct open_op) open;
	VEC(struct launched) works;
	VEC(struct copy_change) changes; /* if with_bandwidth */
	VEC(struct range) ranges;        /* if with_ranges */
	struct span span;                /* of all events */
	struct map chosen;               /* uids of works, if with_host */
	struct causes *causes;
	struct host host;
	/* of all sources */
	uint64_t nlaunches, ncalls;
	VEC(struct queue) queues;
	VEC(struct stretch) stretches;
	VEC(struct cost) costs;
};

enum {
	M_API,
	M_QUEUE,
	M_KERNEL,
	M_GPU,
	M_OP_DELAY,
	M_START_DELAY,
	M_TOTAL,
	M_BYTES = M_OP_DELAY, /* of copies */
};

/* Cells computed in launch_cell(). */
enum {
	C_TOTAL,
	C_TOTAL_SUM,
	C_LONGER,
	C_SHORT,
	C_API_OUTLIERS,
	C_DELAY_OUTLIERS,
	C_DELAYS, /* ops that have a delay */
	C_START,
	C_PAGEABLE,
	C_BYTES,
	C_BUSY,
	C_RATE,
	C_UNTIMED,
	C_FULL_SHARE,
	C_LAYER_SHARE,
	C_LAST_UID,
	C_FORBIDS,
	C_OTHER,
	C_GAP_FROM,
	C_LAUNCH_FROM,
	/* integers and reals at an offset of what `more` refers to */
	C_INT,
	C_REAL = C_INT + 0x1000,
};

/* Adds a record of the current source. */
struct launch_record *launch_add(struct program *g, enum what what);

/* gather.c */
void gather_event(struct program *g, const struct event *ev, bool is_chosen);
void gather_end(struct program *g);
void gather_free(struct program *g);

/* copies.c */
void copy_event(struct program *g, const struct event *ev, int64_t end);
/* Of a source that has been read. */
void copies_end(struct program *g);

/* queue.c: from a source's works, sorted by call */
void queues_find(struct program *g);

/* ranges.c */
void range_event(struct program *g, const struct event *ev);
/* Of a source that has been read; works are sorted by call. */
void ranges_find(struct program *g);

/* cost.c */
void cost_find(struct program *g);

/* cells.c */
struct cell launch_cell(const struct sink_row *row, unsigned number);

#endif
