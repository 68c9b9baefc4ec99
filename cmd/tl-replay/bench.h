/* SPDX-License-Identifier: MIT */
/*
 * bench: the command lines by which the benchmarks of GEMM libraries measure
 * the product that an op computed.
 */
#ifndef TL_REPLAY_BENCH_H
#define TL_REPLAY_BENCH_H

#include "schema.h"

/* As in --bench; NULL behind the last. */
extern const char *const bench_tools[];

bool bench_is_product(struct str op);
/*
 * Appends the line of the tool of this number, without a newline. False: why
 * says what the tool cannot express; empty: the op is no GEMM.
 */
bool bench_line(struct buf *out, size_t tool, struct str op,
    const struct schema *s, const struct arguments *args,
    struct buf *why) USE_RESULT;

#endif
