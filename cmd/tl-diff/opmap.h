/* SPDX-License-Identifier: MIT */
/* Which op launches which kernels on each side, and what both call an op. */
#ifndef TL_DIFF_OPMAP_H
#define TL_DIFF_OPMAP_H

#include "cmd/tl-diff/tables.h"

/*
 * Ops that stand for one another below a point get one name: op (its number
 * in the strings) to that. The map is emptied with map_free().
 */
void opmap_names(const struct diff *d, const struct unique *u, struct map *to);
/* cpu_op_map_trace1.json, cpu_op_map_trace2.json, cpu_op_map.json in dir. */
void opmap_write(const struct diff *d, const char *dir);

#endif
