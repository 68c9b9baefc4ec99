/* SPDX-License-Identifier: MIT */
/*
 * model: what an op has to compute and to move, and what the hardware could do.
 *
 * Op models are data: entries in Lua (common/model/NAME.lua, compiled in; the
 * user's with --models FILE), described in tl-models(5). An entry says for
 * which ops it stands, in which category and sheet they belong, and how FLOPs,
 * bytes and parameters follow from an op's arguments. It sees nothing but
 * those: no files, no clock, no other op, and it may neither loop nor grow
 * without end. An entry that fails marks the op it failed on, and no more.
 *
 *	struct models *ms = models_create();
 *	models_load(ms, "my.lua");	(ends the program if it is bad)
 *	const struct model *m = model_find(ms, name);	(once for each name)
 *	struct model_op op = { .name = name, .dims = STR("[[8,4]]") };
 *
 *	if (m != NULL && (r = model_eval(ms, m, &op, MODEL_FWD))->status ==
 *	    MODEL_OK)
 *		... r->flops, r->bytes, model_param_at(r, 0) ...
 *
 * Arguments are the texts of Kineto's lists, as they stand in a stream. What
 * is dear to find out is asked for only where an entry says that it reads it:
 * fill op.kernels, op.annotation, op.forward, op.backward and op.arg for the
 * bits that m->reads has, or always.
 *
 * Each distinct key (direction, name, arguments, and what of the rest the
 * entry reads) is evaluated once. Results live as long as the models: about
 * 160 bytes for each distinct key, and 9 for each parameter. A repeated key
 * costs a hash of its texts and one look-up. Keys are told apart by 128 bits
 * of hash.
 *
 * FLOPs and bytes are doubles: whole numbers are exact up to 2^53, and there
 * is no integer that could overflow on hostile shapes. Bytes that can't be
 * known are NAN, never 0.
 *
 * An arch is a GPU: peak and achievable figures for each compute spec
 * ("matrix_bf16"), with their sources; arch/NAME.json, compiled in, or a file.
 *
 *	const struct arch *a = arch_load(ms, "auto", devices);
 *	struct roofline rf = roofline_of(a, ROOF_ACHIEVABLE, r);
 */
#ifndef TL_MODEL_H
#define TL_MODEL_H

#include <math.h>

#include "base/base.h"

/* ---- models ---- */

struct models;

/*
 * With the built-in entries, of which a bad one is our own bug and ends the
 * program, and with those of *.lua in the folders of $TL_MODELS.
 */
struct models *models_create(void);
void models_destroy(struct models *ms);
/*
 * Entries of a user's file add to those there and replace them by name. A file
 * that can't be read, is no Lua or has a wrong entry ends the program with
 * file, line and reason.
 */
void models_load(struct models *ms, const char *path);
/* The same from text; false: why is filled. chunk names it in messages. */
bool models_load_text(struct models *ms, const char *chunk, struct str text,
    struct buf *why) USE_RESULT;

#define OPT_MODELS_FILE OPT_OF_MODEL
/* clang-format off */
#define OPT_MODELS                                                             \
	{ OPT_MODELS_FILE, "models", "FILE", "add or replace op models, see tl-models(5)" }
/* clang-format on */

/* What an entry reads besides the op's own arguments. */
enum {
	MODEL_READS_KERNELS = 1 << 0,
	MODEL_READS_ANNOTATION = 1 << 1,
	MODEL_READS_FORWARD = 1 << 2,
	MODEL_READS_BACKWARD = 1 << 3,
	MODEL_READS_ARGS = 1 << 4,
};

