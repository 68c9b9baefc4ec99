/* SPDX-License-Identifier: MIT */
/* Clocks of the sources that --join combines; see trace/joined.h. */
#include "cmd/tl-timeline/timeline.h"

void
join_take_source(struct sink *s, const struct source *src)
{
	struct timeline *g = (struct timeline *)s;
	uint32_t no = sink_sources_of(&s->sources, src->src)->no;

	while (g->own.n <= no)
		vec_push(&g->own, own_clock_none);
	own_clock_take(&g->own.v[no], s->dict, src);
}

void
join_free(struct timeline *g)
{
	vec_free(&g->own);
	vec_free(&g->clocks);
}

const struct collective_clock *
join_clock(const struct timeline *g, const struct sink_source *o)
{
	return collective_clock_of(&g->clocks,
	    joined_number(o->rank, o->has_rank && !o->is_rank_guess, o->no));
}

static void
list_sources(const struct timeline *g, joined_list *list)
{
	const struct sink_sources *all = &g->sink.sources;

	for (size_t i = 0; i < all->list.n; i++) {
		const struct sink_source *o = &all->list.v[i];

		vec_push(list,
		    ((struct joined){
			.path = o->path,
			.is_stdin = o->is_stdin,
			.is_in = o->is_asked && o->nchosen > 0,
			.has_rank = o->has_rank,
			.is_rank_guess = o->is_rank_guess,
			.rank = o->rank,
			.own = i < g->own.n ? g->own.v[i] : own_clock_none,
		    }));
	}
}

void
join_find_clocks(struct timeline *g)
{
	joined_list list = { 0 };
	joined_paths paths = { 0 };

	list_sources(g, &list);
	if (g->align == ALIGN_UNSAID)
		joined_check(&list);
	if (g->align == ALIGN_COLLECTIVE) {
		joined_files(&list, &paths);
		collective_clocks(&g->clocks, paths.v, paths.n);
	}
	vec_free(&list);
	vec_free(&paths);
}
