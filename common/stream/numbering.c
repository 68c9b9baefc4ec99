/* SPDX-License-Identifier: MIT */
/* numbering: sources of several inputs kept distinct in one stream. */
#include "stream/wire.h"

void
numbering_input(struct numbering *nb)
{
	nb->first = nb->next;
	nb->tracks.n = 0;
}

uint32_t
numbering_source(struct numbering *nb, uint32_t src)
{
	uint32_t ours = nb->first + src;

	if (ours >= WIRE_MAX_SRC)
		die("more than %u sources in one stream",
		    (unsigned)WIRE_MAX_SRC);
	if (ours >= nb->next)
		nb->next = ours + 1;
	return ours;
}

static uint32_t
our_track(struct numbering *nb, uint32_t track)
{
	uint32_t ours = track < nb->tracks.n ? nb->tracks.v[track] : 0;
	struct track t;

	if (LIKELY(ours != 0))
		return ours - 1;
	t = nb->dict->tracks.v[track];
	t.src = numbering_source(nb, t.src);
	ours = dict_track(nb->dict, &t);
	while (nb->tracks.n <= track)
		vec_push(&nb->tracks, 0);
	nb->tracks.v[track] = ours + 1;
	return ours;
}

void
numbering_event(struct numbering *nb, struct event *ev)
{
	if (nb->first == 0) { /* unchanged */
		if (UNLIKELY(ev->src >= nb->next))
			(void)numbering_source(nb, ev->src);
		return;
	}
	ev->track = our_track(nb, ev->track);
	ev->src = numbering_source(nb, ev->src);
}
