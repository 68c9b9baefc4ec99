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

/* --fail-over. */
void gate_opt(gate_vec *gates, const struct optparse *op);
struct job;
struct junit;
/*
 * With --vs it is the later job that is judged, its bandwidth by the one
 * before. What fails is a note, what cannot be judged a warning. The exit
 * status: a gate of which no group can be judged is never passed.
 */
int gates_check(struct job *j, struct junit *xml);

#endif
