/* SPDX-License-Identifier: MIT */
/*
 * From tables to the screen. Figures of tables become sentences, and both a
 * screen and summary tables. The programs compute the figures: here they are
 * only summed over ranks and compared. Texts live in an arena until the end.
 *
 * rows.c      tables copied
 * figures.c   what adds up under a name; which tables are read
 * read.c      what of each table counts
 * bound.h     what bounds the time: the verdict
 * advice.c    what to do first, from tl-advise
 * phases.c    serving: a sentence a phase; mfu.h: one of the steps
 * changes.c   what differs from another trace
 * names.c     names of a list, so short that they fit and still differ
 * verdict.c   the sentences: where the time went, who is late
 * host.c      the same of a trace without GPU work
 * warn.c      what the figures lack
 * screen.c    for a terminal; screen-list.c its lists
 * summary.c   the same for a workbook and a page
 */
#ifndef TL_REPORT_FIGURES_H
#define TL_REPORT_FIGURES_H

#include "reader/lines.h"

#include "cmd/tl-report/bound.h"
#include "cmd/tl-report/mfu.h"

#define TOP_OPS_SHOWN 10
#define TOP_CHANGES 10
#define TOP_CAUSES 5
#define TOP_LOSSES 5
#define TOP_GROUPS 5
#define TOP_GAINS 3

/* ---- rows.c ---- */

/* Appends to an open table, which table_dest_finish() ends. */
void table_append(const char *from, struct table_dest *to, int64_t top);
/* The first rows, or all if top is 0; CSV gets labels. */
void table_copy(
    const char *from, const char *to, enum table_format format, int64_t top);

/* ---- figures ---- */

/* A sum under a name. */
struct tally {
	struct str name;
	int64_t ns, count;
	int64_t of_ns;   /* of a loss: the time it was lost from */
	struct str what; /* op: categories; loss: bound */
	double real;     /* spec: TFLOP/s of its roof; over: percent of it */
};

struct tallies {
	struct intern *keys;
	VEC(struct tally) list; /* as numbered by keys */
};

/* A row of gpu_timeline_by_rank: a rank, or a source if ranks are unknown. */
struct rank {
	struct str label;
	int64_t total_ns, busy_ns, compute_ns, comm_ns, copy_ns, idle_ns;
	int64_t all_comm_ns, all_copy_ns, unlinked_ns;
	/* from tl-collective, with several ranks */
	bool has_wait;
	int64_t wait_ns, times_last, late_ns;
	int64_t caused_ns; /* others' waiting where it was last */
	/* over all its process groups; late: as far as clocks can tell */
	int64_t nlast, ntimes_late, ncollectives;
	struct str verdict; /* why it is late; empty: it is not */
};

/* The loss to a slower host, from tl-critical. */
struct rank_cost {
	struct str rank, name, uid, chain;
	int64_t loss_ns, by_ns, excess_ns;
	double percent;
};

/* A host thread of a trace without GPU work. */
struct thread {
	struct str label;
	int64_t total_ns, busy_ns, op_ns;
};

/* A serving phase of tl-steps, on its slowest process. */
struct phase_line {
	struct str phase, label, bound, idle_by;
	int64_t iterations, gpu_ns, wall_ns, idle_by_ns, comm_ns, copy_ns;
	double took_ns, p99_ns, tokens_per_s, launches;
	double percent_graph, percent_idle, percent_starved, percent_missing;
	bool has_tokens;
	/* from tl-roofline */
	int64_t op_ns, modelled_ns, compute_ns;
	double roof_ns; /* what the roofline allows for modelled_ns */
	size_t n;       /* processes */
	struct str says;
};

/* Sums over the iterations that all ranks share, from tl-steps. */
struct imbalance {
	int64_t iterations;
	double mean_ns, max_ns; /* compute, over its ranks */
	double least_tokens, most_tokens;
	struct tallies slowest; /* by rank; ns: iterations it was slowest in */
	struct str says;
};

/* A process group of tl-collective. */
struct process_group {
	struct str name, says, verdict;
	struct str late_rank; /* empty: none */
	int64_t latency_ns, wait_ns, collectives;
};

/* An op or kernel whose time differs in the other trace. */
struct change {
	struct str name;
	int64_t before_ns, after_ns;
	double count[2]; /* repeated runs: the mean */
	enum change_of {
		CHANGE_OP,
		CHANGE_LAUNCH, /* of graphs, outside ops */
		CHANGE_KERNEL,
	} of;
};
typedef VEC(struct rank) rank_vec;

/* A finding of tl-advise. */
struct gain {
	int64_t place; /* in its table */
	int64_t low_ns, ns, high_ns;
	double percent; /* of the window */
	struct str what, action;
	struct str uids; /* of its rows, a list of JSON, or empty */
	int64_t shares;  /* place of a finding with the same time; 0: none */
};

