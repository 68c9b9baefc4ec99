/* SPDX-License-Identifier: MIT */
/*
 * One JSON value of a damaged file, made clean. Pure: nothing is read, printed
 * or ended here.
 *
 * A value that is whole by the grammar comes out as it is, minified. What can
 * be told with certainty is mended (see enum mend); anything else is BAD, and
 * nothing is guessed: a value is never closed that was not closed.
 *
 * A quote inside a string that was not escaped is told from one that ends it
 * by what follows: behind the end of a member's value stand a closing bracket
 * or a comma and a further key with its colon. Where a bare quote is followed
 * by a colon, or a string with one by a line's end, structure was lost and the
 * value is BAD.
 */
#ifndef TL_DECODE_CLEAN_H
#define TL_DECODE_CLEAN_H

#include "json/json.h"

enum mend {
	MEND_CONTROL, /* a raw control character: escaped */
	MEND_UTF8,    /* a byte that is no UTF-8: U+FFFD */
	MEND_QUOTE,   /* a bare quote: escaped */
	MEND_ESCAPE,  /* a backslash that escapes nothing: escaped */
	MEND_COMMA,   /* one before a closing bracket: dropped */
	MEND_NAN,     /* nan, inf in C's spelling: JavaScript's */
	MEND_COUNT
};

enum clean_status {
	CLEAN_OK,
	CLEAN_MORE, /* the window ends before the value does */
	CLEAN_BAD,
};

struct cleaner {
	/* the window, with IN_PAD zeros behind; p moves behind the value */
	const unsigned char *p, *end;
	bool eof;
	struct buf out; /* the value is appended; as it was unless OK */
	/* keys in quotes, an empty one ends them: is one in the outermost
	 * object? */
	const struct str *marks;
	bool is_marked;
	size_t nkeys;      /* of all depths */
	size_t ntop;       /* of the first two */
	bool is_scalar;    /* a number or literal: cut off, it looks whole */
	const char *error; /* after BAD: what, and where */
	const unsigned char *where;
	uint64_t mends[MEND_COUNT];
	const unsigned char *first[MEND_COUNT];
	/* private */
	size_t depth;
	uint8_t open[JSON_MAX_DEPTH]; /* brackets */
};

/* Cursor at the value's first byte. */
enum clean_status clean_value(struct cleaner *c) USE_RESULT;

#endif
