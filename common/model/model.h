/* SPDX-License-Identifier: MIT */
/*
 * model: an op's FLOPs and bytes, and what the hardware could do.
 *
 * Op models are data: entries in Lua (common/model/NAME.lua, compiled in; the
 * user's with --models FILE), described in tl-models(5). An entry gives the ops
 * it is for, their category and sheet, and how FLOPs, bytes and parameters
 * follow from an op's arguments. It sees nothing else: no files, no clock, no
 * other op. Time and memory are limited. An entry that fails marks only the op
 * it failed on.
 *
 *	struct models *ms = models_create();
 *	models_load(ms, "my.lua");	(ends the program if it is bad)
 *	const struct model *m = model_find(ms, name);	(see model_name())
 *	struct model_op op = { .name = name, .dims = STR("[[8,4]]") };
 *
 *	if (m != NULL && (r = model_eval(ms, m, &op, MODEL_FWD))->status ==
 *	    MODEL_OK)
 *		... r->flops, r->bytes, model_param_at(r, 0) ...
 *
 * Arguments are the texts of Kineto's lists, as in a stream. The costly fields
 * are needed only if the entry declares that it reads them: op.kernels,
 * op.annotation, op.forward, op.backward and op.arg, by the bits in m->reads.
 *
 * Each distinct key (direction, name, arguments, and what else the entry reads)
 * is evaluated once. Results live as long as the models: about 192 bytes per
 * distinct key, and 9 per parameter. A repeated key costs a hash of its texts
 * and one look-up. Keys of one hash, of 64 bits, are one key.
 *
 * FLOPs and bytes are doubles: integers are exact up to 2^53, and hostile
 * shapes cannot overflow them. Unknown bytes are NAN, never 0.
 */
#ifndef TL_MODEL_H
#define TL_MODEL_H

#include <math.h>

#include "base/base.h"

/* ---- models ---- */

struct models;

/*
 * With the built-in entries (a bad one is our bug and ends the program) and
 * those of *.lua in the folders of $TL_MODELS.
 */
struct models *models_create(void);
void models_destroy(struct models *ms);
/*
 * Adds the entries of a user's file; they replace others by name. A file that
 * is unreadable, no Lua or has a wrong entry ends the program with file, line
 * and reason.
 */
void models_load(struct models *ms, const char *path);
/* The same from text; false: why has the reason. chunk is its name in
 * messages. */
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

/* One entry. Texts live as long as the models; len 0: unset. */
struct model {
	struct str category;          /* "": as if without a model */
	struct str sheet;             /* "": only the unified table */
	struct str backward_category; /* of the op's linked backward op */
	struct str unit;              /* "matrix", "vector" */
	struct str where;             /* "gemm.lua:12" */
	unsigned reads;
	bool has_backward; /* MODEL_BWD is defined */
	bool is_gemm;      /* has B M N K bias: its tiles are examined */
	bool is_extra;     /* the reference has no model for it */
	bool is_alone;     /* extra, if no op below has a model */
	bool is_whole;     /* extra, including what the ops below it launch */
	bool is_builtin;   /* not from a user's file */
	/* private */
	int ref;
	uint32_t number;
	int prec_arg;
	size_t file;
	int first_line, last_line;
	VEC(struct str) args; /* further arguments that it reads */
	const struct intern *words;
	const struct str *names; /* of the parameters of its latest result */
	size_t nnames;
};

/* The model for an op of this name, or NULL. Cheap: one look-up. */
const struct model *model_find(struct models *ms, struct str name);

/*
 * The name to look up an op by: its own, unless it is an XLA instruction (hlo:
 * its text, len 0: none) whose name has no entry. Then "hlo::OPCODE", for a
 * custom call "hlo::custom-call:TARGET", for a fusion that of its main
 * instruction. Lives as long as the models, or as name.
 */
struct str model_name(struct models *ms, struct str name, struct str hlo);

/* The lines of an entry's formula; lives as long as the models. */
struct str model_source(const struct models *ms, const struct model *m);

/*
 * Category of an op: by exact name in the registry, then by patterns and
 * prefixes, then by the name of its first direct kernel (no collective,
 * earliest start; len 0: none), then "other". Lives as long as the models.
 */
struct str model_category(
    struct models *ms, struct str name, struct str first_kernel);

/* The names of entries in the order of their files, then prefixes with a star,
 * for lists. */
size_t models_count(struct models *ms);
const struct model *models_name(
    const struct models *ms, size_t i, struct str *name);

/* Whether this data type was declared. */
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
 * An op as in the trace. Lists are JSON text; absent: len 0. Borrowed while
 * model_eval() runs.
 */
