/* SPDX-License-Identifier: MIT */
/*
 * hold: keeps what is chosen of one tree, until its end.
 *
 * Chosen events of a tree are written with the events above them, as stubs
 * that say how many events are kept below, so that what is left is a tree.
 * Zeroes to start with; tree.st and out are the caller's.
 */
#ifndef TL_TRACE_HOLD_H
#define TL_TRACE_HOLD_H

#include "trace/forest.h"

struct hold {
	/* st is the caller's; open ancestors, and kept events */
	struct forest tree;
	struct stream_out *out;
	bool is_flat;
	bool is_all;  /* hold all events until hold_drop(), for hold_write() */
	bool may_be;  /* the tree has an event that may be needed */
	bool is_bare; /* output needs no keys, as a binary stream */
	uint64_t nchosen, nstubs;
	/* private */
	VEC(uint32_t) list;  /* what to write */
	struct map forwards; /* ops with a backward op: uid to node */
};

/* Writes a held event; as a stub if it is not chosen. */
struct hold_pick {
	uint32_t no;
	bool is_chosen;
};

/*
 * Takes the next event of a tree section. An event that is not chosen and has
 * nothing chosen below it is dropped when the next one at its level comes; a
 * tree is written when the next one begins. But a forward op is held, with all
 * that follows, until the section ends: its backward op comes later, may be
 * kept, and lacks the forward's arguments.
 */
void hold_add(struct hold *h, const struct stream_in *in,
    const struct event *ev, bool is_chosen);
/* Whether the next event, at this depth, has a chosen ancestor. */
bool hold_is_below(const struct hold *h, uint32_t depth);
/* Holds an event of the prologue; judged when the prologue is complete. */
void hold_wait(struct hold *h, const struct event *ev);
/* Held event i; valid until the next call of hold. */
void hold_event(struct hold *h, size_t i, struct event *ev);
/* Writes held events that are chosen or ancestors of those. */
void hold_flush(struct hold *h);
/*
 * Writes these, their ancestors and the forward ops that they need, with the
 * output's numbers of sources and tracks. Keeps all, for other outputs.
 */
void hold_write(struct hold *h, struct stream_out *out,
    const struct hold_pick *v, size_t n, struct numbering *nb);
/* Writes only the event, without its place in the tree. */
void hold_pass(struct hold *h, const struct event *ev);
/* Drops all held events. */
void hold_drop(struct hold *h);
/* Frees memory while nothing is held. */
void hold_free(struct hold *h);

#endif
