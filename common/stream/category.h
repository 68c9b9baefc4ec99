/* SPDX-License-Identifier: MIT */
/* category: an event's kind from its category and phase. */
#ifndef TL_STREAM_CATEGORY_H
#define TL_STREAM_CATEGORY_H

#include "stream/kind.h"

/* The kind of work that profilers give this category; of a list with commas,
 * that of the first known one; false: none. */
bool category_kind(struct str cat, enum kind *kind);
/* The kind of a Chrome event, by category and phase letter (0: none). */
enum kind kind_of_chrome(struct str cat, bool has_cat, unsigned char ph);

#endif
