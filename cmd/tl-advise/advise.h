/* SPDX-License-Identifier: MIT */
/*
 * Inside tl-advise. Tables of a report become facts, rows of named cells. Rules
 * match facts and make findings, ranked by the time that they would gain.
 *
 * main.c     the command line
 * input.c    tables of a report: folders, files, or tl-report's of a trace
 * labels.c   tables in CSV, whose columns have labels
 * facts.c    facts that count
 * late.c     the rank that bounds the job, if one does
 * system.c   facts of the window: gaps, copies, communication, short kernels
 * compute.c  facts of ops: losses to the roofline, ops without one
 * details.c  facts of single ops, layouts, paged attention
 * fusion.c   facts of chains that one kernel could do
 * change.c   facts of a comparison
 * rules.c    rules: JSON read, examples checked
 * fit.c      whether a rule matches a row, and the finding's text
 * returns.c  what GPU work returns while the host sets the pace
 * finding.c  findings: their order, which share time, and its limits
 * print.c    tables of findings
 * text.c     the same for people, as text and Markdown
 */
#ifndef TL_ADVISE_H
#define TL_ADVISE_H

#include "cmd/tl-advise/returns.h"
#include "cmd/tl-advise/rule.h"
#include "sink/budget.h"

/* ---- finding.c ---- */

#define UIDS_SHOWN 5 /* of a finding */

/* Adds the nth of a JSON list, which is not closed. */
void uids_put(struct buf *b, struct str uid, size_t n);

struct finding {
	const struct rule *rule;
	struct str category, insight, action, confidence, claims, table;
	struct str uids; /* a list of JSON, or empty */
	int64_t gain_ns[GAINS];
	bool has_gain;
	int64_t most_ns; /* that all GPU work returns; -1: no limit */
	int64_t rows;    /* of its table */
	size_t place;    /* from 1 */
	size_t overlaps; /* an earlier finding with this time; 0: none */
};

/* An op with its arguments in one source, from tl-roofline. */
struct op_row {
	struct str label; /* rank, of several sources */
	struct str name, args, kernel, category, library, bound, roof, above;
	int64_t ns, host_ns, count;
	int64_t host_most_ns;          /* of the longest call */
	struct str uid;                /* first event; empty: none */
	double flop_per_byte, reached; /* percent of roof; -1: none */
	double mean_ns, std_ns;
	struct str params; /* of its model, as JSON */
	struct str layout; /* longest kernel that only changes a layout */
	int64_t layout_ns, layout_most_ns; /* of all such kernels; that one's */
	uint32_t same; /* shared with the same op on other ranks */
	bool is_shown; /* late_find_ops() */
};

/* Copies by direction, kernels by how long they take. */
/*
 * Successive kernels overlap a little: their sum may exceed wall time by
 * 1/SEAM_PARTS.
 */
#define SEAM_PARTS 100

enum { D2H, H2D, D2D, OTHER, DIRECTIONS };
struct amount {
	int64_t count, ns;
};
#define FORBIDS 3
struct amounts {
	struct amount copies[DIRECTIONS], kernels, shorts;
	int64_t memsets_ns;
	int64_t told;    /* of short kernels with ns and most */
	bool has_longer; /* tables have another limit */
	struct str most; /* short kernel with most time */
	int64_t most_ns;
	int64_t launched_ns, graph_ns; /* GPU work; graphs' part */
	/* calls and ops that a capture may not have, the first ones */
	struct str forbids[FORBIDS];
	size_t nforbids;
};

/* A rank that others wait for. */
struct awaited {
	struct str label;
	int64_t caused_ns;  /* others' waiting */
	int64_t cost_ns;    /* its part of all late time */
	int64_t gain_ns;    /* of the job, at most, if on time; -1: unknown */
	struct str verdict; /* empty: not late */
	double pct_of_step;
};
struct lateness {
	VEC(struct awaited) ranks;
	int64_t wait_ns, all_ns; /* in collectives */
	bool by_src;             /* ranks are unknown */
	struct str rank;         /* the rank that bounds the job; empty: none */
	int64_t left_ns;         /* of its cost; findings use it up */
};

/* An op with its arguments in both traces of a comparison. */
struct change {
	struct str name, dims;
	int64_t before_ns, after_ns, count_before, count_after;
	bool is_beyond_noise; /* else noise is unknown */
};

/* Successive ops that could be one kernel. */
struct chain {
	struct str label; /* as in op_row */
	struct str names, dims, uid;
	int64_t ops, count, kernels, ns;
	double saved_ns;
};

/* A source's gpu_timeline, or the mean of all. */
struct timeline {
	struct str label;
	int64_t total_ns, busy_ns, compute_ns;
	int64_t exposed_comm_ns, comm_ns, exposed_copy_ns;
};

struct category { /* sums over sources */
	struct str name;
	int64_t ns, ops;
};

struct advice {
	struct rules rules;
	struct arena *mem;
	VEC(struct finding) findings;
	VEC(struct op_row) ops;
	VEC(struct change) changes;
	VEC(struct chain) chains;
	struct {
		int64_t ns, cache_ns;
	} paged;
	struct amounts amounts;
	VEC(struct category) categories; /* the longest first */
	int64_t nsources;
	bool has_comm; /* exposed communication is known */
	VEC(struct timeline) timelines;
	/* of several sources: means */
	int64_t total_ns, compute_ns, busy_ns, idle_ns;
	int64_t exposed_comm_ns, comm_ns, exposed_copy_ns;
	double gpus_ns;      /* sum over GPUs of compute and copy time */
	double gpus_comm_ns; /* the same of communication */
	double at_once;      /* GPUs or kernels at work, mean; at least 1 */
	double any_ns; /* while any computes, over all sources; 0: unknown */
	int64_t missing_ns; /* part of the idle time */
	int64_t window_ns;  /* the steps', with time before GPU work */
	struct budgets budgets;
	struct budget sum; /* over several sources */
	/* of the only source, of the rank that bounds the job, or sum */
	const struct budget *whole;
	struct decision bound;
	struct lateness late;
	struct returns returns;
};

