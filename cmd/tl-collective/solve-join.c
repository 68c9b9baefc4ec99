/* SPDX-License-Identifier: MIT */
/*
 * Clocks of one island from its strata. Strata disagree by more than their ends
 * vary, as each has its own order of leaving; the residuals show by how much:
 * tau. A wrongly matched stratum is far off and loses its weight.
 */
#include "cmd/tl-collective/solve.h"

#include <math.h>
#include <stdlib.h>

#include "trace/noise.h"

#define BETA_NS 2000.0  /* the order of leaving moves ends by at least this */
#define BETA_SHARE 0.01 /* and this share of the latency */
#define FEW_DF 2        /* so few check nothing: twice as much */
#define ABSOLUTE_ROUNDS 15
#define BIWEIGHT_ROUNDS 8
#define BISECTIONS 40
#define BIWEIGHT 4.685
#define LEAST_WEIGHT 1e-6
#define LEAST_RESIDUAL 0.1 /* of a deviation, in least absolute deviations */
#define CLIP 9.0
#define AGREED 0.985 /* mean square of clipped normal residuals */

struct join {
	struct system *s;
	double *m;        /* of each tie */
	double *v, *tau0; /* of each tie: variance of the value; tau squared */
	double tau2;
	double f; /* degrees of freedom */
};

static double
allowed(const struct join *k, size_t i)
{
	return k->tau2 + k->tau0[i] + k->v[i];
}

static void
find_residuals(struct join *k, const double *x)
{
	const struct system *s = k->s;

	for (size_t i = 0, end; i < s->nties; i = end) {
		double sum = 0, weight = 0;

		for (end = i;
		     end < s->nties && s->stratum[end] == s->stratum[i];
		     end++) {
			sum += s->w[end] * (k->m[end] - x[s->clock[end]]);
			weight += s->w[end];
		}
		for (size_t t = i; t < end; t++)
			s->r[t] = k->m[t] - x[s->clock[t]] -
			    (weight > 0 ? sum / weight : 0);
	}
}

static double
mean_square(const struct join *k, double tau2)
{
	double sum = 0, share = k->f / (double)k->s->nties;

	for (size_t i = 0; i < k->s->nties; i++)
		sum += fmin(CLIP,
		    k->s->r[i] * k->s->r[i] /
			((fmax(tau2, k->tau0[i]) + k->v[i]) * share));
	return sum / (double)k->s->nties;
}

static void
find_tau(struct join *k)
{
	double want = AGREED * fmax(0.5, 1 - sqrt(0.5 / k->f));
	double low = 0, high = BETA_NS * BETA_NS;

	k->tau2 = 0;
	if (k->f <= 0 || mean_square(k, 0) <= want)
		return;
	while (mean_square(k, high) > want && high < 1e36)
		high *= 4;
	for (int i = 0; i < BISECTIONS; i++) {
		double tau2 = (low + high) / 2;

		if (mean_square(k, tau2) > want)
			low = tau2;
		else
			high = tau2;
	}
	k->tau2 = high;
}

static void
weigh_absolute(struct join *k)
{
	for (size_t i = 0; i < k->s->nties; i++) {
		double sd = sqrt(allowed(k, i));

		k->s->w[i] =
		    1 / (sd * fmax(fabs(k->s->r[i]), LEAST_RESIDUAL * sd));
	}
}

static void
weigh_biweight(struct join *k)
{
	for (size_t i = 0; i < k->s->nties; i++) {
		double z = k->s->r[i] / sqrt(allowed(k, i)) / BIWEIGHT;
		double share = fabs(z) < 1 ? (1 - z * z) * (1 - z * z) : 0;

		k->s->w[i] = fmax(share, LEAST_WEIGHT) / allowed(k, i);
	}
}

static void
prepare(struct join *k)
{
	const struct system *s = k->s;

	k->f = (double)s->nties - (double)s->nstrata - (double)s->n + 1;
	for (size_t i = 0; i < s->nties; i++) {
		double share = BETA_SHARE * s->ties[i].latency_ns;

		k->m[i] = s->ties[i].m;
		k->v[i] = s->ties[i].v;
		k->tau0[i] = BETA_NS * BETA_NS + share * share;
		if (k->f <= FEW_DF)
			k->tau0[i] *= 4;
		s->w[i] = 1 / allowed(k, i);
	}
}

void
join_clocks(struct system *s, double *x, double *growth)
{
	double *room = xcalloc(3 * s->nties, sizeof *room), share = 0, t;
	struct join k = { .s = s, .m = room };

	k.v = k.m + s->nties;
	k.tau0 = k.v + s->nties;
	prepare(&k);
	system_solve(s, k.m, x);
	find_residuals(&k, x);
	for (int i = 0; i < ABSOLUTE_ROUNDS; i++) {
		weigh_absolute(&k);
		system_solve(s, k.m, x);
		find_residuals(&k, x);
	}
	for (int i = 0; i < BIWEIGHT_ROUNDS; i++) {
		find_tau(&k);
		weigh_biweight(&k);
		system_solve(s, k.m, x);
		find_residuals(&k, x);
	}
	for (size_t i = 0; i < s->nties; i++)
		share += k.tau2 / allowed(&k, i) / (double)s->nties;
	t = k.f > 0 ? noise_quantile(k.f) / 1.96 : 1;
	*growth = 1 + (t * t - 1) * share;
	free(room);
}
