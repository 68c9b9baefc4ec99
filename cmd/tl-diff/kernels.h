/* SPDX-License-Identifier: MIT */
/*
 * Kernels aligned by name, where there are no ops to compare: each replay of a
 * graph, or step, is a sequence; sequences of one kind are paired, and in each
 * pair kernels are aligned as the trees' children are.
 */
#ifndef TL_DIFF_KERNELS_H
#define TL_DIFF_KERNELS_H

#include "cmd/tl-diff/figures.h"
#include "cmd/tl-diff/remarks.h"
#include "cmd/tl-diff/tables.h"

/* The first event of a row, better one without a partner. */
struct example {
	bool is_set, is_alone;
	struct uid uid;
};

/* Kernels of one kind of sequence and one name on each side. */
struct kernel_row {
	uint32_t kind, n[NSIDES], name[NSIDES];
	struct example example[NSIDES];
};

struct kernels {
	struct settings *set;
	struct dict *st;
	VEC(struct kernel_row) rows;
	struct map row_of;
	struct figures figures; /* of rows */
	uint64_t nsequences[NSIDES], npaired;
	struct tally alone;             /* in sequences that have no partner */
	struct tally unpaired, renamed; /* in pairs of sequences */
	struct stream_pairs streams;
};

struct kernels *kernels_create(struct settings *set, struct dict *st);
void kernels_add(struct kernels *k, const struct run *const side[NSIDES],
    const bool fresh[NSIDES]);
/* After the last pair. */
void kernels_finish(struct kernels *k);
void kernels_destroy(struct kernels *k);

extern const struct column kernels_columns[];
extern const size_t kernels_ncolumns;
/* What changed, as notes of a table. */
void kernels_notes(const struct kernels *k, struct table *t);
void kernels_print(const struct kernels *k, struct table_dest *dest);

#endif
