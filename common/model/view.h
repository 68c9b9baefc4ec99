/* SPDX-License-Identifier: MIT */
/*
 * view: the lists of one op, parsed on first use.
 *
 *	view_set(&v, &op);
 *	if ((error = view_need(&v, VIEW_DIMS)) == NULL)
 *		... v.shapes[VIEW_DIMS].args ...
 *	view_free(&v);
 */
#ifndef TL_MODEL_VIEW_H
#define TL_MODEL_VIEW_H

#include "model/model.h"
#include "model/pattern.h"

enum view_list {
	VIEW_DIMS,
	VIEW_STRIDES,
	VIEW_TYPES,
	VIEW_CONCRETE,
	VIEW_LISTS,
};

/* An argument's sizes: one shape, or a list of tensors' shapes. */
struct view_arg {
	uint32_t first, n; /* in leaves */
	bool is_list;
};
struct view_leaf {
	uint32_t first, n; /* in ints */
};

struct shapes {
	VEC(struct view_arg) args;
	VEC(struct view_leaf) leaves;
	VEC(int64_t) ints;
};

struct texts {
	VEC(struct capture) list; /* in bytes */
	struct buf bytes;
};

struct op_view {
	const struct model_op *op;
	unsigned parsed;         /* bits of enum view_list */
	unsigned absent;         /* likewise: lists that the op lacks */
	struct shapes shapes[2]; /* dims, strides */
	struct texts texts[2];   /* types, concrete */
	struct buf scratch;
};

void view_set(struct op_view *v, const struct model_op *op);
void view_free(struct op_view *v);
/* Parses the list unless done; returns NULL, or the error. */
const char *view_need(struct op_view *v, enum view_list list) USE_RESULT;
/* Dims so large that products of two of them and of values may exceed 64
 * bits. */
bool view_is_large(struct op_view *v, double values);
/*
 * How many distinct addresses a tensor has: an expanded dimension (stride 0)
 * repeats its elements, overlapping windows share theirs. steps NULL: unknown.
 */
double view_addresses(const struct op_view *v, const struct view_leaf *leaf,
    const struct view_leaf *steps);

#endif
