/* SPDX-License-Identifier: MIT */
/*
 * hlo: what XLA compiled, put into the tree.
 *
 *	jit_train(5)          a run of a module      frames
 *	  jit(train)          scopes of its op_name
 *	    layer_0
 *	      fusion.3        a run of an instruction	op
 *	        hipModuleLaunchKernel
 *	          loop_fusion   GPU work
 *
 * GPU work says which instruction it is of (hlo_op, program_id), the source's
 * metadata what that is. hlo-op.c reads both, hlo-put.c finds the places.
 */
#ifndef TL_TRACE_HLO_INSIDE_H
#define TL_TRACE_HLO_INSIDE_H

#include "trace/store-inside.h"
#include "json/json.h"

/* The module and its scopes; what is deeper has no frames. */
#define HLO_FRAMES 64

/* What ops and frames have before the tree is known. */
#define HLO_FIELDS (HAS_INST | HAS_TRACK | HAS_TS | HAS_DUR | HAS_NAME)

/* What GPU work says of its instruction. */
enum {
	SAYS_OP,
	SAYS_PROGRAM,
	SAYS_MODULE,
	SAYS_SCOPE,
	SAYS_FLOPS, /* a TPU's own counts */
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
	uint32_t frames[HLO_FRAMES]; /* names, the outermost first */
	uint32_t nframes;
	bool in_loop;     /* may run several times in a run of the module */
	bool has_kernels; /* not only copies and fills */
	uint32_t run;     /* of the module, in which it was seen last */
	struct hlo_graph *graph; /* a command buffer, or NULL */
};

struct hlo;

/* NULL: no GPU work names an instruction. */
struct hlo *hlo_create(struct store *s);
void hlo_destroy(struct hlo *h);
/* The instruction of a piece of GPU work, or NULL. */
struct hlo_op *hlo_of(struct hlo *h, uint32_t item);
/*
 * The members of an instruction of this name in the op's program, texts in the
 * arena that h has; none: it is not in the metadata.
 */
const json_items *hlo_members(
    struct hlo *h, const struct hlo_op *op, struct str name);
/* The same op for an instruction of a command buffer, which was found so. */
struct hlo_op *hlo_op_in(
    struct hlo *h, const struct hlo_op *buffer, uint32_t name, const char *how);
/* Whether GPU work names the instruction itself. */
bool hlo_is_named(struct hlo *h, const struct hlo_op *buffer, uint32_t name);
struct dict *hlo_dict(const struct hlo *h);
struct arena *hlo_mem(struct hlo *h);
/* The shape of the frames. */
uint32_t hlo_frame_shape(struct hlo *h);

/*
 * hlo-graph.c: the instructions of what one launch of a command buffer did, by
 * GPU event; what can't be told stays the buffer's.
 */
struct hlo_graph *hlo_graph_create(
    struct hlo *h, const struct hlo_op *buffer, struct str calls);
void hlo_graph_free(struct hlo_graph *g);
void hlo_graph_resolve(struct hlo *h, struct hlo_op *buffer,
    const struct held *v, const uint32_t *gpus, size_t n, struct hlo_op **ops);
/* hlo-put.c: into the order of a store that is nested, without counts. */
void hlo_put_in(struct hlo *h, struct store *s);

#endif
