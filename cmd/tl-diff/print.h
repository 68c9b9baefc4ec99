/* SPDX-License-Identifier: MIT */
/* What is written besides tables. */
#ifndef TL_DIFF_PRINT_H
#define TL_DIFF_PRINT_H

#include "cmd/tl-diff/diff.h"

/* min_ns 0: all of the tree. */
void print_merged(
    const struct diff *d, struct out *out, bool colour, int64_t min_ns);

#endif
