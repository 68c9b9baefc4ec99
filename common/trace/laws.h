/* SPDX-License-Identifier: MIT */
/*
 * laws: invariants of sums of time, checked before printing. A violation is a
 * defect of the program: it ends with an error that names both sides, rather
 * than print a table that doesn't add up. Sums beyond int64 are not compared.
 *
 *	law_sum("gpu_timeline", (struct law_part[]){
 *	    { "computation_time", a }, { "exposed_comm_time", b } }, 2,
 *	    (struct law_part){ "busy_time", c });
 */
#ifndef TL_TRACE_LAWS_H
#define TL_TRACE_LAWS_H

#include "base/base.h"

struct law_part {
	const char *name;
	int64_t ns;
};

/* Non-negative parts add up to the whole. */
void law_sum(const char *table, const struct law_part *parts, size_t n,
    struct law_part whole);
/* Two ways to compute the same number, possibly negative. */
void law_same(const char *table, struct law_part one, struct law_part other);
/* A part does not exceed the whole, as a union its span. */
void law_most(const char *table, struct law_part part, struct law_part whole);

#endif
