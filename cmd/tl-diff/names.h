/* SPDX-License-Identifier: MIT */
/* Which names are one, and which are of communication. */
#ifndef TL_DIFF_NAMES_H
#define TL_DIFF_NAMES_H

#include "trace/bucket.h"

struct norms {
	struct dict *st;
	VEC(uint32_t) known[2]; /* by raw name: + 1, 0: not asked yet */
	struct map same; /* --equiv: a number to the one that stands for it */
	struct bucket_rules buckets;
};

/* Addresses and line numbers go, driver launches are one. */
uint32_t name_strict(struct norms *nm, uint32_t name);
/* Besides, the function and the folders of a Python frame go. */
uint32_t name_loose(struct norms *nm, uint32_t name);
void norms_read_equiv(struct norms *nm, const char *path);
void norms_free(struct norms *nm);

#endif
