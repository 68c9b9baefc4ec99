/* SPDX-License-Identifier: MIT */
/* First guess at each clock, which keeps differences of ends small. */
#include "cmd/tl-collective/solve.h"

#include <stdlib.h>

static int64_t
usual_difference(
    const struct solve_stratum *s, size_t a, size_t b, int64_t *room)
{
	size_t n = 0;

	for (size_t i = 0; i < s->ncolls; i++) {
		int64_t x = s->ends[i * s->n + a], y = s->ends[i * s->n + b];

		if (x != END_NONE && y != END_NONE &&
		    !__builtin_sub_overflow(y, x, &room[n]))
			n++;
	}
	if (n == 0)
		return INT64_MAX;
	sort_i64(room, n);
	return room[n / 2];
}

static bool
guess_by(const struct solve_stratum *s, int64_t *guess, bool *is_known,
    int64_t *room)
{
	size_t from = 0;
	bool any = false;

	while (from < s->n && !is_known[s->clocks[from]])
		from++;
	for (size_t r = 0; r < s->n && from < s->n; r++) {
		uint32_t c = s->clocks[r];
		int64_t d;

		if (is_known[c])
			continue;
		d = usual_difference(s, from, r, room);
		if (d == INT64_MAX ||
		    !num_add(guess[s->clocks[from]], d, &guess[c]))
			continue;
		is_known[c] = any = true;
	}
	return any;
}

void
clocks_guess(const struct solve_job *job, int64_t *guess)
{
	bool *is_known = xcalloc(job->nclocks, sizeof *is_known);
	size_t most = 1, root = 0;
	int64_t *room;
	bool any;

	for (size_t i = 0; i < job->nstrata; i++)
		if (job->strata[i].ncolls > most)
			most = job->strata[i].ncolls;
	room = xmalloc(most * sizeof *room);
	while (root < job->nstrata) {
		const struct solve_stratum *s = &job->strata[root++];
		bool is_new = s->n > 0;

		for (size_t r = 0; r < s->n; r++)
			is_new = is_new && !is_known[s->clocks[r]];
		if (!is_new)
			continue;
		is_known[s->clocks[0]] = true;
		do {
			any = false;
			for (size_t i = 0; i < job->nstrata; i++)
				any |= guess_by(
				    &job->strata[i], guess, is_known, room);
		} while (any);
	}
	free(room);
	free(is_known);
}
