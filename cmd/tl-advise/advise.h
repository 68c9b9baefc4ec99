/* SPDX-License-Identifier: MIT */
/*
 * tl-advise inside: tables of a report become facts, rows of named cells; rules
 * fit facts and make findings, which are ranked by the time that they would
 * win back.
 *
 * main.c     the command line
 * input.c    tables of a report: folders, files, or tl-report's of a trace
 * labels.c   those of CSV, whose columns have labels
 * facts.c    what of them counts
 * late.c     the rank that bounds the job, if one does
 * system.c   facts of the window: gaps, copies, communication, short kernels
 * compute.c  facts of ops: what they lose to the roofline, and what has none
 * details.c  facts of single ops, layouts, paged attention
 * fusion.c   facts of chains that one kernel could do
 * change.c   facts of a comparison
 * rules.c    rules: JSON read, examples checked
 * fit.c      whether a rule fits a row, and what it says then
 * finding.c  findings: their order, which share time, and its limits
 * print.c    tables of them
 * text.c     the same for people, as text and Markdown
 */
#ifndef TL_ADVISE_H
#define TL_ADVISE_H

#include "cmd/tl-advise/rule.h"
#include "sink/budget.h"

/* ---- finding.c ---- */

struct finding {
	const struct rule *rule;
	struct str category, insight, action, confidence, claims, table;
	struct str uids; /* a list of JSON, or empty */
	int64_t gain_ns[GAINS];
	bool has_gain;
	int64_t rows;    /* of the table that it is about */
	size_t place;    /* from 1 on */
	size_t overlaps; /* the first before it that claims the same time; 0 */
};

/* An op with its arguments, as tl-roofline has it of a source. */
struct op_row {
	struct str label; /* its rank's, among several */
	struct str name, args, kernel, category, library, bound, roof, above;
	int64_t ns, host_ns, count;
	int64_t host_most_ns;          /* of one call */
	struct str uid;                /* of the first; empty: none */
	double flop_per_byte, reached; /* percent of roof; -1: none */
	double mean_ns, std_ns;
	struct str params; /* of its model, as JSON */
	struct str layout; /* the kernel that only changes a layout */
	int64_t layout_ns, layout_most_ns; /* of all of them, of that one */
	uint32_t same; /* as that of the same op on other ranks */
	bool is_shown; /* late_find_ops() */
};

/* Copies by direction, kernels by how long they take. */
/*
 * Kernels that follow each other overlap at their seams: by one part in so many
 * their sum exceeds the time that passes.
 */
#define SEAM_PARTS 100

enum { D2H, H2D, D2D, OTHER, DIRECTIONS };
struct amount {
	int64_t count, ns;
};
struct amounts {
	struct amount copies[DIRECTIONS], kernels, shorts;
	int64_t memsets_ns;
	int64_t told;    /* of the short ones: what ns and most are of */
	bool has_longer; /* of another limit */
	struct str most; /* the short kernel with most time */
	int64_t most_ns;
	int64_t launched_ns, graph_ns; /* of GPU work; that of graphs */
};

/* What a rank makes others wait for. */
struct awaited {
	struct str label;
	int64_t caused_ns;  /* what others wait for it */
	int64_t cost_ns;    /* its part of what lateness costs */
	int64_t gain_ns;    /* of the job at most, on time; -1: not known */
	struct str verdict; /* empty: it is not worth a word */
	double pct_of_step;
};
struct lateness {
	VEC(struct awaited) ranks;
	int64_t wait_ns, all_ns; /* in collectives */
	bool by_src;             /* ranks are not known */
	struct str rank;         /* that bounds the job; empty: none */
	int64_t left_ns; /* of what it costs, while findings take it up */
};

/* An op with its arguments, in both traces of a comparison. */
struct change {
	struct str name, dims;
	int64_t before_ns, after_ns, count_before, count_after;
	bool is_beyond_noise; /* else how much it varies is not known */
};

/* Ops that follow each other and could be one kernel. */
struct chain {
	struct str label; /* as an op's */
	struct str names, dims, uid;
	int64_t ops, count, kernels, ns;
	double saved_ns;
};

/* What gpu_timeline says of a source, or the mean of all. */
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
	/* of several sources the mean */
	int64_t total_ns, compute_ns, busy_ns, idle_ns;
	int64_t exposed_comm_ns, comm_ns, exposed_copy_ns;
	double gpus_ns; /* in which each GPU computes or copies, added up */
	double gpus_comm_ns; /* in which each communicates */
	double at_once;      /* GPUs, or kernels, while any works; at least 1 */
	double any_ns; /* in which any computes, of all sources; 0: not known */
	int64_t missing_ns; /* of the idle time */
	int64_t window_ns;  /* of the steps, with what is before GPU work */
	struct budgets budgets;
	struct budget sum; /* of several */
	/* the only one, that of the rank that bounds the job, or the sum */
	const struct budget *whole;
	struct decision bound;
	struct lateness late;
};

