/* SPDX-License-Identifier: MIT */
/*
 * tl-launch inside: the calls that launch GPU work are kept with what they
 * launched (gather.c). When a source ends each becomes a record, and the work
 * in each GPU stream a queue (queue.c). What launching costs the host needs all
 * that the host did (trace/host.h, cost.c): it is read only when asked for.
 */
#ifndef TL_LAUNCH_H
#define TL_LAUNCH_H

#include "sink/sink.h"
#include "trace/account.h"

enum what {
	IS_LAUNCH,
	IS_PAIR, /* a launch and one of its several GPU events */
	IS_CALL, /* of any kind */
	IS_QUEUE,
	IS_POINT, /* of a queue's length over time */
	IS_COPY,
	IS_BANDWIDTH, /* at a time */
	IS_COST,
	IS_LAYER,
	IS_STRETCH,      /* a run or a step */
	IS_RANGE,        /* an annotation around launches */
	IS_RANGE_KERNEL, /* a kernel, in an annotation around its launch */
};

struct launch_record {
	struct sink_record rec; /* uid, track, ts: of the call, the copy */
	uint8_t what;
	uint32_t name; /* of the call, the copy; word of a layer, a stretch */
	/* op: of a copy its direction, of a range its category */
	uint32_t op, kernel, size;
	uint32_t more; /* place in queues, costs or stretches */
	struct uid kernel_uid;
	struct key pid, tid, dev, gpu_stream, step, phase;
	/* of a layer and a range api_ns is its time */
	int64_t api_ns, queue_ns, kernel_ns;
	int64_t total_ns; /* of the three */
	int64_t ngpu; /* of a point: the length; in a range: 1, the first of a
	                 name */
	union {
		int64_t op_delay_ns; /* SINK_NONE: not its op's first */
		int64_t bytes;       /* SINK_NONE: not recorded */
	};
	int64_t start_delay_ns; /* SINK_NONE: likewise */
	double real;            /* of a layer per launch; GB/s */
};

/* A call of the runtime or driver, as read. */
struct call {
	struct uid uid;
	int64_t ts_ns, dur_ns;
	uint32_t name, track;
	uint32_t op; /* place in ops, or CALL_NONE */
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
	uint32_t place; /* in ops */
	int64_t ts_ns, dur_ns;
};

/* A GPU event and the call that launched it. */
struct launched {
	uint32_t call; /* CALL_NONE: not found yet */
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

/* A copy begins or, at a rate below 0, ends. */
struct copy_change {
	struct key dev;
	uint32_t name, track;
	struct uid uid;
	int64_t ts_ns;
	double gb_per_s;
};

/* What waits in a GPU stream: launched, and not started. */
struct queue {
	int64_t points, longest; /* points: changes of its length */
	int64_t median, p95, p99;
	int64_t span_ns, full_ns;
	double mean, time_mean; /* of points; over the time */
};

/* Time that a graph can't hold: the host's, and what nothing recorded explains.
 */
enum blocked {
	BLOCKED_SYNC,
	BLOCKED_COPY,
	BLOCKED_DATA,
	BLOCKED_ALLOC,
	BLOCKED_MISSING,
	BLOCKED_COUNT
};

/* Launches, how often one comes, and how much work it launches. */
struct pace {
	int64_t nlaunches, ngpu;
	int64_t interval_ns, work_ns; /* medians; -1: none */
};

/* A run of late launches, or a step: what a graph would return. */
struct stretch {
	struct pace pace;
	int64_t wall_ns, busy_ns;
	int64_t gaps_ns, start_ns; /* of the graph */
	int64_t blocked_ns[BLOCKED_COUNT];
	int64_t host_ns, other_ns; /* the rest of what is not busy */
	int64_t graph_ns;
	struct uid last;
	uint32_t forbids; /* JSON, in the dictionary */
};

/* Of a source. */
struct cost {
	struct pace pace;
	int64_t nlate;
	int64_t graph_gap_ns, graph_launch_ns;
	uint32_t gap_from, launch_from; /* how the estimate has them */
};

struct program {
	struct sink sink;
	int64_t api_outlier_ns, delay_outlier_ns, full; /* options */
	const char *causes_file, *by;
	bool with_ops, with_queues, with_points, with_copies, with_bandwidth;
	bool with_host, with_calls, with_ranges, with_range_kernels, by_phase;
	bool any_inst; /* some event is of a graft */
	/* of the source being read */
	bool has_source;
	uint32_t source;
	VEC(struct call) calls;
	VEC(struct call_op) ops;
	VEC(struct open_op) open;
	VEC(struct launched) works;
	VEC(struct copy_change) changes; /* if with_bandwidth */
	VEC(struct range) ranges;        /* if with_ranges */
	struct span span;                /* of them all */
	struct map chosen;               /* uids of works, if with_host */
	struct causes *causes;
	struct host host;
	/* of all */
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

/* Cells that are made in cell(). */
enum {
	C_TOTAL,
	C_TOTAL_SUM,
	C_LONGER,
	C_SHORT,
	C_API_OUTLIERS,
	C_DELAY_OUTLIERS,
	C_DELAYS, /* ops that have one */
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
	/* by their places, integers and reals of what a record has in more */
	C_INT,
	C_REAL = C_INT + 0x1000,
};

/* A record of the source at hand. */
struct launch_record *launch_add(struct program *g, enum what what);

/* gather.c */
void gather_event(struct program *g, const struct event *ev, bool is_chosen);
void gather_end(struct program *g);
void gather_free(struct program *g);

/* copies.c */
void copy_event(struct program *g, const struct event *ev, int64_t end);
/* Of the source that has been read whole. */
void copies_end(struct program *g);

/* queue.c: of the works of a source, sorted by call. */
void queues_find(struct program *g);

/* ranges.c */
void range_event(struct program *g, const struct event *ev);
/* Of the source that has been read whole; its works are sorted by call. */
void ranges_find(struct program *g);

/* cost.c */
void cost_find(struct program *g);

/* cells.c */
struct cell launch_cell(const struct sink_row *row, unsigned number);

#endif
