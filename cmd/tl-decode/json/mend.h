/* SPDX-License-Identifier: MIT */
/*
 * One JSON value of a damaged file, checked in a copy and mended there. Nothing
 * is printed, and the program does not end here.
 *
 * The token reader names the byte that it can't accept. If it is certain what
 * was meant (see the reasons), that byte is mended and reading goes on; else
 * the value is broken. A value that was not closed is never closed.
 *
 * A bare quote ends a string for the reader, which fails soon after it. Then
 * the last string's closing quote was not one, and is escaped. If a colon
 * follows it, or its string contains a line break, a quote is missing instead,
 * and the value is broken.
 */
#ifndef TL_DECODE_MEND_H
#define TL_DECODE_MEND_H

#include "json/json.h"

/* State of the json cursor to return to. */
struct spot {
	size_t at; /* in the text */
	uint32_t depth;
	uint8_t state;
};

struct mender {
	const struct str *marks; /* keys, ended by an empty one */
	unsigned key_depth;      /* depth of the members that are counted */
	/* the value, IN_PAD zeros after it, and its end */
	struct buf text;
	size_t end;     /* from in->p */
	bool is_marked; /* its outermost object has one of the keys */
	bool is_scalar; /* number or literal: whole even if cut off */
	size_t nkeys;
	enum reason error; /* of a broken value: fault and place */
	size_t where;
	uint64_t mends[REASON_COUNT];
	size_t first[REASON_COUNT]; /* from in->p */
	/* private */
	struct json json;   /* over the text */
	size_t from, taken; /* of the window, from in->p */
	struct spot last;   /* before the last string, or SIZE_MAX */
	size_t last_quote, quoted_at;
	unsigned nmends;
};

/* The value n bytes after in->p, which stays; false: broken. */
bool mend_value(
    struct mender *m, struct in *in, size_t at, size_t max) USE_RESULT;

#endif
