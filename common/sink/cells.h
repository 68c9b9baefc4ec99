/* SPDX-License-Identifier: MIT */
/*
 * cells: what several sinks put into the cells of a table in the same way.
 */
#ifndef TL_SINK_CELLS_H
#define TL_SINK_CELLS_H

#include "sink/source.h"
#include "table/table.h"

/*
 * An event: its id, or "12.3" of a repetition. A column in which there may be
 * such a one is of texts, see column_of_uids().
 */
struct cell cell_uid(struct table *t, struct uid uid);
#define UID_NONE UINT32_MAX /* inst of no event: an empty cell */

/* A text by its number; empty for INTERN_NONE. */
struct cell cell_string(const struct dict *st, uint32_t id);

/* What part is of the whole, in percent; empty where the whole is nothing. */
struct cell cell_share(int64_t part, double whole);

/* Gives the columns of this id the type that they need. */
void column_of_uids(
    struct column *columns, size_t n, const char *id, bool any_inst);

/*
 * Says above the table where its steps come from: trace/steps.h. from: the bits
 * of steps_inferred_from().
 */
void note_inferred(struct table *t, unsigned from);
void note_runs(struct table *t, struct str module);
/* Of "n of several". */
#define HAVE(n) ((n) == 1 ? "has" : "have")
/* Says above the table how much GPU work has no launch, and so no "op". */
void note_unlinked(
    struct table *t, const struct sink_sources *g, const char *what);

#endif
