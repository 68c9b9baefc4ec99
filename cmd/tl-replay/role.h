/* SPDX-License-Identifier: MIT */
/*
 * role: what a tensor of an op is filled with. A trace has no data; but indices
 * must be in range, offsets must rise, and a router must choose experts that
 * exist.
 */
#ifndef TL_REPLAY_ROLE_H
#define TL_REPLAY_ROLE_H

#include "schema.h"

enum fill {
	FILL_NORMAL,  /* N(0, 1) */
	FILL_UNIFORM, /* [low, high) */
	FILL_ZEROS,
	FILL_ONES,
	FILL_RANDINT,   /* [low, high) */
	FILL_BERNOULLI, /* true and false, half each */
	FILL_ARANGE,    /* 0, 1, 2 ..., modulo high */
	FILL_OFFSETS,   /* rising evenly, from low to high inclusive */
	FILL_ROUTING,   /* distinct in each row, in [0, high) */
	FILL_LENGTHS, /* of rules: all are the longest, randint of one value */
	FILL_NONE,    /* as allocated: the op writes it without reading */
};

struct filling {
	enum fill fill;
	int64_t low, high;
};

/*
 * The role of argument i, with tensors of this type; s is NULL without a
 * schema.
 */
struct filling role_of(struct str op, const struct schema *s,
    const struct arguments *args, size_t i, struct str type);
/* Whether a number does not change the op's work. */
bool role_is_free(const struct schema_arg *a);
/* Appends "init":"randint","low":0,"high":8. */
void role_json(struct buf *out, const struct filling *r);

#endif
