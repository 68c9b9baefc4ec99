/* SPDX-License-Identifier: MIT */
/*
 * One stratum: differences of its members' clocks. The common end of each
 * collective is an unknown that drops out here, so no graph of groups is
 * needed.
 */
#include "cmd/tl-collective/solve.h"

#include <math.h>
#include <stdlib.h>

#include "cmd/tl-collective/collective.h"
#include "trace/noise.h"

#define FIRST_ROUNDS 4 /* with medians */
#define ROUNDS 30      /* with weights, */
#define SCALE_ROUNDS 6 /* which renew the scale in these, */
#define SCALE_AGAIN 2  /* or in these after an earlier solution */
#define SETTLED_NS 5.0
#define BIWEIGHT 4.685 /* no weight beyond so many standard deviations */
#define BOUNDED 1.345  /* no more pull than at so many */
#define LEAST_WEIGHT 1e-6
#define LEAST_SCALE_NS 200.0
#define BLOCKS 16
#define MAD 1.4826  /* median deviation to standard deviation */
#define POOL_DF 4.0 /* weight of the members' common variance */
#define KAPPA_MIN 0.3
#define MEAN_TAKES 1.0 /* blocks' squares that fitting a mean takes, */
#define LINE_TAKES 2.8 /* and a line, at its ends */
#define FAR_NS 1e17    /* ends farther apart are of different collectives */

struct work {
	const struct solve_stratum *s;
	double *y, *w;   /* [coll * n + member]; y NAN: absent */
	double *t, *x;   /* of each collective; its time */
	double *h;       /* of each: expected size of a residual */
	double *m, *was; /* of each member; in the last round */
	int64_t *room;
	size_t *present; /* members of each collective */
	double scale;
};

static inline bool
is_there(const struct work *k, size_t at)
{
	return !isnan(k->y[at]);
}

static double
residual(const struct work *k, size_t i, size_t r)
{
	return k->y[i * k->s->n + r] - k->t[i] - k->m[r];
}

/* Differences within each collective; a single member shows none. */
static void
take_ends(struct work *k, const struct stratum_rules *rules)
{
	size_t n = k->s->n;

	for (size_t i = 0; i < k->s->ncolls; i++) {
		const int64_t *ends = k->s->ends + i * n;
		double *y = k->y + i * n, sum = 0;
		int64_t first = END_NONE;

		k->present[i] = 0;
		k->x[i] = 0;
		for (size_t r = 0; r < n; r++) {
			int64_t end;

			y[r] = NAN;
			if (ends[r] == END_NONE ||
			    __builtin_sub_overflow(
				ends[r], rules->guess[k->s->clocks[r]], &end))
				continue;
			if (first == END_NONE) {
				first = end;
				k->x[i] = ends_between(end, rules->middle_ns);
			}
			y[r] = ends_between(end, first) -
			    rules->drift[k->s->clocks[r]] * k->x[i];
			y[r] = fmax(-FAR_NS, fmin(FAR_NS, y[r]));
			sum += y[r];
			k->present[i]++;
		}
		for (size_t r = 0; r < n; r++)
			y[r] = k->present[i] < 2
			    ? NAN
			    : y[r] - sum / (double)k->present[i];
		k->h[i] =
		    k->present[i] < 2 ? 1 : sqrt(1 - 1 / (double)k->present[i]);
	}
}

/* A member without ends takes no part. */
static void
centre(struct work *k)
{
	double sum = 0;
	size_t n = 0;

	for (size_t r = 0; r < k->s->n; r++)
		if (!isnan(k->m[r])) {
			sum += k->m[r];
			n++;
		}
	for (size_t r = 0; r < k->s->n && n > 0; r++)
		k->m[r] -= sum / (double)n;
}

static void
find_middles(struct work *k)
{
	size_t n = k->s->n, many;

	for (size_t i = 0; i < k->s->ncolls; i++) {
		many = 0;
		for (size_t r = 0; r < n; r++)
			if (is_there(k, i * n + r) && !isnan(k->m[r]))
				k->room[many++] =
				    (int64_t)(k->y[i * n + r] - k->m[r]);
		k->t[i] = many > 0 ? (double)median_i64(k->room, many) : 0;
	}
}

static void
start_by_medians(struct work *k)
{
	size_t n = k->s->n, many;

	for (size_t r = 0; r < n; r++)
		k->m[r] = 0;
	for (int round = 0; round < FIRST_ROUNDS; round++) {
		find_middles(k);
		for (size_t r = 0; r < n; r++) {
			many = 0;
			for (size_t i = 0; i < k->s->ncolls; i++)
				if (is_there(k, i * n + r))
					k->room[many++] =
					    (int64_t)(k->y[i * n + r] -
						k->t[i]);
			k->m[r] =
			    many > 0 ? (double)median_i64(k->room, many) : NAN;
		}
		centre(k);
	}
}

