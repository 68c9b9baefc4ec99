/* SPDX-License-Identifier: MIT */
/* From ends to clocks: strata, and the islands they join. */
#include "cmd/tl-collective/solver.h"

#include <math.h>
#include <stdlib.h>

/* ---- strata ---- */

void
solve_strata(struct solver *k, enum end_weights weights, bool wants_slope)
{
	struct stratum_rules rules = { k->guess, k->drift, k->middle_ns,
		weights, wants_slope, k->is_again };

	k->is_again = true;

	for (size_t i = 0; i < k->job->nstrata; i++)
		stratum_solve(&k->job->strata[i], (uint32_t)i, &rules,
		    k->ties + k->first[i]);
}

/* ---- times ---- */

struct range {
	int64_t low, high;
};

static void
widen(struct range *r, int64_t ns)
{
	r->low = ns < r->low ? ns : r->low;
	r->high = ns > r->high ? ns : r->high;
}

static int64_t
middle_of(const struct range *r)
{
	return r->low > r->high ? 0 : r->low / 2 + r->high / 2;
}

/* First to last end, of all and of each island. */
static void
find_spans(struct solver *k)
{
	size_t n = k->nislands + 1;
	struct range *of = xmalloc(n * sizeof *of);

	for (size_t i = 0; i < n; i++)
		of[i] = (struct range){ INT64_MAX, INT64_MIN };
	for (size_t i = 0; i < k->job->nstrata; i++) {
		const struct solve_stratum *s = &k->job->strata[i];

		for (size_t e = 0; e < s->n * s->ncolls; e++) {
			uint32_t c = s->clocks[e % s->n];
			int64_t end = s->ends[e];

			if (end == END_NONE ||
			    __builtin_sub_overflow(end, k->guess[c], &end))
				continue;
			widen(&of[k->nislands], end);
			if (k->island[c] != CLOCK_ISLAND_NONE)
				widen(&of[k->island[c]], end);
		}
	}
	k->middle_ns = middle_of(&of[k->nislands]);
	for (size_t i = 0; i < k->nislands; i++) {
		k->middles[i] = middle_of(&of[i]);
		if (of[i].low <= of[i].high &&
		    __builtin_sub_overflow(of[i].high, of[i].low, &k->spans[i]))
			k->spans[i] = INT64_MAX;
	}
	free(of);
}

/* ---- islands ---- */

static uint32_t
root_of(uint32_t *up, uint32_t c)
{
	while (up[c] != c)
		c = up[c] = up[up[c]];
	return c;
}

static void
join_by_ties(struct solver *k, uint32_t *up)
{
	for (uint32_t c = 0; c < k->n; c++)
		up[c] = c;
	for (size_t i = 0; i < k->job->nstrata; i++) {
		uint32_t first = CLOCK_ISLAND_NONE;

		for (size_t t = k->first[i]; t < k->first[i + 1]; t++) {
			uint32_t c = k->ties[t].clock;

			if (!tie_counts(&k->ties[t]))
				continue;
			k->out[c].nties += k->ties[t].n;
			if (first == CLOCK_ISLAND_NONE)
				first = c;
			up[root_of(up, c)] = root_of(up, first);
		}
	}
}

static bool
is_known(const struct solver *k, uint32_t c)
{
	return k->out[c].nties >= CLOCK_TIES_MIN;
}

/* Numbers clocks that ties join by their first; a single one has none. */
static void
find_islands(struct solver *k)
{
	uint32_t *up = xmalloc(k->n * sizeof *up);
	uint32_t *no = xmalloc(k->n * sizeof *no);
	uint32_t *nclocks = xcalloc(k->n, sizeof *nclocks);

	join_by_ties(k, up);
	for (uint32_t c = 0; c < k->n; c++) {
		no[c] = k->island[c] = CLOCK_ISLAND_NONE;
		nclocks[root_of(up, c)] += is_known(k, c);
	}
	for (uint32_t c = 0; c < k->n; c++) {
		uint32_t root = root_of(up, c);

		if (!is_known(k, c) || nclocks[root] < 2)
			continue;
		if (no[root] == CLOCK_ISLAND_NONE)
			no[root] = (uint32_t)k->nislands++;
		k->island[c] = no[root];
	}
	free(up);
	free(no);
	free(nclocks);
}

