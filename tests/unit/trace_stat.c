/* SPDX-License-Identifier: MIT */
/* trace/stat.c: figures worked out by hand. */
#include <math.h>

#include "tests/unit/tap.h"
#include "trace/stat.h"

static bool
near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fabs(b);
}

static uint64_t
bits_of(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

/* Rounding means: as a text of two decimals reads back. */
static bool
is_rounded(double x)
{
	char text[400];
	double got = stat_round2(x), want;
	int n = snprintf(text, sizeof text, "%.2f", x);

	return num_double((struct str){ text, (size_t)n }, &want) &&
	    bits_of(got) == bits_of(want);
}

static void
rounded(void)
{
	/* just at a half, or a bit below it, though it looks like one */
	static const double edges[] = { 0, -0.0, 0.005, 0.015, 0.125, 0.375,
		1.005, 2.675, -1.25, -0.001, 9999999.995, 1e9, 1e15 + 0.5,
		1e300, 4e-320 };
	uint64_t nwrong = 0;

	for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
		ok(is_rounded(edges[i]), "two decimals of %g", edges[i]);
	for (uint64_t i = 0; i < 200000; i++) {
		uint64_t h = tap_drawn(i);

		nwrong += !is_rounded((double)(h % 2000000) / 1000);
		nwrong += !is_rounded((double)(h >> 20) / (double)(1 + i));
	}
	is_int((int64_t)nwrong, 0, "two decimals of anything");
}

/* Sets of all sizes around the limits of runs, compared with their ends. */
static void
sorted(void)
{
	static int64_t v[300];
	static double real[300];
	uint64_t nwrong = 0;

	for (size_t n = 1; n <= 300; n++) {
		struct stats s;
		struct stat_real r;

		for (size_t i = 0; i < n; i++) {
			v[i] = (int64_t)(tap_drawn(n * 1000 + i) % 97) - 48;
			real[i] = (double)v[i] / 3;
		}
		stat_of(&s, v, n);
		stat_of_reals(&r, real, n);
		for (size_t i = 1; i < n; i++)
			nwrong += v[i - 1] > v[i] || real[i - 1] > real[i];
		nwrong += s.min != v[0] || r.max != (double)s.max / 3;
		nwrong += !near(r.median, s.median / 3) && s.median != 0;
	}
	is_uint(nwrong, 0, "sets of all sizes come into order");
}

int
main(void)
{
	int64_t odd[] = { 7, 1, 4 }, even[] = { 4, 1, 2, 9 }, one[] = { 5 };
	int64_t big[] = { INT64_C(1) << 61, (INT64_C(1) << 61) + 2 };
	double reals[] = { 0.5, NAN, 1.5, 0.25 };
	struct stats s;
	struct stat_real r;

	stat_of(&s, odd, 3);
	is_int(s.sum, 12, "sum");
	is_int(s.min, 1, "min");
	is_int(s.max, 7, "max");
	ok(s.mean == 4 && s.median == 4, "mean and median of 1 4 7");
	ok(s.std == 3, "sample deviation of 1 4 7");
	ok(near(s.std_all, sqrt(6)), "deviation of 1 4 7 as all there are");
	stat_of(&s, even, 4);
	ok(s.mean == 4 && s.median == 3, "mean and median of 1 2 4 9");
	ok(stat_quantile(even, 4, 0.5) == 3, "the median is a quantile");
	ok(stat_quantile(even, 4, 0.75) == 5.25, "a quarter of the way");
	ok(stat_quantile(even, 4, 0) == 1 && stat_quantile(even, 4, 1) == 9,
	    "the ends are quantiles");
	/* at 2.85 and 2.97 of 0 to 3, between 4 and 9 */
	ok(near(s.p95, 8.25) && near(s.p99, 8.85), "p95 and p99 of 1 2 4 9");
	stat_of(&s, one, 1);
	ok(isnan(s.std) && s.std_all == 0, "one has no sample deviation");
	stat_of(&s, one, 0);
	ok(s.n == 0 && isnan(s.mean) && isnan(s.median), "none has no mean");
	ok(isnan(stat_quantile(one, 0, 0.5)), "none has no quantile");
	stat_of(&s, big, 2);
	is_int(s.sum, (INT64_C(1) << 62) + 2, "an exact sum beyond 2^53");
	ok(s.std_all == 1, "deviations far from 0");
	stat_of_reals(&r, reals, 4);
	ok(r.n == 3 && r.sum == 2.25 && r.median == 0.5, "NANs don't count");
	ok(r.min == 0.25 && r.max == 1.5 && r.mean == 0.75, "reals");
	rounded();
	sorted();
	done_testing();
}
