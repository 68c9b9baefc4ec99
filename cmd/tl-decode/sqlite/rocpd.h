/* SPDX-License-Identifier: MIT */
/*
 * rocprofv3's databases.
 *
 *	rocpd.c		which tables there are, processes, facts
 *	rocpd-tables.c	each table's columns, and the events of its rows
 */
#ifndef TL_DECODE_ROCPD_H
#define TL_DECODE_ROCPD_H

#include "cmd/tl-decode/sqlite/db.h"

/* The join with tracks: j2. */
#define ROCPD_TRACK 2

struct rocpd {
	struct arena *mem;
	VEC(const char *) suffixes; /* each a recording with its own numbers */
	/* of the recording that is read */
	const char *suffix;
	struct db_strings *strings, *categories;
	sqlite3_stmt *args;     /* of an event; NULL: there are none */
	VEC(int64_t) processes; /* rows, by part */
	struct map live;        /* bytes by address */
	/* scratch */
	struct buf text, json;
};

/* A member, a string, of an object in JSON; empty: there is none. It holds
 * until the next one. */
struct str rocpd_member(struct rocpd *r, struct str object, const char *key);

/* Ended by NULL. A column that a table lacks is that of its track, and a join's
 * SQL is the name of a column likewise. */
extern const struct db_table *const rocpd_tables[];

#endif