/* Sorts numbers 0 to n - 1 by island; from[i] is the start of island i. */
static void
list_by_island(const struct solver *k, const uint32_t *island, size_t n,
    uint32_t *list, size_t *from)
{
	for (size_t i = 0; i < n; i++)
		if (island[i] != CLOCK_ISLAND_NONE)
			from[island[i] + 1]++;
	for (size_t i = 0; i < k->nislands; i++)
		from[i + 1] += from[i];
	for (uint32_t i = 0; i < n; i++)
		if (island[i] != CLOCK_ISLAND_NONE)
			list[from[island[i]]++] = i;
	for (size_t i = k->nislands; i > 0; i--)
		from[i] = from[i - 1];
	from[0] = 0;
}

static void
list_islands(struct solver *k)
{
	uint32_t *of = xmalloc((k->nties + 1) * sizeof *of);

	k->middles = xcalloc(k->nislands + 1, sizeof *k->middles);
	k->spans = xcalloc(k->nislands + 1, sizeof *k->spans);
	k->clocks_from = xcalloc(k->nislands + 2, sizeof *k->clocks_from);
	k->ties_from = xcalloc(k->nislands + 2, sizeof *k->ties_from);
	for (size_t i = 0; i < k->nties; i++)
		of[i] = tie_counts(&k->ties[i]) ? k->island[k->ties[i].clock]
						: CLOCK_ISLAND_NONE;
	list_by_island(k, k->island, k->n, k->clocks, k->clocks_from);
	list_by_island(k, of, k->nties, k->of_island, k->ties_from);
	free(of);
}

static void
solve_islands(struct solver *k)
{
	for (uint32_t i = 0; i < k->nislands; i++)
		solve_island(k, i);
}

/* ---- all ---- */

static void
open_solver(struct solver *k)
{
	k->guess = xcalloc(k->n, sizeof *k->guess);
	k->drift = xcalloc(k->n, sizeof *k->drift);
	k->drift_v = xcalloc(k->n, sizeof *k->drift_v);
	k->offset = xcalloc(k->n, sizeof *k->offset);
	k->offset_v = xcalloc(k->n, sizeof *k->offset_v);
	k->island = xmalloc(k->n * sizeof *k->island);
	k->same = xmalloc(k->n * sizeof *k->same);
	k->at = xmalloc(k->n * sizeof *k->at);
	k->clocks = xmalloc(k->n * sizeof *k->clocks);
	k->first = xcalloc(k->job->nstrata + 1, sizeof *k->first);
	for (uint32_t c = 0; c < k->n; c++) {
		k->same[c] = c;
		k->island[c] = CLOCK_ISLAND_NONE;
		k->out[c] =
		    (struct solved_clock){ .island = CLOCK_ISLAND_NONE };
	}
	for (size_t i = 0; i < k->job->nstrata; i++)
		k->first[i + 1] = k->nties += k->job->strata[i].n;
	k->ties = xcalloc(k->nties + 1, sizeof *k->ties);
	k->of_island = xmalloc((k->nties + 1) * sizeof *k->of_island);
}

static void
close_solver(struct solver *k)
{
	free(k->guess);
	free(k->drift);
	free(k->drift_v);
	free(k->offset);
	free(k->offset_v);
	free(k->island);
	free(k->same);
	free(k->at);
	free(k->clocks);
	free(k->first);
	free(k->ties);
	free(k->of_island);
	free(k->middles);
	free(k->spans);
	free(k->clocks_from);
	free(k->ties_from);
}

void
solve_clocks(const struct solve_job *job, struct solved_clock *out)
{
	struct solver k = { .job = job, .out = out, .n = job->nclocks };

	if (job->nclocks == 0)
		return;
	open_solver(&k);
	clocks_guess(job, k.guess);
	find_spans(&k);
	solve_strata(&k, WEIGH_BIWEIGHT, true);
	find_islands(&k);
	list_islands(&k);
	find_spans(&k);
	find_drift(&k);
	solve_islands(&k);
	if (join_hosts(&k)) {
		solve_strata(&k, WEIGH_BIWEIGHT, false);
		solve_islands(&k);
	}
	close_solver(&k);
}
