/* SPDX-License-Identifier: MIT */
/* Collectives that end on one rank before they start on another. */
#include "cmd/tl-collective/clock.h"

#include <stdlib.h>

#define LEAST_NS 1000 /* earlier ends may be errors of the clocks */
#define TICKS 2       /* or rounding */
#define BROKEN_PCT 1

bool
causality_is_broken(size_t n, size_t nbroken)
{
	return nbroken > 0 && nbroken * 100 >= n * BROKEN_PCT;
}

/* Whether the same collectives decide all of a group's clocks. */
static bool
is_known(const struct job *j, const struct coll *c)
{
	int64_t island = NONE;

	for (uint32_t m = 0; m < c->n; m++) {
		uint32_t pos = rec_pos(j, j->members[c->first + m]);
		const struct rank_info *i = &j->ranks.v[pos];

		if (i->island == NONE || (m > 0 && i->island != island))
			return false;
		island = i->island;
	}
	return true;
}

static bool
is_broken(const struct job *j, const struct coll *c, const int64_t *ticks,
    bool by_solution)
{
	int64_t least = INT64_MAX, latest = INT64_MIN, room = LEAST_NS;

	for (uint32_t m = 0; m < c->n; m++) {
		const struct rec *r = j->members[c->first + m];
		uint32_t pos = rec_pos(j, r);
		int64_t start = r->start_ns, end = rec_end(r);

		if (by_solution) {
			start = clock_true(&j->ranks.v[pos], start);
			end = clock_true(&j->ranks.v[pos], end);
		}
		least = end < least ? end : least;
		latest = start > latest ? start : latest;
		if (TICKS * ticks[pos] > room)
			room = TICKS * ticks[pos];
	}
	return num_add_max(least, room) < latest;
}

/* Collectives of a group that do the same. */
struct same {
	size_t n, nbroken;
	uint32_t first;
};
typedef VEC(struct same) same_list;

static struct same *
same_of(struct map *at, same_list *kinds, uint32_t alike, uint32_t coll)
{
	bool is_new;
	uint64_t *slot = map_put(at, alike, &is_new);

	if (is_new) {
		*slot = kinds->n;
		vec_push(kinds, ((struct same){ .first = coll }));
	}
	return &kinds->v[*slot];
}

static void
check_group(
    const struct job *j, struct causality *c, size_t g, const int64_t *ticks)
{
	const struct pgroup *group = &j->groups.v[g];
	same_list kinds = { 0 };
	struct map at = { 0 };

	for (size_t i = 0; i < group->ncolls; i++) {
		uint32_t no = (uint32_t)(group->first_coll + i);
		const struct coll *of = &j->colls.v[no];
		struct same *k;

		/* without a type it is unknown who needs whom */
		if (!coll_tells_time(j, of) || of->class == CLASS_NONE)
			continue;
		c->of[g].n++;
		c->of[g].nbefore += is_broken(j, of, ticks, false);
		if (!is_known(j, of))
			continue;
		k = same_of(&at, &kinds, j->sigs.v[of->sig].alike, no);
		k->n++;
		if (!is_broken(j, of, ticks, true))
			continue;
		c->of[g].nafter++;
		k->nbroken++;
	}
	for (size_t i = 0; i < kinds.n; i++)
		if (kinds.v[i].nbroken > c->nworst_broken) {
			c->nworst = kinds.v[i].n;
			c->nworst_broken = kinds.v[i].nbroken;
			c->worst = kinds.v[i].first;
		}
	if (causality_is_broken(c->of[g].n, c->of[g].nbefore)) {
		c->n += c->of[g].n;
		c->nbefore += c->of[g].nbefore;
	}
	vec_free(&kinds);
	map_free(&at);
}

void
causality_find(const struct job *j, struct causality *c)
{
	int64_t *ticks = clock_ticks(j);

	*c = (struct causality){ 0 };
	c->of = xcalloc(j->groups.n + 1, sizeof *c->of);
	for (size_t g = 0; g < j->groups.n; g++)
		check_group(j, c, g, ticks);
	free(ticks);
}
