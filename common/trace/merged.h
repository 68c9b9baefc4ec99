/* SPDX-License-Identifier: MIT */
/*
 * merged: a tree merged by name. What has one name below one node is one node,
 * however often it comes, with the sums of its times.
 *
 * Node 0 is the root, which is no event; nodes are numbered as they are made,
 * so that those above have the smaller numbers. Of a tree that is read event
 * by event the open ones are held, too:
 *
 *	merged_start(&t);
 *	...
 *	merged_close(&t, ev->depth);
 *	node = merged_child(&t, merged_top(&t, 0), ev->name);
 *	merged_open(&t, node, ev->depth, MERGED_UNTIMED, 0);
 *	... t.nodes.v[node].ns[0] += ...
 *	for (i = merged_next(&t, 0); i != 0; i = merged_next(&t, i))
 *		... t.nodes.v[i].name, .level ...
 *	merged_free(&t);
 *
 * Memory: 64 bytes a node.
 */
#ifndef TL_TRACE_MERGED_H
#define TL_TRACE_MERGED_H

#include "base/base.h"

struct merged_node {
	uint32_t name;  /* the program's number: no more than UINT32_MAX */
	uint32_t level; /* of the root 0 */
	uint32_t up, kid, last, next; /* 0: none; kids as they were made */
	int64_t ns[2];                /* of it alone, of two sides */
};

/* An open event. */
struct merged_frame {
	uint32_t node, depth;
	int side;
	int64_t self_ns; /* of its time what no frame below takes */
};
#define MERGED_UNTIMED INT64_MIN /* self_ns: it counts no time */

struct merged {
	VEC(struct merged_node) nodes;
	VEC(struct merged_frame) open;
	struct map by_name; /* private: by parent and name */
};

/* With the root, whose name is UINT32_MAX. */
void merged_start(struct merged *t);
void merged_free(struct merged *t);
/* The child of this name; created if missing. */
uint32_t merged_child(struct merged *t, uint32_t up, uint32_t name);
/* Another one of that name. */
uint32_t merged_new(struct merged *t, uint32_t up, uint32_t name);
/* The next node in pre-order, and the next one not below it; 0 at the end. */
uint32_t merged_next(const struct merged *t, uint32_t i);
uint32_t merged_behind(const struct merged *t, uint32_t i);
/* Adds to each node's times those of its descendants. */
void merged_add_up(struct merged *t);

/* Closes the frames of this depth and deeper: the rest is their self time. */
void merged_close(struct merged *t, uint32_t depth);
/* Opens a frame; subtracts its time from the next timed one above it. */
void merged_open(
    struct merged *t, uint32_t node, uint32_t depth, int64_t ns, int side);

/* The node of the innermost open frame, or another one. */
static inline uint32_t
merged_top(const struct merged *t, uint32_t otherwise)
{
	return t->open.n > 0 ? t->open.v[t->open.n - 1].node : otherwise;
}

#endif
