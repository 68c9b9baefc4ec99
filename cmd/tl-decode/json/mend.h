/* SPDX-License-Identifier: MIT */
/*
 * One JSON value of a damaged file, checked in a copy and mended there. Nothing
 * is printed or ended here.
 *
 * The token reader names the byte that it can't accept. Where it is certain
 * what was meant (see the reasons) that byte is put right and reading goes on;
 * else the value is broken. A value is never closed that was not closed.
 *
 * A bare quote ends a string for the reader, which fails soon behind it: then
 * the last string's closing quote was none, and is escaped. Where it is
 * followed by a colon, or its string holds a line's end, a quote is missing
 * instead, and the value is broken.
 */
#ifndef TL_DECODE_MEND_H
#define TL_DECODE_MEND_H

#include "json/json.h"

/* Of the json cursor, to go back to. */
struct spot {
	size_t at; /* in the text */
	uint32_t depth;
	uint8_t state;
};

struct mender {
	const struct str *marks; /* keys, an empty one ends them */
	unsigned key_depth;      /* members so deep are counted */
	/* the value at hand, with IN_PAD zeros behind, and where it ends */
	struct buf text;
	size_t end;     /* in bytes from in->p on */
	bool is_marked; /* its outermost object has one of the keys */
	bool is_scalar; /* a number or literal: cut off, it looks whole */
	size_t nkeys;
	enum reason error; /* of a broken one: what, and where */
	size_t where;
	uint64_t mends[REASON_COUNT];
	size_t first[REASON_COUNT]; /* from in->p on */
	/* private */
	struct json json;   /* over the text */
	size_t from, taken; /* of the window, from in->p on */
	struct spot last;   /* before the last string, or at SIZE_MAX */
	size_t last_quote, quoted_at;
	unsigned nmends;
};

/* The value at bytes behind in->p, which stays; false: it is broken. */
bool mend_value(
    struct mender *m, struct in *in, size_t at, size_t max) USE_RESULT;

#endif
