/* SPDX-License-Identifier: MIT */
/* What GPU work returns while the host sets the pace: returns.c. */
#ifndef TL_ADVISE_RETURNS_H
#define TL_ADVISE_RETURNS_H

#include "sink/budget.h"

struct advice;

/* The critical path as it is, and if GPU work took no time. */
struct returns {
	int64_t n; /* paths */
	int64_t path_ns, saved_ns;
	int64_t gpu_ns;                  /* GPU work on it */
	int64_t blocked_ns[CAUSE_COUNT]; /* of path_ns */
	bool is_gpu; /* a step takes as long as its GPU work */
};

void returns_take(struct advice *a, const struct line *l);
void returns_take_pace(struct advice *a, const struct line *l);
/* Lowers the gains of GPU work that the path does not return. */
void returns_apply(struct advice *a);

#endif
