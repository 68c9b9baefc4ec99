/* SPDX-License-Identifier: MIT */
#include "trace/noise.h"

#include <math.h>
#include <stdlib.h>

#define POOL_ROWS 10   /* fewer are no evidence about a family */
#define POOL_FIRM 1000 /* degrees of freedom of rows that vary all alike */
#define MANY_STEPS 8   /* enough to measure autocorrelation */
#define FEW_SPLITS 70  /* ways to split 4 and 4 steps */
#define NEARLY_NORMAL 1e5

/* ---- distributions ---- */

double
noise_digamma(double x)
{
	double sum = 0, y;

	for (; x < 20; x++)
		sum -= 1 / x;
	y = 1 / (x * x);
	return sum + log(x) - 0.5 / x -
	    y * (1. / 12 - y * (1. / 120 - y * (1. / 252 - y / 240)));
}

double
noise_trigamma(double x)
{
	double sum = 0, y;

	for (; x < 20; x++)
		sum += 1 / (x * x);
	y = 1 / (x * x);
	return sum + y / 2 +
	    (1 + y * (1. / 6 - y * (1. / 30 - y * (1. / 42 - y / 30)))) / x;
}

/* It falls from infinity to 0. */
static double
trigamma_inverse(double value)
{
	double low = 1e-6, high = 1e6;

	for (int i = 0; i < 100; i++) {
		double mid = sqrt(low * high);

		if (noise_trigamma(mid) > value)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* ln of x^a (1 - x)^b / B(a, b) */
static double
log_beta_term(double a, double b, double x)
{
	return lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) +
	    b * log1p(-x);
}

/* Lentz's evaluation of the incomplete beta function's continued fraction. */
static double
beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), h = d;

	for (int m = 1; m < 2000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x /
		    ((a + 2 * m) * (a + 2 * m + 1));

		d = 1 / (1 + even * d);
		c = 1 + even / c;
		h *= d * c;
		d = 1 / (1 + odd * d);
		c = 1 + odd / c;
		h *= d * c;
		if (fabs(d * c - 1) < 1e-15)
			break;
	}
	return h;
}

double
noise_student(double t, double df)
{
	double a = df / 2, x = df / (df + t * t), front;

	if (df > NEARLY_NORMAL)
		return erfc(fabs(t) / M_SQRT2);
	if (x >= 1)
		return 1;
	if (x <= 0)
		return 0;
	front = exp(log_beta_term(a, 0.5, x));
	if (x < (a + 1) / (a + 2.5))
		return front * beta_fraction(a, 0.5, x) / a;
	return 1 - 2 * front * beta_fraction(0.5, a, 1 - x);
}

/*
 * From the left of the root Newton's steps on a convex curve stay there, and
 * the quantile of the normal distribution is the least of all.
 */
double
noise_quantile(double df)
{
	double t = 1.959963984540054;

	for (int i = 0; i < 100 && df <= NEARLY_NORMAL; i++) {
		double density = exp(lgamma((df + 1) / 2) - lgamma(df / 2) -
				     (df + 1) / 2 * log1p(t * t / df)) /
		    sqrt(df * M_PI);
		double step = (noise_student(t, df) - 0.05) / (2 * density);

		t += step;
		if (step < 1e-9)
			break;
	}
	return t;
}

/* ---- samples ---- */

/* The effective number of independent samples of n successive ones. */
static double
independent_of(const double *v, size_t n, double mean, double squares)
{
	double lagged = 0, r, least = (double)n / 3;

	if (n < MANY_STEPS || squares <= 0)
		return (double)n;
	for (size_t i = 1; i < n; i++)
		lagged += (v[i] - mean) * (v[i - 1] - mean);
	r = lagged / squares + 1 / (double)n;
	r = r < 0 ? 0 : r;
	return fmax(least, (double)n * (1 - r) / (1 + r));
}

void
noise_add(struct noise_side *s, const double *v, size_t n)
{
	double mean = 0, squares = 0, high = 0, low = 0;

	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++)
		mean += v[i] / (double)n;
	for (size_t i = 0; i < n; i++) {
		double d = v[i] - mean;

		squares += d * d;
		high = fmax(high, d);
		low = fmin(low, d);
	}
	s->mean += (mean - s->mean) * (double)n / (double)(s->n + n);
	s->squares += squares;
	s->independent += independent_of(v, n, mean, squares);
	if (n > 1) {
		s->fall = fmax(s->fall, high * (double)n / (double)(n - 1));
		s->rise = fmax(s->rise, -low * (double)n / (double)(n - 1));
	}
	s->n += n;
	s->nstrata++;
}

static size_t
freedom(const struct noise_row *r)
{
	return r->side[0].n + r->side[1].n - r->side[0].nstrata -
	    r->side[1].nstrata;
}

bool
noise_is_known(const struct noise_row *r)
{
	return r->side[0].n > 1 && r->side[1].n > 1 && freedom(r) > 1;
}

double
noise_allowance(double run_noise, size_t before, size_t after)
{
	return run_noise * run_noise * (1 / (double)before + 1 / (double)after);
}

bool
noise_is_of_few(const struct noise_row *r)
{
	size_t n = r->side[0].n, m = r->side[1].n;
	double ways = 1;

	for (size_t i = 1; i <= m && ways < FEW_SPLITS; i++)
		ways *= (double)(n + i) / (double)i;
	return lround(ways) < FEW_SPLITS;
}

/* ---- variance ---- */

static double
sample_mean(const struct noise_row *r)
{
	return (r->side[0].mean + r->side[1].mean) / 2;
}

/* Without time on a side there is no ratio. */
static bool
is_ratio(const struct noise_row *r, const struct noise_rules *rules)
{
	return rules->is_ratio && r->side[0].mean > 0 && r->side[1].mean > 0;
}

