/* SPDX-License-Identifier: MIT */
/*
 * tl-kernels: GPU time by kernel.
 *
 * The tree is read once; each kernel is a record (struct kernel), its op is
 * filled in when that is known. A table groups the records by some of their
 * words, or shows each.
 */
#ifndef TL_KERNELS_H
#define TL_KERNELS_H

#include "model/arch.h"
#include "model/facts.h"
#include "sink/cells.h"
#include "sink/group.h"
#include "trace/bucket.h"
#include "trace/owner.h"
#include "trace/select.h"
#include "trace/span.h"

enum by {
	BY_NAME,
	BY_CONFIG, /* launch-config */
	BY_OP,
	BY_ARGS, /* op,args,kernel */
	BY_EVENT,
	BY_SHORT, /* the key of short_kernels_summary */
	BY_CLASS, /* rocprofv3's categories */
};

struct settings {
	enum by by;
	const char *table; /* --table */
	const char *arch;  /* --arch */
	enum roof roof;
	bool linked_only, keep_unowned, pseudo_ops, list, verbose;
	int64_t short_ns;
	int64_t nbins;
	bool with_args, with_config, with_module; /* what to read */
	struct select select;
	struct bucket_rules rules;
	struct table_dest dest;
};

struct kernel {
	struct uid uid;
	uint32_t recording, track;
	uint32_t name, class;  /* class: of rocprofv3 */
	uint32_t op, category; /* INTERN_NONE: no op; op may be a launch */
	struct op_args args;
	uint32_t module; /* number of the nearest call, from 1; 0: none */
	uint32_t grid, block;
	uint32_t nkernels; /* that its op launched itself */
	struct key dev, gpu_stream, corr, tid;
	int64_t dispatch, agent; /* of rocprofv3, or -1 */
	int64_t ts_ns, dur_ns, delay_ns;
	bool has_delay, has_op;
};

/* A call of an nn.Module, and the GPU work below it. */
struct module_call {
	struct uid uid;
	uint32_t name;
	uint64_t kernels;
	int64_t busy_ns;
};

struct open_module {
	uint32_t depth;
	uint32_t number; /* in calls, from 1 */
	size_t first_work;
};

struct module_stack {
	VEC(struct open_module) open;
	struct spans work;
	struct map names; /* of frames: whether they are a module's */
};

/* What a source is besides its records. */
struct extent {
	int64_t start, end; /* of all its GPU work; none: start > end */
	int64_t sum_ns;     /* of its kernels */
	bool has_ops;
};

struct kernels {
	const struct settings *set;
	struct strings *strings;
	struct models *models;
	const struct arch *arch; /* NULL: unknown */
	struct map categories, classes;
	struct sink_sources recordings;
	VEC(struct extent) extents; /* by recording */
	uint32_t recording;
	VEC(struct kernel) list;
	VEC(struct module_call) calls;
	struct module_stack open;
	bool all_rocprof, any_text_stream, any_inst;
	uint64_t nevents;
};

/* gather.c */

void kernels_read_file(
    struct kernels *k, struct settings *set, const char *path);
/* Leaves out what is not asked for; sums. */
void kernels_finish(struct kernels *k);
void kernels_free(struct kernels *k);

/* modules.c */

/* Closes what is at this depth or below. */
void modules_close(struct kernels *k, uint32_t depth);
void modules_host(struct kernels *k, const struct event *ev);
/* GPU work that counts; the number of the nearest call above it, or 0. */
uint32_t modules_work(struct kernels *k, const struct event *ev);
void modules_free(struct kernels *k);

/* class.c */

/* The category of a kernel by its name, as the rocprofv3 report has them. */
struct str class_of(const struct bucket_rules *rules, struct str name);

/* group.c */

/* What the sum of a group is: of durations. */
#define SUM_NS 0

/* Of the kernels for which wanted says so, the longest sum first. */
typedef bool wanted_fn(const struct kernels *k, const struct kernel *one);
void kernels_group(struct sink_groups *gs, const struct kernels *k, enum by by,
    wanted_fn *wanted);

/* tables.c */

void tables_choose(struct settings *set);
void tables_check(struct settings *set);
void tables_print(struct settings *set, struct kernels *k);

#endif
