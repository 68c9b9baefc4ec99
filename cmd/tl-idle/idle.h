/* SPDX-License-Identifier: MIT */
/*
 * tl-idle: a source is kept whole (trace/host.h); when it ends, its gaps and
 * their causes (trace/gap.h) become records of the sink. As pieces are ten
 * times as many as gaps, those of one row share a record, and each leaves only
 * its length.
 */
#ifndef TL_IDLE_H
#define TL_IDLE_H

#include "sink/pieces.h"
#include "trace/account.h"
#include "trace/parts.h"
#include "trace/waits.h"

/* default of --kernel-wait */
#define KERNEL_WAIT_NS 30000
/* words of --by */
#define BY_LINE \
	"class, cause, call, op, module, thread, step, phase, opened_by,"
#define BY_REST "dev, gpu_stream"
#define BY_WORDS BY_LINE " " BY_REST

/* Up to FOLDED, one record holds all pieces or intervals of a row. */
enum what { IS_PIECE, IS_INTERVAL, FOLDED, IS_GAP = FOLDED, IS_WINDOW };
/* What is idle in a gap; other words of --by are columns. */
enum scope { SCOPE_ALL, SCOPE_DEV, SCOPE_GPU_STREAM };

struct named {
	uint32_t name; /* INTERN_NONE: none */
	struct uid uid;
};

struct idle_record {
	/* uid, track: of the event that caused it, or its first piece */
	struct sink_record rec;
	uint8_t what;
	bool is_inferred;
	uint32_t event; /* in the source; or HOST_NONE */
	/* the thread that the GPU waits for if no event is open; or HOST_NONE
	 */
	uint32_t thread;
	uint32_t cause, name, op, module, opened_by, advice, class, flags;
	/* of the longest in stacks.nodes; of IS_GAP and IS_WINDOW in wholes */
	uint32_t more;
	struct key dev, gpu_stream, step, phase;
	int64_t ns, inferred_ns;
	int64_t behind_ns; /* host work behind the call in its gaps */
	/* place in lengths, their number; calls, and the time in the longest */
	size_t first, n;
	int64_t ncalls;
	uint64_t longest_ns;
	struct named longest, lock; /* lock: what it waited for */
};

struct piece {
	int64_t ns;
	uint32_t event, record;
};

/* Facts about a gap as a whole. */
struct idle_whole {
	struct named prev, next, opened, awaited;
	uint32_t next_op, next_module;
	uint32_t window; /* of IS_WINDOW: index in windows */
	int64_t cause_ns;
	bool is_lock; /* its call likely waited for another thread's lock */
};

/* A source's figures for its verdict; its record is the one of its largest
 * gap. */
struct idle_window {
	struct account account;
	int64_t window_ns, nsteps, nlaunched, nstarved;
	int64_t nall_steps, nprocesses; /* of all processes with steps */
	int64_t head_ns;                /* not counted */
	uint32_t from, head_cause;
	struct named blocked, waits, comm, copy;
	unsigned advice_of; /* ADVICE_OPS and so on */
};

/* A name below its parent. */
struct stack_node {
	uint32_t up; /* index in stacks.nodes, or STACK_NONE */
	uint32_t name;
};
#define STACK_NONE UINT32_MAX

struct stacks {
	VEC(struct stack_node) nodes;
	struct map places;  /* nodes by parent and name */
	VEC(uint32_t) of;   /* nodes of the source's events, where known */
	VEC(uint32_t) path; /* scratch */
};