/* One entry. Texts live as long as the models; len 0: it has none. */
struct model {
	struct str category;          /* "": as if it had no model */
	struct str sheet;             /* "": only the unified table */
	struct str backward_category; /* of the op's linked backward op */
	struct str unit;              /* "matrix", "vector" */
	struct str where;             /* "gemm.lua:12" */
	unsigned reads;
	bool has_backward; /* MODEL_BWD is defined */
	bool is_gemm;      /* has B M N K bias: for simulators, tiles */
	bool is_extra;     /* the reference has no model of it */
	bool is_alone;     /* extra, where no op below has a model */
	bool is_builtin;   /* not of a user's file */
	/* private */
	int ref;
	uint32_t number;
	int prec_arg;
	size_t file;
	int first_line, last_line;
	VEC(struct str) args; /* further arguments that it reads */
	const struct intern *words;
	const struct str *names; /* of the parameters of its last result */
	size_t nnames;
};

/* The model of an op of this name, or NULL. Cheap: one look-up of the name. */
const struct model *model_find(struct models *ms, struct str name);

/* The lines of an entry's formula; lives as long as the models. */
struct str model_source(const struct models *ms, const struct model *m);

/*
 * Category of an op by its name and by the name of its first direct kernel
 * (no collective, earliest start; len 0: none): the registry by exact name,
 * then patterns and prefixes, then the kernel's name, then "other". Lives as
 * long as the models.
 */
struct str model_category(
    struct models *ms, struct str name, struct str first_kernel);

/* The names of entries in the order of their files, then prefixes with a star
 * behind them, for lists. */
size_t models_count(const struct models *ms);
const struct model *models_name(
    const struct models *ms, size_t i, struct str *name);

/* Whether a data type of this name was declared. */
bool models_know_type(struct models *ms, struct str name);

/* Sheets in the order of a report. */
struct model_sheet {
	struct str name;
	bool is_single; /* one table, no _fwd and _bwd */
};
size_t models_sheets(
    const struct models *ms, const struct model_sheet **sheets);

/* ---- one op ---- */

/*
 * An op as the trace has it. The lists are JSON text; absent: len 0. Only the
 * caller's while model_eval() runs.
 */
struct model_op {
	struct str name;
	struct str dims;     /* Input Dims: [[141,512],[512,512],[]] */
	struct str types;    /* Input type: ["float","float","Scalar"] */
	struct str strides;  /* Input Strides */
	struct str concrete; /* Concrete Inputs: ["","","1"] */
	/* names of the kernels below it, in the order of time */
	const struct str *kernels;
	size_t nkernels;
	/* the iteration's annotation around it: "execute_12_context_..." */
	struct str annotation;
	const struct model_op *forward;  /* linked forward op, or NULL */
	const struct model_op *backward; /* linked backward op, or NULL */
	/* a further argument of the event by its key, as JSON text or bare
	 * text; false: it has none. NULL: there are none. */
	bool (*arg)(void *ctx, struct str key, struct str *text);
	void *ctx;
};

enum model_way {
	MODEL_FWD, /* the op itself (a backward op that has a model: itself) */
	MODEL_BWD, /* the backward of this op, which has a linked backward op */
};

enum model_status {
	MODEL_OK,
	MODEL_SKIPPED, /* the entry says that it isn't defined for this op */
	MODEL_FAILED,  /* reason says why */
	MODEL_NONE,    /* no model for such an op after all */
};
extern const char *const model_status_words[];

enum model_type {
	MODEL_NULL, /* the reference's None */
	MODEL_BOOL,
	MODEL_INT,
	MODEL_REAL,
	MODEL_TEXT,
	MODEL_LIST, /* JSON text in text */
};

struct model_value {
	enum model_type type;
	union {
		bool yes;
		int64_t i;
		double real;
		struct str text;
	};
};

struct model_result {
	const struct model *model;
	uint8_t status; /* enum model_status */
	uint8_t nparams;
	bool lacks;  /* FAILED: the trace lacks a fact, the model is right */
	bool is_own; /* FAILED: what failed is of the user's file */
	uint32_t number;      /* of the result, from 0, for tables by result */
	double flops;         /* MODEL_OK: 0 or more */
	double bytes;         /* NAN: unknown */
	struct str spec;      /* "matrix_bf16", "": none */
	struct str precision; /* "bf16", "": none */
	struct str reason;    /* SKIPPED, FAILED: "gemm.lua:7: no argument 2" */
	/* private: parameters in the entry's order, their types behind them */
	const struct str *names;
	const uint64_t *params;
};