struct figures {
	struct settings *set;
	struct figures *other; /* the other side of a comparison */
	struct arena *text;
	const struct input *input; /* the table that is read */
	/* of a comparison */
	VEC(struct str) sentences;
	VEC(struct change) changes; /* the largest */
	bool compares_ops;
	const char *gpu; /* GPU or TPU */
	/* tables */
	bool has_op_table, by_src;
	VEC(struct thread) threads; /* the busiest first */
	rank_vec ranks;
	struct rank all; /* sum of ranks */
	/* the same of the verdict's window */
	rank_vec bars;
	struct rank window;
	struct str window_words;
	rank_vec gpus, processes; /* of a trace that has several */
	struct tallies ops, categories, losses, specs, grouped; /* --by */
	int64_t ops_ns, graph_ns, outside_ns, args_ns, shapeless_ns;
	int64_t unified_ns, modelled_ns;
	int64_t roofless_ns;    /* the GPU's figures are unknown */
	int64_t opless_ns;      /* launched outside ops */
	int64_t over_ns;        /* above the roofline */
	struct tallies unknown; /* ops without a performance model */
	struct tallies lacking; /* whose models lack an argument */
	struct tallies over;    /* of over_ns; real: the largest percent */
	/* by category, with a roofline; of_ns: lost, count: compute-bound ns */
	struct tallies reached;
	double tb_per_s;
	double least_per_byte, most_per_byte; /* FLOP/byte of ops */
	struct str roof;
	VEC(struct process_group) groups;
	struct str finding; /* the largest cost in collectives */
	struct str finding_rank;
	bool any_late;         /* a rank is late: groups are listed */
	struct rank_cost cost; /* the largest; percent 0: not requested */
	struct tallies causes; /* idle time; what: the call with most of it */
	struct budgets budgets;
	struct pace pace; /* of one source */
	VEC(struct step_time) steps;
	VEC(struct phase_line) phases;
	struct imbalance imbalance;
	struct mfu mfu;
	bool is_judged;               /* there is a verdict */
	struct gain gains[TOP_GAINS]; /* the largest, if there is a verdict */
	size_t ngains;
	size_t nbeyond;               /* rows of nccl_vs beyond noise */
	size_t nunsound, nmisleading; /* traces, by tl-health */
	/* sentences */
	struct str title, late, verdict, health; /* late: for several ranks */
	VEC(struct str) warnings, notes;
};

/* ---- figures.c ---- */

/* All tables, or only those that compare ranks. */
void figures_read(struct figures *f, const struct jobs *j, bool is_whole);
void figures_free(struct figures *f);
/* Finds or adds the name; valid until the next call. */
struct tally *tally_of(struct figures *f, struct tallies *t, struct str name);
/* A name in the lists of two sides; NULL: one has none. */
struct pair {
	const struct tally *of[2];
};
/*
 * The n first of both, each at the place of the side where it comes earlier.
 * Drops rows at the end that took no time.
 */
size_t tallies_pairs(const struct tallies *a, const struct tallies *b,
    struct pair *pairs, size_t n, enum list_order order);
/* The sum of all. */
int64_t tallies_sum(const struct tallies *t);
/* The n largest by ns, ties by name; returns how many. */
size_t tallies_best(
    const struct tallies *t, const struct tally **best, size_t n);
/* The same in a given order. */
size_t tallies_first(const struct tallies *t, const struct tally **best,
    size_t n, enum list_order order);
/* Adds times; an overflow ends the program. */
void time_add(int64_t *sum, int64_t v);
/* A copy that lives as long as the figures. */
struct str figures_text(struct figures *f, struct str s);
/* The same for b, which is emptied. */
struct str figures_keep(struct figures *f, struct buf *b);
/* The device is a TPU, which has no graphs. */
bool figures_is_tpu(const struct figures *f);

/* ---- read.c ---- */

/* The tables by name, in reading order, up to NULL. */
struct input {
	const char *name;
	line_fn *take;
	bool of_ranks;         /* compares ranks */
	const char *ns, *what; /* columns, for shared functions */
};
extern const struct input inputs[];

/* ---- advice.c ---- */

/* Runs tl-advise on the tables written so far. */
void advice_start(const struct settings *s, struct jobs *j, const char *format);
void advice_take(void *ctx, const struct line *l);
/* "4.9 us (2.5 to 4.9 us): hipFree (alloc, uid 7); keep memory" */
void advice_put(const struct figures *f, size_t i, struct buf *b);

/* ---- phases.c ---- */

void phases_take(void *ctx, const struct line *l);
void phases_take_ranks(void *ctx, const struct line *l);
void phases_take_roof(void *ctx, const struct line *l);
/* Their sentences, after the last row. */
void phases_make(struct figures *f);

/* ---- host.c ---- */

void host_take_thread(void *ctx, const struct line *l);
void host_take_args(void *ctx, const struct line *l);
void host_sort(struct figures *f);
void host_verdict(struct figures *f, struct buf *b);
void host_warnings(struct figures *f);

/* ---- verdict.c ---- */

/* Title, late and verdict. */
void verdict_make(struct figures *f);
/* "12.3 %" appended. */
void put_share(struct buf *b, int64_t part, int64_t whole);
/* The same in a sentence: "under 0.1 %", not 0. */
void put_part(struct buf *b, int64_t part, int64_t whole);
double share_of(int64_t part, int64_t whole);
/* A time; for several ranks the mean. */
void put_whole(
    const struct figures *f, int64_t ns, int64_t nranks, struct buf *b);
/* The word for time in which nothing selected runs. */
const char *word_of_idle(const struct figures *f);
/* The name of this side of a comparison, else empty. */
struct str side_of(const struct figures *f);
/* "before: ": what follows is about this side alone. */
void put_side(const struct figures *f, struct buf *b);
/* Shares of computation, communication, copies and idle time. */
void put_shares(const struct figures *f, const struct rank *all, struct buf *b);

/* ---- warn.c ---- */

void warnings_make(struct figures *f, const struct jobs *j);

/* ---- screen.c ---- */

void screen_print(struct figures *f, const char *path); /* NULL: stdout */

/* ---- summary.c ---- */

/* Writes the report's own tables, except empty ones. */
void summary_write(struct figures *f, bool is_whole);

#endif
