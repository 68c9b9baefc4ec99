/* SPDX-License-Identifier: MIT */
/*
 * rocprofv3's databases. rocpd.c: tables, processes, facts; rocpd-tables.c:
 * each table's columns and events.
 */
#ifndef TL_DECODE_ROCPD_H
#define TL_DECODE_ROCPD_H

#include "cmd/tl-decode/sqlite/db.h"

/* The join with tracks: j2. */
#define ROCPD_TRACK 2

struct rocpd {
	struct arena *mem;
	VEC(const char *) suffixes; /* recordings; each has its numbers */
	/* the current recording */
	const char *suffix;
	struct db_strings *strings, *categories;
	sqlite3_stmt *args;     /* of an event; NULL: none */
	VEC(int64_t) processes; /* rows of processes, by part */
	struct map live;        /* allocated bytes by address */
	/* scratch */
	struct buf text, json;
};

/* A member of a JSON object, as text, or empty; valid until the next call. */
struct str rocpd_member(struct rocpd *r, struct str object, const char *key);

/*
 * Ended by NULL. A column that a table lacks may be its track's; so for the
 * column in a join's SQL.
 */
extern const struct db_table *const rocpd_tables[];

#endif
