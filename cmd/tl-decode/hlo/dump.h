/* SPDX-License-Identifier: MIT */
/*
 * dump: texts of modules that XLA dumped beside a trace, in place of the HLO
 * that the trace lacks. What its GPU work names is looked up in the dump of
 * that module that is nearest to the trace.
 */
#ifndef TL_DECODE_DUMP_H
#define TL_DECODE_DUMP_H

#include "cmd/tl-decode/decode.h"

/* Adds a dump, or all dumps in a folder; *all is NULL at first. */
void dumps_add(struct dumps **all, const char *path);

/* ---- of a source, with dumps ---- */

void dump_begin(struct source_state *s);
void dump_event(struct source_state *s, const struct event *ev);
/* Of the metadata, which may have modules. */
void dump_meta(struct source_state *s, struct str key);
/* Writes the metadata of modules that were named and not seen. */
void dump_write(struct source_state *s);
void dump_end(struct source_state *s);

#endif
