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
 * Normalised: sorted, and none touches the next. An interval without length is
 * kept where it touches nothing: it adds no time, but it parts a gap in two
 * and bounds the whole.
 */
struct spans {
	struct span *v;
	size_t n, cap;
};

/* Adds an interval, in any order. What continues the last one extends it. */
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
 * Of normalised spans; out is emptied first and must be another. What is left
 * of a difference or an intersection has a length.
 */
void spans_union(
    struct spans *out, const struct spans *a, const struct spans *b);
void spans_subtract(
    struct spans *out, const struct spans *a, const struct spans *b);
void spans_intersect(
    struct spans *out, const struct spans *a, const struct spans *b);
/*
 * Those from first on, which were pushed and not added, become their union, in
 * place; its length. So one array serves a stack of open events: what was below
 * a closed one is then all that the one above it needs.
 */
int64_t spans_unite(struct spans *s, size_t first);
/* The time of a normalised set from one time to another. */
int64_t spans_between(const struct spans *s, int64_t from, int64_t to);
/* Whether a normalised set holds a time. */
bool spans_hold(const struct spans *s, int64_t t);
void spans_free(struct spans *s);

#endif
