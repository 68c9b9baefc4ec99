/* SPDX-License-Identifier: MIT */
/*
 * forest: the trees of one source in memory, to read, change and write.
 *
 * Nodes are numbered in the order added, which is pre-order until the first
 * change: the descendants of node i are i + 1 to forest_behind(i) - 1, and the
 * GPU events among them are a range of gpus. Nodes created later have greater
 * numbers and no place until forest_hang() or forest_put_above().
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
 * Sinks that need only what is above an event need no forest: walk.h. Memory:
 * 80 bytes per event, and its encoded values.
 */
#ifndef TL_TRACE_FOREST_H
#define TL_TRACE_FOREST_H

#include "stream/stream.h"

#define FOREST_NONE UINT32_MAX /* no node */

/* What hold.h keeps in place of the lists. */
struct hold_state {
	uint32_t depth, ndesc;
	bool is_chosen, is_below; /* below: it or an ancestor is chosen */
	bool is_kept; /* chosen, or an ancestor of a kept one, or needed by
	               * one */
	bool may_be;  /* it or a descendant is a forward op: may be needed */
};

/* An event; its children are a list. */
struct forest_node {
	int64_t ts_ns, dur_ns;
	uint64_t id;
	size_t vals; /* in forest.vals */
	uint32_t inst, vals_len;
	uint32_t shape, track, name;
	uint32_t up;    /* FOREST_NONE: none */
	uint32_t links; /* in forest.links, plus 1; 0: none */
	uint32_t ngpu;  /* GPU events below, as read */
	uint16_t flags; /* EV_ */
	uint8_t kind;
	union {
		struct {
			uint32_t kid, last, next; /* or FOREST_NONE */
		};
		struct hold_state hold;
	};
};

/* What the parent does not imply. */
struct forest_links {
	struct uid launch, fwd, bwd;
};

/* st is the caller's. */
struct forest {
	struct dict *st;
	VEC(struct forest_node) nodes;
	VEC(uint32_t) gpus; /* GPU events added, by number */
	uint32_t first_root, last_root;
	/* private */
	VEC(struct forest_links) links;
	struct buf vals, scratch;
	VEC(uint32_t) open; /* while reading */
	struct map places;  /* uid to node + 1, built on first use */
};

/* ---- reading ---- */

void forest_start(struct forest *f, struct dict *st);
/* Adds the next event of a tree, in its order; malformed trees end the
 * program. */
void forest_add(struct forest *f, const struct event *ev, const char *file);
/* A node below up or FOREST_NONE, in no list: for hold.c. */
uint32_t forest_append(struct forest *f, const struct event *ev, uint32_t up);
/* Removes all nodes. */
void forest_clear(struct forest *f);
void forest_free(struct forest *f);

/* ---- reading nodes ---- */

/* A node as an event, with all keys except depth; valid until the next call. */
void forest_event(const struct forest *f, uint32_t i, struct event *ev);
/* The same without event_set_keys(). */
void forest_event_bare(const struct forest *f, uint32_t i, struct event *ev);
struct str forest_name(const struct forest *f, uint32_t i);
/* The number of its ancestors. */
uint32_t forest_depth(const struct forest *f, uint32_t i);
/* The next node of the tree below top, in its order; FOREST_NONE at the end. */
uint32_t forest_next(const struct forest *f, uint32_t i, uint32_t top);
/* The next node that is no descendant; after the last, the number of nodes. */
uint32_t forest_behind(const struct forest *f, uint32_t i);
/* The index in gpus of the first GPU event that is not before this node. */
size_t forest_first_gpu(const struct forest *f, uint32_t i);
/* Compares nodes by start, then by uid. */
void forest_sort(const struct forest *f, uint32_t *nodes, size_t n);
/* The node of a uid, or FOREST_NONE. */
uint32_t forest_find(struct forest *f, struct uid uid);

static inline bool
node_is(const struct forest_node *n, uint32_t kinds)
{
	return (KIND_BIT(n->kind) & kinds) != 0;
}

/* ---- changing ---- */

/* A copy of a node of from (may be f itself), without a place. */
uint32_t forest_copy(struct forest *f, const struct forest *from, uint32_t i);
/* Adds an argument to a node; moves its values. */
void forest_arg(struct forest *f, uint32_t i, struct str key, enum role role,
    const struct value *v);
/* Drops all arguments but those named (NULL at the end). */
void forest_keep_args(struct forest *f, uint32_t i, const char *const *keys);
/* Takes it out of its list; what is below it stays below it. */
void forest_unhook(struct forest *f, uint32_t i);
/* Appends it below up, or as a root (FOREST_NONE). */
void forest_hang(struct forest *f, uint32_t i, uint32_t up);
/* Puts i, which has no place yet, between a node and its parent. */
void forest_put_above(struct forest *f, uint32_t i, uint32_t node);

/* ---- writing ---- */

/* Writes the tree as it now is, with new counts of GPU events. */
void forest_write(const struct forest *f, struct stream_out *out);

#endif
