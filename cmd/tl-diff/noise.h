/* SPDX-License-Identifier: MIT */
/*
 * Whether a difference of two sides may be chance, judged by how samples of
 * each vary.
 */
#ifndef TL_DIFF_NOISE_H
#define TL_DIFF_NOISE_H

#include "cmd/tl-diff/diff.h"

/* A difference that chance makes so seldom is taken for one. */
#define NOISE_LEVEL 0.05

/* The samples of a side, stratum by stratum: each varies around its own mean.
 */
struct noise_side {
	VEC(double) values;
	double scale; /* samples in a unit, what differences are of */
	/* of closed strata */
	size_t n; /* samples */
	size_t nstrata;
	double sum;
	double squares; /* deviations from the mean of the own stratum */
	size_t df;
};

void noise_start(struct noise_side *s);
void noise_add(struct noise_side *s, double value);
/* The stratum has n samples: those that were not added are zeroes. */
void noise_close(struct noise_side *s, size_t n);
void noise_free(struct noise_side *s);

/* How often chance makes |t| of Student's distribution as large. */
double student_chance(double t, size_t df);
/* The half width of a difference's 95 % interval, NAN: unknown. */
double noise_spread(const struct noise_side side[NSIDES]);
/*
 * Whether a difference, after less before, is none that chance makes as often
 * as the level says. False where nothing is known.
 */
bool noise_is_beyond(
    const struct noise_side side[NSIDES], double diff, double level);
/* The level for each of so many, that all together keep NOISE_LEVEL. */
double noise_level_of(size_t n);

#endif
