/* SPDX-License-Identifier: MIT */
/*
 * tl-roofline: how far are the ops from the hardware's limit? A sink
 * (sink/sink.h) that holds the tree below a root, because which op a GPU event
 * belongs to depends on what is above and below (collect.c). Its records are
 * calls, those of a table in a row, source by source.
 */
#ifndef TL_ROOFLINE_ROOF_H
#define TL_ROOFLINE_ROOF_H

#include "cmd/tl-roofline/inductor.h"
#include "cmd/tl-roofline/mfu.h"
#include "cmd/tl-roofline/types.h"
#include "cmd/tl-roofline/versus.h"
#include "model/arch.h"
#include "sink/sink.h"
#include "trace/launcher.h"
#include "trace/overlap.h"
#include "trace/phase-guess.h"

#define NO_INDEX UINT32_MAX

/* An op, with its GPU work and its model's figures. */
struct call {
	struct sink_record rec; /* ts_ns is not set */
	uint64_t seq;           /* order of a table's calls */
	uint32_t table, name, category;
	struct op_args args;
	uint32_t params;               /* of res, as JSON */
	uint32_t phase;                /* interned */
	uint32_t window[WINDOW_KINDS]; /* indexes into windows, or NO_INDEX */
	int64_t step;                  /* the number; SINK_NONE */
	int64_t host_ns;               /* SINK_NONE: unknown */
	int64_t busy_ns;
	const struct model_result *res; /* NULL: none */
	bool is_recompute, has_model;
	bool is_over_link; /* mostly copies between host and GPU */
	uint32_t forward;  /* in forwards: the time is its backward's */
	uint32_t entry_point, stack;    /* INTERN_NONE */
	uint32_t stands_for;            /* a list of names, or INTERN_NONE */
	size_t first_kernel, first_own; /* in lists */
	uint32_t nkernels, nown;        /* nown: what overlaps refer to */
	struct op_overlap overlap;
	/* in forwards: its model reads the backward op */
	uint32_t awaited;
};

/* An op with a linked backward op, and the wrappers of that. */
struct forward {
	uint32_t name, category; /* of the backward op */
	struct op_args args;
	const struct model_result *res; /* of the backward; NULL: none */
	size_t first_back, nback;       /* uids of wrappers in backs */
	/* if the model reads the backward op: its name and figures */
	uint32_t back_name;
	struct op_args back_args;
	const struct model_result *whole;
	/* its row for the backward op: table, and the op it counts for */
	uint32_t table, stood_for;
};

/* A table's calls: first, and one past the last. */
struct extent {
	size_t first, end;
};

/* The GPU work below an event. */
struct range {
	uint32_t first, n;
};

/* An event of the open subtree. */
struct node {
	struct uid uid, fwd, bwd;
	uint64_t number; /* over all files, from 1 */
	uint32_t name, track, flags, depth;
	uint32_t up, end; /* in nodes */
	uint32_t work, nwork;
	uint32_t first_own; /* the earliest work that it owns, or NO_INDEX */
	uint8_t kind;
	/* extra_below: an op with any model, not only one that owns GPU work */
	/* parts_below: a pseudo-op with a model, which is more precise */
	bool is_model, model_below, extra_below, parts_below, is_leaf;
	uint32_t nleft; /* GPU events that no op below owns */
	int64_t ts_ns, dur_ns;
	struct op_args args;
	uint32_t extra, nextra; /* further arguments */
	int64_t nmain;          /* of a wrapper: ops of its name below, or -1 */
	const struct model *model;
	const struct model_result *res;
};

/* Ops without figures, and the first one of them. */
struct failures {
	uint64_t n;
	struct str name, reason;
};

