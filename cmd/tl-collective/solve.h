/* SPDX-License-Identifier: MIT */
/*
 * solve: what the clocks of ranks are off by, and how they drift, from the ends
 * of collectives alone: numbers in, numbers out.
 *
 * All members of a collective end together, but for the order in which they
 * leave it, which is the same each time: so each *stratum*, the collectives
 * of a group that do the same, tells its members' clocks to one another by a
 * number each (solve-stratum.c). Strata that share clocks are joined by least
 * squares, robustly, as one of them may be matched wrongly as a whole
 * (solve-join.c on solve-system.c). Clocks that nothing joins are *islands*.
 *
 *	solve_clocks(&job, out);	out[job.nclocks]
 *
 * Ends are int64; what is left as doubles are differences of them, after a
 * first guess at each clock has been taken out.
 */
#ifndef TL_COLLECTIVE_SOLVE_H
#define TL_COLLECTIVE_SOLVE_H

#include <math.h>

#include "base/base.h"

#define END_NONE INT64_MIN
#define CLOCK_ISLAND_NONE UINT32_MAX
#define CLOCK_HOST_NONE UINT32_MAX
#define CLOCK_TIES_MIN 3 /* with fewer a clock is not known */

struct solve_stratum {
	size_t n, ncolls;   /* members; collectives, in order of time */
	uint32_t *clocks;   /* of each member */
	int64_t *ends;      /* [coll * n + member]; END_NONE: absent */
	int64_t latency_ns; /* of the transfer, in the median */
	int64_t tick_ns;    /* of its times */
};

struct solve_job {
	size_t nclocks, nstrata;
	const struct solve_stratum *strata;
	const uint32_t *nranks; /* that have each clock; NULL: one */
	/* what each clock's machine is, by the traces; NULL: not known */
	const uint32_t *hosts;
};

/*
 * True time is t' - drift (t' - middle_ns), where t' = t - offset_ns. Of a
 * clock that is not known island is CLOCK_ISLAND_NONE, and all else is 0.
 */
struct solved_clock {
	int64_t offset_ns, middle_ns, span_ns;
	double u_ns; /* standard uncertainty of the offset */
	double drift, u_drift;
	double residual_ns; /* that strata disagree by about it */
	uint64_t nties;     /* collectives that tell it */
	uint32_t island;
	/* from its host's other clocks, where they do not agree, or 0 */
	int64_t from_host_ns;
};

void solve_clocks(const struct solve_job *job, struct solved_clock *out);

/* ---- between the parts ---- */

/* solve-guess.c: of each clock against the first that strata join it to. */
void clocks_guess(const struct solve_job *job, int64_t *guess);

/* What a stratum says of one of its members' clocks. */
struct tie {
	uint32_t stratum, clock;
	uint64_t n;     /* collectives */
	double m, v;    /* ns against the others; variance; INFINITY: none */
	double slope;   /* of the clock, against the others */
	double slope_w; /* weight, of least squares */
	double slope_v; /* variance */
	double latency_ns;
};
typedef VEC(struct tie) tie_vec;

/* What an end that is far from where it is expected still weighs. */
enum end_weights {
	WEIGH_BIWEIGHT, /* nothing */
	WEIGH_BOUNDED,  /* as much as one that is not */
	WEIGH_ALIKE,    /* all the same */
};

struct stratum_rules {
	const int64_t *guess; /* of each clock, taken out */
	const double *drift;  /* likewise */
	int64_t middle_ns;
	enum end_weights weights;
	bool wants_slope; /* their variance costs time */
	bool is_again;    /* from the solution in out on */
};

/* A tie for each member. */
void stratum_solve(const struct solve_stratum *s, uint32_t no,
    const struct stratum_rules *rules, struct tie *out);

/* a - b; of hostile times that may have no int64. */
static inline double
ends_between(int64_t a, int64_t b)
{
	int64_t d;

	return __builtin_sub_overflow(a, b, &d) ? (double)a - (double)b
						: (double)d;
}

/* Of hostile times what is computed may have no int64. */
static inline int64_t
whole_ns(double ns)
{
	if (!(fabs(ns) < (double)INT64_MAX))
		return ns > 0 ? INT64_MAX : INT64_MIN;
	return (int64_t)llround(ns);
}

/*
 * Values of clocks of which each stratum knows differences: the least of
 * sum w (value - of its stratum - of its clock)^2. Ties are in the order of
 * strata; clocks are numbered 0 to n - 1 and joined.
 */
struct system {
	size_t n, nties, nstrata;
	const struct tie *ties;
	const uint32_t *clock, *stratum; /* of each tie, here */
	double *w, *r;                   /* of each tie: weight, residual */
};

/* x begins as a guess. */
void system_solve(const struct system *s, const double *value, double *x);
/* Of the value of each less the mean of those in zero, which adds up to 1. */
void system_variance(const struct system *s, const double *zero, double *out);

/* solve-join.c: the clocks of one island, and what their variances grow by, as
 * it is not known how well strata agree. w and r are the ties' last ones. */
void join_clocks(struct system *s, double *x, double *growth);

#endif
