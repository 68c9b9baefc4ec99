/* SPDX-License-Identifier: MIT */
/*
 * How much a difference may be by chance.
 *
 * A side's time of a unit is `scale` samples long: with several runs a sample
 * is a run and scale is 1; with steps in one run a sample is a step and scale
 * their number, or 1 where units are steps. Its variance is then that of a
 * sample, times scale squared, over the number of samples. Where runs are ranks
 * a sample is a step, which varies around the mean of its own rank: one rank is
 * no repetition of another.
 *
 * Two tests say whether a difference is more than chance:
 *
 *  - Student's, of means: the only one that can say anything of two or three
 *    samples a side. One variance is taken for both sides, so that a side of
 *    one sample can be judged.
 *  - Where there are enough samples, that of ranks (Wilcoxon, Mann and
 *    Whitney), exact where that is quick: one sample that is far off, as when
 *    something else ran meanwhile, widens Student's interval beyond all use,
 *    and is but one rank here. It has to be five times as sure, so that both
 *    together are seldom wrong more often than one.
 */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-diff/noise.h"

#define RANKS_SURER 5
/* The exact distribution of ranks is worked out up to so many steps. */
#define RANKS_STEPS 2e5

/* ---- samples ---- */

void
noise_start(struct noise_side *s)
{
	s->values.n = s->n = s->nstrata = s->df = 0;
	s->sum = s->squares = 0;
	s->scale = 1;
}

void
noise_add(struct noise_side *s, double value)
{
	vec_push(&s->values, value);
}

void
noise_close(struct noise_side *s, size_t n)
{
	size_t first = s->n;
	double mean = 0;

	if (n == 0)
		return;
	s->n += n;
	while (s->values.n < s->n)
		vec_push(&s->values, 0);
	for (size_t i = first; i < s->n; i++) {
		s->sum += s->values.v[i];
		mean += s->values.v[i] / (double)n;
	}
	for (size_t i = first; i < s->n; i++)
		s->squares += (s->values.v[i] - mean) * (s->values.v[i] - mean);
	s->df += n - 1;
	s->nstrata++;
}

void
noise_free(struct noise_side *s)
{
	vec_free(&s->values);
}

/* ---- means ---- */

/* Two-sided 95 % quantiles of Student's t by degrees of freedom. */
static double
student_quantile(size_t df)
{
	static const double t[] = { 0, 12.706, 4.303, 3.182, 2.776, 2.571,
		2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
		2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069,
		2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042 };
	size_t n = sizeof t / sizeof *t;

	return df < n ? t[df] : 1.96 + 2.4 / (double)df;
}

/* For whole df there is a finite sum (Abramowitz and Stegun, 26.7.3, 26.7.4).
 */
double
student_chance(double t, size_t df)
{
	double angle = atan2(fabs(t), sqrt((double)df));
	double sine = sin(angle), cosine = cos(angle);
	double term = df % 2 == 1 ? cosine : 1, sum = df > 1 ? term : 0;

	for (size_t k = df % 2 == 1 ? 3 : 2; k < df; k += 2) {
		term *= cosine * cosine * (double)(k - 1) / (double)k;
		sum += term;
	}
	if (df % 2 == 1)
		return 1 - 2 / M_PI * (angle + sine * sum);
	return 1 - sine * sum;
}

/* The standard deviation of the difference, NAN: unknown. */
static double
deviation(const struct noise_side side[NSIDES], size_t *df)
{
	double squares = 0, factor = 0;

	*df = 0;
	for (int s = 0; s < NSIDES; s++) {
		if (side[s].n == 0)
			return NAN;
		*df += side[s].df;
		squares += side[s].squares;
		factor += side[s].scale * side[s].scale / (double)side[s].n;
	}
	return *df > 0 ? sqrt(squares / (double)*df * factor) : NAN;
}

double
noise_spread(const struct noise_side side[NSIDES])
{
	size_t df;
	double sd = deviation(side, &df);

	return student_quantile(df) * sd;
}

/* ---- ranks ---- */