struct roof_state {
	struct sink sink;
	/* options */
	const char *arch_name, *diff;
	enum roof roof;
	bool overlap, num_kernels, recompute, call_stack;
	bool list_tables, list_archs, list_models, has_explain;
	bool is_traced; /* --arch-from-trace */
	struct uid_pick explain;
	VEC(struct str) globs; /* --name */
	struct there there;    /* other names */
	const char *op, *dims, *types;
	/* for models and rooflines */
	struct models *models;
	const struct arch *arch;
	uint32_t device;           /* the name of the trace's device */
	struct inductor *inductor; /* NULL: no wrapper files */
	struct versus *versus;     /* NULL: no --diff */
	struct map categories;
	struct typing typing;
	VEC(const struct model *) by_name; /* of names seen, or not_seen */
	/* kept for all sources */
	VEC(struct work) works;
	VEC(uint64_t) ticks;        /* by source: the resolution of its times */
	VEC(struct extent) extents; /* by table: its calls, when all is read */
	VEC(uint32_t) lists;        /* of works */
	VEC(struct forward) forwards;
	struct map forward_of, range_of; /* by uid */
	VEC(struct uid) backs;
	VEC(struct range) ranges;
	VEC(uint32_t) params; /* by result: its parameters as JSON */
	/* the open subtree */
	VEC(struct node) nodes;
	VEC(uint32_t) open;   /* nodes */
	VEC(uint32_t) above;  /* by work of the subtree: the node above */
	VEC(uint8_t) covered; /* by work of the subtree */
	extra_vec extras;
	uint32_t first_work; /* of the subtree */
	struct phases phases;
	struct mfu mfu;
	VEC(struct window) windows;
	struct notes notes;
	uint32_t notes_of; /* source whose notes were printed */
	uint32_t execute;  /* the interned name */
	uint32_t wanted;   /* the only table, or TABLE_NONE: all */
	uint64_t met; /* tables with calls, a bit for each; the last: others */
	uint64_t number, seq;
	/* lacking: the trace lacks what a built-in model needs */
	struct failures failed, lacking, untyped;
	uint64_t nown_failed; /* with models of the user's */
	/* the current table and row */
	struct arena *mem;                  /* names of tables and parameters */
	VEC(struct str) param_names;        /* of a sheet */
	size_t first_param;                 /* its column */
	uint32_t roofs[2];                  /* "MI300X peak", by enum roof */
	const struct model_result *roof_of; /* the one with roof_us */
	double roof_us;
	const struct call *told; /* the first with a result, or NULL */
	struct versus_row versus_row;
	bool has_versus;
	struct phase_sums {
		int64_t modelled_ns, compute_ns; /* the rest is memory-bound */
		double roof_ns;
	} of_phase;
};

static inline struct call *
call_number(const struct roof_state *g, size_t i)
{
	return sink_record(&g->sink, i);
}

/* gather.c: hooks of the sink */

void roof_take(struct sink *s, const struct stream_in *in, bool is_chosen);
void roof_flush(struct sink *s);
void roof_source(struct sink *s, const struct source *src);

/* subtree.c: facts about the nodes of the open subtree */

const struct model *subtree_model(struct roof_state *g, uint32_t name);
/* Judges all nodes, when the subtree is complete. */
void subtree_judge(struct roof_state *g);
/* The forward op of the wrapper above a node, or NO_INDEX. */
uint32_t subtree_forward(
    const struct roof_state *g, uint32_t i, uint32_t *wrapper);
/* The nearest op from a node upwards, or NO_INDEX. */
uint32_t subtree_op(const struct roof_state *g, uint32_t node);
/* The same for a forward op whose model reads the backward op. */
const struct model_result *subtree_eval_whole(
    struct roof_state *g, uint32_t forward);
/* Keeps what backward ops and tables will need. */
void subtree_keep(struct roof_state *g);
/* The forward op whose only backward op a node is, or NO_INDEX. */
uint32_t subtree_sole(struct roof_state *g, uint32_t node);
uint64_t uid_key(uint32_t source, struct uid u);
/* Sorts a list of works by time. */
void works_sort(const struct roof_state *g, uint32_t *list, size_t n);
bool work_before(const struct work *a, const struct work *b);

/* collect.c */

