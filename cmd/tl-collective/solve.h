/* SPDX-License-Identifier: MIT */
/*
 * solve: offset and drift of the ranks' clocks, from the ends of collectives
 * alone: numbers in, numbers out.
 *
 * All members of a collective end together, except for the order in which they
 * leave, which is always the same. So each *stratum*, the collectives of a
 * group that do the same, gives each member's clock an offset against the
 * others (solve-stratum.c). Strata that share clocks are joined by robust least
 * squares, as one of them may be wrongly matched (solve-join.c on
 * solve-system.c). Sets of clocks that nothing joins are *islands*.
 *
 *	solve_clocks(&job, out);	out[job.nclocks]
 *
 * Ends are int64; doubles are only differences, after a first guess at each
 * clock has been subtracted.
 */
#ifndef TL_COLLECTIVE_SOLVE_H
#define TL_COLLECTIVE_SOLVE_H

#include <math.h>

#include "base/base.h"

#define END_NONE INT64_MIN
#define CLOCK_ISLAND_NONE UINT32_MAX
#define CLOCK_HOST_NONE UINT32_MAX
#define CLOCK_TIES_MIN 3 /* fewer leave a clock unknown */

struct solve_stratum {
	size_t n, ncolls;   /* members; collectives, by time */
	uint32_t *clocks;   /* of each member */
	int64_t *ends;      /* [coll * n + member]; END_NONE: absent */
	int64_t latency_ns; /* median of the transfer */
	int64_t tick_ns;    /* resolution of its times */
};

struct solve_job {
	size_t nclocks, nstrata;
	const struct solve_stratum *strata;
	const uint32_t *nranks; /* ranks of each clock; NULL: one */
	/* machine of each clock, as recorded; NULL: unknown */
	const uint32_t *hosts;
};

/*
 * True time is t' - drift (t' - middle_ns), with t' = t - offset_ns. An unknown
 * clock has the island CLOCK_ISLAND_NONE and zeros.
 */
struct solved_clock {
	int64_t offset_ns, middle_ns, span_ns;
	double u_ns; /* standard uncertainty of the offset */
	double drift, u_drift;
	double residual_ns; /* by which strata disagree */
	uint64_t nties;     /* collectives that tell it */
	uint32_t island;
	/* distance to its host's other clocks if they disagree, else 0 */
	int64_t from_host_ns;
};

void solve_clocks(const struct solve_job *job, struct solved_clock *out);

/* ---- between the parts ---- */

/* solve-guess.c: each clock against the first that strata join it to. */
void clocks_guess(const struct solve_job *job, int64_t *guess);

/* A stratum's evidence about a member's clock. */
struct tie {
	uint32_t stratum, clock;
	uint64_t n; /* number of collectives */
	/* offset in ns against the others; variance; INFINITY: none */
	double m, v;
	double slope;   /* drift, against the others */
	double slope_w; /* weight in least squares */
	double slope_v; /* variance */
	double latency_ns;
};
typedef VEC(struct tie) tie_vec;

/* Weight of an end far from where it is expected. */
enum end_weights {
	WEIGH_BIWEIGHT, /* none */
	WEIGH_BOUNDED,  /* as much pull as a near one */
	WEIGH_ALIKE,    /* full */
};

struct stratum_rules {
	const int64_t *guess; /* of each clock; subtracted */
	const double *drift;  /* of each clock; removed */
	int64_t middle_ns;
	enum end_weights weights;
	bool wants_slope; /* its variance costs time */
	bool is_again;    /* start from the solution in out */
};

/* One tie for each member. */
void stratum_solve(const struct solve_stratum *s, uint32_t no,
    const struct stratum_rules *rules, struct tie *out);

/* a - b, which may overflow int64 for hostile times. */
static inline double
ends_between(int64_t a, int64_t b)
{
	int64_t d;

	return __builtin_sub_overflow(a, b, &d) ? (double)a - (double)b
						: (double)d;
}

/* Converts to int64, saturating for hostile times. */
static inline int64_t
whole_ns(double ns)
{
	if (!(fabs(ns) < (double)INT64_MAX))
		return ns > 0 ? INT64_MAX : INT64_MIN;
	return (int64_t)llround(ns);
}

/*
 * Values of clocks from the differences in strata: minimises the sum of w
 * (value - stratum's - clock's)^2. Ties are sorted by stratum; clocks are
 * numbered 0 to n - 1 and joined.
 */
struct system {
	size_t n, nties, nstrata;
	const struct tie *ties;
	const uint32_t *clock, *stratum; /* of each tie */
	double *w, *r;                   /* of each tie: weight, residual */
};

/* x starts as a guess. */
void system_solve(const struct system *s, const double *value, double *x);
/* Variance of each value less the mean of those in zero, whose weights add up
 * to 1. */
void system_variance(const struct system *s, const double *zero, double *out);

/* solve-join.c: the clocks of an island, and the growth of variances, as it is
 * uncertain how well strata agree. w and r end as the ties' last. */
void join_clocks(struct system *s, double *x, double *growth);

#endif
