/* SPDX-License-Identifier: MIT */
/* fusion: chains of ops that one kernel could do (fusion.c says which). */
#ifndef TL_ROOFLINE_FUSION_H
#define TL_ROOFLINE_FUSION_H

#include "sink/sink.h"

#define FUSION_NAME "fusion_chains"
#define TABLE_FUSION (UINT32_MAX - 2) /* not a table of calls */

/* Prints the table, after all calls of the unified one. */
void fusion_print(struct sink *s, const struct sink_plan *p);

#endif
