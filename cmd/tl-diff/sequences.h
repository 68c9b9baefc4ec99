/* SPDX-License-Identifier: MIT */
/*
 * The GPU work of two runs as sequences of kernels: of a replay of a graph,
 * else of a step, else of an annotation, else the rest. In a sequence kernels
 * are sorted by GPU stream, then time, as streams interleave differently from
 * run to run.
 *
 * A sequence's kind is one of these, with its annotation's name without
 * numbers. Work of a kind that one side lacks goes to the next wider kind that
 * both have.
 */
#ifndef TL_DIFF_SEQUENCES_H
#define TL_DIFF_SEQUENCES_H

#include "cmd/tl-diff/diff.h"

/* A GPU event in a sequence. */
struct placed {
	uint64_t unit; /* number of its sequence in the run; 0: the rest */
	uint32_t kind; /* text */
	uint32_t stream, gpu;
	int64_t ts;
	uint32_t id;
};

struct sequence {
	size_t first, n; /* range of placed */
	uint64_t unit;
	uint32_t kind;
	int64_t ts;
	uint64_t hash; /* of kernel names */
	bool is_paired;
};

/* The sequences of a run, by time. */
struct line_up {
	const struct side *side;
	VEC(struct placed) placed;
	VEC(struct sequence) list;
};

/* With per_step, without work outside of steps. */
void line_up_pair(struct line_up l[NSIDES],
    const struct side *const side[NSIDES], struct dict *st, bool per_step);
void line_up_free(struct line_up l[NSIDES]);

static inline const struct gpu *
gpu_at(const struct line_up *l, const struct sequence *s, uint32_t place)
{
	return &l->side->gpus.v[l->placed.v[s->first + place].gpu];
}

static inline const struct node *
node_at(const struct line_up *l, const struct sequence *s, uint32_t place)
{
	return &l->side->nodes.v[gpu_at(l, s, place)->node];
}

#endif
