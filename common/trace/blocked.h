/* SPDX-License-Identifier: MIT */
/*
 * blocked: which calls block the launching threads, for ascending times.
 *
 *	blocked_start(&b, h);
 *	for each stretch of time, in order, none overlaps the one before:
 *		blocked_in(&b, from, to);
 *		... blocked_for_half(&b, ...), blocked_call_at(&b, ...)
 *	blocked_end(&b);
 *
 * The cost of a stretch grows with the calls in it, not with the number of
 * threads.
 */
#ifndef TL_TRACE_BLOCKED_H
#define TL_TRACE_BLOCKED_H

#include "trace/host.h"

struct blocked {
	struct host *h;
	/* private */
	size_t next;        /* in h->blocking, the next to examine */
	VEC(uint32_t) open; /* earlier ones that may extend into the stretch */
};

static inline void
blocked_start(struct blocked *b, struct host *h)
{
	*b = (struct blocked){ .h = h };
}

void blocked_in(struct blocked *b, int64_t from, int64_t to);
/* Whether a thread spends half of a part of the stretch in calls that wait for
 * the GPU. */
bool blocked_for_half(const struct blocked *b, int64_t from, int64_t to);
/* The call that blocks a thread then or, without one, the first blocked call;
 * HOST_NONE: no thread is blocked. */
uint32_t blocked_call_at(const struct blocked *b, uint32_t thread, int64_t ns);

static inline void
blocked_end(struct blocked *b)
{
	vec_free(&b->open);
}

#endif
