/* SPDX-License-Identifier: MIT */
/*
 * Kernels aligned by name, where there are no ops to compare: each replay of a
 * graph, or step, is a sequence; sequences of one kind are paired, and in each
 * pair kernels are aligned as the trees' children are.
 */
#ifndef TL_DIFF_KERNELS_H
#define TL_DIFF_KERNELS_H

#include "cmd/tl-diff/tables.h"

struct kernels;

struct kernels *kernels_create(struct settings *set, struct strings *st);
void kernels_add(struct kernels *k, const struct run *const side[NSIDES],
    const bool fresh[NSIDES]);
void kernels_destroy(struct kernels *k);

extern const struct column kernels_columns[];
extern const size_t kernels_ncolumns;
/* What changed, as notes of a table. */
void kernels_notes(const struct kernels *k, struct table *t);
void kernels_print(struct kernels *k, struct table_dest *dest);
/* GPU time before and after, of a run. */
void kernels_totals(const struct kernels *k, int64_t ns[NSIDES]);

#endif
