/* SPDX-License-Identifier: MIT */
/* Which names are equal, and which are of communication. */
#ifndef TL_DIFF_NAMES_H
#define TL_DIFF_NAMES_H

#include "trace/bucket.h"

struct norms {
	struct dict *st;
	VEC(uint32_t) known[2]; /* by raw name: number + 1; 0: not yet known */
	struct map same;        /* --equiv: a number to its representative */
	struct bucket_rules buckets;
};

/* Without addresses and line numbers; driver launches are equal. */
uint32_t name_strict(struct norms *nm, uint32_t name);
/* Also without the function and the folders of a Python frame. */
uint32_t name_loose(struct norms *nm, uint32_t name);
void norms_read_equiv(struct norms *nm, const char *path);
void norms_free(struct norms *nm);

#endif
