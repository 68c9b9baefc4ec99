/* SPDX-License-Identifier: MIT */
/*
 * What is whole in a damaged trace. The readers of formats stay as they are but
 * for two things: records (events) come from salvage_record(), one by one, each
 * whole or not at all, and where a reader can't go on it returns, with
 * is_lost set in its struct json_trace, and json_read() asks
 * salvage_resume() where to go on.
 *
 * Each loss is a warning with its byte.
 */
#ifndef TL_DECODE_SALVAGE_H
#define TL_DECODE_SALVAGE_H

#include "cmd/tl-decode/decode.h"
#include "cmd/tl-decode/json/mend.h"

/* What a format says of its records. */
struct salvage_rules {
	const struct str *marks; /* keys: each has one; an empty one ends */
	unsigned key_depth;      /* its members so deep count ... */
	size_t max_keys;         /* ... and may be so many */
	/* they are looked for outside of their list, too, whose end has only
	 * members of the outermost object behind it */
	bool is_anywhere;
};

struct salvage;

/* in stays the caller's, and is tolerated. */
struct salvage *salvage_open(struct in *in);
/* Before it is read from, and when the format turns out to be another. */
void salvage_rules(struct salvage *sv, const struct salvage_rules *rules);
/* Tells what is missing: on standard error, in the source's facts and in the
 * stream's marks. Dies when nothing could be saved. */
void salvage_finish(struct salvage *sv, struct source_state *s);
void salvage_close(struct salvage *sv);

/* All read from in->p on, and move it; texts live until the next call. */

/* The value there, mended; false: it is not whole. */
bool salvage_value(struct salvage *sv, struct str *text) USE_RESULT;

enum found {
	FOUND_NOTHING,  /* the data end */
	FOUND_RECORD,   /* in->p at it */
	FOUND_LIST_END, /* of the records, in->p behind it */
};

/* The next record of the list; a bare one stands in no object, and may lack
 * its bracket. */
enum found salvage_record(
    struct salvage *sv, bool first, bool is_bare, struct str *text) USE_RESULT;
/* From a place where the reader can't go on. */
enum found salvage_resume(struct salvage *sv) USE_RESULT;
/* Whether the value there is a list whose first element is a record. */
bool salvage_is_list(struct salvage *sv);
/* The last record is none that the reader takes. */
void salvage_drop_record(struct salvage *sv);
/* Nothing more is read. */
void salvage_drop_rest(struct salvage *sv, enum reason why);

#endif
