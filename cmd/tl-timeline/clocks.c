/* SPDX-License-Identifier: MIT */
/*
 * The clocks of what --join puts together. Sources share one if they are of one
 * rank, of one file that tells no ranks, or if tl-merge has aligned them. Else
 * collectives have to say that they agree; where none does, one host will do.
 */
#include "cmd/tl-timeline/timeline.h"
#include "json/json.h"

#define NONE INT64_MIN

static const struct own_clock nothing = { INTERN_NONE, NONE };

void
join_take_source(struct sink *s, const struct source *src)
{
	struct timeline *g = (struct timeline *)s;
	const struct fact *host = source_fact(src, "hostname");
	const struct fact *clock = source_fact(src, "clock");
	uint32_t no = sink_sources_of(&s->sources, src->src)->no;
	struct own_clock *own;
	json_items list = { 0 };
	struct arena *mem;

	while (g->own.n <= no)
		vec_push(&g->own, nothing);
	own = &g->own.v[no];
	if (host != NULL && host->val.s.p != NULL)
		own->host = intern_put(s->dict->text, host->val.s);
	if (clock == NULL || clock->val.s.p == NULL)
		return;
	mem = arena_create();
	if (!json_split(&list, mem, clock->val.s) ||
	    !num_i64(json_member_text(&list, STR("island")), &own->island))
		own->island = NONE;
	vec_free(&list);
	arena_destroy(mem);
}

void
join_free(struct timeline *g)
{
	vec_free(&g->own);
	vec_free(&g->clocks);
}

static const struct own_clock *
own_of(const struct timeline *g, const struct sink_source *o)
{
	return o->no < g->own.n ? &g->own.v[o->no] : &nothing;
}

/* Its rank, or by order, as tl-collective numbers such inputs. */
static int64_t
number_of(const struct sink_source *o)
{
	return o->has_rank && !o->is_rank_guess ? o->rank : (int64_t)o->no;
}

static const struct collective_clock *
clock_in(const collective_clock_list *list, const struct sink_source *o)
{
	return collective_clock_of(list, number_of(o));
}

const struct collective_clock *
join_clock(const struct timeline *g, const struct sink_source *o)
{
	return clock_in(&g->clocks, o);
}

/* ---- whether the clocks that were recorded are one ---- */

/* Whose work is in the timeline. */
static bool
is_joined(const struct sink_source *o)
{
	return o->is_asked && o->nchosen > 0;
}

/* Whether they are on one clock, whatever collectives say. */
static bool
share_clock(const struct timeline *g, const struct sink_source *a,
    const struct sink_source *b)
{
	const struct own_clock *x = own_of(g, a), *y = own_of(g, b);

	if (x->island != NONE && y->island != NONE)
		return x->island == y->island;
	if (a->has_rank && b->has_rank && a->rank == b->rank)
		return true;
	return !a->has_rank && !b->has_rank && a->path == b->path;
}

static bool
share_host(const struct timeline *g, const struct sink_source *a,
    const struct sink_source *b)
{
	const struct own_clock *x = own_of(g, a), *y = own_of(g, b);

	return x->host != INTERN_NONE && x->host == y->host;
}

/* The first one of the timeline. */
static const struct sink_source *
first_joined(const struct timeline *g)
{
	const struct sink_sources *all = &g->sink.sources;

	for (size_t i = 0; i < all->list.n; i++)
		if (is_joined(&all->list.v[i]))
			return &all->list.v[i];
	return all->list.v;
}

static bool
are_on_one_clock(const struct timeline *g, const struct sink_source *first)
{
	const struct sink_sources *all = &g->sink.sources;

	for (size_t i = 0; i < all->list.n; i++) {
		const struct sink_source *o = &all->list.v[i];

		if (is_joined(o) && o != first && !share_clock(g, first, o))
			return false;
	}
	return true;
}

static bool
reads_stdin(const struct timeline *g)
{
	for (size_t i = 0; i < g->sink.sources.list.n; i++)
		if (g->sink.sources.list.v[i].is_stdin)
			return true;
	return false;
}

typedef VEC(const char *) path_list;

static void
list_paths(const struct timeline *g, path_list *paths)
{
	const struct sink_sources *all = &g->sink.sources;

	for (size_t i = 0; i < all->list.n; i++) {
		const char *path = all->list.v[i].path;

		if (paths->n == 0 || path != paths->v[paths->n - 1])
			vec_push(paths, path);
	}
}

static void
tell_off(const struct timeline *g, const collective_clock_list *clocks)
{
	const struct sink_sources *all = &g->sink.sources;
	VEC(int64_t) ranks = { 0 };

	for (size_t i = 0; i < all->list.n; i++)
		if (is_joined(&all->list.v[i]))
			vec_push(&ranks, number_of(&all->list.v[i]));
	collective_tell_off(clocks, ranks.v, ranks.n);
	vec_free(&ranks);
}

/* Those whose clocks neither collectives nor they themselves compare. */
static void
tell_unknown(const struct timeline *g, const collective_clock_list *clocks,
    const struct sink_source *first)
{
	const struct sink_sources *all = &g->sink.sources;
	const struct collective_clock *f = clock_in(clocks, first);
	const struct sink_source *unknown = NULL;
	size_t n = 0, total = 0;

	for (size_t i = 0; i < all->list.n; i++) {
		const struct sink_source *o = &all->list.v[i];
		const struct collective_clock *c = clock_in(clocks, o);

		if (!is_joined(o))
			continue;
		total++;
		if (o == first || share_clock(g, first, o) ||
		    share_host(g, first, o) ||
		    (f != NULL && c != NULL && f->island == c->island))
			continue;
		unknown = n++ == 0 ? o : unknown;
	}
	if (n > 0)
		report(MSG_JOIN_CLOCKS_UNKNOWN, n, total, unknown->path);
}

static void
check_clocks(const struct timeline *g)
{
	const struct sink_source *first = first_joined(g);
	collective_clock_list clocks = { 0 };
	path_list paths = { 0 };

	if (are_on_one_clock(g, first))
		return;
	if (reads_stdin(g)) {
		report(MSG_JOIN_CLOCKS_UNCHECKED, g->sink.sources.list.n);
		return;
	}
	list_paths(g, &paths);
	collective_clocks_recorded(&clocks, paths.v, paths.n);
	tell_off(g, &clocks);
	tell_unknown(g, &clocks, first);
	vec_free(&clocks);
	vec_free(&paths);
}

void
join_find_clocks(struct timeline *g)
{
	path_list paths = { 0 };

	if (g->align == ALIGN_UNSAID)
		check_clocks(g);
	if (g->align != ALIGN_COLLECTIVE)
		return;
	if (reads_stdin(g))
		die_usage("option '--align' reads each input twice: not from "
			  "standard input");
	list_paths(g, &paths);
	collective_clocks(&g->clocks, paths.v, paths.n);
	vec_free(&paths);
}
