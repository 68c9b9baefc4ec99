/* SPDX-License-Identifier: MIT */
/*
 * tl-kernels: GPU time by kernel. A sink (sink/sink.h): each kernel of the tree
 * is a record, its op is filled in when known.
 */
#ifndef TL_KERNELS_H
#define TL_KERNELS_H

#include "cmd/tl-kernels/spared.h"
#include "model/arch.h"
#include "model/facts.h"
#include "model/gemm.h"
#include "sink/rules.h"
#include "trace/bucket.h"
#include "trace/launcher.h"
#include "trace/phase-guess.h"
#include "trace/select.h"
#include "trace/span.h"

/* The values of --by; other tables have none. */
enum by {
	BY_NAME,
	BY_CONFIG, /* launch-config */
	BY_OP,
	BY_ARGS, /* op,args,kernel */
	BY_EVENT,
	BY_PID, /* of each process and GPU */
	BY_ANNOTATION,
	BY_PHASE,
	BY_STEP,
	BY_CLASS,
	BY_SEQUENCE, /* --sequences */
	BY_XLA,
	BY_NONE,
};

/* What a table needs: bits. */
enum {
	OF_SHORT = 1,    /* short kernels only */
	FOR_OPS = 2,     /* needs ops */
	FOR_ROCPROF = 4, /* rocprofv3's; names may occur twice */
	FOR_XLA = 8,     /* JAX's */
	OF_OTHERS = 16,  /* kernels of no class */
	OF_MODELS = 32,  /* has columns of the op's model */
	OF_PHASE = 64,   /* times (1 + enum phase) */
};

struct kernel {
	struct sink_record rec;
	uint32_t name, class;  /* class: if asked for */
	uint32_t op, category; /* INTERN_NONE: no op; op may be a launch */
	struct op_args args;
	uint32_t module; /* of the nearest call, from 1; 0: none */
	uint32_t grid, block;
	uint32_t caller;    /* process that launched it */
	uint32_t resources; /* JSON, see resources[] in gather.c */
	uint32_t nkernels;  /* launched by its op itself */
	bool has_op;
	bool is_alone;      /* no op below it has GPU work */
	uint64_t op_number; /* its op, or launch; 0: none */
	struct phase_mark mark;
	uint32_t phase, phase_method; /* words */
	struct key step, dev, gpu_stream, corr, tid;
	int64_t dispatch, agent; /* rocprofv3's, or SINK_NONE */
	/* XLA: instruction, module, program */
	uint32_t hlo_op, hlo_module, program;
	uint32_t plain; /* name without a number at its end */
	int64_t dur_ns, delay_ns;
	int64_t launch_ns;   /* the launch call's start, or SINK_NONE */
	uint32_t annotation; /* if asked for, as step; INTERN_NONE: none */
	/* of a place of a sequence, whose text is its name; else 0 */
	uint32_t length;
	uint32_t place; /* in sequences.list */
	int64_t gap_ns; /* between its kernels */
	int64_t saved_ns;
	int64_t spared_bytes; /* SINK_NONE: unknown */
	int64_t op_ns;
};

/* A place of a sequence. */
struct sequence {
	struct uid uid; /* of the op, or of the first kernel */
	uint32_t source, track;
	uint32_t op, length;
	size_t first;    /* of its names, and records */
	uint64_t number; /* of the op */
	int64_t ts_ns, dur_ns, gap_ns, op_ns;
	int64_t launch_ns; /* of all launches but the first */
	/* pairs of neighbours, by what they lack */
	uint32_t pairs[SPARED_LACKS];
};

/* Work that cannot be fused: no sequence crosses it. */
struct stop {
	struct uid uid;
	uint32_t source;
	struct key dev, gpu_stream;
	int64_t ts_ns;
};

struct sequences {
	bool is_asked;
	const char *op;      /* --op, or NULL */
	struct there there;  /* other ops */
	uint64_t nops, nmet; /* ops, and those of its name */
	uint32_t min, max;
	VEC(struct sequence) list;
	VEC(uint32_t) names;   /* of the kernels of all in list */
	VEC(uint32_t) records; /* of these; INTERN_NONE: of no kernel */
	VEC(struct stop) stops;
	struct spared spared;
};

/* A call of an nn.Module with its GPU work. */
struct module_call {
	struct uid uid;
	uint32_t name;
	uint64_t kernels;
	int64_t busy_ns;
};

struct open_module {
	uint32_t depth;
	uint32_t number; /* index in calls, from 1 */
	size_t first_work;
};

struct module_stack {
	VEC(struct open_module) open;
	struct spans work;
	struct map names; /* of frames: whether a module's */
};

/* A source's GPU work. */
struct extent {
	int64_t start, end; /* first start, last end; none: start > end */
	int64_t sum_ns;     /* of kernels */
	bool has_ops;
};

/* The current row's op model. */
struct model_row {
	/* NULL: unknown, or not this kernel's alone */
	const struct model_result *res;
	struct gemm_kernel gemm; /* zeroes: no GEMM's name */
};

