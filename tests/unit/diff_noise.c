/* SPDX-License-Identifier: MIT */
/*
 * What tl-diff takes for noise: how often samples of one kind are taken for a
 * difference, and how often one of a known size is found.
 */
/* NOLINTNEXTLINE(bugprone-suspicious-include): a program's part */
#include "cmd/tl-diff/noise.c"

#include "tests/unit/tap.h"

#define TRIALS 4000

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

/* Never faster than it can be, now and then much slower. */
static double
skewed(void)
{
	return exp(0.5 * normal());
}

/* One in twenty is far off. */
static double
disturbed(void)
{
	return normal() + (uniform() < 0.05 ? 30 : 0);
}

static void
fill(struct noise_side *s, size_t n, double (*draw)(void), double shift)
{
	noise_start(s);
	for (size_t i = 0; i < n; i++)
		noise_add(s, draw() + shift);
	noise_close(s, n);
}

static double
mean_of(const struct noise_side *s)
{
	double sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += s->values.v[i];
	return sum / (double)s->n;
}

/* How often a shift is taken for a difference, in percent; by means alone. */
static double
found(double (*draw)(void), size_t n, size_t m, double shift, double *by_means)
{
	struct noise_side side[NSIDES] = { { .n = 0 }, { .n = 0 } };
	size_t yes = 0, means = 0;

	for (size_t i = 0; i < TRIALS; i++) {
		double diff;

		fill(&side[0], n, draw, 0);
		fill(&side[1], m, draw, shift);
		diff = mean_of(&side[1]) - mean_of(&side[0]);
		yes += noise_is_beyond(side, diff, NOISE_LEVEL);
		means += fabs(diff) > noise_spread(side);
	}
	noise_free(&side[0]);
	noise_free(&side[1]);
	if (by_means != NULL)
		*by_means = 100 * (double)means / TRIALS;
	return 100 * (double)yes / TRIALS;
}

static void
test_false_alarms(void)
{
	static const struct {
		const char *name;
		double (*draw)(void);
	} kinds[] = { { "even", uniform }, { "normal", normal },
		{ "skewed", skewed }, { "disturbed", disturbed } };
	static const size_t sizes[][2] = { { 1, 5 }, { 2, 2 }, { 3, 3 },
		{ 3, 10 }, { 5, 5 }, { 10, 10 }, { 30, 30 } };
	double worst = 0;

	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		printf("#: false alarms, %s:", kinds[k].name);
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
			double rate = found(
			    kinds[k].draw, sizes[i][0], sizes[i][1], 0, NULL);

			printf(
			    " %zu:%zu %.1f %%", sizes[i][0], sizes[i][1], rate);
			worst = rate > worst ? rate : worst;
		}
		printf("\n");
	}
	ok(worst < 8, "false alarms: %.1f %% at most", worst);
}

static void
test_detection(void)
{
	static const size_t sizes[] = { 2, 3, 5, 10 };
	double both, means;

	for (int shift = 1; shift <= 5; shift++) {
		printf("#: found, %d deviations:", shift);
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
			printf(" %zu:%zu %.0f %%", sizes[i], sizes[i],
			    found(normal, sizes[i], sizes[i], shift, NULL));
		both = found(disturbed, 10, 10, shift, &means);
		printf(", 10:10 disturbed %.0f %% (means alone %.0f %%)\n",
		    both, means);
	}
	ok(found(normal, 3, 3, 5, NULL) > 97, "five deviations, of three");
	ok(found(normal, 5, 5, 3, NULL) > 97, "three deviations, of five");
	ok(found(normal, 10, 10, 2, NULL) > 97, "two deviations, of ten");
	both = found(disturbed, 10, 10, 3, &means);
	ok(both > 75 && means < 60,
	    "what is far off hides less: %.0f %%, not %.0f %%", both, means);
}

static void
test_known(void)
{
	static const size_t df[] = { 1, 2, 3, 4, 5, 10, 29, 30, 200 };
	double worst = 0, ratio;
	uint64_t rank[40];
	size_t n;

	for (size_t i = 0; i < sizeof df / sizeof *df; i++)
		worst = fmax(worst,
		    fabs(
			student_chance(student_quantile(df[i]), df[i]) - 0.05));
	ok(worst < 2e-4, "quantiles have their chance: %g", worst);
	ok(fabs(student_chance(3.169, 10) - 0.01) < 1e-5, "1 %% of t");
	for (n = 0; n < 40; n++)
		rank[n] = 2 * n + 2;
	ok(fabs(count_sums(rank, 10, 5, 30) - 2.0 / 252) < 1e-12,
	    "five below five: 2 of 252");
	ok(count_sums(rank, 6, 3, 12) == 0.1, "three below three: 2 of 20");
	ratio =
	    count_sums(rank, 24, 12, 216) / estimate_sums(rank, 24, 12, 216);
	ok(ratio > 0.8 && ratio <= 1, "the estimate errs to the safe side: %g",
	    ratio);
	ok(noise_level_of(1) == 0.05, "one row");
	ok(fabs(1 - pow(1 - noise_level_of(60), 60) - 0.05) < 1e-12,
	    "sixty rows keep the level together");
}

/* Values of side one, of side two; whether it is beyond chance. */
static bool
beyond(const char *one, const char *two)
{
	const char *text[NSIDES] = { one, two };
	struct noise_side side[NSIDES] = { { .n = 0 }, { .n = 0 } };
	bool is;

	for (int s = 0; s < NSIDES; s++) {
		size_t n = 0;

		noise_start(&side[s]);
		for (const char *p = text[s]; *p != '\0'; n++) {
			char *end;

			noise_add(&side[s], strtod(p, &end));
			p = end + (*end == ' ');
		}
		noise_close(&side[s], n);
	}
	is = noise_is_beyond(
	    side, mean_of(&side[1]) - mean_of(&side[0]), NOISE_LEVEL);
	noise_free(&side[0]);
	noise_free(&side[1]);
	return is;
}

static void
test_cases(void)
{
	ok(!beyond("5 5 5", "5 5 8"), "one slow step of three");
	ok(beyond("5 5 5", "8 8 8"), "all slow");
	ok(beyond("5 5.1 4.9", "6 6.1 5.9"), "all somewhat slower");
	ok(!beyond("5 6 4", "6 5 7"), "steps that vary");
	ok(!beyond("5", "6"), "nothing is known of one and one");
	ok(beyond("5", "6 6.1 5.9 6"), "one and four");
	ok(beyond("5 5.1 5.2 5.3 5.4 5.5", "6 6.1 6.2 6.3 6.4 60"),
	    "one far off, and the others slower");
	ok(!beyond("5 5.1 5.2 5.3 5.4 60", "6 6.1 6.2 6.3 6.4 6.5"),
	    "ranks that contradict the means");
	ok(!beyond("5 5 5 5", "5 5 5 5"), "no difference");
	ok(beyond("0 0 0 0", "1 1 1 1"), "nothing before");
}

int
main(void)
{
	test_known();
	test_cases();
	test_false_alarms();
	test_detection();
	done_testing();
}
