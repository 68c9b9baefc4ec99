/* SPDX-License-Identifier: MIT */
/*
 * Noise: distributions against known values, worked examples, how often samples
 * of one kind seem to differ, and how often a known difference is found.
 */
#include <math.h>

#include "trace/noise.h"

#include "tests/unit/tap.h"

static uint64_t state = 1;

/* Between 0 and 1. */
static double
uniform(void)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double
normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static bool
near(double x, double y, double part)
{
	return fabs(x - y) <= part * fabs(y);
}

/* ---- distributions ---- */

/* How often |t| is as large, by Simpson's rule over the density. */
static double
integrated(double t, double df)
{
	const int n = 20000;
	double sum = 0, h = t / n, c;

	c = exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(df * M_PI);
	for (int i = 0; i <= n; i++) {
		double x = h * i;
		double y = c * pow(1 + x * x / df, -(df + 1) / 2);

		sum += y * (i == 0 || i == n ? 1 : i % 2 == 1 ? 4 : 2);
	}
	return 1 - 2 * sum * h / 3;
}

static void
test_distributions(void)
{
	static const double df[] = { 1, 1.7, 2, 3.3, 4, 13.6, 60, 1004, 9e4 };
	static const double t[] = { 0.1, 0.7, 1.5, 2.5, 4.58 };
	double worst = 0, off = 0;

	ok(near(noise_digamma(1), -0.57721566490153286, 1e-12), "digamma(1)");
	ok(near(noise_digamma(0.5), -1.9635100260214235, 1e-12),
	    "digamma(1/2)");
	ok(near(noise_digamma(20), 2.9705239922421499, 1e-12), "digamma(20)");
	ok(near(noise_trigamma(1), M_PI * M_PI / 6, 1e-12), "trigamma(1)");
	ok(near(noise_trigamma(0.5), M_PI * M_PI / 2, 1e-12), "trigamma(1/2)");
	ok(near(noise_trigamma(20), 0.051270822935203116, 1e-12),
	    "trigamma(20)");
	for (size_t i = 0; i < sizeof df / sizeof *df; i++) {
		for (size_t k = 0; k < sizeof t / sizeof *t; k++)
			worst = fmax(worst,
			    fabs(noise_student(t[k], df[i]) -
				integrated(t[k], df[i])));
		off = fmax(off,
		    fabs(noise_student(noise_quantile(df[i]), df[i]) - 0.05));
	}
	ok(worst < 1e-9, "Student's t agrees with its integral: %g", worst);
	ok(off < 1e-9, "quantiles have their chance: %g", off);
	ok(near(noise_quantile(1), 12.706204736432095, 1e-8), "df 1");
	ok(near(noise_quantile(4), 2.7764451051977987, 1e-8), "df 4");
	ok(near(noise_quantile(1e9), 1.959963984540054, 1e-8), "normal");
	ok(near(noise_student(3, 1e9), 0.0026997960632601866, 1e-8),
	    "normal: its tail");
}

/* ---- worked examples ---- */

#define ROW(...) ((struct noise_row){ .scale = { 1, 1 }, __VA_ARGS__ })
#define ADD(row, s, ...)                                            \
	noise_add(&(row)->side[s], (const double[]){ __VA_ARGS__ }, \
	    sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double))

