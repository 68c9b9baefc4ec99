/* SPDX-License-Identifier: MIT */
/* Inside sink only: tables asked for, their groups, lists in cells. */
#ifndef TL_SINK_PLAN_H
#define TL_SINK_PLAN_H

#include "sink/sink.h"

/* A usage error for columns that the tables asked for do not have. */
void sink_tables_check(struct sink *s);
void sink_tables_print(struct sink *s);
/* Ends the program if a list of any table has an unknown id. */
void sink_lists_check(const struct sink *s);

/* The groups of a table in its order. */
void sink_group_records(
    struct sink *s, const struct sink_plan *p, struct sink_groups *gs);

/*
 * Laws of a table, checked before any of it is printed: each record is in one
 * row, what the rows add up to is what the records do, and no GPU time is in
 * two of them. sink_total_add() takes each record of the table.
 */
void sink_total_add(struct sink *s, const struct sink_plan *p,
    struct sink_groups *gs, const void *record);
void sink_keep_laws(const struct sink *s, const struct sink_plan *p,
    const struct sink_groups *gs);

/* Sets the words by which rows of its keys differ (group.h): how many. */
size_t sink_key_of(const struct sink *s, const struct sink_plan *p,
    const void *record, uint64_t *key);

/*
 * What the records of a row launched, or what overlapped them, position by
 * position, as JSON appended to r->text. The first record whose list isn't
 * empty says how long the list is and what stands in it; lists of another
 * length are left out, as "count" shows. False, and nothing: all are empty.
 */
bool details_put(const struct sink_row *r, unsigned of);

static inline const struct sink_column *
sink_column_of(const struct sink *s, unsigned column)
{
	return &s->def->columns[column];
}

#endif
