/* SPDX-License-Identifier: MIT */
/* What is written besides tables. */
#ifndef TL_DIFF_PRINT_H
#define TL_DIFF_PRINT_H

#include "cmd/tl-diff/diff.h"

/* A name as one line. */
void print_name(struct out *out, struct str s);
/* min_ns 0: all of the tree. */
void print_merged(
    const struct diff *d, struct out *out, bool colour, int64_t min_ns);

#endif
