/* SPDX-License-Identifier: MIT */
/*
 * inner: which of the ranges around a time is the innermost: the one that
 * began last and is not over. Each key (a thread) has ranges of its own.
 *
 *	key 1   [ A                ]
 *	            [ B   ]
 *	pieces  AAAABBBBBBBAAAAAAAAA
 *
 * Zeroes to start with.
 */
#ifndef TL_TRACE_INNER_H
#define TL_TRACE_INNER_H

#include "base/base.h"

struct inner_range {
	int64_t start, end;
	uint32_t key, id;
};

struct inner {
	/* added; and in which pieces each is the innermost, by key and time */
	VEC(struct inner_range) ranges, pieces;
};

#define INNER_NONE UINT32_MAX

static inline void
inner_add(
    struct inner *in, uint32_t key, int64_t start, int64_t end, uint32_t id)
{
	vec_push(&in->ranges, ((struct inner_range){ start, end, key, id }));
}

/* Finds the pieces; of ranges with equal times the last id counts. */
void inner_find(struct inner *in);
/* The index of the first piece of a key that ends after t, or past its end. */
size_t inner_from(const struct inner *in, uint32_t key, int64_t t);
/* The id of the innermost range at t, or INNER_NONE. */
uint32_t inner_at(const struct inner *in, uint32_t key, int64_t t);
void inner_clear(struct inner *in);
void inner_free(struct inner *in);

#endif