/* Evaluates, or remembers. m is what model_find() gave for op->name. */
const struct model_result *model_eval(struct models *ms, const struct model *m,
    const struct model_op *op, enum model_way way);
/* Parameter i, from 0. Its texts live as long as the models. */
struct model_value model_param_at(const struct model_result *r, size_t i);
struct str model_param_name(const struct model_result *r, size_t i);
/* The parameter of this name; false: it has none. */
bool model_param(
    const struct model_result *r, struct str name, struct model_value *v);
/* Appends a value as JSON, as it stands in perf_params. */
void model_value_json(struct buf *b, const struct model_value *v);
/* Appends {"M":141,...}. */
void model_params_json(struct buf *b, const struct model_result *r);

/* What was done so far, for messages and -v. */
struct model_stats {
	uint64_t evaluated, hits;
	uint64_t nfailed;                      /* distinct keys */
	struct str failed_name, failed_reason; /* of the first one */
};
struct model_stats models_stats(const struct models *ms);

/*
 * Runs the examples that entries carry (of one chunk, or of all: NULL) and
 * tells tell() about each. The number of those that fail.
 */
typedef void model_check_fn(void *ctx, bool passed, struct str what);
size_t models_check(struct models *ms, const char *chunk, model_check_fn *tell,
    void *ctx, size_t *nrun);

/* ---- annotations ---- */

/* What the name of an annotation tells of a step. */
enum note_rank {
	NOTE_COUNTS, /* the sums that models read */
	NOTE_STEP,   /* that it is one */
	NOTE_OTHER,  /* nothing */
};
enum note_rank model_annotation(struct models *ms, struct str text);

/* ---- pseudo-ops: rules that put ops into a tree ---- */

#define TREE_NONE UINT32_MAX

/* The tree that rules look at; events are its owner's numbers. */
struct model_tree {
	void *ctx;
	struct str (*name)(void *ctx, uint32_t e);
	unsigned (*kind)(void *ctx, uint32_t e); /* enum kind */
	int64_t (*start)(void *ctx, uint32_t e);
	uint64_t (*id)(void *ctx, uint32_t e);
	uint32_t (*up)(void *ctx, uint32_t e);
	/* the linked forward op */
	uint32_t (*forward)(void *ctx, uint32_t e);
	/* the one behind e in the order of the tree, below top */
	uint32_t (*next)(void *ctx, uint32_t e, uint32_t top);
	/* its name and arguments, until the next call */
	void (*op)(void *ctx, uint32_t e, struct model_op *op);
	bool (*has_op)(void *ctx, struct str name);
};

struct tree_arg {
	struct str key;
	struct model_value val; /* a text, whole number or truth value */
};

/* What a rule wants; texts live until act() returns. */
enum tree_what {
	TREE_WRAP,          /* an op between the event and what is above */
	TREE_WRAP_CHILDREN, /* ... the event and what is below */
	TREE_WRAP_LAUNCH,   /* above the launch of a GPU event, of it alone */
	TREE_RENAME,
	TREE_SET, /* an argument of the event */
};
struct tree_action {
	enum tree_what what;
	uint32_t event;
	uint32_t from;          /* whose arguments the new op has ... */
	struct str name;        /* ... and its name */
	struct str dims, types; /* instead of those arguments, if set */
	const struct tree_arg *args;
	size_t nargs;
};
/* False: it can't be done here. */
typedef bool tree_act_fn(void *ctx, const struct tree_action *a);

/* The rules for events of this kind and name, as bits; 0: none. */
uint64_t pseudo_rules(const struct models *ms, unsigned kind, struct str name);
/* Another tree. It is looked at until the next one. */
void pseudo_start(struct models *ms, const struct model_tree *tree);
/* Runs rules on an event; what those that end well want goes to act(). */
void pseudo_run(
    struct models *ms, uint64_t rules, uint32_t event, tree_act_fn *act);

