/* SPDX-License-Identifier: MIT */
/*
 * repeat: what repeats, and where it begins.
 *
 * It looks at names in order (of launches or ops) for the stretch that repeats.
 * A name that occurs m times cuts the names into units, most of which must have
 * the same names. Of all m the one wins that most names agree with. A stretch
 * that leaves out names is only a part of what repeats (a layer) and is not
 * used.
 *
 * A repetition begins after the longest pause of the host, or with the first
 * event if that follows a pause half as long. Only whole repetitions count.
 *
 * Memory: 40 bytes an event while it works. Time: n log n.
 */
#ifndef TL_TRACE_REPEAT_H
#define TL_TRACE_REPEAT_H

#include "base/base.h"

struct repeat_event {
	int64_t start_ns, end_ns; /* of the call */
	uint64_t order;           /* of events with equal starts */
	uint32_t name;
	uint32_t event; /* the caller's number */
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
