/* SPDX-License-Identifier: MIT */
/*
 * gap: why the GPU was idle between two pieces of work.
 *
 * A gap is the time between the unions of GPU events. A call on some thread
 * launched the event that ends it (next). Before the call began that thread was
 * late, and what it did (or what it waited for another thread to do) is the
 * cause. After the call's end the work had been launched in time, and the GPU,
 * another GPU stream or unrecorded work delayed it.
 *
 *	GPU     ####______________####
 *	thread    [ load   ]  [launch]
 *	pieces      dddddddddobllll        data, op, between_ops, launch_call
 *
 *	gaps_find(&gaps, h, list, n);	list: places in h->gpus, ascending,
 *					or NULL: all of them
 *	for each of gaps.list: pieces.v[first] .. [first + n - 1] are its causes
 *
 * Memory: 56 bytes a gap and 24 a piece.
 */
#ifndef TL_TRACE_GAP_H
#define TL_TRACE_GAP_H

#include "trace/host.h"

struct gap_piece {
	int64_t start_ns, end_ns;
	uint32_t event; /* of the host, or HOST_NONE */
	uint8_t cause;
	/* by lengths alone: no row says so */
	bool is_inferred;
};

struct gap {
	int64_t start_ns, end_ns;
	uint32_t prev, next; /* in h->gpus; HOST_NONE: head, tail */
	uint32_t first, n;   /* in pieces */
	uint32_t opened_by;  /* the blocking call that took the lead, or NONE */
	/* of a dependency, what next waited for: as rows say (waits.h), or else
	 * prev; HOST_NONE: it is none */
	uint32_t awaited;
	uint8_t cause; /* the largest, of equal ones the first */
	int64_t cause_ns;
};

/* No shorter gap waits for what was not recorded. */
#define GAP_MISSING_NS 30000

struct gaps {
	VEC(struct gap) list; /* in time */
	VEC(struct gap_piece) pieces;
	/* the caller's: shorter gaps are passed over; no causes are asked for,
	 * only what ended gaps and what that awaited */
	int64_t min_ns;
	bool without_causes;
	VEC(struct gap_piece) room; /* private: one gap's */
};

/*
 * The blocking call that opened a gap, or HOST_NONE. After a long one, what
 * follows the call is a cause of its own.
 */
static inline uint32_t
gap_opener(const struct gap *g)
{
	return g->end_ns - g->start_ns <= HOST_LONG_NS ? g->opened_by
						       : HOST_NONE;
}

/* Whether a piece is host work that, without that call, would have been done
 * while the GPU was busy. */
static inline bool
gap_is_behind_opener(const struct gap *g, const struct gap_piece *p)
{
	return gap_opener(g) != HOST_NONE && p->event != g->opened_by &&
	    cause_groups[p->cause] == GROUP_OF_HOST;
}

/* Empties it first; of a window the head and tail are gaps, too. Without one,
 * from the first to the last event, one without a length, too. */
void gaps_find(struct gaps *g, struct host *h, const uint32_t *gpus, size_t n,
    const struct span *window);
/* Leaves what lies in these times, normalised: causes are those of the whole.
 */
void gaps_cut(struct gaps *g, const struct spans *within);
/* The event that most of a gap's largest cause is due to (host_culprit()), in
 * all pieces of it; of equal ones the first. */
uint32_t gap_culprit(
    struct gaps *g, const struct host *h, const struct gap *gap) USE_RESULT;
/* The thread whose work the causes of a gap follow, if no event says another:
 * that which launches next. HOST_NONE: the causes are of no thread. */
uint32_t gap_thread(const struct host *h, const struct gap *gap) USE_RESULT;
void gaps_free(struct gaps *g);

#endif
