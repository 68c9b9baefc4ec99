/* SPDX-License-Identifier: MIT */
/* cells: how several sinks fill cells of a table. */
#ifndef TL_SINK_CELLS_H
#define TL_SINK_CELLS_H

#include "sink/source.h"
#include "table/table.h"

/*
 * An event: its id, or "12.3" of a repetition. A column that may have
 * repetitions is one of text, see column_of_uids().
 */
struct cell cell_uid(struct table *t, struct uid uid);
#define UID_NONE UINT32_MAX /* inst without an event: an empty cell */

/* A string by its id; empty for INTERN_NONE. */
struct cell cell_string(const struct dict *st, uint32_t id);

/* A share in percent; empty if the whole is 0. */
struct cell cell_share(int64_t part, double whole);

/* Gives columns of this id the type that their events need. */
void column_of_uids(
    struct column *columns, size_t n, const char *id, bool any_inst);

/*
 * Adds a note on where the table's steps come from: trace/steps.h. from: the
 * bits of steps_inferred_from().
 */
void note_inferred(struct table *t, unsigned from);
void note_runs(struct table *t, struct str module);
/* For "n of several". */
#define HAVE(n) ((n) == 1 ? "has" : "have")
/* Adds a note on how much GPU work is unlinked, and so has no "op". */
void note_unlinked(
    struct table *t, const struct sink_sources *g, const char *what);

#endif
