/* SPDX-License-Identifier: MIT */
/*
 * Files of one run: rocprofv3 writes CSV as a table per kind of record. Those
 * of one run share the front of their names (X_kernel_trace.csv,
 * X_hip_api_trace.csv ...) and are one source: whichever is given, the others
 * are read, too.
 */
#ifndef TL_STREAM_RUN_H
#define TL_STREAM_RUN_H

#include "base/base.h"

#define RUN_TABLES 12

/* Ends of names, in reading order: agents and counters first, as others refer
 * to them; calls name the run's process. */
extern const struct str run_tables[RUN_TABLES];

/* The table in a path; front and packing are the parts before and after its
 * name. RUN_TABLES: none. */
size_t run_table(struct str path, struct str *front, struct str *packing);

/* Whether a path is a table of a run of which the n paths have another. */
bool run_is_among(const char *const *paths, size_t n, const char *path);

#endif
