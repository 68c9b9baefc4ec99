/* SPDX-License-Identifier: MIT */
/* What is written besides tables. */
#ifndef TL_DIFF_PRINT_H
#define TL_DIFF_PRINT_H

#include "cmd/tl-diff/order.h"

/*
 * min_ns 0: all of the tree. moves NULL: as the reference has it, without marks
 * of what moved and of what one side only calls around a node.
 */
void print_merged(const struct diff *d, const struct moves *moves,
    struct out *out, bool colour, int64_t min_ns);

#endif