struct kernels {
	struct sink sink;
	enum by by;
	const char *arch_name; /* --arch */
	enum roof roof;
	bool keep_unowned;
	int64_t short_ns;
	const char *of_short; /* a given option about short kernels, or NULL */
	bool has_short;       /* a table of short kernels is printed */
	int64_t nbins;
	/* what must be read */
	bool with_args, with_config, with_module, with_class;
	bool with_step, with_annotation;
	struct models *models;
	const struct arch *arch;     /* NULL: unknown */
	const char *categories_name; /* --categories, or NULL */
	struct map categories;
	struct rules classes, activities; /* rocprofv3 */
	struct rules parts;               /* other traces */
	struct rules xla;                 /* JAX */
	struct map gpus;                  /* JAX: GPUs of kernels */
	struct phases phases;
	uint64_t nphase[PHASE_COUNT]; /* kernels, by phase */
	VEC(struct extent) extents;   /* per source */
	VEC(struct module_call) calls;
	struct module_stack open;
	struct model_row row;
	struct sequences sequences;
	uint64_t ngpus; /* with kernels, over all sources */
	bool all_rocprof, all_xla, any_inst;
};

/* JAX's class of what fits no other. */
#define XLA_OTHER STR("Uncategorized Events/XLA")

static inline const struct kernels *
kernels_of(const struct sink *s)
{
	return (const struct kernels *)s;
}

/* gather.c: hooks of the sink */

void kernels_start(struct sink *s);
void kernels_take(struct sink *s, const struct stream_in *in, bool is_chosen);
void kernels_launcher(void *sink, const struct launcher *o);
void kernels_flush(struct sink *s);
void kernels_source(struct sink *s, const struct source *src);
void kernels_finish(struct sink *s);
void kernels_free(struct sink *s);

/* modules.c */

/* Closes calls at this depth or deeper. */
void modules_close(struct kernels *k, uint32_t depth);
void modules_host(struct kernels *k, const struct event *ev);
/* Adds GPU work; returns the number of its nearest call, or 0. */
uint32_t modules_work(struct kernels *k, const struct event *ev);
void modules_free(struct kernels *k);

/* cells.c */

/* The phase of a table, or PHASE_COUNT. */
enum phase kernels_phase(const struct sink_table *t);
bool is_short(const struct kernels *k, const struct kernel *one);
bool kernels_member(
    const struct sink *s, const struct sink_plan *p, const void *record);
void kernels_planned(struct sink *s, struct sink_plan *p);
double kernels_whole(
    const struct sink *s, const struct sink_plan *p, uint32_t source);
void kernels_notes(struct sink *s, const struct sink_plan *p, struct table *t);
void kernels_row(struct sink_row *r);
struct cell kernels_cell(const struct sink_row *r, unsigned field);

/* activity.c */

void activity_print(struct sink *s, const struct sink_plan *p);

/* histogram.c */

void histogram_print(struct sink *s, const struct sink_plan *p);

/* sequences.c */

/* An op, and the GPU work below it. */
void sequences_op(struct kernels *k, const struct launcher *o);
/* A GPU event that is no kernel. */
void sequences_stop(struct kernels *k, const struct event *ev);
/* Makes records of all places, when all kernels are records. */
void sequences_finish(struct kernels *k);
/* Which pairs of neighbours have no spared bytes, over all places of a row. */
struct cell sequences_reason(const struct sink_row *r);
void sequences_free(struct kernels *k);

/* tables.c */

extern const struct sink_column kernels_columns[];
enum { M_DUR, M_GAP, M_LAUNCH, M_OP, M_SAVED, M_BYTES };
#define KERNELS_NMEASURES 6
extern const struct sink_measure kernels_measures[KERNELS_NMEASURES];
#define KERNELS_NTABLES 29
extern struct sink_table kernels_tables[KERNELS_NTABLES];
/* Sets what must be read for the printed tables. */
void tables_choose(struct kernels *k);
bool kernels_asked(const struct sink *s, const struct sink_table *t);
bool kernels_wants(
    const struct sink *s, const struct sink_table *t, unsigned only);
bool kernels_fits(const struct sink *s, const struct sink_table *t);

/* Columns of kernels_cell(). */
enum {
	C_MODULE,
	C_MODULE_UID,
	C_MODULE_KERNELS,
	C_MODULE_BUSY,
	C_PCT_MODULE,
	C_SHARE_TOTAL,
	C_GFLOP,
	C_TFLOP_S,
	C_TILE,
	C_PCT_TILE,
	C_PCT_WAVE,
	C_PCT_ROOF,
	C_LATENCY,
	C_PER_GPU,
	C_BYTES,
	C_TB_S,
	C_GRID_X,
	C_GRID_Y,
	C_GRID_Z,
	C_BLOCK_X,
	C_BLOCK_Y,
	C_BLOCK_Z,
	C_SPARED,
	C_SPARED_REASON,
	C_RESOURCES, /* the first of them */
};

#endif
