/* SPDX-License-Identifier: MIT */
/* trace/span.c: examples, and sets of bits as the oracle. */
#include "tests/unit/tap.h"
#include "trace/span.h"

#define WORLD 64 /* times of the random sets: 0 .. WORLD - 1 */
#define ROUNDS 4000

static uint64_t seed = 1;

static unsigned
rnd(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

/* "10-20 30-40", in the given order. */
static struct spans
spans_of(const char *text)
{
	struct spans s = { 0 };
	int64_t start, end;
	int used;

	while (sscanf(text, " %" SCNd64 "-%" SCNd64 "%n", &start, &end,
		   &used) == 2) {
		spans_add(&s, start, end);
		text += used;
	}
	spans_normalise(&s);
	return s;
}

static const char *
text_of(const struct spans *s)
{
	static struct buf b;

	b.len = 0;
	for (size_t i = 0; i < s->n; i++)
		buf_printf(&b, "%s%" PRId64 "-%" PRId64, i > 0 ? " " : "",
		    s->v[i].start, s->v[i].end);
	buf_putc(&b, '\0');
	return b.p;
}

typedef void set_fn(
    struct spans *out, const struct spans *a, const struct spans *b);

static void
check(set_fn *fn, const char *a, const char *b, const char *want)
{
	struct spans x = spans_of(a), y = spans_of(b), out = { 0 };

	fn(&out, &x, &y);
	is_str(text_of(&out), want, "{%s} and {%s}", a, b);
	spans_free(&x);
	spans_free(&y);
	spans_free(&out);
}

static void
normalises(const char *text, const char *want)
{
	struct spans s = spans_of(text);

	is_str(text_of(&s), want, "normalise {%s}", text);
	spans_free(&s);
}

static void
test_normalise(void)
{
	normalises("", "");
	normalises("5-9 1-3 3-4 8-12", "1-4 5-12");
	normalises("1-2 2-3 3-4", "1-4");
	normalises("1-10 2-3", "1-10");
	normalises("2-3 1-10", "1-10");
	normalises("5-5", "5-5");
	normalises("7-7 1-2 5-9 2-2", "1-2 5-9");
	normalises("4-4 1-2 6-9", "1-2 4-4 6-9");
	normalises("5-5 5-9", "5-9");
	normalises("-9--3 -3-4", "-9-4");
}

/* The checks that the specification names, and others near them. */
static void
test_subtract(void)
{
	check(spans_subtract, "10-20", "15-16", "10-15 16-20");
	check(spans_subtract, "10-20", "15-16 16-18", "10-15 18-20");
	check(spans_subtract, "10-20", "9-12", "12-20");
	check(spans_subtract, "10-20", "15-22", "10-15");
	check(spans_subtract, "10-20 30-40", "15-35", "10-15 35-40");
	check(spans_subtract, "10-20", "0-30", "");
	check(spans_subtract, "10-20", "15-17 16-18", "10-15 18-20");
	check(spans_subtract, "10-20", "", "10-20");
	check(spans_subtract, "", "10-20", "");
	check(spans_subtract, "10-20", "20-30", "10-20");
	check(spans_subtract, "10-20", "0-10", "10-20");
	check(spans_subtract, "10-20", "10-20", "");
	check(spans_subtract, "10-20", "15-15", "10-20");
	check(spans_subtract, "10-10 12-13", "5-6", "12-13");
	check(spans_subtract, "0-10 20-30 40-50", "5-45", "0-5 45-50");
}

static void
test_others(void)
{
	struct spans s = spans_of("10-20 30-40");

	check(spans_union, "10-20", "20-30", "10-30");
	check(spans_union, "10-20 40-50", "15-45", "10-50");
	check(spans_union, "10-20", "30-30", "10-20 30-30");
	check(spans_union, "", "", "");
	check(spans_intersect, "10-20 30-40", "15-35", "15-20 30-35");
	check(spans_intersect, "10-20", "20-30", "");
	check(spans_intersect, "10-20", "15-15", "");
	is_int(spans_total(&s), 20, "total");
	ok(!spans_hold(&s, 9) && spans_hold(&s, 10) && spans_hold(&s, 19) &&
		!spans_hold(&s, 20) && spans_hold(&s, 30) &&
		!spans_hold(&s, 40),
	    "half-open");
	spans_free(&s);
}

/* ---- against sets of bits ---- */

static uint64_t
bits_of(const struct spans *s)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < s->n; i++)
		for (int64_t t = s->v[i].start; t < s->v[i].end; t++)
			bits |= UINT64_C(1) << t;
	return bits;
}

