/* SPDX-License-Identifier: MIT */
/* kind: category and phase of a source to the kind of an event: tables */
#ifndef TL_TRACE_KIND_H
#define TL_TRACE_KIND_H

#include "stream/stream.h"

/*
 * The kind of a Chrome-trace event from its category (INTERN_NONE text: "")
 * and phase letter (0: none given). The name matters only for allocator
 * instants ("[memory]").
 */
enum kind kind_of_chrome(struct str cat, bool has_cat, unsigned char ph);

#endif
