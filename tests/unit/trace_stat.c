/* SPDX-License-Identifier: MIT */
/* trace/stat.c: figures worked out by hand. */
#include <math.h>

#include "tests/unit/tap.h"
#include "trace/trace.h"

static bool
near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fabs(b);
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
	done_testing();
}
