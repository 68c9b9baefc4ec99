/* SPDX-License-Identifier: MIT */
/* Inside sink only: tables asked for, their groups, lists in cells. */
#ifndef TL_SINK_PLAN_H
#define TL_SINK_PLAN_H

#include "sink/sink.h"

/* A usage error for columns that no table asked for has. */
void sink_tables_check(struct sink *s);
void sink_tables_print(struct sink *s);
/* Ends the program if a list of any table has an unknown id. */
void sink_lists_check(const struct sink *s);
/*
 * For completion, a line per table: TAB TAB name TAB its columns; last, without
 * a name, the columns that no table lists.
 */
void sink_lists_put(struct buf *b, void *sink);

/* The groups of a table, in its order. */
void sink_group_records(
    struct sink *s, const struct sink_plan *p, struct sink_groups *gs);

/*
 * Checks of a table before it is printed: each record is in one row, rows add
 * up to what the records do, and no GPU time is counted twice. sink_total_add()
 * takes each record of the table.
 */
void sink_total_add(struct sink *s, const struct sink_plan *p,
    struct sink_groups *gs, const void *record);
void sink_keep_laws(const struct sink *s, const struct sink_plan *p,
    const struct sink_groups *gs);

/* Sets the words that tell rows apart (group.h); returns how many. */
size_t sink_key_of(const struct sink *s, const struct sink_plan *p,
    const void *record, uint64_t *key);

/*
 * Appends to r->text, as JSON, what the records of a row launched, or what
 * overlapped it, position by position. The first non-empty list decides how
 * long the list is and what is in it; lists of another length are skipped, as
 * "count" shows. False, and nothing: all are empty.
 */
bool details_put(const struct sink_row *r, unsigned of);

static inline const struct sink_column *
sink_column_of(const struct sink *s, unsigned column)
{
	return &s->def->columns[column];
}

#endif
