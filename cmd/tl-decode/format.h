/* SPDX-License-Identifier: MIT */
/*
 * The interface of formats. Each is a folder with its struct format and a line
 * in format.c; nothing else knows it.
 */
#ifndef TL_DECODE_FORMAT_H
#define TL_DECODE_FORMAT_H

#include "cmd/tl-decode/decode.h"

/* Bytes seen before reading, unless the input is shorter. */
#define FORMAT_HEAD 16384

/* How sure a format is; the surest reads the input. */
enum sniff {
	SNIFF_NO = 0,
	SNIFF_MAYBE, /* begins like its files and others */
	SNIFF_SURE,
};

struct json_format;

struct format {
	const char *name;
	/*
	 * By the first decompressed bytes, followed by IN_PAD readable ones,
	 * and the path.
	 */
	enum sniff (*sniff)(struct str head, const char *path);
	/*
	 * A format in JSON, known by a key anywhere: another such format may
	 * begin to read it; sniff is NULL.
	 */
	const struct json_format *json;
	/*
	 * Reads s->in from beginning to end; with set->salvage what is whole.
	 * Sets the fact "format", numbers events by next_id, counts events
	 * without usable time as skipped, calls source_trim(), in_release() and
	 * progress_show() after each event and source_check() at the end, and
	 * adds to counts->bytes.
	 */
	void (*read)(struct source_state *s);
	/*
	 * Instead of read: from a seekable descriptor of the file or of a
	 * decompressed copy, which the caller closes.
	 */
	void (*read_file)(struct source_state *s, int fd);
	bool can_salvage;
};

#endif
