/* SPDX-License-Identifier: MIT */
/*
 * types: those of an op's arguments, as --dtype has them, or, where a trace has
 * shapes alone, as the names of its kernels do.
 */
#ifndef TL_ROOFLINE_TYPES_H
#define TL_ROOFLINE_TYPES_H

#include "model/facts.h"

struct node;
struct roof_state;

struct typing {
	struct map by_kernel; /* names: a type, or INTERN_NONE */
	struct map lists;     /* dims and type: the list */
};

/*
 * Types as JSON: text is such a list, or a word for all tensors, or words with
 * commas between for each argument; [] among the shapes is no tensor.
 */
void types_put(
    struct buf *b, struct arena *mem, struct str text, struct str dims);
/* Ends the program if --dtype is a word but no known type. */
void types_check(struct models *ms, const char *option);
/* Gives a node that has shapes but no types those of its kernels, or of the
 * option; none if neither says. */
void types_fill(struct roof_state *g, struct node *n);
/* Whether an op with these arguments still has none. */
bool types_lack(const struct op_args *args);
void types_free(struct typing *t);

#endif