/* Makes calls of the open subtree. */
void collect_subtree(struct roof_state *g);
/* After the last file: adds backward times, sorts. */
void collect_finish(struct roof_state *g);
/* The calls of a table, then; they may include others'. */
struct extent calls_of(const struct roof_state *g, uint32_t table);
/* The parameters of a result as JSON, interned; INTERN_NONE: no result. */
uint32_t params_of(struct roof_state *g, const struct model_result *res);
/* Busy time of works by index; sorts the list by time. */
int64_t busy_of(const struct roof_state *g, uint32_t *list, size_t n);

/* stack.c */

/* Sets entry point and call stack of a node's call. */
void stack_of(struct roof_state *g, struct call *c, uint32_t node);

/* figures.c: of one call; NAN: unknown */

bool is_backward_op(const struct model *m, struct str name);
double call_gflops(const struct call *c);
double call_bytes(const struct call *c);
/* These are measures of the sink. */
double call_tflops(const struct sink *s, const void *call);
double call_tbs(const struct sink *s, const void *call);
double call_roof_us(struct roof_state *g, const struct call *c);
/* Sets is_over_link of a call with its GPU work. */
void call_set_link(const struct roof_state *g, struct call *c);
/* Another time in percent of the call's. */
double call_pct(const struct call *c, double us);
struct str call_reason(const struct call *c);
/* Why it took less than its roof allows, from good reasons to poor ones. */
enum above {
	ABOVE_NOT,     /* it did not */
	ABOVE_CLOCK,   /* within the rounding of times */
	ABOVE_CACHE,   /* the excess is in a cache */
	ABOVE_FEWER,   /* its algorithm needs fewer operations */
	ABOVE_UNKNOWN, /* some figure is wrong */
};
enum above call_above(struct roof_state *g, const struct call *c);

/* tables.c */

/* Calls belong to table 0, the unified one, or to a sheet. */
enum sheet_way {
	SHEET_ALONE,
	SHEET_FWD,
	SHEET_BWD,
};
#define TABLE_UNIFIED 0
#define TABLE_NONE NO_INDEX
#define TABLE_EXPLAIN (NO_INDEX - 1)
/* The table of a sheet in one of its ways. */
uint32_t table_of_sheet(
    const struct models *ms, struct str sheet, enum sheet_way way);
void tables_list(struct roof_state *g);
/* Appends the names of tables with calls. */
void tables_there(struct roof_state *g, struct buf *b);
extern const struct sink_column roof_columns[];
extern const struct sink_measure roof_measures[];
/* hooks of the sink; about is the table's number, by: with overlaps */
void roof_make_tables(struct sink *s);
/* Whether the rows are steps or phases. */
bool roof_is_sums(const struct sink_table *t);
bool roof_fits(const struct sink *s, const struct sink_table *t);
bool roof_wants(
    const struct sink *s, const struct sink_table *t, unsigned only);
void roof_planned(struct sink *s, struct sink_plan *p);
void roof_range(const struct sink *s, const struct sink_plan *p, size_t *first,
    size_t *end);

/* cells.c: hooks of the sink */

bool roof_member(
    const struct sink *s, const struct sink_plan *p, const void *record);
void roof_grouped(
    struct sink *s, const struct sink_plan *p, struct sink_groups *gs);
int roof_compare(const struct sink *s, const struct sink_group *a,
    const struct sink_group *b);
void roof_notes(struct sink *s, const struct sink_plan *p, struct table *t);
void roof_row(struct sink_row *r);
struct detail roof_kernel(const struct sink *s, size_t number);
struct cell roof_cell(const struct sink_row *r, unsigned field);

/* explain.c */

void explain_print(struct sink *s, const struct sink_plan *p);
/* Prints how an op's figures without a trace came about. */
void explain_op(const struct roof_state *g, const struct model_op *op,
    const struct model_result *r);
void models_list(const struct roof_state *g);
void archs_list(const struct roof_state *g);

/* traced.c */

void traced_print(struct sink *s, const struct sink_plan *p);
/* ops.c: --op, ops without a trace */

void ops_answer(struct roof_state *g);

#endif
