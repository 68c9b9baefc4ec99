/* SPDX-License-Identifier: MIT */
/*
 * reread: what a kernel reads from memory that the one before it on its GPU
 * stream has just written, and that one kernel of both would keep.
 *
 * Traces name no buffers. What an op wrote is the result of its model; if an
 * argument of the next op has as many bytes, it is taken for that result. It
 * may be another tensor of that size, and a slice of the result is not
 * recognised. Within an op nothing is known.
 */
#ifndef TL_KERNELS_REREAD_H
#define TL_KERNELS_REREAD_H

#include "model/arch.h"
#include "model/model.h"

/* Why it is not known. */
enum reread_lack {
	REREAD_KNOWN,
	REREAD_NO_OP,
	REREAD_ONE_OP,
	REREAD_NO_SHAPES,
	REREAD_NO_TYPES,
	REREAD_NO_MODEL,
	REREAD_NO_RATE, /* only its time is not known */
	REREAD_LACKS
};
extern const char *const reread_words[REREAD_LACKS];

/* Of an op with its arguments and last kernel. */
struct op_moves {
	double written; /* NAN: unknown */
	uint32_t first, n;
	bool has_shapes, has_types; /* types: of all tensors */
};

/* Zeroes to start with. */
struct reread {
	struct map known; /* in ops */
	VEC(struct op_moves) ops;
	model_tensor_vec tensors; /* of all in ops */
};

struct kernels;
struct kernel;

/* Kernel b runs next behind a; bytes are set if it is known. */
enum reread_lack reread_between(struct kernels *k, const struct kernel *a,
    const struct kernel *b, int64_t *bytes);
/* Whether the GPU's memory bandwidth is known. */
bool reread_has_rate(const struct kernels *k);
/* The time that b takes to read them, at most its own; 0: unknown. */
int64_t reread_ns(
    const struct kernels *k, const struct kernel *b, int64_t bytes);
void reread_free(struct reread *r);

#endif
