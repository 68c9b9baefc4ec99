/* SPDX-License-Identifier: MIT */
/* category: what categories and phases say of an event's kind. */
#ifndef TL_STREAM_CATEGORY_H
#define TL_STREAM_CATEGORY_H

#include "stream/kind.h"

/* The kind of the work that profilers give this category, or the first that
 * they give to one of a list with commas; false: of none. */
bool category_kind(struct str cat, enum kind *kind);
/* The kind of an event of Chrome's, by category and phase letter (0: none). */
enum kind kind_of_chrome(struct str cat, bool has_cat, unsigned char ph);

#endif
