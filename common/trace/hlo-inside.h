/* SPDX-License-Identifier: MIT */
/*
 * hlo: adds XLA's modules and instructions to the tree.
 *
 *	jit_train(5)          a run of a module      frames
 *	  jit(train)          scopes of its op_name
 *	    layer_0
 *	      fusion.3        a run of an instruction	op
 *	        hipModuleLaunchKernel
 *	          loop_fusion   GPU work
 *
 * GPU work names its instruction (hlo_op, program_id); the source's metadata
 * describes it. hlo-op.c reads both, hlo-put.c finds the places.
 */
#ifndef TL_TRACE_HLO_INSIDE_H
#define TL_TRACE_HLO_INSIDE_H

#include "trace/store-inside.h"
#include "json/json.h"

/* The module and its scopes; deeper ones get no frames. */
#define HLO_FRAMES 64

/* Fields of ops and frames before the tree is known. */
#define HLO_FIELDS (HAS_INST | HAS_TRACK | HAS_TS | HAS_DUR | HAS_NAME)

/* Arguments of GPU work about its instruction. */
enum {
	SAYS_OP,
	SAYS_PROGRAM,
	SAYS_MODULE,
	SAYS_SCOPE,
	SAYS_FLOPS, /* counts of a TPU's profiler */
	SAYS_BYTES,
	SAYS,
};

/* An instruction. */
struct hlo_op {
	struct key keys[SAYS_SCOPE];
	uint32_t name;
	uint32_t shape;  /* of its ops ... */
	struct str vals; /* ... and their arguments, encoded */
	uint64_t program;
	uint32_t frames[HLO_FRAMES]; /* names, outermost first */
	uint32_t nframes;
	bool in_loop;     /* may run several times per run of the module */
	bool has_kernels; /* not only copies and fills */
	uint32_t run;     /* run of the module that last had it */
	struct hlo_graph *graph; /* a command buffer, or NULL */
};

struct hlo;

/* GPU work of a thread, in launch order. */
struct hlo_leaf {
	uint32_t gpu;
	uint32_t launch; /* or STORE_NONE */
	uint32_t caller; /* the event above its calls, or STORE_NONE */
	uint32_t shared; /* number of added events that it shares with the leaf
	                  * before */
	uint64_t call;   /* hash of its launch; 0: unknown */
	struct key dev;
	struct hlo_op *op; /* or NULL */
	uint32_t run;      /* of a module, in hlo_runs() from 1 on; 0: none */
};
typedef VEC(struct hlo_leaf) hlo_leaves;

/* A run of a module on a device: from the first host event that launches
 * nothing else, to the end of the last. */
struct hlo_run {
	uint32_t module; /* the name of its frame */
	uint32_t gpu;    /* its first GPU event ... */
	uint32_t track;  /* ... and that of its launch */
	struct key pid, dev;
	int64_t start_ns, end_ns; /* start after end: no launch */
	int64_t work_ns;          /* of its GPU events */
	int64_t number;           /* on its device, from 1 on */
};
typedef VEC(struct hlo_run) hlo_run_list;

/* NULL: no GPU work names an instruction. */
struct hlo *hlo_create(struct store *s);
void hlo_destroy(struct hlo *h);
/* The instruction of a piece of GPU work, or NULL. */
struct hlo_op *hlo_of(struct hlo *h, uint32_t item);
/*
 * The members of an instruction by name, from the op's program, with texts in
 * h's arena; none: not in the metadata.
 */
const json_items *hlo_members(
    struct hlo *h, const struct hlo_op *op, struct str name);
/* The same op, for an instruction found in a command buffer. */
struct hlo_op *hlo_op_in(
    struct hlo *h, const struct hlo_op *buffer, uint32_t name, const char *how);
/* Whether GPU work names its instruction itself. */
bool hlo_is_named(struct hlo *h, const struct hlo_op *buffer, uint32_t name);
struct dict *hlo_dict(const struct hlo *h);
hlo_run_list *hlo_runs(struct hlo *h);
struct arena *hlo_mem(struct hlo *h);
/* The shape of the frames. */
uint32_t hlo_frame_shape(struct hlo *h);

/*
 * hlo-graph.c: the instructions of one launch of a command buffer, by GPU
 * event; what remains ambiguous stays the buffer's.
 */
struct hlo_graph *hlo_graph_create(
    struct hlo *h, const struct hlo_op *buffer, struct str calls);
void hlo_graph_free(struct hlo_graph *g);
/* Gives the work of command buffers its instructions. */
void hlo_graphs_resolve(
    struct hlo *h, const struct store *s, hlo_leaves *leaves);
/* hlo-put.c: adds them in the order of a nested store, before counts. */
void hlo_put_in(struct hlo *h, struct store *s);
/* hlo-runs.c: adds the runs of modules among a thread's launches. */
void hlo_runs_find(struct hlo *h, const struct store *s, hlo_leaves *leaves);
/*
 * Makes annotations of them if any are steps: those of the module with most GPU
 * time.
 */
void hlo_runs_put(struct hlo *h, struct store *s);

#endif
