/* SPDX-License-Identifier: MIT */
/*
 * tl-ops: GPU time by the op that launched it. A sink (sink/sink.h): it reads
 * the tree once, keeps each op that launches as a record (struct call), and its
 * GPU work as others (struct kernel).
 */
#ifndef TL_OPS_H
#define TL_OPS_H

#include "model/facts.h"
#include "sink/rules.h"
#include "trace/launcher.h"
#include "trace/overlap.h"
#include "trace/phase-guess.h"

/* What a table groups by; the first ones are words of --by. */
enum by {
	BY_CATEGORY,
	BY_NAME,
	BY_ARGS,
	BY_MODULE,
	BY_ANNOTATION,
	BY_PHASE,
	BY_STEP,
	BY_THREAD,
	BY_PID,
	BY_COUNT
};

/* Measures of a call, see struct sink_measure. */
enum { M_DIRECT, M_SUBTREE, M_SELF, M_TOTAL, M_PCT, M_COUNT };

/* What a table counts. */
enum {
	OF_LAUNCHERS,
	OF_OVERLAP,
	OF_ALL_OPS,
	OF_CPU,
	OF_PHASE, /* plus enum phase */
};

/* A GPU event that an op launched. */
struct kernel {
	uint32_t name;
	uint32_t work; /* in works, for overlaps */
	struct key gpu_stream;
	int64_t ts_ns, dur_ns;
};

/* A call of an op, or a launch outside ops. */
struct call {
	struct sink_record rec;
	uint32_t name, category;
	struct op_args args;
	uint32_t module, annotation;
	uint32_t parent_module; /* by its type, or "NA"; with --parent-module */
	uint32_t call_stack;    /* JSON; with --call-stack */
	struct key step;
	struct phase_mark mark;
	uint32_t phase, phase_method; /* interned */
	bool is_recompute, is_op;
	uint32_t nkernels;
	int64_t direct_ns, subtree_ns;
	int64_t total_ns, self_ns; /* host time */
	size_t first_kernel;
	struct op_overlap overlap;
};

struct ops {
	struct sink sink;
	enum by by;
	bool of_cpu; /* --clock cpu */
	bool all_ops, with_comm;
	bool recompute, first_occurrence, overlap, num_kernels;
	bool parent_module, call_stack, linked_overlap;
	VEC(struct str) names; /* --name */
	struct there there;    /* other names */
	struct models *models;
	struct phases phases;
	uint64_t nphase[PHASE_COUNT]; /* launching calls, by phase */
	struct rules classes;         /* categories of kernels, in inference */
	struct map categories;        /* name and first kernel to category */
	VEC(struct kernel) kernels;
	VEC(struct work) works;
	VEC(struct spans) busy; /* by source: linked GPU work */
	VEC(int64_t) first_ns;  /* by source: of the first call in a table */
};

static inline const struct ops *
ops_of(const struct sink *s)
{
	return (const struct ops *)s;
}

/* gather.c: hooks of the sink */

void ops_start(struct sink *s);
void ops_take(struct sink *s, const struct stream_in *in, bool is_chosen);
void ops_launcher(void *sink, const struct launcher *o);
void ops_finish(struct sink *s);
void ops_free(struct sink *s);

/* cells.c */

/* The phase of a table; PHASE_COUNT: none. */
enum phase ops_phase(const struct sink_table *t);
bool ops_member(
    const struct sink *s, const struct sink_plan *p, const void *record);
void ops_planned(struct sink *s, struct sink_plan *p);
double ops_whole(
    const struct sink *s, const struct sink_plan *p, uint32_t source);
void ops_notes(struct sink *s, const struct sink_plan *p, struct table *t);
struct detail ops_kernel(const struct sink *s, size_t number);
struct cell ops_cell(const struct sink_row *r, unsigned number);

/* tables.c */

extern const struct sink_column ops_columns[];
extern const struct sink_measure ops_measures[];
#define OPS_NTABLES 25
extern struct sink_table ops_tables[OPS_NTABLES];
/* Keys that no option decides, for completion. */
void tables_begin(void);
/* Applies --table to the settings, and --by to the tables. */
void tables_choose(struct ops *g);
bool ops_asked(const struct sink *s, const struct sink_table *t);
bool ops_fits(const struct sink *s, const struct sink_table *t);
bool ops_wants(const struct sink *s, const struct sink_table *t, unsigned only);

/* Columns that depend on options, and those of overlap tables. */
enum {
	ONLY_OVERLAP = 1,
	ONLY_MODULE,
	ONLY_NUM_KERNELS,
	ONLY_RECOMPUTE,
	ONLY_FIRST,
	ONLY_STACK,
};

/* Cells computed in ops_cell(). */
enum {
	C_FIRST,
	C_LAUNCHING,
	C_DIRECT_MS,
	C_SUBTREE_MS,
	C_CATEGORIES,
	C_CLASSES
};

#endif