static void
renew_scale(struct work *k)
{
	size_t n = k->s->n, many = 0;

	for (size_t i = 0; i < k->s->ncolls; i++)
		for (size_t r = 0; r < n; r++)
			if (is_there(k, i * n + r))
				k->room[many++] =
				    (int64_t)(fabs(residual(k, i, r)) /
					k->h[i]);
	k->scale = many > 0 ? MAD * (double)median_i64(k->room, many) : 0;
	k->scale =
	    fmax(k->scale, fmax(LEAST_SCALE_NS, (double)k->s->tick_ns / 2));
}

static double
z_of(const struct work *k, size_t i, size_t r)
{
	return residual(k, i, r) / (k->h[i] * k->scale);
}

static double
weight_of(double z, enum end_weights weights)
{
	double share;

	if (weights == WEIGH_ALIKE)
		return 1;
	z = fabs(z);
	if (weights == WEIGH_BOUNDED)
		return z > BOUNDED ? BOUNDED / z : 1;
	share = 1 - z / BIWEIGHT * (z / BIWEIGHT);
	return z < BIWEIGHT ? share * share : LEAST_WEIGHT;
}

static void
weigh(struct work *k, enum end_weights weights)
{
	for (size_t i = 0; i < k->s->ncolls; i++)
		for (size_t r = 0; r < k->s->n; r++) {
			size_t at = i * k->s->n + r;

			k->w[at] = is_there(k, at)
			    ? weight_of(z_of(k, i, r), weights)
			    : 0;
		}
}

/* The largest step of a round. */
static double
improve(struct work *k)
{
	size_t n = k->s->n;
	double most = 0;

	for (size_t i = 0; i < k->s->ncolls; i++) {
		double sum = 0, weight = 0;

		for (size_t r = 0; r < n; r++)
			if (is_there(k, i * n + r)) {
				double w = k->w[i * n + r];

				sum += w * (k->y[i * n + r] - k->m[r]);
				weight += w;
			}
		k->t[i] = weight > 0 ? sum / weight : 0;
	}
	for (size_t r = 0; r < n; r++) {
		double sum = 0, weight = 0;

		for (size_t i = 0; i < k->s->ncolls; i++)
			if (is_there(k, i * n + r)) {
				double w = k->w[i * n + r];

				sum += w * (k->y[i * n + r] - k->t[i]);
				weight += w;
			}
		k->was[r] = k->m[r];
		k->m[r] = weight > 0 ? sum / weight : NAN;
	}
	centre(k);
	for (size_t r = 0; r < n; r++)
		if (!isnan(k->m[r]))
			most = fmax(most, fabs(k->m[r] - k->was[r]));
	return most;
}

static void
settle(struct work *k, const struct stratum_rules *rules, const struct tie *was)
{
	int scales = rules->is_again ? SCALE_AGAIN : SCALE_ROUNDS;

	if (rules->is_again) {
		for (size_t r = 0; r < k->s->n; r++)
			k->m[r] = was[r].m;
		find_middles(k);
	} else {
		start_by_medians(k);
	}
	for (int round = 0; round < ROUNDS; round++) {
		if (round < scales)
			renew_scale(k);
		weigh(k, rules->weights);
		if (improve(k) < SETTLED_NS && round >= scales)
			break;
	}
}

/* ---- uncertainty ---- */

struct sums {
	double of[BLOCKS]; /* blocks of time, as errors depend on each other */
	double w, wx, kappa;
	uint64_t n;
	size_t nblocks;
};

static void
sum_up(
    const struct work *k, size_t r, enum end_weights weights, struct sums *out)
{
	size_t n = k->s->n;
	double psi = 0;

	*out = (struct sums){ .nblocks = k->s->ncolls < BLOCKS ? k->s->ncolls
							       : BLOCKS };
	for (size_t i = 0; i < k->s->ncolls; i++) {
		double w = k->w[i * n + r], x;

		if (!is_there(k, i * n + r))
			continue;
		x = weights == WEIGH_BIWEIGHT
		    ? fmin(1, fabs(z_of(k, i, r)) / BIWEIGHT)
		    : 0;
		psi += (1 - x * x) * (1 - 5 * x * x);
		out->of[i * out->nblocks / k->s->ncolls] +=
		    w * residual(k, i, r);
		out->w += w;
		out->wx += w * k->x[i];
		out->n++;
	}
	out->kappa = out->w > 0 ? fmax(KAPPA_MIN, psi / out->w) : 1;
}

/* The fit has taken part of the squares of residuals. */
static double
squares(const struct sums *s, double takes)
{
	double sum = 0;

	for (size_t b = 0; b < s->nblocks; b++)
		sum += s->of[b] * s->of[b];
	return sum / (1 - takes / (double)s->nblocks);
}

/*
 * Line through a member's residuals over time, and its variance. Time is
 * centred, so that the order of leaving has no part in it.
 */
