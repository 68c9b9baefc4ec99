/* SPDX-License-Identifier: MIT */
/*
 * forest: the trees of one source in memory, to be looked at, changed and
 * written again.
 *
 * Nodes are numbered in the order in which they were added, which is the
 * pre-order as long as nothing was changed: what is below node i are the nodes
 * from i + 1 up to forest_behind(i), and the GPU events among them are a range
 * of gpus. Nodes that are made later have greater numbers and hang nowhere
 * until forest_hang() or forest_put_above().
 *
 *	forest_start(&f, in->dict);
 *	... in the section of the tree: forest_add(&f, &in->ev, in->name);
 *	for (uint32_t i = top; i != FOREST_NONE; i = forest_next(&f, i, top))
 *		... f.nodes.v[i].name, forest_event(&f, i, &ev) ...
 *	made = forest_copy(&f, &f, i);
 *	forest_put_above(&f, made, i);
 *	forest_write(&f, out);
 *	forest_clear(&f);
 *
 * Sinks that need only what is above an event need no forest: walk.h.
 * Memory: 80 bytes an event and its encoded values.
 */
#ifndef TL_TRACE_FOREST_H
#define TL_TRACE_FOREST_H

#include "stream/stream.h"

#define FOREST_NONE UINT32_MAX /* no node */

/* What hold.h has in the place of the lists. */
struct hold_state {
	uint32_t depth, ndesc;
	bool is_chosen, is_below; /* below: it or one above it is chosen */
	bool is_kept; /* chosen, or above what is kept, or needed by it */
	bool may_be;  /* it or one below it is a forward op: needed perhaps */
};

/* An event; those directly below it are a list. */
struct forest_node {
	int64_t ts_ns, dur_ns;
	uint64_t id;
	size_t vals; /* in forest.vals */
	uint32_t inst, vals_len;
	uint32_t shape, track, name;
	uint32_t up;    /* FOREST_NONE: there is none */
	uint32_t links; /* in forest.links, plus 1; 0: none */
	uint32_t ngpu;  /* GPU events below, as it was read */
	uint16_t flags; /* EV_ */
	uint8_t kind;
	union {
		struct {
			uint32_t kid, last, next; /* or FOREST_NONE */
		};
		struct hold_state hold;
	};
};

/* What does not follow from the node above it. */
struct forest_links {
	struct uid launch, fwd, bwd;
};

/* st is the caller's. */
struct forest {
	struct dict *st;
	VEC(struct forest_node) nodes;
	VEC(uint32_t) gpus; /* GPU events that were added, by number */
	uint32_t first_root, last_root;
	/* private */
	VEC(struct forest_links) links;
	struct buf vals, scratch;
	VEC(uint32_t) open; /* while it is read */
	struct map places;  /* uid to node + 1, made when first used */
};

/* ---- reading ---- */

void forest_start(struct forest *f, struct dict *st);
/* The next event of a tree, in its order; ends the program if it is none. */
void forest_add(struct forest *f, const struct event *ev, const char *file);
/* A node below up or FOREST_NONE, in no list: for hold.c. */
uint32_t forest_append(struct forest *f, const struct event *ev, uint32_t up);
/* Without nodes again. */
void forest_clear(struct forest *f);
void forest_free(struct forest *f);

/* ---- looking ---- */

/* A node as an event, with all keys but depth; until the next one is made. */
void forest_event(const struct forest *f, uint32_t i, struct event *ev);
/* The same without event_set_keys(). */
void forest_event_bare(const struct forest *f, uint32_t i, struct event *ev);
struct str forest_name(const struct forest *f, uint32_t i);
/* How many nodes are above it. */
uint32_t forest_depth(const struct forest *f, uint32_t i);
/* The next node of the tree below top, in its order; FOREST_NONE at its end. */
uint32_t forest_next(const struct forest *f, uint32_t i, uint32_t top);
/* The next node that is not below it; behind the last, their number. */
uint32_t forest_behind(const struct forest *f, uint32_t i);
/* The place in gpus of the first GPU event that is not before this node. */
size_t forest_first_gpu(const struct forest *f, uint32_t i);
/* Nodes by their start, then by uid. */
void forest_sort(const struct forest *f, uint32_t *nodes, size_t n);
/* The node of a uid, or FOREST_NONE. */
uint32_t forest_find(struct forest *f, struct uid uid);

static inline bool
node_is(const struct forest_node *n, uint32_t kinds)
{
	return (KIND_BIT(n->kind) & kinds) != 0;
}

/* ---- changing ---- */

/* A copy of a node of from (may be f itself), hung nowhere. */
uint32_t forest_copy(struct forest *f, const struct forest *from, uint32_t i);
/* A further argument of a node; its values move. */
void forest_arg(struct forest *f, uint32_t i, struct str key, enum role role,
    const struct value *v);
/* Drops all arguments but those named (ended by NULL). */
void forest_keep_args(struct forest *f, uint32_t i, const char *const *keys);
/* Out of the list that it is in; what is below it stays below it. */
void forest_unhook(struct forest *f, uint32_t i);
/* Last below up, or as the last root (FOREST_NONE). */
void forest_hang(struct forest *f, uint32_t i, uint32_t up);
/* In the place of a node that goes below it; i hangs nowhere before. */
void forest_put_above(struct forest *f, uint32_t i, uint32_t node);

/* ---- writing ---- */

/* The section of the tree as it now is, with new counts of what is below. */
void forest_write(const struct forest *f, struct stream_out *out);

#endif
