/* SPDX-License-Identifier: MIT */
/* What is below a node, level by level: between levels.c and similar.c. */
#ifndef TL_DIFF_LEVELS_H
#define TL_DIFF_LEVELS_H

#include "cmd/tl-diff/align.h"

#define LEVELS 4

/* The names at a level, sorted: appended to names. */
void levels_names(struct duo *d, int side, uint32_t at, int level, u32s *names);
/* The hash of the first k levels. */
uint64_t levels_prefix(struct duo *d, int side, uint32_t at, int k);

#endif