static void
test_row(void)
{
	struct noise_row r = ROW(.nevents = 1);
	struct noise_rules rules = { .tick_ns = 0.04,
		.allowance = noise_allowance(NOISE_RUN, 1, 1),
		.least_share = 0.05,
		.pool = { .df = 4, .variance = 4e-4 } };
	struct noise x;

	ADD(&r, 0, 100, 102, 101);
	ADD(&r, 1, 107, 109, 108);
	ok(noise_is_known(&r) && noise_is_of_few(&r), "3 and 3 steps");
	noise_test(&r, &rules, &x);
	ok(x.diff == 7, "difference");
	ok(near(sqrt(x.variance), 1.528, 5e-4), "se %g", sqrt(x.variance));
	ok(near(x.df, 13.6, 5e-3), "df %g", x.df);
	ok(near(noise_student(7 / sqrt(x.variance), x.df), 4.6e-4, 0.02),
	    "p of all");
	ok(near(x.p, 0.0020, 0.03), "p without the 109: %g", x.p);
	ok(near(noise_spread(&x), 3.3, 0.01), "7 +- %g", noise_spread(&x));
	rules.least_share = 0.07;
	noise_test(&r, &rules, &x);
	ok(x.p == 1, "less than the least effect");
	ok(near(noise_spread(&x), 3.3, 0.01), "which has its interval");
}

static void
test_ratio(void)
{
	struct noise_row r = ROW(.nevents = 1);
	struct noise_rules rules = {
		.tick_ns = 1e-9, .least_share = 0.01, .is_ratio = true
	};
	struct noise x;

	ADD(&r, 0, 1, 1.1, 0.9);
	ADD(&r, 1, 10, 11, 9);
	noise_test(&r, &rules, &x);
	ok(near(x.diff, 9, 1e-12) && near(x.variance, 1.01 / 3, 1e-12),
	    "9 +- a tenth of each: %g", x.variance);
	/* ln 9.5 / sqrt(0.01 * 2 / 3 * 1.25), of 4 degrees of freedom */
	ok(near(x.p, 1.604e-5, 1e-3), "p without the 11: %g", x.p);
	rules.is_ratio = false;
	noise_test(&r, &rules, &x);
	ok(x.p > 1e-4 && x.p < 2e-4, "by the difference: %g", x.p);
	r = ROW(.nevents = 1);
	ADD(&r, 0, 0, 0, 0);
	ADD(&r, 1, 10, 11, 9);
	rules.is_ratio = true;
	noise_test(&r, &rules, &x);
	ok(x.p < 1e-3, "nothing before has no ratio");
}

static void
test_limit(void)
{
	double p[] = { .2, .0004, .6, .02, .004 };

	ok(noise_limit(p, 5, NOISE_ROWS) == .004, "two of five rows");
	p[0] = p[1] = .04;
	ok(noise_limit(p, 5, NOISE_ROWS) < 0, "none");
	ok(noise_limit(p, 0, NOISE_ROWS) < 0, "no rows");
}

/* Values of both sides; whether they differ at 5 %. */
#define DIFFERS(before, after)                                              \
	differs((const double[])BARE before, sizeof((double[])BARE before), \
	    (const double[])BARE after, sizeof((double[])BARE after))
#define BARE(...)           \
	{                   \
		__VA_ARGS__ \
	}

static bool
differs(const double *a, size_t a_size, const double *b, size_t b_size)
{
	struct noise_row r = ROW(.nevents = 1);
	struct noise_rules rules = { .tick_ns = 0.04, .least_share = 0.01 };
	struct noise x;

	noise_add(&r.side[0], a, a_size / sizeof *a);
	noise_add(&r.side[1], b, b_size / sizeof *b);
	if (!noise_is_known(&r))
		return false;
	noise_test(&r, &rules, &x);
	return x.p <= 0.05;
}

static void
test_cases(void)
{
	ok(!DIFFERS((5, 5, 5), (5, 5, 8)), "one slow step of three");
	ok(DIFFERS((5, 5, 5), (8, 8, 8)), "all slow");
	ok(DIFFERS((5, 5.1, 4.9), (6, 6.1, 5.9)), "all somewhat slower");
	ok(!DIFFERS((5, 6, 4), (6, 5, 7)), "steps that vary");
	ok(!DIFFERS((5), (6)), "nothing is known of one and one");
	ok(!DIFFERS((5), (6, 6.1, 5.9, 6)), "nor of one and four");
	ok(!DIFFERS((5, 5.1, 5.2, 5.3), (5, 5.1, 5.2, 60)),
	    "a sample makes no difference");
	ok(!DIFFERS((5, 5, 5, 5), (5, 5, 5, 5)), "no difference");
	ok(DIFFERS((0, 0, 0, 0), (1, 1, 1, 1)), "nothing before");
	ok(!DIFFERS((0, 0), (0, 0)), "nothing at all");
}

