/* SPDX-License-Identifier: MIT */
/*
 * A rank that lacks the first collective of a group, or has one before the
 * others' first: matched by number or order, all its collectives are wrong, and
 * some end before they start whatever the clocks. A shift that mends this and
 * makes ends agree ten times better is right.
 */
#include "cmd/tl-collective/clock.h"

#include <math.h>
#include <stdlib.h>

#define TRIES 16     /* in a job, as each solves all clocks */
#define ENDS_MAX 200 /* collectives to look at */
#define SHARPER 10

/* The ends of one rank of a group. */
struct end_list {
	uint32_t pos;
	VEC(int64_t) v; /* ends less the collective's median end */
	double spread_ns;
};
typedef VEC(struct end_list) end_lists;

static struct end_list *
list_of(end_lists *all, struct map *at, uint32_t pos)
{
	bool is_new;
	uint64_t *slot = map_put(at, pos, &is_new);

	if (is_new) {
		*slot = all->n;
		vec_push(all, ((struct end_list){ .pos = pos }));
	}
	return &all->v[*slot];
}

/* On solved clocks. */
static void
add_ends(const struct job *j, const struct coll *c, end_lists *all,
    struct map *at, int64_t *ends)
{
	int64_t middle;

	for (uint32_t m = 0; m < c->n; m++) {
		const struct rec *r = j->members[c->first + m];

		ends[m] = clock_true(&j->ranks.v[rec_pos(j, r)], rec_end(r));
	}
	middle = median_i64(ends, c->n);
	for (uint32_t m = 0; m < c->n; m++) {
		const struct rec *r = j->members[c->first + m];
		uint32_t pos = rec_pos(j, r);
		int64_t end = clock_true(&j->ranks.v[pos], rec_end(r));

		vec_push(&list_of(all, at, pos)->v,
		    whole_ns(ends_between(end, middle)));
	}
}

/* Scatter of a rank's ends: median distance from their median. */
static double
spread_of(struct end_list *l)
{
	int64_t middle = median_i64(l->v.v, l->v.n);

	for (size_t i = 0; i < l->v.n; i++)
		l->v.v[i] = whole_ns(fabs(ends_between(l->v.v[i], middle)));
	return (double)median_i64(l->v.v, l->v.n);
}

/* Largest first; ties: the lowest rank. */
static int
by_spread(const void *pa, const void *pb)
{
	const struct end_list *a = pa, *b = pb;

	if (a->spread_ns != b->spread_ns)
		return a->spread_ns > b->spread_ns ? -1 : 1;
	return a->pos < b->pos ? -1 : a->pos > b->pos;
}

static void
measure(const struct job *j, size_t group, end_lists *all)
{
	const struct pgroup *g = &j->groups.v[group];
	int64_t *ends = xmalloc((j->ranks.n + 1) * sizeof *ends);
	size_t step = g->ncolls / ENDS_MAX + 1;
	struct map at = { 0 };

	for (size_t i = 0; i < g->ncolls; i += step) {
		const struct coll *c = &j->colls.v[g->first_coll + i];

		if (coll_tells_time(j, c))
			add_ends(j, c, all, &at, ends);
	}
	for (size_t i = 0; i < all->n; i++)
		all->v[i].spread_ns = spread_of(&all->v[i]);
	stable_sort(all->v, all->n, sizeof *all->v, by_spread);
	map_free(&at);
	free(ends);
}

static void
lists_free(end_lists *all)
{
	for (size_t i = 0; i < all->n; i++)
		vec_free(&all->v[i].v);
	vec_free(all);
}

static double
spread_now(const struct job *j, size_t group, uint32_t pos)
{
	end_lists all = { 0 };
	double ns = INFINITY;

	measure(j, group, &all);
	for (size_t i = 0; i < all.n; i++)
		if (all.v[i].pos == pos)
			ns = all.v[i].spread_ns;
	lists_free(&all);
	return ns;
}

static void
match_anew(
    struct job *j, size_t group, const place_vec *places, struct causality *c)
{
	match_set(j, group, places);
	sync_check(j);
	free(c->of);
	clocks_solve(j, c);
}

/* Moves a rank if that mends its ends. */
static bool
try_shift(struct job *j, struct causality *c, size_t group, uint32_t pos,
    int64_t by, double before_ns)
{
	size_t n = c->of[group].n, nbroken = c->of[group].nafter;
	place_vec was = { 0 }, places = { 0 };
	bool is_mended;

	match_get(j, group, &was);
	for (size_t i = 0; i < was.n; i++) {
		struct match_place p = was.v[i];

		p.index += p.pos == pos ? by : 0;
		vec_push(&places, p);
	}
	match_anew(j, group, &places, c);
	is_mended = c->of[group].n > 0 &&
	    !causality_is_broken(c->of[group].n, c->of[group].nafter) &&
	    spread_now(j, group, pos) * SHARPER <= before_ns;
	if (is_mended)
		report(by > 0 ? MSG_FIRST_MISSING : MSG_FIRST_EXTRA,
		    j->groups.v[group].label, j->ranks.v[pos].rank, nbroken, n);
	else
		match_anew(j, group, &was, c);
	vec_free(&was);
	vec_free(&places);
	return is_mended;
}

/*
 * Tries the rank whose ends scatter most, either way; of two, each as the one
 * that lacks its first.
 */
static bool
move_one(struct job *j, struct causality *c, size_t group, size_t *ntries)
{
	end_lists all = { 0 };
	bool is_mended = false;

	measure(j, group, &all);
	for (int i = 0; i < 2 && all.n > 1 && !is_mended; i++) {
		const struct end_list *l = &all.v[all.n == 2 ? i : 0];

		++*ntries;
		is_mended = try_shift(j, c, group, l->pos,
		    all.n == 2 || i == 0 ? 1 : -1, l->spread_ns);
	}
	lists_free(&all);
	return is_mended;
}

void
shifts_find(struct job *j, struct causality *c)
{
	size_t ntries = 0;

	for (size_t g = 0; g < j->groups.n; g++)
		while (ntries < TRIES &&
		    causality_is_broken(c->of[g].n, c->of[g].nafter) &&
		    move_one(j, c, g, &ntries))
			;
}