struct idle {
	struct sink sink;
	enum scope scope;
	int64_t min_gap_ns, kernel_wait_ns;
	bool no_python;
	bool with_steps; /* --steps */
	bool in_steps;   /* gaps are those of the steps' window */
	bool any_inst;   /* some event was added by tl-graft */
	struct causes *causes;
	const char *causes_file;
	struct host host;
	struct waits waits;
	struct gaps gaps;
	struct steps step_list, iterations;
	struct spans walls;    /* of the steps of --step */
	VEC(bool) asked_steps; /* of step_list, if walls are found */
	struct map locks;      /* of the source, see call_locked_by() */
	VEC(struct idle_window) windows;
	VEC(struct idle_whole) wholes;
	bool has_source;
	bool with_above; /* rows need op and module */
	bool by_words;   /* rows differ in class, cause and names only */
	bool by_step, by_phase, with_stack;
	struct stacks stacks;
	uint32_t marker, marker_kind; /* the last annotation's name */
	uint32_t source;
	VEC(struct key) steps; /* of the source's GPU events, as read */
	VEC(uint8_t) chosen;
	/* tables to print need this record; a source's first gap is always
	 * one */
	bool shows[IS_WINDOW + 1];
	size_t nbefore; /* records of earlier sources */
	/* of the current source: pieces, and their rows */
	VEC(struct piece) pieces;
	VEC(uint64_t) sums; /* by event; all 0 between two rows */
	struct sink_fold folds[FOLDED];
	VEC(int64_t) lengths;
	/* statistics of the current row */
	const struct idle_record *longest;
	VEC(int64_t) room;
	struct stats stats;
	int64_t ncalls;
	uint64_t ngaps;
	unsigned advice_of; /* of the current source */
	bool said_tpu;      /* what the record of source said_src says */
	uint32_t said_src;
	/* by cause; advice also by advice_of */
	uint32_t words[CAUSE_COUNT], advice[ADVICE_KINDS][CAUSE_COUNT];
	uint32_t classes[ACCOUNT_COUNT];
};

/* ---- cells.c ---- */

/* Cells computed in cells.c. */
enum {
	C_COUNT,
	C_CALLS,
	C_MEDIAN,
	C_MAX,
	C_LONGEST,
	C_STACK,
	C_LONGEST_UID,
	C_LONGEST_NS,
	C_START,
	C_EVENT_UID,
	C_PREV_UID,
	C_NEXT_UID,
	C_OPENED_UID,
	C_AWAITED_UID,
	C_AWAITED,
	C_FROM,
	C_HEAD_CAUSE,
	C_HAS_OPS,
	C_HAS_PYTHON,
	C_IS_TPU,
	C_BLOCKED_IN,
	C_BLOCKED_UID,
	C_WAITS_BY,
	C_WAITS_UID,
	C_PREV,
	C_NEXT,
	C_NEXT_OP,
	C_NEXT_MODULE,
	C_CAUSE_NS,
	C_IS_LOCK,
	C_LOCK,
	C_COMM_UID,
	C_COPY_UID,
	C_WINDOW, /* from here on fields of idle_window */
};

struct cell idle_cell(const struct sink_row *row, unsigned number);

/* records.c: makes the records of a source that has been read. */
void idle_records(struct idle *g);

/*
 * names.c: the name of an event's rows. Markers of steps share one, as the time
 * in all of them is one cost.
 */
uint32_t kind_name(struct idle *g, uint32_t event);

/*
 * lock.c: the call of another thread whose lock a call likely waited for: it
 * took three times its name's median, half of it while that thread was in
 * runtime calls. HOST_NONE: none.
 */
uint32_t call_locked_by(struct idle *g, uint32_t event);

/*
 * Finds walls, the times of the steps of --step, and returns their numbers
 * (walls.c).
 */
struct account_steps walls_of_steps(struct idle *g);
/* The process in whose steps, or iterations, the time before GPU work counts;
 * NULL: in any. */
const struct key *process_of(const struct idle *g, const struct host_gpu *next);
/* That process; if its step at the time is not asked for, one whose step is. */
const struct key *process_asked(
    const struct idle *g, const struct key *pid, int64_t ns);

/* folds.c */

/* Finds calls and the longest one of each row of the source's pieces. */
void folds_finish(struct idle *g);

static inline struct named
named(const struct idle *g, uint32_t event)
{
	const struct host_event *e =
	    event != HOST_NONE ? &g->host.events.v[event] : NULL;

	return e == NULL ? (struct named){ .name = INTERN_NONE }
			 : (struct named){ e->name, e->uid };
}

/* stack.c */

/* Starts a source. */
void stacks_source(struct stacks *s, const struct host *h);
uint32_t stack_of(struct stacks *s, const struct host *h, uint32_t event);
/* The names as a folded stack, outermost first: "a;b;c". */
void stack_text(
    struct stacks *s, const struct dict *dict, uint32_t node, struct buf *text);
void stacks_free(struct stacks *s);

#endif
