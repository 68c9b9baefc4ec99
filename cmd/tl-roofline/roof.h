/* SPDX-License-Identifier: MIT */
/*
 * tl-roofline: how far are the ops from what the hardware could do?
 *
 * The tree is read once. Below a root it is held whole, because which op a GPU
 * event belongs to depends on what lies above and below (collect.c). What
 * comes out are calls: an op, its GPU work and what its model says. A table is
 * a grouping of the calls of one kind.
 */
#ifndef TL_ROOFLINE_ROOF_H
#define TL_ROOFLINE_ROOF_H

#include "cmd/tl-roofline/inductor.h"
#include "model/arch.h"
#include "model/facts.h"
#include "sink/cells.h"
#include "sink/group.h"
#include "trace/bucket.h"
#include "trace/overlap.h"
#include "trace/owner.h"
#include "trace/process.h"
#include "trace/select.h"

#define NO_INDEX UINT32_MAX

/* Times of a co-process, asked for by GEMM. */
struct sim;

/* What another trace took for the same work. */
struct versus;

struct settings {
	const char *table; /* --table, NULL: unified */
	const char *arch, *sim_command;
	const char *diff; /* --diff */
	enum roof roof;
	bool overlap, num_kernels, recompute, call_stack, pseudo_ops;
	bool linked_only;
	bool details; /* columns of lists are asked for */
	bool list_tables, list_models, verbose;
	bool has_explain;
	struct uid_pick explain;
	VEC(struct str) names; /* --name: of ops */
	struct select select;
	struct bucket_rules rules;
	struct table_dest dest;
	/* --op: one op, without a trace */
	const char *op, *dims, *types, *strides, *concrete;
	bool backward;
};

/* An op, with its GPU work and what its model says. */
struct call {
	struct uid uid;
	uint64_t seq; /* orders the calls of a table */
	uint32_t source, table;
	uint32_t name, category, track;
	struct op_args args;
	int64_t host_ns; /* -1: unknown */
	int64_t busy_ns;
	const struct model_result *res; /* NULL: no result */
	double sim_us;                  /* NAN: not simulated */
	bool is_recompute, has_model, is_synthetic;
	uint32_t forward; /* in forwards: T is that of its backward */
	uint32_t entry_point, stack;    /* INTERN_NONE */
	size_t first_kernel, first_own; /* in lists */
	uint32_t nkernels, nown;        /* own: what overlaps are about */
	struct op_overlap overlap;
	uint32_t
	    awaited; /* in forwards: its model reads the backward op, too */
};

/* An op with a linked backward op, and the wrappers of it and below it. */
struct forward {
	uint32_t name, category; /* of the backward op */
	struct op_args args;
	const struct model_result *res; /* of the backward, NULL: none */
	size_t first_back, nback;       /* uids of wrappers in backs */
	/* where the model reads the backward op: that, and what comes of it */
	uint32_t back_name;
	struct op_args back_args;
	const struct model_result *whole;
};

/* From the first call of a table to behind its last one. */
struct extent {
	size_t first, end;
};

/* The GPU work below an event. */
struct range {
	uint32_t first, n;
};

/* An event of the subtree that is open. */
struct node {
	struct uid uid, fwd, bwd;
	uint64_t number; /* over all files, from 1 */
	uint32_t name, track, flags, depth;
	uint32_t up, end; /* in nodes */
	uint32_t work, nwork;
	uint32_t first_own; /* the earliest work that it owns, or NO_INDEX */
	uint8_t kind;
	/* extra_below: an op with any model, not only one that owns */
	bool is_model, model_below, extra_below, is_leaf, is_sheet;
	uint32_t nleft; /* GPU events that no op below stands for */
	int64_t ts_ns, dur_ns;
	struct op_args args;
	uint32_t extra, nextra; /* further arguments */
	int64_t
	    nmain; /* of a wrapper: ops of its name below; -1: not counted */
	const struct model *model;
	const struct model_result *res;
};

struct roof_state {
	const struct settings *set;
	struct strings *strings;
	struct names *names;
	struct models *models;
	const struct arch *arch;
	uint32_t device; /* the name of the trace's */
	struct sim *sim;
	struct inductor *inductor; /* NULL: no wrapper files */
	struct versus *versus;     /* NULL: no --diff */
	struct sink_sources sources;
	uint32_t source; /* of what is being read */
	struct map categories;
	VEC(const struct model *) by_name; /* of names seen */
	VEC(uint8_t) by_name_known;
	/* kept */
	VEC(struct work) works;
	VEC(struct call) calls;
	VEC(struct extent) extents; /* by table, of calls when all is read */
	VEC(uint32_t) lists;        /* of works */
	VEC(struct forward) forwards;
	struct map forward_of, range_of; /* by uid */
	VEC(struct uid) backs;
	VEC(struct range) ranges;
	overlap_vec overlap_list;
	VEC(uint32_t) params; /* by result: its parameters' text */
	/* the open subtree */
	VEC(struct node) nodes;
	VEC(uint32_t) open;   /* nodes */
	VEC(uint32_t) above;  /* by work of the subtree: its parent node */
	VEC(uint8_t) covered; /* by work of the subtree */
	extra_vec extras;
	uint32_t first_work; /* of the subtree */
	struct notes notes;
	uint32_t execute; /* the name */
	uint32_t wanted;  /* the only table, or TABLE_NONE: all of them */
	bool has_calls;   /* of any table */
	uint64_t number, seq, nevents;
	bool any_inst; /* some calls are repetitions of an event */
	/* Ops without figures: models of the user's or of an error of their
	 * own, and those where the trace has not what a built-in one needs. */
	struct failures {
		uint64_t n;
		struct str name, reason; /* of the first */
	} failed, lacking;
	uint64_t nown_failed; /* of the user's models */
};

