/* SPDX-License-Identifier: MIT */
/*
 * Collectives of a group that do the same but are slower at times. Judged by
 * latency, so clocks that are off do not matter.
 */
#ifndef TL_COLLECTIVE_EPISODE_H
#define TL_COLLECTIVE_EPISODE_H

#include "cmd/tl-collective/tables.h"

struct episode {
	struct pgroup *group;
	uint32_t stratum; /* number of group, type and size */
	const struct coll *first, *last;
	struct str kind; /* episode or scattered */
	struct str nodes;
	int64_t ncolls, nslow; /* of the stratum */
	int64_t last_index;
	int64_t from_ns, to_ns; /* since the first collective of the job */
	int64_t excess_ns;      /* beyond the usual */
	int64_t cost_ns;        /* part of it that no computation hides */
	double sum_ns, usual_ns, mean_ns, ratio, pct_excess;
	double p50_ns, p95_ns, spread; /* of the stratum */
	/* share of them during which the GPU computed, in %; NAN: unknown */
	double overlap_slow, overlap_usual;
};
typedef VEC(struct episode) episode_vec;

/* Of one or several groups. */
struct unstable {
	int64_t ncolls, nslow, from_ns, to_ns, excess_ns, cost_ns, bytes;
	double ns, usual_ns;
	/* part of excess: slower while the GPU computes */
	int64_t overlapping_ns;
	uint32_t stratum;
	uint8_t class;
	size_t n; /* episodes */
	bool is_scattered, has_classes, has_sizes;
};

/* By group and time. */
void episodes_find(struct job *j, episode_vec *out);
/* unstable.c */
void unstable_add(
    const struct job *j, struct unstable *u, const struct episode *e);
/* Appends "20 of 84 all-reduces 4.0x slower between 1.2 and 3.4 ms". */
void unstable_say(const struct unstable *u, struct buf *b);

#endif
