/* SPDX-License-Identifier: MIT */
/* Messages of tl-roofline; report-ids.h includes this. */

/* clang-format off */

NOTHING(NO_TABLE_OPS,
    "{file}: the table {table} has no rows; tables with rows: {there}")
NOTHING(NO_TABLE_HERE,
    "{file}: the table {table} is of other traces; this one has: {there}")
NOTE(GPU_ASSUMED,
    "{file}: the trace does not name its GPU: {gpu} is assumed, by memory and "
    "compute units; --arch names it")
NOTHING(NO_TRACED_ROOF,
    "{file}: no op has 5 equal calls to measure the GPU by: pass more traces, "
    "or name the GPU with --arch")

/* clang-format on */
