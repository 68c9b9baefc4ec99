/* SPDX-License-Identifier: MIT */
/*
 * types: those of an op's arguments, from --dtype or, where a trace has shapes
 * but no types, from the names of its kernels.
 */
#ifndef TL_ROOFLINE_TYPES_H
#define TL_ROOFLINE_TYPES_H

#include "model/facts.h"

struct node;
struct roof_state;

struct typing {
	struct map by_kernel; /* name to type, or INTERN_NONE */
	struct map lists;     /* dims and type to the list */
};

/*
 * Writes types as JSON. The text is such a list, one word for all tensors, or
 * words separated by commas, one for each argument; [] among the shapes is no
 * tensor.
 */
void types_put(
    struct buf *b, struct arena *mem, struct str text, struct str dims);
/* Ends the program if --dtype is a word that is no type. */
void types_check(struct models *ms, const char *option);
/*
 * Gives a node with shapes but no types those of its kernels, or else of
 * --dtype.
 */
void types_fill(struct roof_state *g, struct node *n);
/* Whether an op with these arguments still lacks types. */
bool types_lack(const struct op_args *args);
void types_free(struct typing *t);

#endif
