/* SPDX-License-Identifier: MIT */
/*
 * hold: what is kept of one tree, until its end.
 *
 * Chosen events of a tree are written with the events above them, as stubs
 * that say how many events are kept below, so that what is left is a tree.
 * Zeroes to start with; tree.st and out are the caller's.
 */
#ifndef TL_TRACE_HOLD_H
#define TL_TRACE_HOLD_H

#include "trace/forest.h"

struct hold {
	/* st is the caller's; the ancestors open, and what is kept */
	struct forest tree;
	struct stream_out *out;
	bool is_flat;
	bool is_all;  /* all events wait until hold_drop(), for hold_write() */
	bool may_be;  /* the tree has an event that may be needed */
	bool is_bare; /* what is written needs no keys, as a binary stream */
	uint64_t nchosen, nstubs;
	/* private */
	VEC(uint32_t) list;  /* what is written */
	struct map forwards; /* ops with a backward op: uid to node */
};

/* An event that waits, to be written; as a stub if it is not chosen. */
struct hold_pick {
	uint32_t no;
	bool is_chosen;
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
/*
 * Writes these, what is above them and the forward ops that they need, to out
 * with its numbers of sources and tracks. All stays, for other outputs.
 */
void hold_write(struct hold *h, struct stream_out *out,
    const struct hold_pick *v, size_t n, struct numbering *nb);
/* Writes the event alone, without its place in the tree. */
void hold_pass(struct hold *h, const struct event *ev);
/* Forgets what is held. */
void hold_drop(struct hold *h);
/* Gives back the memory that it has while nothing is held. */
void hold_free(struct hold *h);

#endif
