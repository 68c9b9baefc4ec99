/* SPDX-License-Identifier: MIT */
/*
 * Files that are one run: rocprofv3 writes its CSV as a table for each kind of
 * record. Those of one run share the front of their names (X_kernel_trace.csv,
 * X_hip_api_trace.csv ...) and are one source: whichever is given, its siblings
 * are read with it.
 */
#ifndef TL_STREAM_RUN_H
#define TL_STREAM_RUN_H

#include "base/base.h"

#define RUN_TABLES 12

/* Ends of names, in the order in which they are read: agents and counters are
 * looked up, and only calls say of which process the run was. */
extern const struct str run_tables[RUN_TABLES];

/* The table that a path is of: front and packing are what stands around its
 * name. RUN_TABLES: of none. */
size_t run_table(struct str path, struct str *front, struct str *packing);

/* Whether a path is a table of a run of which another is among the n paths. */
bool run_is_among(const char *const *paths, size_t n, const char *path);

#endif
