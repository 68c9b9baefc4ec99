/* SPDX-License-Identifier: MIT */
/*
 * The door for formats. One is a folder with its struct format, and a line in
 * the list in format.c; nothing else knows it.
 */
#ifndef TL_DECODE_FORMAT_H
#define TL_DECODE_FORMAT_H

#include "cmd/tl-decode/decode.h"

/* As much of an input is seen before it is read, unless it is shorter. */
#define FORMAT_HEAD 16384

/* How sure a format is that an input is its own; the surest reads it. */
enum sniff {
	SNIFF_NO = 0,
	SNIFF_MAYBE, /* it begins as such files do, and as others */
	SNIFF_SURE,
};

struct json_format;

struct format {
	const char *name;
	/* By the first bytes, decompressed, behind which IN_PAD more may be
	 * read, and the path. */
	enum sniff (*sniff)(struct str head, const char *path);
	/* Of a format in JSON, that a key tells wherever it stands: its reader
	 * may be begun by another such format; sniff is NULL then. */
	const struct json_format *json;
	/*
	 * Reads s->in from its beginning, forwards, to its end; with
	 * set->salvage what is whole of it. It sets the fact "format", numbers
	 * events by next_id, counts in skipped what has no usable time, calls
	 * source_trim(), in_release() and progress_show() behind each event,
	 * source_check() at the end, and adds what it read to counts->bytes.
	 */
	void (*read)(struct source_state *s);
	/* Instead of read: from a descriptor that can seek, of the file itself
	 * or of a copy of its decompressed bytes. It is the caller's. */
	void (*read_file)(struct source_state *s, int fd);
	bool can_salvage;
};

#endif
