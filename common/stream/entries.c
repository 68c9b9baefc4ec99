/* SPDX-License-Identifier: MIT */
/* Ends a program that walks values which do not decode. */
#include "stream/stream.h"

#include <inttypes.h>

/* The walk knows no stream; --check finds the bad one of several. */
void
entries_die(const struct entries *it)
{
	die("event %" PRIu32 ":%" PRIu64 ": its values are malformed: the "
	    "stream is damaged (tl-cat --check says which)",
	    it->src, it->id);
}

struct str
event_vals_renumbered(const struct event *ev, struct buf *scratch)
{
	struct entries it = entries_of(NULL, ev);

	scratch->len = 0;
	while (entries_next(&it))
		value_encode(scratch, &it.val);
	return buf_str(scratch);
}
