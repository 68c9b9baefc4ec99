/* SPDX-License-Identifier: MIT */
/*
 * tl-ops: GPU time by the op that launched it.
 *
 * The tree is read once. Each op that launches is kept as a record (calls),
 * what it launched as another (kernels); a table is a grouping of the calls
 * by some of their words, and figures of the groups.
 */
#ifndef TL_OPS_H
#define TL_OPS_H

#include "model/facts.h"
#include "sink/cells.h"
#include "sink/group.h"
#include "trace/bucket.h"
#include "trace/overlap.h"
#include "trace/owner.h"
#include "trace/process.h"
#include "trace/select.h"
#include "trace/span.h"

/* What a table groups by; the first ones are words of --by. */
enum by {
	BY_CATEGORY,
	BY_NAME,
	BY_ARGS,
	BY_MODULE,
	BY_ANNOTATION,
	BY_STEP,
	BY_THREAD,
	BY_COUNT
};
extern const char *const by_words[]; /* ended by NULL */

enum clock {
	CLOCK_GPU,
	CLOCK_CPU,
};

struct settings {
	enum by by;
	enum clock clock;
	const char *table; /* --table */
	bool all_ops, with_comm, linked_only;
	bool recompute, first_occurrence, overlap, num_kernels;
	bool parent_module, call_stack, pseudo_ops;
	bool details; /* columns of lists are asked for */
	bool list;    /* --list-tables */
	bool verbose;
	VEC(struct str) names; /* --name: of ops */
	struct select select;
	struct bucket_rules rules;
	struct table_dest dest;
};

/* ---- what is gathered ---- */

/* A GPU event that an op launched. */
struct kernel {
	uint32_t name;
	uint32_t work; /* in works, for overlaps */
	struct key gpu_stream;
	int64_t ts_ns, dur_ns;
};

/* A call of an op, or a launch outside of ops. */
struct call {
	struct uid uid;
	uint32_t source;
	uint32_t name, category, track;
	struct op_args args;
	uint32_t module, annotation;
	uint32_t parent_module; /* by its type, or "NA"; if asked for */
	uint32_t call_stack;    /* JSON, likewise */
	int64_t step;
	bool is_recompute, is_op;
	int64_t ts_ns;
	int64_t direct_ns, subtree_ns;
	int64_t total_ns, self_ns; /* of the host */
	size_t first_kernel;
	uint32_t nkernels;
	struct op_overlap overlap;
};

struct ops {
	const struct settings *set;
	struct strings *strings;
	struct names *names;
	struct models *models;
	struct map categories; /* name and first kernel to category */
	struct sink_sources sources;
	uint32_t source; /* of what is being read */
	VEC(struct call) calls;
	VEC(struct kernel) kernels;
	VEC(struct work) works;
	overlap_vec overlap_list;
	VEC(struct spans) busy; /* by source: all GPU work with a launch */
	bool any_inst;          /* some calls are repetitions of an event */
	uint64_t nevents;
};

/* gather.c */

void ops_read_file(struct ops *g, struct settings *set, const char *path);
/* After the last file: calls into the order of time, what overlaps them. */
void ops_finish(struct ops *g);
void ops_free(struct ops *g);

/* group.c */

/* What the sums of a group are. */
enum {
	SUM_DIRECT,
	SUM_SUBTREE,
	SUM_SELF,
	SUM_TOTAL,
};

/* The words that a table groups by. */
struct grouping {
	enum by by;
	bool with_overlap, with_recompute, with_num_kernels, with_module;
	bool all_ops;  /* those that launch nothing too */
	bool only_ops; /* no launches outside of ops */
};

/* Groups of the calls, each in the order of time, the longest first. */
void ops_group(
    struct sink_groups *gs, const struct ops *g, const struct grouping *how);

/* tables.c */

/* What --table asks for, into the settings. */
void tables_choose(struct settings *set);
/* A usage error for columns that the table asked for does not have. */
void tables_check(struct settings *set);
void tables_print(struct settings *set, struct ops *g);

#endif
