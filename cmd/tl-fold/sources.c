/* SPDX-License-Identifier: MIT */
/* The source of a stack, and its counterpart on the other side. */
#include "cmd/tl-fold/fold.h"

static bool
is_taken(const struct sources *s, uint32_t number)
{
	for (size_t i = 0; i < s->matches.n; i++)
		if (s->matches.v[i] == number)
			return true;
	return false;
}

/*
 * The first side's counterpart of a source of the second: by rank, or by
 * position if ranks are unknown or repeated.
 */
static uint32_t
match_of(const struct sources *s, const struct sink_source *o)
{
	const struct sink_sources *first = &s->side[0];
	bool by_rank = o->has_rank && sink_sources_lead(first) != SINK_LEAD_SRC;

	if (first->list.n == 1 && o->no == 0)
		return 0;
	for (uint32_t i = 0; i < first->list.n; i++) {
		const struct sink_source *r = &first->list.v[i];

		if ((by_rank && r->has_rank ? r->rank == o->rank
					    : i == o->no) &&
		    !is_taken(s, i))
			return i;
	}
	return (uint32_t)first->list.n + o->no;
}

uint32_t
sources_number(struct sources *s, int side, const struct sink_source *o)
{
	if (side == 0)
		return o->no;
	while (s->matches.n <= o->no)
		vec_push(&s->matches, UINT32_MAX);
	if (s->matches.v[o->no] == UINT32_MAX)
		s->matches.v[o->no] = match_of(s, o);
	return s->matches.v[o->no];
}

/* The counterpart of a source of the first side, or NULL. */
static const struct sink_source *
recording_at(const struct sources *s, int side, uint32_t number)
{
	if (side == 0)
		return number < s->side[0].list.n ? &s->side[0].list.v[number]
						  : NULL;
	for (size_t i = 0; i < s->matches.n; i++)
		if (s->matches.v[i] == number)
			return &s->side[1].list.v[i];
	return NULL;
}

bool
sources_are_asked(const struct sources *s, uint32_t number)
{
	for (int side = 0; side < NSIDES; side++) {
		const struct sink_source *o = recording_at(s, side, number);

		if (o != NULL && o->is_asked)
			return true;
	}
	return false;
}

int64_t
sources_work(const struct sources *s, int side)
{
	int64_t ns = 0;

	for (uint32_t i = 0; i < s->side[side].list.n; i++)
		if (sources_are_asked(s,
			side == 0 || i >= s->matches.n ? i : s->matches.v[i]))
			ns = num_add_max(ns, s->side[side].list.v[i].work_ns);
	return ns;
}

bool
sources_name(const struct sources *s, uint32_t number, struct buf *b)
{
	enum sink_lead lead = sink_sources_lead(&s->side[0]);
	const struct sink_source *o = recording_at(s, 0, number);

	if (sink_sources_lead(&s->side[1]) > lead)
		lead = sink_sources_lead(&s->side[1]);
	if (lead == SINK_LEAD_NONE)
		return false;
	if (o == NULL)
		o = recording_at(s, 1, number);
	if (lead == SINK_LEAD_RANK && o->has_rank)
		buf_printf(b, "rank %" PRId64, o->rank);
	else
		buf_printf(b, "src %" PRIu32, number);
	return true;
}

void
sources_free(struct sources *s)
{
	sink_sources_free(&s->side[0]);
	sink_sources_free(&s->side[1]);
	vec_free(&s->matches);
}