/* Facts of a table made here, with the device's name. */
struct facts facts_made(const struct advice *a, const char *table);
/* Tries a table's rules on a row that stands for so many rows. */
void advice_take(struct advice *a, const struct facts *f, int64_t rows);
/* Ranks findings, and marks those that share time. */
void advice_finish(struct advice *a);
/* The sum of mid gains without counting time twice. */
int64_t advice_sum(const struct advice *a);
/*
 * Ends the program if gains exceed the time; name: the input, for the message.
 */
void advice_keep_laws(const struct advice *a, const char *name);
void advice_free(struct advice *a);

struct facts_reading;

/* ---- late.c ---- */

void late_take_rank(struct advice *a, const struct line *l);
void late_take_gain(struct advice *a, const struct line *l);
void late_take_verdict(struct advice *a, const struct line *l);
void late_take_group(struct advice *a, const struct line *l);
/* Chooses the window. */
void late_find(struct advice *a);
/*
 * The part of ns that the job would gain: of a late rank's own time no more
 * than others wait for it. of_others: their mean time for the same.
 */
int64_t late_gain(struct advice *a, int64_t ns, int64_t of_others_ns);
/* That mean, from a sum over the other ranks or from idle time. */
int64_t late_others(const struct advice *a, int64_t sum_ns);
int64_t late_others_part(const struct advice *a, const struct idle_part *p);
/*
 * Ops are of the rank that bounds the job, else means of all sources: whether a
 * row counts, and the number of sources.
 */
bool late_counts(const struct advice *a, struct str label);
int64_t late_sources(const struct advice *a);
struct timeline late_timeline(const struct advice *a);
/* Facts for texts: "[ of {whose}]", "[{sources:| on average}]". */
void late_put(struct facts *f, const struct advice *a);
/*
 * Chooses the ops to show: of that rank, else each op on the rank where it
 * takes longest.
 */
void late_find_ops(struct advice *a);
void late_put_one(struct facts *f, const struct advice *a, struct str label);
void late_advise(struct advice *a);

/* ---- input.c ---- */

/* Options for tl-report. */
struct input {
	VEC(const char *) words, paths;
};

/*
 * Reads the tables of traces, or of n > 0 files and folders; of a folder only
 * the needed ones.
 */
void input_read(struct input *input, char *const *paths, size_t n,
    const struct facts_reading *r, const struct table_sink *sink);

/* ---- labels.c ---- */

/* Reads CSV or TSV; columns get ids and units. */
void labels_read(const char *path, const struct table_sink *to);

/* ---- facts.c ---- */

/*
 * Sets the parts of a gain, which is a sum of kernel times, that are wall time.
 */
void facts_pass(struct facts *f, const struct advice *a, int64_t ns);
/* Reads tables and makes findings. */
struct facts_reading *facts_start(struct advice *a, struct table_sink *sink);
/* Whether a table is needed. */
bool facts_want(const struct facts_reading *r, struct str table);
/* name: the input, for messages. */
void facts_finish(struct facts_reading *r, const char *name);

/* ---- system.c ---- */

/* A count per source: the mean of several. */
void put_mean(struct facts *f, const char *id, int64_t n, int64_t sources);

void system_take_copy(struct advice *a, const struct line *l);
void system_take_kernel(struct advice *a, const struct line *l);
void system_take_bin(struct advice *a, const struct line *l);
void system_take_short(struct advice *a, const struct line *l);
void system_take_launches(struct advice *a, const struct line *l);
void system_take_graph(struct advice *a, const struct line *l);
void system_advise(struct advice *a);

/* ---- compute.c ---- */

void compute_take_op(struct advice *a, const struct line *l);
void compute_take_category(struct advice *a, const struct line *l);
void compute_advise(struct advice *a);
/* Op time over all sources; what shares of ops in one source are of. */
int64_t advice_ops_ns(const struct advice *a);
int64_t advice_ops_whole(const struct advice *a);

/* ---- details.c ---- */

/* Other cells of a row; name and category are set. */
void details_take_op(struct advice *a, struct op_row *o, const struct line *l);
void details_take_kernel(struct advice *a, struct str name, int64_t ns);
void details_advise(struct advice *a);

/* ---- fusion.c, change.c ---- */

void fusion_take(struct advice *a, const struct line *l);
void fusion_advise(struct advice *a);
void change_take(struct advice *a, const struct line *l);
void change_advise(struct advice *a);

/* ---- print.c, text.c ---- */

/* A usage error if -c, --sort or --table do not fit. */
void advice_check(const struct table_dest *d, const char *table);
/* A table; NULL: the findings; into a folder all. */
void advice_print(struct advice *a, struct table_dest *d, const char *table);
void advice_text(const struct advice *a, struct out *out, size_t width);
void advice_markdown(const struct advice *a, struct out *out);
double advice_share(int64_t part, int64_t whole); /* percent; 0 if whole is 0 */
/* What gains are shares of. */
int64_t advice_window(const struct advice *a);

#endif
