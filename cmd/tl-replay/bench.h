/* SPDX-License-Identifier: MIT */
/*
 * bench: command lines with which benchmarks of GEMM libraries measure an op's
 * product.
 */
#ifndef TL_REPLAY_BENCH_H
#define TL_REPLAY_BENCH_H

#include "schema.h"

/* As in --bench; ends with NULL. */
extern const char *const bench_tools[];

bool bench_is_product(struct str op);
/*
 * Appends the command line of a tool, by number, without a newline. False: why
 * says what the tool cannot express; empty: the op is no GEMM.
 */
bool bench_line(struct buf *out, size_t tool, struct str op,
    const struct schema *s, const struct arguments *args,
    struct buf *why) USE_RESULT;

#endif
