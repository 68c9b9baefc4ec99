/* SPDX-License-Identifier: MIT */
/*
 * tl-steps: a source is kept whole (trace/host.h); at its end the windows of
 * its steps (trace/steps.h) become records of the sink.
 */
#ifndef TL_STEPS_H
#define TL_STEPS_H

#include "sink/sink.h"
#include "trace/pace.h"
#include "trace/parts.h"

_Static_assert(PACE_NONE == SINK_NONE, "both: not known");

/* Kinds of records: enum step_what, then those of other tables. */
enum {
	RECORD_IS_SLOW = STEP_IS_WHOLE + 1,
	RECORD_IS_ITERATION, /* where other annotations are the steps */
};

struct step_record {
	struct sink_record rec; /* uid, track: the annotation's */
	uint8_t what;
	bool is_gpu_time; /* gpu_wall_ns is the step time */
	bool has_uid, has_work, is_inferred, is_slow, is_fast;
	bool is_iteration;
	bool is_of_single_tokens; /* every request generates one token */
	uint32_t word, name, gap_cause, idle_cause, phase, flags;
	uint32_t time_is, reason;
	uint32_t format, ctx; /* of an iteration's annotation */
	struct iteration it;  /* the same */
	struct key pid;
	/* SINK_NONE: unknown */
	int64_t step, batch, tokens;
	int64_t wall_ns, gpu_wall_ns, time_ns;
	int64_t busy_launched_ns, busy_ns, idle_ns;
	int64_t exposed_comm_ns, exposed_copy_ns, overlap_ns;
	int64_t done_ns, drain_ns, lead_ns;
	int64_t gap_ns, idle_cause_ns, data_ns;
	int64_t nkernels, nlaunches;
	int64_t nstarved; /* that found the GPU idle */
	/* GPU time of what it launched, and of that by graphs */
	int64_t work_ns, graph_ns;
	/* computation an iteration launched, whenever it ran */
	int64_t compute_ns, compute_done_ns;
	int64_t own_ns, own_done_ns; /* of a step, during it, the same */
	/* the same on corresponding records; SINK_NONE: none */
	int64_t group, iteration;
	/*
	 * step time of an iteration, or its GPU work if longer; token_ns: if
	 * each request gets one token
	 */
	int64_t took_ns, token_ns;
	int64_t nunlinked, noutside; /* GPU events of the process */
	int64_t nrepeat;             /* calls that repeat; inferred steps */
	/* RECORD_IS_SLOW: where idle_cause_ns was spent */
	uint32_t call, op, module;
	bool is_of_fast; /* the median step */
	int64_t median_ns, more_ns, median_step;
	int64_t parts[PART_COUNT];
	/* the slowest step's: by cause, the event with the largest increase */
	uint32_t most_in[CAUSE_COUNT];
};

/* A window while its source is being read. */
struct step_row {
	struct step_record r;
	bool is_cut;
	bool is_change; /* step times differ from here on */
	bool is_bare;   /* without GPU work, in a source with some */
};

struct program {
	struct sink sink;
	struct select asked; /* --annotation and --step */
	const char *causes_file;
	struct causes *causes;
	struct host host;
	struct steps steps;
	struct parts parts;
	pace_list paces;           /* parallel to steps.list */
	VEC(struct step_row) rows; /* parallel to steps.list */
	bool has_source;
	unsigned inferred; /* steps_inferred_from() over all sources */
	bool has_iterations;
	bool any_inst;    /* an event is grafted */
	uint32_t runs_of; /* the module whose runs are steps, or INTERN_NONE */
	bool shows_slow, shows_summary; /* these tables are printed */
	bool has_slow;                  /* this table has rows */
	bool has_gpu_time;              /* gpu_wall is a step time */
	bool has_steps, has_gpu;        /* a source has steps, GPU events */
	int64_t ngroups; /* of ranks with corresponding iterations */
	uint32_t source;
	size_t nuntold;  /* iterations without a load */
	uint32_t untold; /* name of the first */
};

/* Makes the records of a source at its end. */
void steps_records(struct program *g);
/* figures.c: all of a row but names and comparisons. */
void figures_find(struct program *g);
/* changes.c: up to n places where step times change; returns how many. */
size_t changes_find(uint32_t *at, const int64_t *v, size_t n, double median);
/*
 * slow.c: the median step; the first one recorded, which earlier work does not
 * run into, counts only among two. Where the median step takes at least twice
 * as long as more than a quarter of the steps, with no step between: the median
 * of these.
 */
const struct step_record *slow_median(
    const struct step_record *const *steps, size_t n, bool *is_fast);
const char *slow_median_word(bool is_fast);
/* Whether the record is a step that counts. */
static inline bool
slow_compares(const struct step_record *r)
{
	return r->what != STEP_IS_BETWEEN && r->time_ns != SINK_NONE;
}
/* The longest, the first of equals; NULL: fewer than two. */
const struct step_record *slow_slowest(
    const struct step_record *const *steps, size_t n);
/*
 * Parts that steps are compared by: those of the wall time, with computation
 * split into the step's own and other steps'.
 */
enum { PART_OTHERS = PART_COUNT, SLOW_PARTS };
const char *slow_word(size_t part);
int64_t slow_part(const struct step_record *r, size_t part);
/*
 * slow.c: the events in which the slowest step of a process took longer than
 * the median one.
 */
void slow_names(
    struct program *g, struct step_row *rows, const bool *chosen, size_t n);
/* slow.c: rows of slow steps against the median step. */
void slow_records(struct program *g, const struct step_row *rows, size_t n);
/* phases.c: a cell of phase_summary. */
struct cell phase_cell(const struct sink_row *row, unsigned number);

/* summary.c: a cell of steps_summary. */
struct cell summary_cell(const struct sink_row *row, unsigned number);
/* ranks.c: groups and numbers of corresponding iterations; a cell of them. */
void ranks_match(struct program *g);
struct cell ranks_cell(const struct sink_row *row, unsigned number);

/* Columns of cell(); those up to C_PHASES are summaries. */
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
	C_SLOW_OF,
	C_SLOW_IN,
	C_WALL_MEDIAN,
	C_DRAIN_FIRST,
	C_DRAIN_LAST,
	C_BETWEEN,
	C_SLOWEST_RANK,
	C_IMBALANCE,
	C_PHASES, /* from here: phase_summary */
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
	C_FIELD = 200, /* plus the field's place in struct iteration */
};

#endif
