/* SPDX-License-Identifier: MIT */
/*
 * From tables to the screen: tables become figures, figures sentences, and both
 * a screen and tables. Figures are the programs' own: here they are only added
 * up over ranks and compared. Texts live in an arena until the end.
 *
 * rows.c      tables copied
 * figures.c   what adds up under a name; which tables are read
 * read.c      what of each table counts
 * bound.h     what bounds the time: the verdict
 * advice.c    what to do first, as tl-advise has it
 * phases.c    serving: a sentence a phase; mfu.h: one of the steps
 * changes.c   what differs from another trace
 * names.c     names of a list, so short that they fit and still differ
 * verdict.c   the sentences: where the time went, who is late
 * host.c      the same of a trace without GPU work
 * warn.c      what the figures lack
 * screen.c    for a terminal
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

/* To what is open; behind the last one table_dest_finish(). */
void table_append(const char *from, struct table_dest *to, int64_t top);
/* Its first rows, or all if top is 0; CSV gets labels. */
void table_copy(
    const char *from, const char *to, enum table_format format, int64_t top);

/* ---- figures ---- */

/* What adds up under a name. */
struct tally {
	struct str name;
	int64_t ns, count;
	int64_t of_ns;   /* of a loss: the time it is a part of */
	struct str what; /* of an op: its categories; of a loss: the bound */
	double real; /* of a spec: TFLOP/s at its roof; over: percent of it */
};

struct tallies {
	struct intern *keys;
	VEC(struct tally) list; /* as numbered by keys */
};

/* A row of gpu_timeline_by_rank: a rank, or a source where ranks are unknown */
struct rank {
	struct str label;
	int64_t total_ns, busy_ns, compute_ns, comm_ns, copy_ns, idle_ns;
	int64_t all_comm_ns, all_copy_ns, unlinked_ns;
	/* of several ranks, from tl-collective */
	bool has_wait;
	int64_t wait_ns, times_last, late_ns;
	int64_t caused_ns;           /* what others waited where it was last */
	int64_t nlast, ncollectives; /* over all its process groups */
	struct str verdict;          /* why it is late; empty: it is not */
};

/* What a slower host of a rank loses the job, from tl-critical. */
struct rank_cost {
	struct str rank, name, uid, chain;
	int64_t loss_ns, by_ns, excess_ns;
	double percent;
};

/* A thread of the host, where there is no GPU work. */
struct thread {
	struct str label;
	int64_t total_ns, busy_ns, op_ns;
};

/* A serving phase, from tl-steps; the slowest of several processes. */
struct phase_line {
	struct str phase, label, bound, idle_by;
	int64_t iterations, gpu_ns, wall_ns, idle_by_ns, comm_ns, copy_ns;
	double took_ns, p99_ns, tokens_per_s, launches;
	double percent_graph, percent_idle, percent_starved, percent_missing;
	bool has_tokens;
	/* of tl-roofline */
	int64_t op_ns, modelled_ns, compute_ns;
	double roof_ns; /* what the roofline allows for modelled_ns */
	size_t n;       /* processes */
	struct str says;
};

/* Iterations that all ranks share, from tl-steps: sums over them. */
struct imbalance {
	int64_t iterations;
	double mean_ns, max_ns; /* of computation, over the ranks of each */
	double least_tokens, most_tokens;
	struct tallies slowest; /* ranks; ns: in how many */
	struct str says;
};

/* A process group of tl-collective. */
struct process_group {
	struct str name, says, verdict;
	struct str late_rank; /* empty: none */
	int64_t latency_ns, wait_ns, collectives;
};

/* An op or kernel that takes another time in the other trace. */
struct change {
	struct str name;
	int64_t before_ns, after_ns;
	double count[2]; /* of repeated runs a mean */
	enum change_of {
		CHANGE_OP,
		CHANGE_LAUNCH, /* of graphs, outside of ops */
		CHANGE_KERNEL,
	} of;
};
typedef VEC(struct rank) rank_vec;

/* What could be won back, and how: of tl-advise's findings. */
struct gain {
	int64_t place; /* among all of them */
	int64_t low_ns, ns, high_ns;
	double percent; /* of the window */
	struct str what, action;
	int64_t shares; /* the place of one before it that has its time; 0 */
};

