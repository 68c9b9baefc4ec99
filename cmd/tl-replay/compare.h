/* SPDX-License-Identifier: MIT */
/*
 * compare: results of a script (--json) against the recording.
 *
 *	compare_read(g, path);			(each file, when strings are)
 *	op->results[WARM] = compare_result(g, run, WARM);
 *	c = compare_op(g, op);
 *	compare_finding(g, op, &c, &text);
 */
#ifndef TL_REPLAY_COMPARE_H
#define TL_REPLAY_COMPARE_H

#include "cmd/tl-replay/replay.h"

/* Times of a call, in ns. */
struct comparison {
	double recorded_ns, replayed_ns; /* of kernels; NAN: unknown */
	double others_ns; /* kernels only on one side: the op's */
	double cache_ns;  /* of common kernels, cold less warm */
	double idle_ns;   /* between kernels, when replayed */
	size_t nrecorded_only, nreplayed_only;
};

struct kernel_pair {
	double recorded_ns, replayed_ns[CACHES];
};

/* Ends the program if the file has no results. */
void compare_read(struct replay *g, const char *path);
/* The result of a call, or NULL. */
const struct result *compare_result(
    const struct replay *g, const struct run *r, enum cache cache);
struct comparison compare_op(const struct replay *g, const struct op *op);
/* By op; NAN where it did not run. */
struct kernel_pair compare_kernel(
    const struct replay *g, const struct op *op, uint32_t name);
/* Appends a sentence. */
void compare_finding(const struct replay *g, const struct op *op,
    const struct comparison *c, struct buf *out);

#endif
