/* SPDX-License-Identifier: MIT */
/* Inside sink only: tables asked for, and their groups. */
#ifndef TL_SINK_PLAN_H
#define TL_SINK_PLAN_H

#include "sink/sink.h"

/* A usage error for columns that the tables asked for do not have. */
void sink_tables_check(struct sink *s);
void sink_tables_print(struct sink *s);

/* The groups of a table in its order. */
void sink_group_records(
    struct sink *s, const struct sink_plan *p, struct sink_groups *gs);

static inline const struct sink_column *
sink_column_of(const struct sink *s, unsigned column)
{
	return &s->def->columns[column];
}

#endif