/* Of a sample, as a share of its mean: at least what the clock adds. */
static double
relative_variance(const struct noise_row *r, const struct noise_rules *rules)
{
	double ticks = r->nevents * rules->tick_ns * rules->tick_ns / 12;
	double sum = 0, mean = sample_mean(r);

	for (int s = 0; s < 2; s++) {
		double of = is_ratio(r, rules) ? r->side[s].mean : mean;

		sum += r->side[s].squares / (of * of);
	}
	return fmax(sum / (double)freedom(r), ticks / (mean * mean));
}

/* Degrees of freedom of the same. */
static double
independent_freedom(const struct noise_row *r)
{
	double df = 0;

	for (int s = 0; s < 2; s++)
		df += r->side[s].independent - (double)r->side[s].nstrata;
	return fmax(df, 1);
}

/* ln s^2 of normal samples is so much too low, and varies by its own. */
void
noise_pool_add(struct noise_pool *p, const struct noise_row *r,
    const struct noise_rules *rules)
{
	double half = independent_freedom(r) / 2, e;

	if (r->side[0].squares + r->side[1].squares <= 0 || sample_mean(r) <= 0)
		return;
	e = log(relative_variance(r, rules)) - noise_digamma(half) + log(half);
	p->n++;
	p->sum += e;
	p->squares += e * e;
	p->chance += noise_trigamma(half);
}

void
noise_pool_end(struct noise_pool *p)
{
	double n = (double)p->n, mean, more, half;

	if (p->n < POOL_ROWS)
		return;
	mean = p->sum / n;
	more = (p->squares - n * mean * mean) / (n - 1) - p->chance / n;
	if (more <= 0) {
		p->df = POOL_FIRM;
		p->variance = exp(mean);
		return;
	}
	half = trigamma_inverse(more);
	p->df = 2 * half;
	p->variance = exp(mean + noise_digamma(half) - log(half));
}

/* ---- the test ---- */

/* Two times, and the evidence that they differ. */
struct distance {
	double of[2];
	bool is_ratio;
	double se, df;
};

static double
distance(const struct distance *d)
{
	return d->is_ratio ? log(d->of[1] / d->of[0]) : d->of[1] - d->of[0];
}

/*
 * How often chance makes as much, also without the sample that makes most of
 * it.
 */
static double
chance_of(const struct noise_row *r, const struct distance *all)
{
	double whole = distance(all);
	double most = noise_student(whole / all->se, all->df);

	for (int s = 0; s < 2; s++) {
		const struct noise_side *side = &r->side[s];
		double n = (double)side->n, left;
		struct distance d = *all;

		d.of[s] +=
		    ((whole > 0) == (s == 1) ? -side->fall : side->rise) *
		    r->scale[s] / n;
		d.se *= sqrt(1 + 0.5 / (n - 1));
		left = whole > 0 ? distance(&d) : -distance(&d);
		most =
		    fmax(most, left > 0 ? noise_student(left / d.se, d.df) : 1);
	}
	return most;
}

void
noise_test(const struct noise_row *r, const struct noise_rules *rules,
    struct noise *to)
{
	const struct noise_pool *pool = &rules->pool;
	double unit[2], mean, runs, least, samples = 0, ratio = 0;
	double df = independent_freedom(r);
	double share = relative_variance(r, rules), pooled;
	struct distance d = { .is_ratio = is_ratio(r, rules) };

	for (int s = 0; s < 2; s++) {
		double of = d.is_ratio ? r->side[s].mean : sample_mean(r);

		unit[s] = r->side[s].mean * r->scale[s];
		of *= r->scale[s];
		samples += of * of / r->side[s].independent;
		ratio += 1 / r->side[s].independent;
	}
	mean = (unit[0] + unit[1]) / 2;
	*to = (struct noise){ unit[1] - unit[0] - r->fixed, 0, df, 1 };
	if (mean <= 0)
		return;
	pooled = (pool->df * pool->variance + df * share) / (pool->df + df);
	if (pooled > share) {
		share = pooled;
		df += pool->df;
	}
	samples *= share;
	runs = rules->allowance * mean * mean;
	to->variance = samples + runs;
	/* Satterthwaite: the allowance is known */
	to->df = df * (to->variance / samples) * (to->variance / samples);
	least = 2 * rules->tick_ns * sqrt(r->nevents) *
	    fmax(r->scale[0], r->scale[1]);
	least = fmax(least, fmax(rules->least_share * mean, rules->least));
	if (fabs(to->diff) < least || least <= 0)
		return;
	d.of[0] = unit[0] + r->fixed;
	d.of[1] = unit[1];
	d.df = to->df;
	d.se = d.is_ratio ? sqrt(share * ratio + rules->allowance)
			  : sqrt(to->variance);
	to->p = chance_of(r, &d);
}

double
noise_spread(const struct noise *x)
{
	return x->variance > 0 ? noise_quantile(x->df) * sqrt(x->variance) : 0;
}

void
noise_join(struct noise *to, const struct noise *x)
{
	double sum = to->variance + x->variance, parts = 0;

	if (to->variance > 0)
		parts += to->variance * to->variance / to->df;
	if (x->variance > 0)
		parts += x->variance * x->variance / x->df;
	to->df = parts > 0 ? sum * sum / parts : 0;
	to->variance = sum;
	to->diff += x->diff;
}

static int
by_value(const void *x, const void *y)
{
	const double *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

double
noise_limit(double *p, size_t n, double level)
{
	if (n > 1)
		qsort(p, n, sizeof *p, by_value);
	for (size_t k = n; k > 0; k--)
		if (p[k - 1] <= level * (double)k / (double)n)
			return p[k - 1];
	return -1;
}
