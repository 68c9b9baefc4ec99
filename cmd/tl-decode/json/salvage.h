/* SPDX-License-Identifier: MIT */
/*
 * Whole records of a damaged trace. Readers change in two ways only:
 * salvage_record() gives them whole records, one by one; and where a reader
 * cannot go on it returns with is_lost set in its struct json_trace, and
 * json_read() calls salvage_resume(). Each loss is a warning with its byte.
 */
#ifndef TL_DECODE_SALVAGE_H
#define TL_DECODE_SALVAGE_H

#include "cmd/tl-decode/decode.h"
#include "cmd/tl-decode/json/mend.h"

/* How records of a format look. */
struct salvage_rules {
	const struct str *marks; /* keys, one a record; an empty one ends */
	unsigned key_depth;      /* depth of its counted members ... */
	size_t max_keys;         /* ... and their maximum number */
	/*
	 * records may be outside of their list; after its end only members of
	 * the outermost object follow
	 */
	bool is_anywhere;
};

struct salvage;

/* in stays the caller's, and is tolerated. */
struct salvage *salvage_open(struct in *in);
/* Before reading, and when the format changes. */
void salvage_rules(struct salvage *sv, const struct salvage_rules *rules);
/*
 * Reports losses: warnings, fact, mark. Ends the program if nothing is whole.
 */
void salvage_finish(struct salvage *sv, struct source_state *s);
void salvage_close(struct salvage *sv);

/*
 * The functions read from in->p and move it; texts are valid until the next
 * call.
 */

/* The value, mended; false: not whole. */
bool salvage_value(struct salvage *sv, struct str *text) USE_RESULT;

enum found {
	FOUND_NOTHING,  /* end of data */
	FOUND_RECORD,   /* in->p at it */
	FOUND_LIST_END, /* end of the list, in->p after it */
};

/* The next record of the list; a bare list may lack its bracket. */
enum found salvage_record(
    struct salvage *sv, bool first, bool is_bare, struct str *text) USE_RESULT;
/* Where the reader cannot go on. */
enum found salvage_resume(struct salvage *sv) USE_RESULT;
/* Whether the value is a list whose first element is a record. */
bool salvage_is_list(struct salvage *sv);
/* The reader does not take the last record. */
void salvage_drop_record(struct salvage *sv);
/* Drops the rest of the input. */
void salvage_drop_rest(struct salvage *sv, enum reason why);

#endif