/* ---- more of a side ---- */

static void
test_strata(void)
{
	struct noise_row r = ROW(.nevents = 1);
	struct noise_row s = ROW(.nevents = 1);

	ADD(&r, 0, 20, 21, 19, 20);
	ADD(&r, 0, 60, 61, 59, 60);
	ok(r.side[0].n == 8 && r.side[0].mean == 40 && r.side[0].squares == 4,
	    "ranks vary around their own means");
	ok(near(r.side[0].fall, 4. / 3, 1e-12) &&
		near(r.side[0].rise, 4. / 3, 1e-12),
	    "what one sample does to the mean");
	ok(!noise_is_known(&r), "one side only");
	ADD(&r, 1, 3);
	ADD(&r, 1, 4);
	ok(noise_is_known(&r), "one side knows enough for both");
	ADD(&s, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
	ok(s.side[0].independent == 4, "a trend: a third of the steps");
	ok(near(noise_allowance(0.005, 1, 1), 5e-5, 1e-12) &&
		near(noise_allowance(0.005, 1, 5), 3e-5, 1e-12),
	    "allowance for runs");
	r = ROW(.nevents = 1);
	ADD(&r, 0, 1, 2, 3);
	ADD(&r, 1, 1, 2, 3, 4);
	ok(noise_is_of_few(&r), "35 splits of 3 and 4");
	ADD(&r, 0, 1);
	ok(!noise_is_of_few(&r), "70 splits of 4 and 4");
}

static void
test_join(void)
{
	struct noise sum = { 0 }, x = { 3, 4, 10, 0 }, y = { 5, 4, 10, 0 };

	noise_join(&sum, &x);
	ok(sum.diff == 3 && sum.variance == 4 && near(sum.df, 10, 1e-12),
	    "one");
	noise_join(&sum, &y);
	ok(sum.diff == 8 && sum.variance == 8 && near(sum.df, 20, 1e-12),
	    "two alike: twice the freedom");
}

/* ---- draws ---- */

/* Chi-squared of four degrees of freedom. */
static double
chi4(void)
{
	return -2 * log(uniform()) - 2 * log(uniform());
}

/* Rows whose variances vary by chi-squared of 4: the pool finds that. */
static void
test_pool(void)
{
	struct noise_rules rules = { .tick_ns = 1e-9 };

	for (int i = 0; i < 4000; i++) {
		struct noise_row r = ROW(.nevents = 1);
		double sd = 20 * sqrt(4 / chi4());

		for (int s = 0; s < 2; s++)
			ADD(&r, s, 1000 + sd * normal(), 1000 + sd * normal(),
			    1000 + sd * normal());
		noise_pool_add(&rules.pool, &r, &rules);
	}
	noise_pool_end(&rules.pool);
	ok(near(rules.pool.df, 4, 0.15), "degrees of freedom: %g",
	    rules.pool.df);
	ok(near(rules.pool.variance, 4e-4, 0.1), "variance: %g",
	    rules.pool.variance);
}

#define ROWS 60
#define TRIALS 400

/* One in a hundred is much longer. */
static double
drawn(double sd)
{
	return 100 *
	    exp(sd * normal() + (uniform() < 0.01 ? -0.3 * log(uniform()) : 0));
}

/* So many rows become so many times longer; first steps all vary alike. */
struct plan {
	size_t steps;
	double factor;
	int changed;
	bool is_first, is_ratio;
};

/* In how many trials any row is named; found counts changed rows named. */
static int
named(struct plan plan, int *found)
{
	int alarms = 0;

	*found = 0;
	for (int trial = 0; trial < TRIALS; trial++) {
		struct noise_row r[ROWS];
		struct noise x[ROWS];
		struct noise_rules rules = { .tick_ns = 0.04,
			.least_share = 0.01,
			.is_ratio = plan.is_ratio };
		double p[ROWS], limit, warm[2][32];
		bool any = false;

		for (size_t k = 0; k < 2 * plan.steps; k++)
			warm[k % 2][k / 2] =
			    plan.is_first ? 1.5 + uniform() / 2 : 1;
		for (int i = 0; i < ROWS; i++) {
			double sd = 0.003 * exp(uniform() * log(17)), v[32];

			r[i] = ROW(.nevents = 1);
			for (int s = 0; s < 2; s++) {
				for (size_t k = 0; k < plan.steps; k++)
					v[k] = drawn(sd) * warm[s][k] *
					    (s == 1 && i < plan.changed
						    ? plan.factor
						    : 1);
				noise_add(&r[i].side[s], v, plan.steps);
			}
			noise_pool_add(&rules.pool, &r[i], &rules);
		}
		noise_pool_end(&rules.pool);
		if (plan.is_first)
			rules.pool.df =
			    fmin(rules.pool.df, 2 * (double)plan.steps - 2);
		for (int i = 0; i < ROWS; i++) {
			noise_test(&r[i], &rules, &x[i]);
			p[i] = x[i].p;
		}
		limit = noise_limit(
		    p, ROWS, plan.is_first ? NOISE_FIRST : NOISE_ROWS);
		for (int i = 0; i < ROWS; i++) {
			*found += i < plan.changed && x[i].p <= limit;
			any = any || (i >= plan.changed && x[i].p <= limit);
		}
		alarms += any;
	}
	return alarms;
}

static void
test_draws(void)
{
	static const size_t steps[] = { 3, 5, 10, 30 };
	int found, worst = 0, few = TRIALS;

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		int alarms = named((struct plan){ .steps = steps[i] }, &found);

		printf("#: %zu and %zu samples: %.1f %% of trials name a row\n",
		    steps[i], steps[i], 100. * alarms / TRIALS);
		worst = alarms > worst ? alarms : worst;
		(void)named(
		    (struct plan){ steps[i], 1.5, 1, false, false }, &found);
		few = found < few ? found : few;
	}
	ok(worst <= 0.05 * TRIALS, "false alarms: %d of %d at most", worst,
	    TRIALS);
	ok(few >= 0.85 * TRIALS, "half as long again: found in %d of %d", few,
	    TRIALS);
}

