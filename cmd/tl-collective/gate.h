/* SPDX-License-Identifier: MIT */
/* Limits for a batch job: --fail-over, judged for each group. */
#ifndef TL_COLLECTIVE_GATE_H
#define TL_COLLECTIVE_GATE_H

#include "base/base.h"

enum gate_of { GATE_WAIT, GATE_BANDWIDTH, GATE_SKEW };

struct gate {
	const char *text; /* "wait:5%" */
	enum gate_of of;
	double pct; /* of wait and bandwidth */
	int64_t ns; /* of skew */
};
typedef VEC(struct gate) gate_vec;

/* Parses --fail-over. */
void gate_opt(gate_vec *gates, const struct optparse *op);
struct job;
struct junit;
/*
 * Judges the later job with --vs, its bandwidth by the one before. A failure is
 * a note, a group that cannot be judged a warning. Returns the exit status: a
 * gate without a group to judge does not pass.
 */
int gates_check(struct job *j, struct junit *xml);

#endif