struct pseudo_stats {
	uint64_t nfailed, nown_failed; /* own: of the user's rules */
	struct str reason;             /* of the first one */
};
struct pseudo_stats pseudo_stats(const struct models *ms);

/* ---- kernels of GEMMs, by their names ---- */

enum gemm_kind {
	GEMM_NONE,
	GEMM_TENSILE, /* Cijk_Alik_Bljk_..., also Custom_Cijk_... */
	GEMM_NVJET,
	GEMM_CUTLASS, /* cutlass and xmma */
	GEMM_RR,      /* RR_GEMM_ */
};

struct gemm_kernel {
	enum gemm_kind kind;
	int8_t trans_a, trans_b;       /* BLAS flags: 0, 1, or -1 unknown */
	int64_t tile_m, tile_n, depth; /* macro tile, 0: unknown */
};

/* False: the name is none that tells. */
bool gemm_kernel_parse(struct str name, struct gemm_kernel *out);

/*
 * How well the tiles of a kernel cover a GEMM and how well they fill the
 * compute units (BLAS is column-major: tile_m runs along N, tile_n along M).
 */
struct gemm_fit {
	int64_t tiles;
	double tile_eff, wave_eff, dim_eff; /* 0 to 1; dim = tile x wave */
};
bool gemm_fit(const struct gemm_kernel *k, int64_t b, int64_t m, int64_t n,
    int64_t num_cus, struct gemm_fit *out) USE_RESULT;

/* ---- arch ---- */

enum roof {
	ROOF_PEAK,       /* of the data sheet */
	ROOF_ACHIEVABLE, /* measured */
};
extern const char *const roof_words[]; /* ended by NULL */

struct arch_rate {
	struct str spec;         /* "matrix_bf16" */
	double peak, achievable; /* TFLOP/s; NAN: no figure */
};

struct arch {
	struct str name;
	struct str file;    /* where it comes from */
	double mem_gbps[2]; /* by enum roof, in 1e9 bytes/s; NAN: no figure */
	double memory_gb;   /* NAN: unknown, as the following */
	double num_cus, freq_mhz, l1_bw_gbps, gemm_units_per_cu;
	const struct arch_rate *rates;
	size_t nrates;
};

/*
 * The arch of this name, of this file (a word with a slash or ".json"), or of
 * the trace's device for "auto", which devices names: the JSON text of the
 * source's fact. An unknown name or a bad file ends the program; NULL for
 * "auto" when no device is known.
 */
const struct arch *arch_load(
    struct models *ms, const char *name, struct str devices);
/* Appends the name of the first device, as the JSON text has it. */
void device_name(struct str devices, struct buf *name);
/* The built-in ones and those of $TL_ARCH_PATH, in order. */
size_t arch_list(struct models *ms, const struct arch *const **list);
/* TFLOP/s for a compute spec; NAN: no figure. */
double arch_tflops(const struct arch *a, enum roof roof, struct str spec);
double arch_gbps(const struct arch *a, enum roof roof);
/* Whether that is this roof's, not the peak that stands in. */
bool arch_has_gbps(const struct arch *a, enum roof roof);

enum bound {
	BOUND_NONE, /* nothing is known */
	BOUND_COMPUTE,
	BOUND_MEMORY,
};
extern const char *const bound_words[]; /* "", "COMPUTE_BOUND", ... */

struct roofline {
	double compute_us, memory_us; /* NAN: unknown */
	double time_us;               /* the longer one; NAN: unknown */
	enum bound bound;
	enum roof
	    roof; /* the other one, where the rate is only known of that */
};

/*
 * The least time that this GPU could need. A rate that this roof lacks is the
 * other roof's. With FLOPs but no rate for them, or with no FLOPs, the memory
 * alone decides; without bytes nothing does.
 */
struct roofline roofline_of(
    const struct arch *a, enum roof roof, const struct model_result *r);

#endif