/* gather.c */

void roof_read_file(
    struct roof_state *g, struct settings *set, const char *path);
void roof_free(struct roof_state *g);

/* subtree.c: facts about the nodes of the open subtree */

const struct model *subtree_model(struct roof_state *g, uint32_t name);
/* All of them, when the subtree is whole. */
void subtree_judge(struct roof_state *g);
/* The nearest op from a node on up, NO_INDEX: none. */
uint32_t subtree_op(const struct roof_state *g, uint32_t node);
/* The same of a forward op whose model reads the backward op, after all. */
const struct model_result *subtree_eval_whole(
    struct roof_state *g, uint32_t forward);
/* Keeps what backward ops and tables will ask for. */
void subtree_keep(struct roof_state *g);
/* The forward op of which a node is the only backward op, or NO_INDEX. */
uint32_t subtree_sole(struct roof_state *g, uint32_t node);
#define UID_NONE UINT32_MAX /* inst of a uid that isn't there */
uint64_t uid_key(uint32_t source, struct uid u);
/* A list of works into the order of time. */
void works_sort(const struct roof_state *g, uint32_t *list, size_t n);
bool work_before(const struct work *a, const struct work *b);

/* collect.c */

/* Makes calls of the subtree that is open. */
void collect_subtree(struct roof_state *g);
/* After the last file: backward times, order. */
void collect_finish(struct roof_state *g);
/*
 * Where the calls of a table are then, source by source; those of others are
 * between them only if there are several sources.
 */
struct extent calls_of(const struct roof_state *g, uint32_t table);
/* Busy time of works by index; sorts the list by time. */
int64_t busy_of(const struct roof_state *g, uint32_t *list, size_t n);

/* stack.c */

/* Entry point and call stack of a call of a node. */
void stack_of(struct roof_state *g, struct call *c, uint32_t node);

/* group.c */

/* What the sums of a group are. */
enum {
	SUM_BUSY,
	SUM_ALL, /* of those that differ in the overlap only */
};

/* The words that a table groups by. */
struct grouping {
	uint32_t table;
	bool by_params; /* a sheet, else by arguments */
	bool with_overlap, with_recompute, with_num_kernels;
	bool with_diff; /* columns of it; groups are the same */
};

/* The parameters of a result as text, by number; INTERN_NONE: no result. */
uint32_t params_of(struct roof_state *g, const struct model_result *res);
/* Groups of the table's calls in their order, the longest first. */
void roof_group(
    struct sink_groups *gs, struct roof_state *g, const struct grouping *how);

/* figures.c: of one call; NAN is what can't be had */

/* Whether an op of this name and model is itself a backward op. */
bool is_backward_op(const struct model *m, struct str name);
double call_gflops(const struct call *c);
double call_mib(const struct call *c);
double call_intensity(const struct call *c);
double call_tflops(const struct call *c);
double call_tbs(const struct call *c);
/* By the simulated time instead. */
double call_sim_tflops(const struct call *c);
double call_sim_tbs(const struct call *c);
double call_sim_pct(const struct call *c);
double call_roof_us(const struct roof_state *g, const struct call *c);
/* Of that time, which call_roof_us() gave. */
double call_roof_pct(const struct call *c, double roof_us);
struct str call_reason(const struct call *c);

/* tables.c */

/* Calls are of table 0, the unified one, or of a sheet. */
enum sheet_way {
	SHEET_ALONE,
	SHEET_FWD,
	SHEET_BWD,
};
#define TABLE_UNIFIED 0
#define TABLE_NONE NO_INDEX
/* The table of a sheet and way. */
uint32_t table_of_sheet(
    const struct models *ms, struct str sheet, enum sheet_way way);
void tables_choose(struct roof_state *g, struct settings *set);
void tables_check(struct roof_state *g, struct settings *set);
void tables_list(const struct roof_state *g);
void tables_print(struct settings *set, struct roof_state *g);

/* sim.c */

struct sim *sim_start(const char *command);
/*
 * Microseconds of a matrix product, or of the attention of an op of this name;
 * NAN when it can't tell: the answer is none, or the GPU lacks a figure.
 */
double sim_time(struct sim *s, const struct roof_state *g,
    const struct model_result *r, struct str name, bool is_backward);
void sim_finish(struct sim *s);

/* versus.c */

/* Of a row: the sums of its points. */
struct versus_row {
	int64_t before_ns, after_ns;
	int64_t nafter; /* points at which the other trace has work */
};

/* The table diff_stats as NDJSON; its first side is what is read here. */
struct versus *versus_read(struct strings *st, const char *path);
void versus_free(struct versus *v);
/* A table begins, and in it a row; its GPU work; what it comes to, false: it
 * has no point. */
void versus_table(struct versus *v);
void versus_row(struct versus *v);
void versus_add(
    struct versus *v, const struct sink_sources *g, const struct work *w);
bool versus_sum(struct versus *v, struct versus_row *to);
/* Appends the numbers, or names, of its points in their order. */
void versus_list(const struct versus *v, bool names, struct buf *b);
/* Points that counted in several rows. */
size_t versus_shared(const struct versus *v);

/* explain.c */

void explain_uid(const struct roof_state *g, const struct uid_pick *uid);
void models_list(const struct roof_state *g);
void one_op(struct roof_state *g, const struct settings *set);
/*
 * Types as JSON: text is such a list, or a word for all tensors, or words with
 * commas between for each argument; [] among the shapes is no tensor.
 */
void op_types(struct buf *b, struct str text, struct str dims);

/* many.c */

void many_ops(struct roof_state *g, struct settings *set);

#endif
