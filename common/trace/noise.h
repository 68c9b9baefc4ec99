/* SPDX-License-Identifier: MIT */
/*
 * noise: whether two sets of samples differ by more than they vary.
 *
 * A row is what is judged: the time of an op, of a collective, of a step. Its
 * samples are runs, or steps of one run a side. Rows that vary for the same
 * reasons are a family: how much is known of one helps with the others (a
 * pool), and how many there are says how sure each has to be (a limit).
 *
 *	noise_add(&row.side[0], values, n);	each side; each of its strata
 *	noise_pool_add(&rules.pool, &row, &rules);	each row of the family
 *	noise_pool_end(&rules.pool);		or no pool
 *	noise_test(&row, &rules, &noise);	each row
 *	p <= noise_limit(all p, n, 0.03)	these differ
 *
 * The difference is that of means, which add up over rows as medians do not. No
 * single sample makes one: with any one left out it must still be there. Where
 * samples are steps of one run, they say nothing of how runs vary: an allowance
 * for that is part of every variance.
 */
#ifndef TL_TRACE_NOISE_H
#define TL_TRACE_NOISE_H

#include "base/base.h"

#define NOISE_RUN 0.005        /* runs differ by so much: standard deviation */
#define NOISE_TICK_NS 40       /* of a GPU's clock */
#define NOISE_ROWS 0.03        /* chance of any row of a family to be named */
#define NOISE_REST 0.01        /* of all that are not, together */
#define NOISE_COMM 0.005       /* of rows of communication; of their rest */
#define NOISE_FIRST 0.0025     /* of rows of first steps; of their rest */
#define NOISE_REST_LEAST 0.005 /* the least difference of a rest: its share */

/* The samples of a side. All zeroes to start with. */
struct noise_side {
	size_t n, nstrata;
	double mean;    /* of all */
	double squares; /* of deviations from the mean of the own stratum */
	/* samples that know nothing of one another: fewer where they follow
	 * each other and are alike */
	double independent;
	/* n times what the mean falls or rises by without one sample, at most
	 */
	double fall, rise;
};

struct noise_row {
	struct noise_side side[2];
	double scale[2]; /* samples in the unit in which differences are */
	double fixed;    /* of the difference, in units: no noise */
	double nevents;  /* in a sample: each is as exact as the clock */
};

/* What a family knows of the variance of a row. Zeroes: nothing. */
struct noise_pool {
	double df, variance; /* of a sample, as a share of its mean, squared */
	/* while rows are added: ln s^2, what chance adds to that, its variance
	 */
	size_t n;
	double sum, squares, chance;
};

struct noise_rules {
	double allowance; /* noise_allowance(); 0: samples are runs */
	double tick_ns;
	double least_share, least; /* of the row; in units */
	/* each side varies by a share of its own mean, and their ratio is
	 * tested: the same of small differences; of large ones the side that
	 * is longer, and varies by more, hides nothing */
	bool is_ratio;
	struct noise_pool pool;
};

struct noise {
	double diff;     /* without what is fixed */
	double variance; /* of it */
	double df;
	double p; /* how often chance makes as much; 1: less than matters */
};

/* Samples of one stratum, in time: they vary around their own mean. */
void noise_add(struct noise_side *s, const double *v, size_t n);
/* Two samples a side at least, of which there is something to learn. */
bool noise_is_known(const struct noise_row *r);
/* Relative variance of a difference by what runs differ, of so many a side. */
double noise_allowance(double run_noise, size_t before, size_t after);
/*
 * Fewer than 70 ways to split the samples, as of 3 and 4: another split could
 * show as much, so that a larger least difference is due.
 */
bool noise_is_of_few(const struct noise_row *r);

void noise_pool_add(struct noise_pool *p, const struct noise_row *r,
    const struct noise_rules *rules);
void noise_pool_end(struct noise_pool *p);

/* Only if noise is known. */
void noise_test(const struct noise_row *r, const struct noise_rules *rules,
    struct noise *to);
/* Half the width of the difference's 95 % interval. */
double noise_spread(const struct noise *x);
/* The sum of two that vary by themselves. */
void noise_join(struct noise *to, const struct noise *x);
/*
 * Benjamini and Hochberg: rows with a p up to this are named, of which the
 * level's share is wrong; negative: none. Sorts p.
 */
double noise_limit(double *p, size_t n, double level);

/* ---- distributions, for tests ---- */

double noise_digamma(double x);
double noise_trigamma(double x);
/* Of Student's t: how often |t| is as large; what it exceeds in 5 %. */
double noise_student(double t, double df);
double noise_quantile(double df);

#endif