struct figures {
	struct settings *set;
	struct figures *other; /* of a comparison, beside the first */
	struct arena *text;
	const struct input *input; /* the table that is read */
	/* of a comparison */
	VEC(struct str) sentences;
	VEC(struct change) changes; /* the largest */
	bool compares_ops;
	const char *gpu; /* what sentences call the device */
	/* of the tables */
	bool has_op_table, by_src;
	VEC(struct thread) threads; /* the busiest first */
	rank_vec ranks;
	struct rank all; /* their sum */
	/* the same of the window that the verdict is about: "6 steps" */
	rank_vec bars;
	struct rank window;
	struct str window_words;
	rank_vec gpus, processes; /* of a trace that has several */
	struct tallies ops, categories, losses, specs, grouped; /* --by */
	int64_t ops_ns, graph_ns, args_ns, shapeless_ns;
	int64_t unified_ns, modelled_ns;
	int64_t roofless_ns; /* there is a model, but no figures of the GPU */
	int64_t opless_ns;   /* launched outside of ops */
	int64_t over_ns;     /* reached more than the roofline */
	struct tallies unknown; /* ops without a performance model */
	struct tallies lacking; /* whose models lack something of the trace */
	struct tallies over; /* of over_ns; real: the most of one, in percent */
	/* by category, of what has a roofline; of_ns: lost, count: ns that is
	 * compute-bound */
	struct tallies reached;
	double tb_per_s;
	double least_per_byte, most_per_byte; /* FLOP/byte of ops */
	struct str roof;
	VEC(struct process_group) groups;
	struct str finding;    /* who or what costs most in collectives */
	bool any_late;         /* else groups need no list */
	struct rank_cost cost; /* the most; percent 0: none is asked for */
	struct tallies causes; /* idle time; what: the call that took most */
	struct budgets budgets;
	struct pace pace; /* of one source */
	VEC(struct phase_line) phases;
	struct imbalance imbalance;
	struct mfu mfu;
	bool is_judged;               /* what bounds the time is known */
	struct gain gains[TOP_GAINS]; /* the largest, if it is */
	size_t ngains;
	size_t nbeyond;               /* rows of nccl_vs beyond noise */
	size_t nunsound, nmisleading; /* traces, by tl-health */
	/* sentences */
	struct str title, late, verdict, health; /* late: of several ranks */
	VEC(struct str) warnings;
};

/* ---- figures.c ---- */

/*
 * All tables of the report, and what they come to; or, if not is_whole, of
 * several ranks only what puts these side by side.
 */
void figures_read(struct figures *f, const struct jobs *j, bool is_whole);
void figures_free(struct figures *f);
/* The one of this name, made when missing; valid until the next call. */
struct tally *tally_of(struct figures *f, struct tallies *t, struct str name);
/* The sum of all. */
int64_t tallies_sum(const struct tallies *t);
/* The largest by ns, ties by name: at most n into best; how many. */
size_t tallies_best(
    const struct tallies *t, const struct tally **best, size_t n);
/* The same in another order. */
size_t tallies_first(const struct tallies *t, const struct tally **best,
    size_t n, enum list_order order);
/* Adds times; a sum that is too large ends the program. */
void time_add(int64_t *sum, int64_t v);
/* A copy that lives as long as the figures. */
struct str figures_text(struct figures *f, struct str s);
/* The same of what is in b, which is emptied. */
struct str figures_keep(struct figures *f, struct buf *b);
/* The device is a TPU, which has no graphs. */
bool figures_is_tpu(const struct figures *f);

/* ---- read.c ---- */

/* The tables by name, in the order in which they are read; NULL ends it. */
struct input {
	const char *name;
	line_fn *take;
	bool of_ranks;         /* it puts ranks side by side */
	const char *ns, *what; /* ids of columns, of one who takes several */
};
extern const struct input inputs[];

/* ---- advice.c ---- */

/* Runs tl-advise on the tables that are there by now. */
void advice_start(const struct settings *s, struct jobs *j, const char *format);
void advice_take(void *ctx, const struct line *l);
/* "4.9 us (2.5 to 4.9 us): hipFree (alloc, uid 7); keep memory" */
void advice_put(const struct figures *f, size_t i, struct buf *b);

/* ---- phases.c ---- */

void phases_take(void *ctx, const struct line *l);
void phases_take_ranks(void *ctx, const struct line *l);
void phases_take_roof(void *ctx, const struct line *l);
/* Their sentences, behind the last row. */
void phases_make(struct figures *f);

/* ---- host.c ---- */

void host_sort(struct figures *f);
void host_verdict(struct figures *f, struct buf *b);
void host_warnings(struct figures *f);

/* ---- verdict.c ---- */

/* Title, late and verdict. */
void verdict_make(struct figures *f);
/* "12.3 %" appended. */
void put_share(struct buf *b, int64_t part, int64_t whole);
/* The same in a sentence: "under 0.1 %" is not nothing. */
void put_part(struct buf *b, int64_t part, int64_t whole);
double share_of(int64_t part, int64_t whole);
/* So much time; of several ranks their mean. */
void put_whole(
    const struct figures *f, int64_t ns, int64_t nranks, struct buf *b);
/* How the time is called in which nothing that is selected runs. */
const char *word_of_idle(const struct figures *f);
/* Of a comparison the name of this side, else empty. */
struct str side_of(const struct figures *f);
/* "before: ": what follows is about this side alone. */
void put_side(const struct figures *f, struct buf *b);
/* Its parts. */
void put_shares(const struct figures *f, const struct rank *all, struct buf *b);

/* ---- warn.c ---- */

void warnings_make(struct figures *f, const struct jobs *j);

/* ---- screen.c ---- */

void screen_print(struct figures *f, const char *path); /* NULL: stdout */

/* ---- summary.c ---- */

/* The tables that the report makes itself, beside the others; those without
 * rows are left out. */
void summary_write(struct figures *f, bool is_whole);

#endif
