/* SPDX-License-Identifier: MIT */
/* span: sorted, disjoint, half-open intervals in ns */
#ifndef TL_TRACE_SPAN_H
#define TL_TRACE_SPAN_H

#include "base/base.h"

struct span {
	int64_t start, end;
};

/*
 * Whether an event of this start and length lies in another: it begins before
 * the other's end. Ends may be beyond what fits; no length is negative.
 */
static inline bool
span_within(int64_t ts, int64_t dur, int64_t in_ts, int64_t in_dur)
{
	uint64_t from = (uint64_t)ts - (uint64_t)in_ts;

	return ts >= in_ts && from < (uint64_t)in_dur &&
	    (uint64_t)dur <= (uint64_t)in_dur - from;
}

/*
 * Normalized: sorted, and none touches the next. An interval without duration
 * is kept where it touches none: it adds no time, but splits a gap and extends
 * the whole.
 */
struct spans {
	struct span *v;
	size_t n, cap;
};

/* Adds an interval, in any order. One that continues the last extends it. */
static inline void
spans_add(struct spans *s, int64_t start, int64_t end)
{
	struct span *last = s->n > 0 ? &s->v[s->n - 1] : NULL;

	if (last != NULL && last->start <= start && start <= last->end) {
		if (end > last->end)
			last->end = end;
		return;
	}
	vec_push(s, ((struct span){ start, end }));
}

/* Sorts, in linear time where it must, and merges. */
void spans_normalise(struct spans *s);
/* The sum of the lengths; modulo 2^64 when the whole is longer than int64. */
int64_t spans_total(const struct spans *s);
/*
 * Of normalized spans; out is emptied first and must be another. Differences
 * and intersections have no empty intervals.
 */
void spans_union(
    struct spans *out, const struct spans *a, const struct spans *b);
void spans_subtract(
    struct spans *out, const struct spans *a, const struct spans *b);
void spans_intersect(
    struct spans *out, const struct spans *a, const struct spans *b);
/*
 * Replaces those from first on, which were pushed, by their union, in place;
 * returns its length. So one array serves a stack of open events: the parent
 * needs only the union of what was below a closed one.
 */
int64_t spans_unite(struct spans *s, size_t first);
/* The time of a normalized set within an interval. */
int64_t spans_between(const struct spans *s, int64_t from, int64_t to);
/* Whether a normalized set contains a time. */
bool spans_hold(const struct spans *s, int64_t t);
void spans_free(struct spans *s);

#endif
