/* SPDX-License-Identifier: MIT */
#include "cmd/tl-collective/slow.h"

#include <math.h>
#include <stdlib.h>

#include "cmd/tl-collective/collective.h"

#define SLOW_RATIO 1.5 /* of the usual latency, at least */
#define SIGMAS 4
#define GAP_MAX 2 /* usual ones between slow ones of an episode, at most */
#define EPISODE_LEAST 4      /* slow ones, at least */
#define EPISODE_DENSITY 0.6  /* slow ones of its stretch, at least */
#define EPISODE_EXCESS 0.05  /* of the total time, at least */
#define SCATTERED_LEAST 5    /* slow ones, at least */
#define SCATTERED_SHARE 0.1  /* of all, at least */
#define SCATTERED_EXCESS 0.1 /* of the total time, at least */
#define OTHERS_LEAST 0.25    /* as fast as others that do the same, at least */

static double
ln(int64_t ns)
{
	return log(ns > 0 ? (double)ns : 1);
}

double
slow_usual(const int64_t *ns, size_t n)
{
	struct values v = { 0 };
	double usual;

	for (size_t i = 0; i < n; i++)
		value_add(&v, ln(ns[i]));
	usual = values_stat(&v, 0.5);
	free(v.v);
	return usual;
}

/* Above this logarithm a latency is slow. */
static double
limit_of(const int64_t *ns, size_t n, double usual)
{
	struct values below = { 0 };
	double sigma;

	for (size_t i = 0; i < n; i++)
		if (ln(ns[i]) <= usual)
			value_add(&below, usual - ln(ns[i]));
	sigma = below.n > 0 ? 1.4826 * values_stat(&below, 0.5) : 0;
	free(below.v);
	return usual + fmax(log(SLOW_RATIO), SIGMAS * sigma);
}

static double
usual_of(const int64_t *ns, size_t n, double like_ns)
{
	double own = slow_usual(ns, n), like = log(like_ns);
	size_t nfast = 0;

	if (!isfinite(like) || own <= like + log(SLOW_RATIO))
		return own;
	for (size_t i = 0; i < n; i++)
		nfast += ln(ns[i]) <= like + log(SLOW_RATIO);
	return (double)nfast >= OTHERS_LEAST * (double)n ? like : own;
}

static void
add(struct slowness *s, struct slow_run *r, const int64_t *ns, size_t i)
{
	if (r->n++ == 0)
		r->first = i;
	r->last = i;
	r->ns += (double)ns[i];
	r->excess_ns += (double)ns[i] - s->usual_ns;
}

static bool
is_episode(const struct slowness *s, const struct slow_run *r)
{
	return r->n >= EPISODE_LEAST &&
	    (double)r->n >=
	    EPISODE_DENSITY * (double)(r->last - r->first + 1) &&
	    r->excess_ns >= EPISODE_EXCESS * s->total_ns;
}

/* Makes a run of the slow ones from first to last, if they qualify. */
static void
end_run(struct slowness *s, const struct slow_run *r, const int64_t *ns,
    double limit)
{
	if (!is_episode(s, r))
		return;
	vec_push(&s->runs, *r);
	for (size_t i = r->first; i <= r->last; i++)
		if (ln(ns[i]) > limit)
			s->run_of.v[i] = (uint32_t)s->runs.n;
}

static void
find_scattered(struct slowness *s, const int64_t *ns, size_t n, double limit)
{
	struct slow_run rest = { .is_scattered = true };

	for (size_t i = 0; i < n; i++)
		if (ln(ns[i]) > limit && s->run_of.v[i] == 0)
			add(s, &rest, ns, i);
	if (rest.n < SCATTERED_LEAST ||
	    (double)rest.n < SCATTERED_SHARE * (double)n ||
	    rest.excess_ns < SCATTERED_EXCESS * s->total_ns)
		return;
	vec_push(&s->runs, rest);
	for (size_t i = 0; i < n; i++)
		if (ln(ns[i]) > limit && s->run_of.v[i] == 0)
			s->run_of.v[i] = (uint32_t)s->runs.n;
}

void
slow_find(struct slowness *s, const int64_t *ns, size_t n, double like_ns)
{
	struct slow_run run = { 0 };
	double usual, limit;

	s->runs.n = s->run_of.n = 0;
	s->total_ns = 0;
	s->usual_ns = NAN;
	for (size_t i = 0; i < n; i++) {
		s->total_ns += (double)ns[i];
		vec_push(&s->run_of, 0);
	}
	if (n < SLOW_LEAST)
		return;
	usual = usual_of(ns, n, like_ns);
	limit = limit_of(ns, n, usual);
	s->usual_ns = round(exp(usual));
	for (size_t i = 0; i < n; i++) {
		if (ln(ns[i]) <= limit)
			continue;
		if (run.n > 0 && i - run.last > GAP_MAX + 1) {
			end_run(s, &run, ns, limit);
			run = (struct slow_run){ 0 };
		}
		add(s, &run, ns, i);
	}
	end_run(s, &run, ns, limit);
	find_scattered(s, ns, n, limit);
}

void
slow_free(struct slowness *s)
{
	vec_free(&s->runs);
	vec_free(&s->run_of);
}
