/* SPDX-License-Identifier: MIT */
/*
 * collective: what tl-collective knows of the ranks of a job, for programs that
 * put them on one clock.
 *
 *	collective_rows("nccl_clocks", "process,offset_ns", paths, n, fn, arg);
 */
#ifndef TL_TRACE_COLLECTIVE_H
#define TL_TRACE_COLLECTIVE_H

#include "base/base.h"

/* One row: cells, each with a tab behind it but for the last. */
typedef void collective_row_fn(void *arg, struct str row);

/*
 * Runs it with --align-clocks on these files and passes on the rows of one
 * table. Its warnings are one here; where it fails the program ends.
 */
void collective_rows(const char *table, const char *columns,
    const char *const *paths, size_t n, collective_row_fn *row, void *arg);
/* The first cell; the row moves behind it. */
struct str collective_cell(struct str *row);

#endif
