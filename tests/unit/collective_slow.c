/* SPDX-License-Identifier: MIT */
/* tl-collective's episodes: series worked out by hand. */
#include <math.h>

#include "cmd/tl-collective/slow.h"
#include "tests/unit/tap.h"

static struct slowness s;

/* n of ns after the existing ones. */
static size_t
put(int64_t *v, size_t at, size_t n, int64_t ns)
{
	while (n-- > 0)
		v[at++] = ns;
	return at;
}

static void
find(const int64_t *v, size_t n)
{
	slow_find(&s, v, n, NAN);
}

static void
worked_example(void)
{
	int64_t v[16];
	size_t n = put(v, put(v, put(v, 0, 6, 100), 4, 400), 6, 100);

	find(v, n);
	is_int((int64_t)s.runs.n, 1, "six, four slow, six: an episode");
	is_int((int64_t)s.runs.v[0].n, 4, "of four");
	ok(!s.runs.v[0].is_scattered, "not scattered");
	ok(s.runs.v[0].first == 6 && s.runs.v[0].last == 9, "where");
	ok(fabs(s.runs.v[0].excess_ns - 1200) < 1e-6 && s.total_ns == 2800,
	    "1,200 of 2,800 are excess");
	ok(fabs(s.runs.v[0].ns / (4 * s.usual_ns) - 4) < 1e-9, "4x");
	ok(s.run_of.v[5] == 0 && s.run_of.v[6] == 1 && s.run_of.v[9] == 1 &&
		s.run_of.v[10] == 0,
	    "which are in it");
}

static void
limits(void)
{
	int64_t v[100];
	size_t n;

	n = put(v, put(v, put(v, 0, 6, 100), 3, 400), 6, 100);
	find(v, n);
	is_int((int64_t)s.runs.n, 0, "three are no episode");
	n = put(v, put(v, put(v, 0, 6, 100), 4, 149), 6, 100);
	find(v, n);
	is_int((int64_t)s.runs.n, 0, "1.49x is not slow");
	n = put(v, put(v, 0, 3, 100), 4, 400);
	find(v, n);
	is_int((int64_t)s.runs.n, 0, "seven are no series");
	/* 4 slow of 90 at 2.2x are 4.8 of 94.8: 5.06 %; at 2.1x 4.66 % */
	n = put(v, put(v, 0, 43, 100), 4, 220);
	n = put(v, n, 43, 100);
	find(v, n);
	is_int((int64_t)s.runs.n, 1, "5.06 %% of the time");
	n = put(v, put(v, 0, 43, 100), 4, 210);
	n = put(v, n, 43, 100);
	find(v, n);
	is_int((int64_t)s.runs.n, 0, "4.66 %% of the time");
	(void)put(v, 0, 20, 0);
	find(v, 20);
	is_int((int64_t)s.runs.n, 0, "of no length");
}

/* Two others between slow ones do not split an episode, three do. */
static void
gaps(void)
{
	int64_t v[40];

	(void)put(v, 0, 40, 100);
	v[10] = v[11] = v[14] = v[15] = 400;
	find(v, 40);
	is_int((int64_t)s.runs.n, 1, "a gap of two, four of six slow");
	(void)put(v, 0, 40, 100);
	v[10] = v[11] = v[15] = v[16] = 400;
	find(v, 40);
	is_int((int64_t)s.runs.n, 0, "a gap of three");
	(void)put(v, 0, 40, 100);
	v[10] = v[12] = v[14] = v[17] = 400;
	find(v, 40);
	is_int((int64_t)s.runs.n, 0, "four of eight are too thin");
}

static void
scattered(void)
{
	int64_t v[50];

	(void)put(v, 0, 50, 100);
	for (size_t i = 0; i < 5; i++)
		v[10 * i] = 400;
	find(v, 50);
	is_int((int64_t)s.runs.n, 1, "five of fifty, far apart");
	ok(s.runs.v[0].is_scattered && s.runs.v[0].n == 5, "scattered");
	v[40] = 100;
	find(v, 50);
	is_int((int64_t)s.runs.n, 0, "four are not");
	/* an episode and five more */
	(void)put(v, put(v, 0, 5, 400), 45, 100);
	for (size_t i = 1; i < 6; i++)
		v[8 * i] = 400;
	find(v, 50);
	is_int((int64_t)s.runs.n, 2, "beside an episode");
	ok(!s.runs.v[0].is_scattered && s.runs.v[1].is_scattered &&
		s.runs.v[1].n == 5 && s.run_of.v[0] == 1 && s.run_of.v[8] == 2,
	    "each in one");
}

/* The faster half sets the limit, however much the slower half scatters. */
static void
scatter(void)
{
	int64_t v[40];

	for (size_t i = 0; i < 40; i++)
		v[i] = 100 + 40 * ((int64_t)(i * 7 % 20) - 10) / 10;
	for (size_t i = 20; i < 26; i++)
		v[i] = 200;
	find(v, 40);
	is_int((int64_t)s.runs.n, 0, "2x is no more than they scatter");
	for (size_t i = 20; i < 26; i++)
		v[i] = 900;
	find(v, 40);
	is_int((int64_t)s.runs.n, 1, "9x is");
}

static void
of_others(void)
{
	int64_t v[40];

	(void)put(v, put(v, 0, 24, 400), 16, 100);
	find(v, 40);
	is_int((int64_t)s.runs.n, 0, "most are slow: usual by itself");
	slow_find(&s, v, 40, 100);
	ok(s.runs.n == 1 && s.runs.v[0].n == 24, "but not beside others");
	(void)put(v, put(v, 0, 35, 400), 5, 100);
	slow_find(&s, v, 40, 100);
	is_int((int64_t)s.runs.n, 0, "slow nearly always: the network's share");
}

int
main(void)
{
	worked_example();
	limits();
	gaps();
	scattered();
	scatter();
	of_others();
	slow_free(&s);
	done_testing();
}
