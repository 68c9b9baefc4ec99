/* SPDX-License-Identifier: MIT */
/*
 * repair: what --repair mends, on request, and counts. Bytes are mended while
 * they are read; events when all of them are known, in a second pass over the
 * stream, so that it is the same for all formats.
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
extern const char *const repair_words[]; /* bit 0 first, ended by NULL */

/* "clip-overrun,fix-utf8" of --repair, or "all". */
unsigned repair_opt(const struct optparse *op);

/*
 * Reads a source as its format says: with fix-utf8, if its bytes begin like
 * JSON, through a window in which those that are no UTF-8 are replaced. What
 * was done is a fact of the source.
 */
void repair_read(struct source_state *s);

/* The stream in this file to its destination, mended; notes what was done. */
void repair_stream(
    int fd, const char *name, unsigned repairs, const struct stream_dest *dest);

#endif
