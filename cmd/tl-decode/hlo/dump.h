/* SPDX-License-Identifier: MIT */
/*
 * dump: XLA's text dumps of modules, for HLO that a trace lacks. A module that
 * GPU work names is read from the dump nearest to the trace.
 */
#ifndef TL_DECODE_DUMP_H
#define TL_DECODE_DUMP_H

#include "cmd/tl-decode/decode.h"

/* Adds a dump, or all in a folder; *all is NULL at first. */
void dumps_add(struct dumps **all, const char *path);

/* ---- of a source, with dumps ---- */

void dump_begin(struct source_state *s);
void dump_event(struct source_state *s, const struct event *ev);
/* Takes metadata, which may be a module. */
void dump_meta(struct source_state *s, struct str key);
/* Writes metadata of modules that were named but not seen. */
void dump_write(struct source_state *s);
void dump_end(struct source_state *s);

#endif
