/* SPDX-License-Identifier: MIT */
/*
 * overlap: which GPU events overlap which, and what that means for the ones
 * that an op launched.
 *
 * Two GPU events overlap when they share at least a
 * microsecond, unless they are of one GPU stream of one device or below the
 * same op. An op's share is one of its busy time R, the length of the union
 * of its own events.
 *
 *	struct overlaps *o = overlaps_find(dict, works, nworks);
 *	for each op:
 *		overlaps_of(o, list, n, &list, &op->overlap);
 *	overlaps_free(o);
 *
 * Memory: 16 bytes for each pair found and 4 for each GPU event.
 */
#ifndef TL_TRACE_OVERLAP_H
#define TL_TRACE_OVERLAP_H

#include "stream/stream.h"

/* A GPU event that a sink keeps; source of sink_sources. */
struct work {
	struct uid uid;
	uint64_t launch; /* its launch's uid, if the sink fills it in */
	uint32_t name, source;
	struct key dev, gpu_stream;
	int64_t ts_ns, dur_ns; /* ts_ns + dur_ns doesn't overflow */
	uint64_t op;           /* number of the nearest op, 0: none */
	bool is_comm;          /* likewise set by the sink */
	bool is_over_link;     /* a copy between host and GPU, likewise */
};

static inline int64_t
work_end(const struct work *w)
{
	return w->ts_ns + w->dur_ns;
}

/* What overlaps one op, under one name. */
struct overlap {
	uint32_t name;
	struct key gpu_stream; /* of the first one */
	int64_t dur_ns;        /* mean, to 10 ns: two decimals of 1 us */
	double pct;            /* mean of shared time / R, two decimals */
};
typedef VEC(struct overlap) overlap_vec;

/* What overlaps one op. */
struct op_overlap {
	uint32_t names; /* JSON list in the dictionary; INTERN_NONE: nothing */
	uint32_t n;
	size_t first; /* in the list */
	double pct;   /* covered time / R, two decimals; NAN: nothing */
};
#define OVERLAP_NONE ((struct op_overlap){ .names = INTERN_NONE, .pct = NAN })

struct overlaps;

/* works stay the caller's, unchanged, until overlaps_free(). */
struct overlaps *overlaps_find(
    struct dict *st, const struct work *works, size_t n);
/* Of an op's own GPU events, by number; what is found is appended to list.
 */
void overlaps_of(struct overlaps *o, const uint32_t *works, size_t n,
    overlap_vec *list, struct op_overlap *out);
void overlaps_free(struct overlaps *o);

#endif