static void
fit_slope(const struct work *k, size_t r, const struct sums *s, struct tie *out)
{
	size_t n = k->s->n;
	double middle = s->w > 0 ? s->wx / s->w : 0, wxr = 0, wxx = 0;
	struct sums line = { .nblocks = s->nblocks };

	for (size_t i = 0; i < k->s->ncolls; i++)
		if (is_there(k, i * n + r)) {
			double x = k->x[i] - middle, w = k->w[i * n + r];

			wxr += w * x * residual(k, i, r);
			wxx += w * x * x;
		}
	out->slope = wxx > 0 ? wxr / wxx : 0;
	out->slope_w = wxx;
	for (size_t i = 0; i < k->s->ncolls; i++)
		if (is_there(k, i * n + r)) {
			double x = k->x[i] - middle;

			line.of[i * line.nblocks / k->s->ncolls] +=
			    k->w[i * n + r] * x *
			    (residual(k, i, r) - out->slope * x);
		}
	out->slope_v =
	    wxx > 0 ? squares(&line, LINE_TAKES) / (wxx * wxx) : INFINITY;
}

/*
 * Variances of members help each other; two members share one. The more is
 * known, the narrower the quantile.
 */
struct mixing {
	double blocks, df, wide;
	bool has_pool;
};

static struct mixing
mixing_of(double blocks, size_t n)
{
	struct mixing x = { .blocks = blocks, .has_pool = n > 2 };

	x.df = blocks - 1 + (x.has_pool ? POOL_DF : 0);
	x.wide = noise_quantile(x.df) / 1.96;
	x.wide *= x.wide;
	return x;
}

static double
mixed(const struct mixing *x, double own, double pool)
{
	if (x->has_pool)
		own = ((x->blocks - 1) * own + POOL_DF * pool) / x->df;
	return own * x->wide;
}

static void
put_ties(
    const struct work *k, const struct stratum_rules *rules, struct tie *out)
{
	size_t n = k->s->n, known = 0;
	double pool = 0, slope_pool = 0;
	double tick = (double)k->s->tick_ns, share = 1 - 1 / (double)n;
	struct sums s = { 0 };
	struct mixing mixing;

	for (size_t r = 0; r < n; r++) {
		struct tie *t = &out[r];

		sum_up(k, r, rules->weights, &s);
		t->n = s.n;
		t->m = k->m[r];
		t->v = t->slope_v = INFINITY;
		if (s.n < CLOCK_TIES_MIN || s.w <= 0 || isnan(t->m))
			continue;
		t->v = squares(&s, MEAN_TAKES) /
		    (s.kappa * s.w * s.kappa * s.w) / share;
		t->latency_ns = s.w; /* reused until mixing */
		pool += t->v * s.w;
		if (rules->wants_slope) {
			fit_slope(k, r, &s, t);
			t->slope_v /= share * s.kappa * s.kappa;
			if (t->slope_w > 0)
				slope_pool += t->slope_v * t->slope_w;
		}
		known++;
	}
	mixing = mixing_of((double)s.nblocks, n);
	for (size_t r = 0; r < n; r++) {
		struct tie *t = &out[r];

		if (!isinf(t->v)) {
			t->v = mixed(&mixing, t->v,
				   pool / (double)known / t->latency_ns) +
			    tick * tick / (12 * (double)t->n);
			if (t->slope_w > 0)
				t->slope_v = mixed(&mixing, t->slope_v,
				    slope_pool / (double)known / t->slope_w);
			t->slope_w /= k->scale * k->scale;
		}
		t->latency_ns = (double)k->s->latency_ns;
	}
}

void
stratum_solve(const struct solve_stratum *s, uint32_t no,
    const struct stratum_rules *rules, struct tie *out)
{
	size_t n = s->n, nends = n * s->ncolls;
	struct work k = { .s = s };

	for (size_t r = 0; r < n; r++)
		out[r] = (struct tie){ .stratum = no,
			.clock = s->clocks[r],
			.m = rules->is_again ? out[r].m : NAN,
			.v = INFINITY,
			.slope_v = INFINITY };
	if (n < 2 || s->ncolls < CLOCK_TIES_MIN)
		return;
	k.y = xmalloc(nends * sizeof *k.y);
	k.w = xcalloc(nends, sizeof *k.w);
	k.room = xmalloc(nends * sizeof *k.room);
	k.h = xmalloc(s->ncolls * sizeof *k.h);
	k.was = xcalloc(n, sizeof *k.was);
	k.t = xcalloc(s->ncolls, sizeof *k.t);
	k.x = xcalloc(s->ncolls, sizeof *k.x);
	k.m = xcalloc(n, sizeof *k.m);
	k.present = xcalloc(s->ncolls, sizeof *k.present);
	take_ends(&k, rules);
	settle(&k, rules, out);
	put_ties(&k, rules, out);
	free(k.y);
	free(k.w);
	free(k.room);
	free(k.t);
	free(k.x);
	free(k.h);
	free(k.m);
	free(k.was);
	free(k.present);
}
