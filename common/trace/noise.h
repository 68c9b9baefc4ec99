/* SPDX-License-Identifier: MIT */
/*
 * noise: whether two sets of samples differ by more than they vary.
 *
 * A row is what is judged: the time of an op, a collective or a step. Its
 * samples are runs, or the steps of one run a side. Rows that vary for the same
 * reasons are a family. What is known of one row helps to judge the others (a
 * pool); the number of rows sets how sure each has to be (a limit).
 *
 *	noise_add(&row.side[0], values, n);	each side; each of its strata
 *	noise_pool_add(&rules.pool, &row, &rules);	each row of the family
 *	noise_pool_end(&rules.pool);		or no pool
 *	noise_test(&row, &rules, &noise);	each row
 *	p <= noise_limit(all p, n, 0.03)	these differ
 *
 * The difference is that of means, as means add up over rows and medians do
 * not. No single sample may cause it: it must remain without any one of them.
 * Steps of one run do not show how runs vary: every variance then includes an
 * allowance for that.
 */
#ifndef TL_TRACE_NOISE_H
#define TL_TRACE_NOISE_H

#include "base/base.h"

#define NOISE_RUN 0.005        /* standard deviation of runs */
#define NOISE_TICK_NS 40       /* of a GPU's clock */
#define NOISE_ROWS 0.03        /* chance that a family names one wrongly */
#define NOISE_REST 0.01        /* the same of all others together */
#define NOISE_COMM 0.005       /* of rows of communication, and of their rest */
#define NOISE_FIRST 0.0025     /* of rows of first steps, and of their rest */
#define NOISE_REST_LEAST 0.005 /* least difference of a rest, as its share */

/* The samples of a side, zeroes at first. */
struct noise_side {
	size_t n, nstrata;
	double mean;    /* of all */
	double squares; /* of deviations from the mean of the own stratum */
	/* samples independent of each other: fewer than n if samples that
	 * follow each other are alike */
	double independent;
	/* n times the most that the mean falls or rises without one sample */
	double fall, rise;
};

struct noise_row {
	struct noise_side side[2];
	double scale[2]; /* from the unit of samples to that of differences */
	double fixed;    /* part of the difference that is no noise, in units */
	double nevents;  /* in a sample: each has the clock's error */
};

/* A family's knowledge of the variance of a row; zeroes: nothing. */
struct noise_pool {
	double df, variance; /* of a sample, as a share of its mean, squared */
	/* while rows are added: ln s^2, chance's part of it, its variance */
	size_t n;
	double sum, squares, chance;
};

struct noise_rules {
	double allowance; /* noise_allowance(); 0: samples are runs */
	double tick_ns;
	double least_share, least; /* of the row; in units */
	/* tests the ratio, as each side varies by a share of its own mean: the
	 * same for small differences; for large ones the longer side, which
	 * varies more, then hides nothing */
	bool is_ratio;
	struct noise_pool pool;
};

struct noise {
	double diff;     /* without what is fixed */
	double variance; /* of it */
	double df;
	double p; /* chance of as large a difference; 1: too small to matter */
};

/* Samples of one stratum, ordered by time: they vary around their own mean. */
void noise_add(struct noise_side *s, const double *v, size_t n);
/* At least two samples a side, and more than one degree of freedom. */
bool noise_is_known(const struct noise_row *r);
/* Relative variance of a difference, as runs differ; runs of each side. */
double noise_allowance(double run_noise, size_t before, size_t after);
/*
 * Whether there are fewer than 70 ways to split the samples, as for 3 and 4.
 * Chance may then find as good a split: a larger least difference is due.
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
/* Adds an independent one. */
void noise_join(struct noise *to, const struct noise *x);
/*
 * Benjamini and Hochberg: rows with a p up to this are named. At most the
 * level's share of them is wrong. Negative: none. Sorts p.
 */
double noise_limit(double *p, size_t n, double level);

/* ---- distributions, for tests ---- */

double noise_digamma(double x);
double noise_trigamma(double x);
/* Student's t: the chance that |t| is as large; what it exceeds in 5 %. */
double noise_student(double t, double df);
double noise_quantile(double df);

#endif