static int
count(uint64_t bits)
{
	return __builtin_popcountll(bits);
}

static bool
is_normal(const struct spans *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i].start > s->v[i].end)
			return false;
		if (i > 0 && s->v[i - 1].end >= s->v[i].start)
			return false;
	}
	return true;
}

static struct spans
random_spans(uint64_t *bits, unsigned n)
{
	struct spans s = { 0 };

	*bits = 0;
	for (unsigned i = 0; i < n; i++) {
		unsigned start = rnd(WORLD), len = rnd(9);

		if (start + len > WORLD)
			len = WORLD - start;
		spans_add(&s, start, start + len);
		for (unsigned t = start; t < start + len; t++)
			*bits |= UINT64_C(1) << t;
	}
	spans_normalise(&s);
	return s;
}

static bool
agrees(const struct spans *s, uint64_t bits)
{
	return is_normal(s) && bits_of(s) == bits &&
	    spans_total(s) == count(bits);
}

static bool
round_agrees(void)
{
	uint64_t x, y;
	struct spans a = random_spans(&x, rnd(12)), out = { 0 };
	struct spans b = random_spans(&y, rnd(12));
	bool good = agrees(&a, x) && agrees(&b, y);

	spans_union(&out, &a, &b);
	good = good && agrees(&out, x | y);
	spans_subtract(&out, &a, &b);
	good = good && agrees(&out, x & ~y);
	spans_intersect(&out, &a, &b);
	good = good && agrees(&out, x & y);
	for (int64_t t = 0; t < WORLD && good; t++)
		good = spans_hold(&a, t) == ((x >> t & 1) != 0) &&
		    spans_between(&a, t, WORLD) == count(x >> t) &&
		    spans_between(&a, -1, t) == count(x & ~(~UINT64_C(0) << t));
	if (!good)
		diag("a {%s}", text_of(&a));
	if (!good)
		diag("b {%s}", text_of(&b));
	spans_free(&a);
	spans_free(&b);
	spans_free(&out);
	return good;
}

/* ---- many ---- */

static int
by_start(const void *x, const void *y)
{
	const struct span *a = x, *b = y;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* The radix sort, with starts that differ in the bits of mask. */
static void
test_sort(uint64_t mask, const char *what)
{
	enum { N = 5000 };
	struct spans s = { 0 };
	struct span *v = xcalloc(N, sizeof *v);
	size_t n = 0;
	bool same;

	for (size_t i = 0; i < N; i++) {
		uint64_t x = ((uint64_t)rnd(1u << 31) << 40) ^
		    ((uint64_t)rnd(1u << 31) << 20) ^ rnd(1u << 31);

		v[i].start = (int64_t)(x & mask);
		v[i].end = v[i].start + (int64_t)rnd(3);
		spans_add(&s, v[i].start, v[i].end);
	}
	spans_normalise(&s);
	qsort(v, N, sizeof *v, by_start);
	for (size_t i = 1; i < N; i++) {
		if (v[i].start > v[n].end)
			v[++n] = v[i];
		else if (v[i].end > v[n].end)
			v[n].end = v[i].end;
	}
	same = s.n == n + 1 && memcmp(s.v, v, s.n * sizeof *v) == 0;
	ok(same, "sorted: %s", what);
	vec_release(v);
	spans_free(&s);
}

int
main(void)
{
	unsigned i;
	struct spans s = { 0 };

	test_normalise();
	test_subtract();
	test_others();
	for (i = 0; i < ROUNDS && round_agrees(); i++)
		;
	is_uint(i, ROUNDS, "as sets of bits say");
	test_sort(UINT64_C(0xfff), "near one another");
	test_sort(UINT64_C(0x3fffffff), "a second");
	test_sort(INT64_MAX - 2, "all of the range");
	test_sort(UINT64_C(0xffff) << 40, "only high bits");
	spans_add(&s, INT64_MAX - 1, INT64_MAX);
	for (i = 0; i < 100; i++)
		spans_add(&s, INT64_MIN + 4 * (int64_t)(99 - i),
		    INT64_MIN + 4 * (int64_t)(99 - i) + 1);
	spans_normalise(&s);
	ok(s.n == 101 && s.v[0].start == INT64_MIN && spans_total(&s) == 101,
	    "from one end of the range to the other");
	spans_free(&s);
	done_testing();
}
