/* SPDX-License-Identifier: MIT */
/*
 * Turns the job's collectives into the solver's strata: those of a group that
 * do the same, a few hundred of each.
 */
#include "cmd/tl-collective/clock.h"

#include <stdlib.h>

#define STRATUM_MAX 200    /* more collectives are thinned out evenly, */
#define STRATUM_ENDS 12800 /* with many ranks to so many ends, */
#define STRATUM_LEAST 64   /* but not below this */
#define TICK_US 1000       /* for files in whole microseconds */

bool
coll_tells_time(const struct job *j, const struct coll *c)
{
	const struct rank_info *ranks = j->ranks.v;
	uint32_t first;

	if ((c->flags & COLL_MISMATCH) != 0 ||
	    (!coll_is_sync(j, c) && c->class != CLASS_BARRIER))
		return false;
	first = ranks[rec_pos(j, j->members[c->first])].clock;
	for (uint32_t m = 1; m < c->n; m++)
		if (ranks[rec_pos(j, j->members[c->first + m])].clock != first)
			return true;
	return false; /* GPUs of one process share a clock */
}

/* Of each rank: 1 us if its file has whole microseconds. */
int64_t *
clock_ticks(const struct job *j)
{
	int64_t *ticks = xmalloc((j->ranks.n + 1) * sizeof *ticks);

	for (size_t r = 0; r < j->ranks.n; r++)
		ticks[r] = TICK_US;
	for (size_t i = 0; i < j->parts.n; i++) {
		const struct part *p = &j->parts.v[i];
		int64_t move = num_add_max(p->shift_ns, p->base_ns) % TICK_US;

		for (size_t k = 0; k < p->nrecs; k++)
			if (p->recs[k].dur_ns % TICK_US != 0 ||
			    p->recs[k].start_ns % TICK_US != move) {
				ticks[p->pos] = 1;
				break;
			}
	}
	return ticks;
}

/* Collectives of a group that do the same. */
typedef VEC(uint32_t) coll_list;

struct maker {
	const struct job *j;
	struct strata *out;
	VEC(coll_list) alike; /* the first n are the current group's */
	size_t n;
	VEC(uint32_t) members; /* positions of ranks */
	uint32_t *place;       /* index of a rank among them */
	int64_t *ticks, *latencies;
};

static void
sort_out(struct maker *k, const struct pgroup *g)
{
	const struct job *j = k->j;
	struct map at = { 0 };

	k->n = 0;
	for (size_t i = 0; i < k->alike.n; i++)
		k->alike.v[i].n = 0;
	for (size_t i = 0; i < g->ncolls; i++) {
		const struct coll *c = &j->colls.v[g->first_coll + i];
		uint64_t *slot;
		bool is_new;

		if (!coll_tells_time(j, c))
			continue;
		slot = map_put(&at, j->sigs.v[c->sig].alike, &is_new);
		if (is_new) {
			*slot = k->n++;
			if (k->n > k->alike.n)
				vec_push(&k->alike, ((coll_list){ 0 }));
		}
		vec_push(&k->alike.v[*slot], (uint32_t)(g->first_coll + i));
	}
	map_free(&at);
}

static void
thin_out(coll_list *list, size_t nmembers)
{
	size_t want = STRATUM_ENDS / nmembers;

	want = want > STRATUM_MAX ? STRATUM_MAX : want;
	want = want < STRATUM_LEAST ? STRATUM_LEAST : want;
	if (list->n <= want)
		return;
	for (size_t i = 0; i < want; i++)
		list->v[i] = list->v[i * list->n / want];
	list->n = want;
}

/* Ranks in order, so that the order of records does not matter. */
static void
find_members(struct maker *k, const coll_list *list)
{
	const struct job *j = k->j;
	bool *is_in = xcalloc(j->ranks.n + 1, sizeof *is_in);

	k->members.n = 0;
	for (size_t i = 0; i < list->n; i++) {
		const struct coll *c = &j->colls.v[list->v[i]];

		for (uint32_t m = 0; m < c->n; m++)
			is_in[rec_pos(j, j->members[c->first + m])] = true;
	}
	for (uint32_t r = 0; r < j->ranks.n; r++)
		if (is_in[r]) {
			k->place[r] = (uint32_t)k->members.n;
			vec_push(&k->members, r);
		}
	free(is_in);
}

static void
put_ends(struct maker *k, const coll_list *list, struct solve_stratum *s)
{
	const struct job *j = k->j;

	for (size_t i = 0; i < list->n; i++) {
		const struct coll *c = &j->colls.v[list->v[i]];
		int64_t *ends = s->ends + i * s->n;

		for (size_t m = 0; m < s->n; m++)
			ends[m] = END_NONE;
		k->latencies[i] = INT64_MAX;
		for (uint32_t m = 0; m < c->n; m++) {
			const struct rec *r = j->members[c->first + m];

			ends[k->place[rec_pos(j, r)]] = rec_end(r);
			if (r->dur_ns < k->latencies[i])
				k->latencies[i] = r->dur_ns;
		}
	}
}

static void
put_stratum(struct maker *k, coll_list *list)
{
	struct solve_stratum s = { 0 };

	if (list->n < CLOCK_TIES_MIN)
		return;
	find_members(k, list);
	thin_out(list, k->members.n);
	s.n = k->members.n;
	s.ncolls = list->n;
	s.clocks = xmalloc(s.n * sizeof *s.clocks);
	s.ends = xmalloc(s.n * s.ncolls * sizeof *s.ends);
	s.tick_ns = 1;
	for (size_t m = 0; m < s.n; m++) {
		uint32_t r = k->members.v[m];

		s.clocks[m] = k->j->ranks.v[r].clock;
		if (k->ticks[r] > s.tick_ns)
			s.tick_ns = k->ticks[r];
	}
	put_ends(k, list, &s);
	s.latency_ns = median_i64(k->latencies, s.ncolls);
	vec_push(k->out, s);
}

void
strata_make(const struct job *j, struct strata *out)
{
	struct maker k = { .j = j, .out = out, .ticks = clock_ticks(j) };

	k.place = xmalloc((j->ranks.n + 1) * sizeof *k.place);
	k.latencies = xmalloc(STRATUM_MAX * sizeof *k.latencies);
	for (size_t g = 0; g < j->groups.n; g++) {
		sort_out(&k, &j->groups.v[g]);
		for (size_t i = 0; i < k.n; i++)
			put_stratum(&k, &k.alike.v[i]);
	}
	for (size_t i = 0; i < k.alike.n; i++)
		vec_free(&k.alike.v[i]);
	vec_free(&k.alike);
	vec_free(&k.members);
	free(k.place);
	free(k.latencies);
	free(k.ticks);
}

void
strata_free(struct strata *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->v[i].clocks);
		free(s->v[i].ends);
	}
	vec_free(s);
}