/*
 * First steps of 3 and 3 runs, which vary by a tenth. By its difference, an op
 * that becomes ten times longer hides in the variation of the long ones.
 */
static void
test_first(void)
{
	struct plan plan = { .steps = 3, .is_first = true };
	int alarms[2], found[2];

	for (int i = 0; i < 2; i++) {
		plan.is_ratio = i == 1;
		plan.changed = 0;
		alarms[i] = named(plan, &found[i]);
		plan.factor = 10;
		plan.changed = 1;
		(void)named(plan, &found[i]);
	}
	printf("#: first steps: false alarms %d and, by ratio, %d of %d; found "
	       "%d and %d\n",
	    alarms[0], alarms[1], TRIALS, found[0], found[1]);
	ok(alarms[1] <= 0.015 * TRIALS, "first steps: false alarms: %d of %d",
	    alarms[1], TRIALS);
	ok(found[1] >= 0.9 * TRIALS && found[0] <= 0.7 * TRIALS,
	    "first steps: ten times as long: found in %d, by difference in %d",
	    found[1], found[0]);
}

int
main(void)
{
	test_distributions();
	test_row();
	test_ratio();
	test_limit();
	test_cases();
	test_strata();
	test_join();
	test_pool();
	test_draws();
	test_first();
	done_testing();
}
