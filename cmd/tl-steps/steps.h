/* SPDX-License-Identifier: MIT */
/*
 * tl-steps inside: a source is kept whole (trace/host.h); when it ends, the
 * windows of its steps (trace/steps.h) become records of the sink, each with
 * its figures.
 */
#ifndef TL_STEPS_H
#define TL_STEPS_H

#include "sink/sink.h"
#include "trace/pace.h"
#include "trace/parts.h"

_Static_assert(PACE_NONE == SINK_NONE, "both: not known");

/* What a record is: enum step_what, or one of another table. */
enum {
	RECORD_IS_SLOW = STEP_IS_WHOLE + 1,
	RECORD_IS_ITERATION, /* beside steps that are others */
};

struct step_record {
	struct sink_record rec; /* uid, track: of the annotation */
	uint8_t what;
	bool is_gpu_time; /* gpu_wall_ns is the step time */
	bool has_uid, has_work, is_inferred, is_slow, is_fast;
	bool is_iteration;
	bool is_of_single_tokens; /* for each request that generates */
	uint32_t word, name, gap_cause, idle_cause, phase, flags;
	uint32_t time_is, reason;
	uint32_t format, ctx; /* of an iteration */
	struct iteration it;  /* likewise */
	struct key pid;
	/* SINK_NONE: not known */
	int64_t step, batch, tokens;
	int64_t wall_ns, gpu_wall_ns, time_ns;
	int64_t busy_launched_ns, busy_ns, idle_ns;
	int64_t exposed_comm_ns, exposed_copy_ns, overlap_ns;
	int64_t done_ns, drain_ns, lead_ns;
	int64_t gap_ns, idle_cause_ns, data_ns;
	int64_t nkernels, nlaunches;
	int64_t nstarved; /* launches that found the GPU idle */
	/* sums of what it launched, and of it by graphs */
	int64_t work_ns, graph_ns;
	/* of an iteration: its computation, wherever it waited for others */
	int64_t compute_ns, compute_done_ns;
	int64_t own_ns, own_done_ns; /* of a step, likewise, within its time */
	/* those that correspond have both numbers; SINK_NONE: none does */
	int64_t group, iteration;
	/* of an iteration: its time, or its GPU work if that takes longer;
	 * token_ns: the same, if each request gets one token */
	int64_t took_ns, token_ns;
	int64_t nunlinked, noutside; /* GPU events, of the process */
	int64_t nrepeat;             /* calls that repeat, if they say it */
	/* of RECORD_IS_SLOW: what idle_cause_ns went into, there and here */
	uint32_t call, op, module;
	int64_t median_ns, more_ns, median_step;
	int64_t parts[PART_COUNT];
	/* of the slowest step: the event with most more of each cause */
	uint32_t most_in[CAUSE_COUNT];
};

/* Of a window while its source is looked at. */
struct step_row {
	struct step_record r;
	bool is_cut;
	bool is_change; /* step times are others from here on */
	bool is_bare;   /* a step without GPU work, in a source that has some */
};

struct program {
	struct sink sink;
	struct select asked; /* --annotation and --step */
	const char *causes_file;
	struct causes *causes;
	struct host host;
	struct steps steps;
	struct parts parts;
	pace_list paces;           /* as steps.list */
	VEC(struct step_row) rows; /* as steps.list */
	bool has_source;
	unsigned inferred; /* steps_inferred_from() of all sources */
	bool has_iterations;
	bool any_inst;    /* some event is of a graft */
	uint32_t runs_of; /* the module whose runs are steps, or INTERN_NONE */
	bool shows_slow, shows_summary; /* the table is asked for */
	bool has_slow;                  /* it has a row */
	bool has_gpu_time;              /* gpu_wall is the step time of some */
	int64_t ngroups; /* of ranks whose iterations correspond */
	uint32_t source;
	size_t nuntold;  /* iterations without a load */
	uint32_t untold; /* the name of the first */
};

/* Of the source that has been read whole: its records. */
void steps_records(struct program *g);
/* figures.c: of all rows but what they are called and how they compare. */
void figures_find(struct program *g);
/*
 * changes.c: the places, n at most, of the steps from which on the times are
 * others; how many.
 */
size_t changes_find(uint32_t *at, const int64_t *v, size_t n, double median);
/*
 * slow.c: the steps that others are compared with: not the first one recorded,
 * into which no work of the one before runs, unless there are two.
 */
const struct step_record *slow_median(
    const struct step_record *const *steps, size_t n);
/* Whether it is one of them. */
static inline bool
slow_compares(const struct step_record *r)
{
	return r->what != STEP_IS_BETWEEN && r->time_ns != SINK_NONE;
}
/* The first of those that took longest; NULL: there are not two. */
const struct step_record *slow_slowest(
    const struct step_record *const *steps, size_t n);
/*
 * What a step is compared by: its parts, but for computation its own, and what
 * other steps have left or launched in its time.
 */
enum { PART_OTHERS = PART_COUNT, SLOW_PARTS };
const char *slow_word(size_t part);
int64_t slow_part(const struct step_record *r, size_t part);
/* slow.c: in which events the slowest of the chosen steps of a process took
 * longer than the median one of them. */
void slow_names(
    struct program *g, struct step_row *rows, const bool *chosen, size_t n);
/* slow.c: of the slow steps of a process, against its median one. */
void slow_records(struct program *g, const struct step_row *rows, size_t n);
/* phases.c: of a row of phase_summary. */
struct cell phase_cell(const struct sink_row *row, unsigned number);

/* summary.c: of a row of steps_summary. */
struct cell summary_cell(const struct sink_row *row, unsigned number);
/*
 * ranks.c: numbers the iterations of all sources that correspond, and their
 * groups; of a row of them.
 */
void ranks_match(struct program *g);
struct cell ranks_cell(const struct sink_row *row, unsigned number);

/* Cells that are made in cell(): those up to C_PHASES are of a summary. */
enum {
	C_UID,
	C_CALL_UID,
	C_COUNT,
	C_P95,
	C_P99,
	C_SPREAD,
	C_SLOWEST,
	C_SLOW_PART,
	C_SLOW_NS,
	C_SLOW_MEDIAN,
	C_SLOW_IN,
	C_WALL_MEDIAN,
	C_DRAIN_FIRST,
	C_DRAIN_LAST,
	C_BETWEEN,
	C_SLOWEST_RANK,
	C_IMBALANCE,
	C_PHASES, /* of a phase */
	C_TOKENS,
	C_TOKENS_PER_S,
	C_REQUESTS,
	C_WALL,
	C_GPU,
	C_BUSY,
	C_COMM,
	C_COPY,
	C_IDLE,
	C_PCT_IDLE,
	C_PCT_MISSING,
	C_IDLE_CAUSE,
	C_IDLE_CAUSE_NS,
	C_KERNELS,
	C_LAUNCHES,
	C_STARVED,
	C_GRAPH,
	C_BOUND,
	C_BOUND_RECORDED,
	C_FIELD = 200, /* and its place in struct iteration */
};

#endif