/* A sample among those of both sides, by its value. */
struct ranked {
	double value;
	int side;
};

static int
by_value(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	return (a->value > b->value) - (a->value < b->value);
}

/*
 * Twice the ranks, so that those of equal values, which share their mean, are
 * whole. The sum of those of one side.
 */
static uint64_t
find_ranks(const struct noise_side side[NSIDES], int of, uint64_t *rank)
{
	size_t n = side[0].n + side[1].n, at = 0;
	struct ranked *v = xmalloc(n * sizeof *v);
	uint64_t sum = 0;

	for (int s = 0; s < NSIDES; s++)
		for (size_t i = 0; i < side[s].n; i++)
			v[at++] = (struct ranked){ side[s].values.v[i], s };
	qsort(v, n, sizeof *v, by_value);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && v[end].value <= v[i].value; end++)
			continue;
		for (size_t k = i; k < end; k++) {
			rank[k] = i + end + 1;
			sum += v[k].side == of ? rank[k] : 0;
		}
	}
	free(v);
	return sum;
}

/* How often k of n ranks have a sum this far from the mean: all are counted. */
static double
count_sums(const uint64_t *rank, size_t n, size_t k, uint64_t sum)
{
	size_t width = n * (n + 1) + 1, far;
	double *ways = xcalloc((k + 1) * width, sizeof *ways);
	double all = 0, extreme = 0;
	uint64_t mean = k * (n + 1);

	ways[0] = 1;
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1 < k ? i + 1 : k; j > 0; j--)
			for (size_t s = rank[i]; s < width; s++)
				ways[j * width + s] +=
				    ways[(j - 1) * width + s - rank[i]];
	far = sum > mean ? sum - mean : mean - sum;
	for (size_t s = 0; s < width; s++) {
		all += ways[k * width + s];
		if ((s > mean ? s - mean : mean - s) >= far)
			extreme += ways[k * width + s];
	}
	free(ways);
	return extreme / all;
}

/* The same, as if sums were distributed normally. */
static double
estimate_sums(const uint64_t *rank, size_t n, size_t k, uint64_t sum)
{
	double mean = (double)(n + 1), squares = 0, far;

	for (size_t i = 0; i < n; i++)
		squares += ((double)rank[i] - mean) * ((double)rank[i] - mean);
	far = fabs((double)sum - (double)k * mean) - 1;
	if (squares <= 0 || far <= 0)
		return 1;
	squares *= (double)k * (double)(n - k) / (double)n / (double)(n - 1);
	return erfc(far / sqrt(2 * squares));
}

/* How often chance ranks the samples so, in the direction of the difference. */
static double
rank_chance(const struct noise_side side[NSIDES], double diff)
{
	int of = side[1].n < side[0].n; /* the side that has fewer */
	size_t n = side[0].n + side[1].n, k = side[of].n;
	double steps = (double)n * (double)k * (double)n * (double)(n + 1);
	uint64_t *rank, sum;
	double chance = 1;

	if (side[0].nstrata != 1 || side[1].nstrata != 1)
		return 1;
	rank = xmalloc(n * sizeof *rank);
	sum = find_ranks(side, of, rank);
	if (sum != k * (n + 1) && (sum > k * (n + 1)) == ((diff > 0) == of))
		chance = steps <= RANKS_STEPS ? count_sums(rank, n, k, sum)
					      : estimate_sums(rank, n, k, sum);
	free(rank);
	return chance;
}

/* ---- the judgement ---- */

double
noise_level_of(size_t n)
{
	return n < 2 ? NOISE_LEVEL : -expm1(log1p(-NOISE_LEVEL) / (double)n);
}

bool
noise_is_beyond(const struct noise_side side[NSIDES], double diff, double level)
{
	size_t df;
	double sd = deviation(side, &df);

	if (isnan(sd) || diff == 0)
		return false;
	if (sd <= 0 || student_chance(diff / sd, df) <= level)
		return true;
	return rank_chance(side, diff) <= level / RANKS_SURER;
}
