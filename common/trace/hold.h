/* SPDX-License-Identifier: MIT */
/*
 * hold: what is kept of one tree, until its end.
 *
 * Chosen events of a tree are written with the events above them, as stubs
 * that say how many events are kept below, so that what is left is a tree.
 * Zeroes to start with; st and out are the caller's.
 */
#ifndef TL_TRACE_HOLD_H
#define TL_TRACE_HOLD_H

#include "stream/stream.h"

/* One that waits, 80 bytes; its values lie in hold.vals. */
struct hold_node {
	int64_t ts_ns, dur_ns;
	uint64_t id;
	size_t vals; /* offset */
	uint32_t vals_len;
	uint32_t inst;
	uint32_t shape, track, name;
	uint32_t depth;
	uint32_t parent; /* index; meaningless at depth 0 */
	uint32_t links;  /* index + 1 of what can't be told from parent */
	uint32_t ndesc, ngpu;
	uint16_t flags;
	bool is_chosen, is_below; /* below: it or one above it is chosen */
	bool is_kept; /* chosen, or above what is kept, or needed by it */
	bool may_be;  /* it or one below it is a forward op: needed perhaps */
};

struct hold_links {
	struct uid launch, fwd, bwd;
};

struct hold {
	struct dict *st;
	struct stream_out *out;
	bool is_flat;
	bool is_all; /* all trees wait until hold_flush() or hold_drop() */
	VEC(struct hold_node)
	list; /* pre-order: the ancestors open, what is kept */
	VEC(struct hold_links) links;
	struct buf vals, scratch;
	VEC(uint32_t) open; /* by depth: the event above, in list */
	struct map shapes;  /* shape << 16 | fields to shape */
	bool may_be;        /* list has an event that may be needed */
	uint64_t nchosen, nstubs;
};

/*
 * Takes the next event of a tree section. One that is not chosen and has
 * nothing chosen below it is forgotten when the next one at its level comes;
 * a tree is written when the next one begins. But a forward op waits, with all
 * that comes behind it, until the section ends: its backward op, which comes
 * later, may be kept, and says only together with it what it did.
 */
void hold_add(struct hold *h, const struct stream_in *in,
    const struct event *ev, bool is_chosen);
/* Whether the event to come at this depth has one above it that is chosen. */
bool hold_is_below(const struct hold *h, uint32_t depth);
/* Keeps an event of the prologue, to be judged when all of it is there. */
void hold_wait(struct hold *h, const struct event *ev);
/* Event i of those that wait; valid until the next call of hold. */
void hold_event(struct hold *h, size_t i, struct event *ev);
/* Writes what is held, as far as it is chosen or above what is. */
void hold_flush(struct hold *h);
/* Writes the event alone, without its place in the tree. */
void hold_pass(struct hold *h, const struct event *ev);
/* Forgets what is held. */
void hold_drop(struct hold *h);
/* Gives back the memory that it has while nothing is held. */
void hold_free(struct hold *h);

#endif
