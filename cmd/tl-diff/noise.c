/* SPDX-License-Identifier: MIT */
/*
 * How much a difference may be by chance.
 *
 * A side's time of a unit is `scale` samples long: with several runs a sample
 * is a run and scale is 1; with steps in one run a sample is a step and scale
 * their number, or 1 where units are steps. Its variance is then that of a
 * sample, times scale squared, over the number of samples. Half the width of
 * the interval that holds the difference in 95 of 100 cases is that deviation
 * of both sides together, times Student's quantile.
 */
#include <math.h>

#include "cmd/tl-diff/ops.h"

/* Two-sided 95 % quantiles of Student's t by degrees of freedom. */
static double
student(size_t df)
{
	static const double t[] = { 0, 12.706, 4.303, 3.182, 2.776, 2.571,
		2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
		2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069,
		2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042 };
	size_t n = sizeof t / sizeof *t;

	return df < n ? t[df] : 1.96 + 2.4 / (double)df;
}

static double
sum_of_squares(const struct noise_side *s)
{
	double v;

	if (s->n < 2)
		return 0;
	v = s->sum_sq - s->sum * s->sum / (double)s->n;
	return v > 0 ? v : 0;
}

/* One variance for both sides, so that a side of one sample can be judged. */
double
noise_spread(const struct noise_side side[NSIDES])
{
	size_t df = 0;
	double squares = 0, variance, factor = 0;

	for (int s = 0; s < NSIDES; s++) {
		if (side[s].n == 0)
			return NAN;
		df += side[s].n - 1;
		squares += sum_of_squares(&side[s]);
		factor += side[s].scale * side[s].scale / (double)side[s].n;
	}
	if (df == 0)
		return NAN;
	variance = squares / (double)df;
	return student(df) * sqrt(variance * factor);
}
