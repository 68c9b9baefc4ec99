/* SPDX-License-Identifier: MIT */
/*
 * Inside sink only: lists inside of cells (SINK_DETAILS): what the records of a
 * row launched, or what overlapped them, position by position, as JSON. The
 * first record whose list isn't empty says how long the list is and what stands
 * in it; lists of another length are left out, as "count" shows.
 */
#ifndef TL_SINK_DETAILS_H
#define TL_SINK_DETAILS_H

#include "sink/sink.h"

/* Appends a JSON list to r->text; false, and nothing: all lists are empty. */
bool details_put(const struct sink_row *r, unsigned of);

#endif
