/* SPDX-License-Identifier: MIT */
/* Ranks of one host share its clock, if their ends agree. */
#include "cmd/tl-collective/solver.h"

#include <math.h>
#include <stdlib.h>

#define HOST_NS 20000.0 /* how far clocks of one host may differ, */
#define HOST_U 4.0      /* and in uncertainties */

struct place {
	uint32_t host, island, clock;
};

static int
by_host(const void *x, const void *y)
{
	const struct place *a = x, *b = y;

	if (a->host != b->host)
		return a->host < b->host ? -1 : 1;
	if (a->island != b->island)
		return a->island < b->island ? -1 : 1;
	return (a->clock > b->clock) - (a->clock < b->clock);
}

static bool
agree(const struct solver *k, const struct place *v, size_t n, double offset,
    double drift)
{
	double half_span = (double)k->spans[v[0].island] / 2;

	for (size_t i = 0; i < n; i++) {
		uint32_t c = v[i].clock;
		double apart = fabs(k->offset[c] - offset) +
		    fabs(k->drift[c] - drift) * half_span;
		double u = sqrt(
		    k->offset_v[c] + k->drift_v[c] * half_span * half_span);

		if (apart > fmax(HOST_NS, HOST_U * u))
			return false;
	}
	return true;
}

/* Ties are relative to guesses, so these must become one, too. */
static bool
join_host(struct solver *k, const struct place *v, size_t n)
{
	double offset = 0, drift = 0;
	bool is_one;

	for (size_t i = 0; i < n; i++) {
		offset += k->offset[v[i].clock] / (double)n;
		drift += k->drift[v[i].clock] / (double)n;
	}
	is_one = agree(k, v, n, offset, drift);
	for (size_t i = 0; i < n; i++) {
		uint32_t c = v[i].clock;

		k->out[c].from_host_ns = is_one
		    ? 0
		    : whole_ns((k->offset[c] - offset) * (double)n /
			  (double)(n - 1));
		if (!is_one)
			continue;
		k->same[c] = v[0].clock;
		k->is_again = false;
		k->guess[c] = k->guess[v[0].clock];
		k->drift[c] = drift;
	}
	return is_one;
}

bool
join_hosts(struct solver *k)
{
	VEC(struct place) list = { 0 };
	bool any = false;

	for (uint32_t c = 0; c < k->n && k->job->hosts != NULL; c++)
		if (k->job->hosts[c] != CLOCK_HOST_NONE &&
		    k->island[c] != CLOCK_ISLAND_NONE)
			vec_push(&list,
			    ((struct place){
				k->job->hosts[c], k->island[c], c }));
	stable_sort(list.v, list.n, sizeof *list.v, by_host);
	for (size_t i = 0, end; i < list.n; i = end) {
		for (end = i + 1;
		     end < list.n && list.v[end].host == list.v[i].host &&
		     list.v[end].island == list.v[i].island;
		     end++)
			;
		if (end - i > 1)
			any |= join_host(k, list.v + i, end - i);
	}
	vec_free(&list);
	return any;
}