/* Facts of a table that is made here have also what the device is called. */
struct facts facts_made(const struct advice *a, const char *table);
/* Tries the rules of its table on a row; rows: those behind it. */
void advice_take(struct advice *a, const struct facts *f, int64_t rows);
/* Ranks them, and says which share time. */
void advice_finish(struct advice *a);
/* What findings that share no time win back together (mid). */
int64_t advice_sum(const struct advice *a);
/* Ends the program where gains exceed the time; name: of the input. */
void advice_keep_laws(const struct advice *a, const char *name);
void advice_free(struct advice *a);

struct facts_reading;

/* ---- late.c ---- */

void late_take_rank(struct advice *a, const struct line *l);
void late_take_gain(struct advice *a, const struct line *l);
void late_take_verdict(struct advice *a, const struct line *l);
void late_take_group(struct advice *a, const struct line *l);
/* Which window counts. */
void late_find(struct advice *a);
/*
 * Time of the window that counts as the job's: of a rank's own no more than the
 * others wait for it. of_others: the mean that they have of the same.
 */
int64_t late_gain(struct advice *a, int64_t ns, int64_t of_others_ns);
/* That mean, of a sum over them, or of a part of idle time. */
int64_t late_others(const struct advice *a, int64_t sum_ns);
int64_t late_others_part(const struct advice *a, const struct idle_part *p);
/*
 * Figures of ops are those of one rank, if it bounds the job, as its gaps are;
 * else means of all sources: whether a row counts, and of how many they are.
 */
bool late_counts(const struct advice *a, struct str label);
int64_t late_sources(const struct advice *a);
struct timeline late_timeline(const struct advice *a);
/* Facts for texts: "[ of {whose}]", "[{sources:| on average}]". */
void late_put(struct facts *f, const struct advice *a);
/* Of single ops: those of that rank; of alike ranks each op once, of the rank
 * on which it takes longest. */
void late_find_ops(struct advice *a);
void late_put_one(struct facts *f, const struct advice *a, struct str label);
void late_advise(struct advice *a);

/* ---- input.c ---- */

/* What is passed on to tl-report. */
struct input {
	VEC(const char *) words, paths;
};

/* The tables of traces, or of files and folders of tables; n > 0. Of a folder
 * only those that findings are made of. */
void input_read(struct input *input, char *const *paths, size_t n,
    const struct facts_reading *r, const struct table_sink *sink);

/* ---- labels.c ---- */

/* A table of CSV or TSV, with the columns' ids and units. */
void labels_read(const char *path, const struct table_sink *to);

/* ---- facts.c ---- */

/* What part of a gain passes, that is a sum over kernels which take ns. */
void facts_pass(struct facts *f, const struct advice *a, int64_t ns);
/* Takes what is read, and makes findings of it. */
struct facts_reading *facts_start(struct advice *a, struct table_sink *sink);
/* Whether a table of this name counts. */
bool facts_want(const struct facts_reading *r, struct str table);
/* name: of the input, for a message. */
void facts_finish(struct facts_reading *r, const char *name);

/* ---- system.c ---- */

/* How many of a source: of several the mean, as their time is one. */
void put_mean(struct facts *f, const char *id, int64_t n, int64_t sources);

void system_take_copy(struct advice *a, const struct line *l);
void system_take_kernel(struct advice *a, const struct line *l);
void system_take_bin(struct advice *a, const struct line *l);
void system_take_short(struct advice *a, const struct line *l);
void system_take_launches(struct advice *a, const struct line *l);
void system_advise(struct advice *a);

/* ---- compute.c ---- */

void compute_take_op(struct advice *a, const struct line *l);
void compute_take_category(struct advice *a, const struct line *l);
void compute_advise(struct advice *a);
/* What ops took, of all sources; what a share of ops is of, of one. */
int64_t advice_ops_ns(const struct advice *a);
int64_t advice_ops_whole(const struct advice *a);

/* ---- details.c ---- */

/* What more a row says; name and category are there. */
void details_take_op(struct advice *a, struct op_row *o, const struct line *l);
void details_take_kernel(struct advice *a, struct str name, int64_t ns);
void details_advise(struct advice *a);

/* ---- fusion.c, change.c ---- */

void fusion_take(struct advice *a, const struct line *l);
void fusion_advise(struct advice *a);
void change_take(struct advice *a, const struct line *l);
void change_advise(struct advice *a);

/* ---- print.c, text.c ---- */

/* A usage error where -c, --sort or --table name nothing. */
void advice_check(const struct table_dest *d, const char *table);
/* A table, NULL: the findings; into a folder all. */
void advice_print(struct advice *a, struct table_dest *d, const char *table);
void advice_text(const struct advice *a, struct out *out, size_t width);
void advice_markdown(const struct advice *a, struct out *out);
double advice_share(int64_t part, int64_t whole); /* percent; 0 of nothing */
/* What the gains of all findings are shares of. */
int64_t advice_window(const struct advice *a);

#endif
