/* SPDX-License-Identifier: MIT */
/*
 * repair: mends and counts what --repair names. Bytes are mended while reading,
 * events in a second pass over the stream, alike for all formats.
 */
#ifndef TL_DECODE_REPAIR_H
#define TL_DECODE_REPAIR_H

#include "cmd/tl-decode/decode.h"

enum {
	REPAIR_CLIP_OVERRUN = 1 << 0,
	REPAIR_DROP_IMPOSSIBLE = 1 << 1,
	REPAIR_FIX_UTF8 = 1 << 2,
	REPAIRS_OF_EVENTS = REPAIR_CLIP_OVERRUN | REPAIR_DROP_IMPOSSIBLE,
};
extern const char *const repair_words[]; /* by bit, up to NULL */

/* The argument of --repair: "clip-overrun,fix-utf8", or "all". */
unsigned repair_opt(const struct optparse *op);

/*
 * Reads a source by its format; with fix-utf8, JSON goes through a window that
 * replaces invalid UTF-8. Sets the fact of repairs.
 */
void repair_read(struct source_state *s);

/* Copies the stream to its destination, mended, with a note. */
void repair_stream(
    int fd, const char *name, unsigned repairs, const struct stream_dest *dest);

#endif