struct model_op {
	struct str name;
	struct str dims;     /* Input Dims: [[141,512],[512,512],[]] */
	struct str types;    /* Input type: ["float","float","Scalar"] */
	struct str strides;  /* Input Strides */
	struct str concrete; /* Concrete Inputs: ["","","1"] */
	struct str hlo;      /* an XLA instruction: {"opcode":"dot",...} */
	/* names of the kernels below it, by time */
	const struct str *kernels;
	size_t nkernels;
	/* the iteration's annotation around it: "execute_12_context_..." */
	struct str annotation;
	const struct model_op *forward;  /* linked forward op, or NULL */
	const struct model_op *backward; /* linked backward op, or NULL */
	/* a further argument of the event by its key, as JSON text or bare
	 * text; false: missing. NULL: there are none. */
	bool (*arg)(void *ctx, struct str key, struct str *text);
	void *ctx;
};

enum model_way {
	MODEL_FWD, /* the op itself (a backward op that has a model: itself) */
	MODEL_BWD, /* the backward of this op, which must have a linked backward
	            * op */
};

enum model_status {
	MODEL_OK,
	MODEL_SKIPPED, /* the entry declares it undefined for this op */
	MODEL_FAILED,  /* see reason */
	MODEL_NONE,    /* no model for this op after all */
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

/*
 * What an op does to its arguments, as its entry's writes() says. Bits are
 * arguments, from 0; of those from MODEL_ARGS on nothing is known.
 */
#define MODEL_ARGS 64
struct model_effect {
	bool is_told;   /* else of no argument it is known whether it is read */
	double written; /* bytes of the result; NAN: unknown */
	uint64_t unread; /* only written */
	uint64_t unsure; /* read or only written */
};

struct model_result {
	const struct model *model;
	uint8_t status; /* enum model_status */
	uint8_t nparams;
	bool lacks;  /* FAILED: the trace lacks a fact; the model is right */
	bool is_own; /* FAILED: in the user's file */
	uint32_t number; /* of the result, from 0, for tables by result */
	double flops;    /* MODEL_OK: 0 or more */
	double bytes;    /* NAN: unknown */
	struct model_effect effect;
	/* part of flops that the forward op already did; NAN: not all are
	 * counted */
	double repeated;
	struct str spec;      /* "matrix_bf16", "": none */
	struct str precision; /* "bf16", "": none */
	struct str reason;    /* SKIPPED, FAILED: "gemm.lua:7: no argument 2" */
	/* private: parameters in the entry's order, followed by their types */
	const struct str *names;
	const uint64_t *params;
};

/* Evaluates, or returns the result for the same key. m is model_find() of
 * op->name. */
const struct model_result *model_eval(struct models *ms, const struct model *m,
    const struct model_op *op, enum model_way way);
/* Parameter i, from 0. Texts live as long as the models. */
struct model_value model_param_at(const struct model_result *r, size_t i);
struct str model_param_name(const struct model_result *r, size_t i);
/* The parameter of this name; false: none. */
bool model_param(
    const struct model_result *r, struct str name, struct model_value *v);
/* Appends a value as JSON, as in perf_params. */
void model_value_json(struct buf *b, const struct model_value *v);
/* Appends {"M":141,...}. */
void model_params_json(struct buf *b, const struct model_result *r);

/* Of its bytes those that it reads; NAN: unknown, also if it changes its result
 * in part. */
static inline double
model_read(const struct model_result *r)
{
	return r->bytes >= r->effect.written ? r->bytes - r->effect.written
					     : (double)NAN;
}

/*
 * Appends each tensor among the op's arguments, also those in lists. False: no
 * shapes or no types are recorded.
 */
struct model_tensor {
	double bytes; /* NAN: no type recorded; INFINITY: too large for a GPU */
	uint32_t arg;
};
typedef VEC(struct model_tensor) model_tensor_vec;
bool model_tensors(struct models *ms, const struct model_op *op,
    model_tensor_vec *tensors) USE_RESULT;

/* Statistics, for messages and -v. */
struct model_stats {
	uint64_t evaluated, hits;
	uint64_t nfailed;                      /* distinct keys */
	struct str failed_name, failed_reason; /* of the first one */
};
struct model_stats models_stats(const struct models *ms);

/* ---- annotations ---- */

/* What an annotation's name says about a step. */
enum note_rank {
	NOTE_COUNTS, /* sums that models read */
	NOTE_STEP,   /* it is a step */
	NOTE_OTHER,  /* nothing */
};
enum note_rank model_annotation(struct models *ms, struct str text);

#endif
