/* SPDX-License-Identifier: MIT */
/* All traces of both sides, pair by pair. */
#ifndef TL_DIFF_SIDES_H
#define TL_DIFF_SIDES_H

#include "cmd/tl-diff/tables.h"

/* Reads, compares and prints; what main() returns. */
int sides_compare(struct settings *set);

#endif
