/* SPDX-License-Identifier: MIT */
/*
 * spared: the memory traffic between neighbours of a sequence that one kernel
 * of both would not have. The result of an op is written once, and read once by
 * the next op: fused, both are spared.
 *
 * Traces name no buffers. What an op writes is the result of its model, of W
 * bytes; an argument of as many bytes that the next op reads is taken for it.
 * Of the R bytes that the model of that op reads it gets what the op's other
 * arguments leave, at most W. If they leave nothing, some argument is not
 * read, and it is not known which.
 *
 * Which kernel of an op reads and which writes is not recorded. That does not
 * matter where all kernels of both ops follow each other in the sequence: one
 * kernel of them all has the result, whichever they are.
 *
 * An op of B bytes and t ns that is spared x of them saves
 *	min(x / memory bandwidth, t x / B)
 * The second is its share of a kernel that is faster than memory. As a
 * neighbour of two it is spared at most R + W = B bytes: no op saves more than
 * it takes, and a sequence no more than its kernels and gaps take.
 *
 * The sum is an estimate, no bound. It is too low where kernels are slower
 * than memory, short ones above all, where they share an operand, or where a
 * slice of the result is read; too high where an argument is another tensor
 * of that size, or where the result is needed elsewhere, too.
 */
#ifndef TL_KERNELS_SPARED_H
#define TL_KERNELS_SPARED_H

#include "model/arch.h"
#include "model/model.h"

/* Why it is not known. */
enum spared_lack {
	SPARED_KNOWN,
	SPARED_NO_OP,
	SPARED_ONE_OP,
	SPARED_PARTS,
	SPARED_NO_SHAPES,
	SPARED_NO_TYPES,
	SPARED_TOO_LARGE,
	SPARED_NO_MODEL,
	SPARED_NO_READS,
	SPARED_LACKS
};
extern const char *const spared_words[SPARED_LACKS];

/* What an op moves. */
struct op_moves {
	double bytes, written, read; /* NAN: unknown */
	uint64_t unread, unsure;     /* arguments, see struct model_effect */
	bool is_told;                /* which it reads */
	bool has_shapes;
	uint32_t first, n; /* tensors */
};

/* Zeroes to start with. */
struct spared {
	struct map known; /* in ops */
	VEC(struct op_moves) ops;
	model_tensor_vec tensors; /* of all in ops */
	VEC(struct str) names;
};

struct traffic {
	int64_t bytes;
	int64_t ns; /* 0 without a memory bandwidth */
};

struct kernels;

/*
 * Between kernels i - 1 and i of n that follow each other, all numbers of
 * records; *t is set if it is known.
 */
enum spared_lack spared_between(struct kernels *k, const uint32_t *records,
    uint32_t n, uint32_t i, struct traffic *t);
/* Whether the GPU's memory bandwidth is known. */
bool spared_has_rate(const struct kernels *k);
void spared_free(struct spared *r);

#endif
