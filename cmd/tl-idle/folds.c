/* SPDX-License-Identifier: MIT */
/* What rows of many pieces say of them all, when a source has ended. */
#include <stdlib.h>

#include "cmd/tl-idle/idle.h"

/* The call that holds the lock. Calls that wait for the GPU need none. */
static uint32_t
lock_of(struct idle *g, uint32_t event)
{
	const uint64_t waits = CAUSE_BIT(CAUSE_SYNC) | CAUSE_BIT(CAUSE_POLL) |
	    CAUSE_BIT(CAUSE_COPY_BLOCK);
	uint32_t other = call_locked_by(g, event);

	if (other != HOST_NONE &&
	    ((CAUSE_BIT(g->host.events.v[event].cause) |
		 CAUSE_BIT(g->host.events.v[other].cause)) &
		waits) != 0)
		return HOST_NONE;
	return other;
}

/* Counts the calls of a row, and finds the one with most time: a call can cause
 * several pieces. */
static void
find_longest(struct idle *g, struct idle_record *r, const uint32_t *events)
{
	const int64_t *lengths = g->lengths.v + r->first;
	uint32_t longest = HOST_NONE;

	for (size_t i = 0; i < r->n; i++) {
		uint64_t *sum, ns = (uint64_t)lengths[i];

		if (events[i] != HOST_NONE) {
			sum = &g->sums.v[events[i]];
			r->ncalls += *sum == 0; /* 0: a new call */
			ns = *sum += ns;
		}
		if (ns > r->longest_ns) {
			longest = events[i];
			r->longest_ns = ns;
		}
	}
	for (size_t i = 0; i < r->n; i++)
		if (events[i] != HOST_NONE)
			g->sums.v[events[i]] = 0;
	r->longest = named(g, longest);
	if (longest != HOST_NONE)
		r->lock = named(g, lock_of(g, longest));
	if (g->with_stack)
		r->more = stack_of(&g->stacks, &g->host, longest);
}

void
folds_finish(struct idle *g)
{
	uint32_t *events = xmalloc(g->pieces.n * sizeof *events);
	size_t base = g->lengths.n, at = base;

	for (size_t i = g->nbefore; i < g->sink.records.n; i++) {
		struct idle_record *r = sink_record(&g->sink, i);

		r->first = at;
		at += r->n;
		r->n = 0;
	}
	vec_reserve(&g->lengths, at);
	g->lengths.n = at;
	for (size_t i = 0; i < g->pieces.n; i++) {
		const struct piece *p = &g->pieces.v[i];
		struct idle_record *r = sink_record(&g->sink, p->record);

		at = r->first + r->n++;
		g->lengths.v[at] = p->ns;
		events[at - base] = p->event;
	}
	g->pieces.n = 0;
	for (size_t i = g->nbefore; i < g->sink.records.n; i++) {
		struct idle_record *r = sink_record(&g->sink, i);

		if (r->n > 0)
			find_longest(g, r, events + (r->first - base));
	}
	free(events);
	for (size_t i = 0; i < FOLDED; i++)
		sink_fold_clear(&g->folds[i]);
}
