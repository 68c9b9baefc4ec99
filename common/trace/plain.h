/* SPDX-License-Identifier: MIT */
/* plain: makes names of two traces comparable */
#ifndef TL_TRACE_PLAIN_H
#define TL_TRACE_PLAIN_H

#include "base/base.h"

/*
 * Appends a name without what differs between runs: addresses become 0xXXXX,
 * "model.py(12): f" becomes "model.py: f".
 */
void name_plain(struct buf *b, struct str name);
/* Unifies two names of a driver's launch; leaves all others. */
struct str name_one_launch(struct str name);
/* Appends a name without any "(12)". */
void name_without_lines(struct buf *b, struct str name);

#endif
