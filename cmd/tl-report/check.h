/* SPDX-License-Identifier: MIT */
/* check: whether the tables of ops have all GPU work whose launch is known. */
#ifndef TL_REPORT_CHECK_H
#define TL_REPORT_CHECK_H

#include "base/base.h"

struct settings;

/* A table of ops, and the GPU work it lists. */
struct check {
	const char *table;
	uint64_t events; /* in its lists of kernels */
	int64_t ns;
	uint64_t unlike; /* names with another count than in the trees */
	bool has_time;   /* between busy_ns and sum_ns */
};

struct checks {
	VEC(struct check) list;
	uint64_t events; /* linked, in the trees */
	int64_t busy_ns; /* of these, over all sources */
	int64_t sum_ns;  /* of these, durations */
};

static inline bool
check_is_passed(const struct check *c)
{
	return c->has_time && c->unlike == 0;
}

/*
 * --check: reads the trees again, and the tables before rows are cut. Failures
 * are warnings, results the table "checks". Lives to the end.
 */
const struct checks *checks_make(struct settings *s);

#endif
