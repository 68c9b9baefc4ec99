/* SPDX-License-Identifier: MIT */
/*
 * versus: --diff, what a comparison with another trace found for a row's GPU
 * work. A point is an LCA: where the two call trees diverge, or a pair of GPU
 * events; its times are those of all its work, also outside the row.
 */
#ifndef TL_ROOFLINE_VERSUS_H
#define TL_ROOFLINE_VERSUS_H

#include "sink/source.h"
#include "trace/overlap.h"

struct versus;

/* A row's sums over its points. */
struct versus_row {
	int64_t before_ns, after_ns;
	int64_t nafter; /* points with work in the other trace */
};

/*
 * Reads the table diff_stats as NDJSON; its first side is the trace read here.
 */
struct versus *versus_read(struct dict *st, const char *path);
void versus_free(struct versus *v);
/* Begins a row; adds GPU work; ends it, with false if it has no point. */
void versus_row(struct versus *v);
void versus_add(
    struct versus *v, const struct sink_sources *g, const struct work *w);
bool versus_sum(struct versus *v, struct versus_row *to);
/* Appends the numbers or names of its points, in order. */
void versus_list(const struct versus *v, bool names, struct buf *b);

#endif
