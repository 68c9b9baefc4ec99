/* SPDX-License-Identifier: MIT */
/*
 * repeat: what is done again and again, and where it begins.
 *
 * Of names in order (what was launched, or ops) it finds the stretch that
 * repeats: a name that comes m times cuts them into units, and most units must
 * have the same names. Of all m the one that most names agree with is taken. A
 * stretch that leaves some names out is a part of what repeats (a layer), and
 * not taken.
 *
 * A repetition begins behind the longest pause of the host, or with the first
 * event if that comes behind a pause half as long. Whole repetitions count;
 * what is left at either end does not.
 *
 * Memory: 40 bytes an event while it works. Time: n log n.
 */
#ifndef TL_TRACE_REPEAT_H
#define TL_TRACE_REPEAT_H

#include "base/base.h"

struct repeat_event {
	int64_t start_ns, end_ns; /* of the call */
	uint64_t order;           /* of those that begin together */
	uint32_t name;
	uint32_t event; /* the caller's */
};

struct repeats {
	VEC(uint32_t) at; /* the first event of each, and the end of the last */
	size_t length;    /* events of most of them */
};

/* By start and order. */
void repeat_events_sort(struct repeat_event *v, size_t n);
/* For sorted events. Empties to first; false: no repetition. */
bool repeats_find(
    struct repeats *to, const struct repeat_event *v, size_t n) USE_RESULT;
void repeats_free(struct repeats *r);

#endif
