/* SPDX-License-Identifier: MIT */
/* base/num.c, double.c and time.c: text to numbers and back, exactly */
#include <math.h>

#include "base/base.h"
#include "tests/unit/tap.h"

static void
integers(void)
{
	static const char *const bad[] = { "", "-", "+1", " 1", "1 ", "1.0",
		"0x1", "9223372036854775808", "-9223372036854775809", "1e3" };
	static const int64_t good[] = { 0, 9, 10, 99, 100, -1, -100, 1234567,
		INT64_MAX, INT64_MIN };
	char text[32];
	int64_t v = 7;
	uint64_t u;
	size_t i, n;

	for (i = 0; i < sizeof bad / sizeof bad[0]; i++)
		ok(!num_i64(str_of(bad[i]), &v), "'%s' is none", bad[i]);
	is_int(v, 7, "and nothing is stored");
	for (i = 0; i < sizeof good / sizeof good[0]; i++) {
		n = num_put_i64(text, good[i]);
		ok(num_i64((struct str){ text, n }, &v) && v == good[i],
		    "%" PRId64 " and back", good[i]);
	}
	n = num_put_u64(text, UINT64_MAX);
	is_mem(text, n, "18446744073709551615", 20, "the largest");
	ok(num_u64((struct str){ text, n }, &u) && u == UINT64_MAX, "read");
	ok(!num_u64(STR("18446744073709551616"), &u), "one more is too much");
	ok(!num_u64(STR("-1"), &u), "no sign");
	ok(num_i64(STR("007"), &v) && v == 7, "leading zeros");
	ok(num_add(INT64_MAX - 1, 1, &v) && v == INT64_MAX, "a sum that fits");
	ok(!num_add(INT64_MAX, 1, &v), "a sum that does not");
	ok(!num_add(INT64_MIN, -1, &v), "nor below");
}

static void
decimals(void)
{
	static const struct {
		struct dec d;
		const char *text;
	} t[] = {
		{ { 0, 0 }, "0" },
		{ { 50, -3 }, "0.050" },
		{ { -50, -3 }, "-0.050" },
		{ { 12345, -2 }, "123.45" },
		{ { 100, -2 }, "1.00" },
		{ { 0, -1 }, "0.0" },
		{ { 7, 12 }, "7e12" },
		{ { INT64_MIN, 0 }, "-9223372036854775808" },
		{ { INT64_MIN, -19 }, "-0.9223372036854775808" },
	};
	char text[NUM_DEC_MAX];
	size_t i, n;

	for (i = 0; i < sizeof t / sizeof t[0]; i++) {
		n = num_put_dec(text, t[i].d);
		is_mem(text, n, t[i].text, strlen(t[i].text), "%s", t[i].text);
	}
	n = num_put_dec(text, (struct dec){ INT64_MIN, -400 });
	_Static_assert(403 <= NUM_DEC_MAX, "room for 400 decimals");
	ok(n == 403, "400 decimals");
}

static void
scale(void)
{
	static const struct {
		struct dec d;
		int shift;
		bool fits, exact;
		int64_t v;
	} t[] = {
		{ { 15, -1 }, 0, true, false, 2 },
		{ { -15, -1 }, 0, true, false, -2 },
		{ { 25, -1 }, 0, true, false, 3 },
		{ { 14999, -4 }, 0, true, false, 1 },
		{ { 1234567, -3 }, 3, true, true, 1234567 },
		{ { 1234567, -3 }, 6, true, true, 1234567000 },
		{ { 1234567, -6 }, 3, true, false, 1235 },
		{ { 5, -1 }, -18, true, false, 0 },
		{ { INT64_MAX, -19 }, 0, true, false, 1 },
		{ { INT64_MAX, -20 }, 0, true, false, 0 },
		{ { INT64_MIN, 0 }, 0, true, true, INT64_MIN },
		{ { INT64_MIN, 1 }, -1, true, true, INT64_MIN },
		{ { INT64_MIN, -1 }, 0, true, false, -922337203685477581 },
		{ { 9, 18 }, 0, true, true, 9000000000000000000 },
		{ { 10, 18 }, 0, false, true, 0 },
		{ { 1, 19 }, 0, false, true, 0 },
		{ { -1, 400 }, 1000, false, true, 0 },
		{ { 0, 400 }, 2147483647, true, true, 0 },
		{ { 1, 400 }, 2147483647, false, true, 0 },
		{ { 1, -400 }, -2147483647 - 1, true, false, 0 },
		{ { 1, -400 }, 400, true, true, 1 },
	};
	size_t i;

	for (i = 0; i < sizeof t / sizeof t[0]; i++) {
		int64_t v = 0;
		bool exact,
		    fits = num_dec_scale(t[i].d, t[i].shift, &v, &exact);

		ok(fits == t[i].fits && (!fits || exact == t[i].exact),
		    "%" PRId64 "e%d x 10^%d", t[i].d.mant, t[i].d.exp10,
		    t[i].shift);
		is_int(v, t[i].v, "its value");
	}
}

/* The texts are Python's. */
static void
doubles(void)
{
	static const struct {
		double v;
		const char *text;
	} t[] = {
		{ 0, "0.0" },
		{ -0.0, "-0.0" },
		{ 5, "5.0" },
		{ 0.1, "0.1" },
		{ -2.5, "-2.5" },
		{ 0.30000000000000004, "0.30000000000000004" },
		{ 1e-4, "0.0001" },
		{ 1e-5, "1e-05" },
		{ 1e-7, "1e-07" },
		{ 1.5e-9, "1.5e-09" },
		{ 1e15, "1000000000000000.0" },
		{ 1e16, "1e+16" },
		{ 0x1p53, "9007199254740992.0" },
		{ 1234567890123456.7, "1234567890123456.8" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 2.0 / 3, "0.6666666666666666" },
		{ 5e-324, "5e-324" },
		{ 2.2250738585072014e-308, "2.2250738585072014e-308" },
		{ 1.7976931348623157e308, "1.7976931348623157e+308" },
		{ 0x1p-44, "5.684341886080802e-14" }, /* not the nearest 16 */
		{ 0x1p-1074 * 3, "1.5e-323" },
		{ 1e22, "1e+22" },
		{ 1e23, "1e+23" },
		{ 9007199254740993e0 * 3, "2.7021597764222976e+16" },
		{ 0x1p-1022, "2.2250738585072014e-308" },
		{ 0x1p1023, "8.98846567431158e+307" },
		{ 123456.75, "123456.75" },
		{ INFINITY, "inf" },
		{ -INFINITY, "-inf" },
		{ NAN, "nan" },
	};
	char text[NUM_DOUBLE_MAX];
	size_t i, n;

	for (i = 0; i < sizeof t / sizeof t[0]; i++) {
		n = num_put_double(text, t[i].v);
		is_mem(text, n, t[i].text, strlen(t[i].text), "%s", t[i].text);
	}
}

/* The fewest digits that read back, found by trying; text: v with so many. */
static int
digits_needed(double v, char text[40])
{
	int n = 1;

	while (snprintf(text, 40, "%.*e", n - 1, v), strtod(text, NULL) != v)
		n++;
	return n;
}

/* Whether two texts with a point have the same digits and value. */
static bool
is_same(const char *a, size_t n, const char *b)
{
	char text[NUM_DOUBLE_MAX + 1], digits[2][40] = { { 0 } };
	const char *from[] = { text, b };

	memcpy(text, a, n);
	text[n] = '\0';
	for (int i = 0; i < 2; i++) {
		size_t len = 0;

		for (const char *p = from[i]; *p != '\0' && *p != 'e'; p++)
			if (*p >= (len == 0 ? '1' : '0') && *p <= '9')
				digits[i][len++] = *p;
		while (len > 0 && digits[i][len - 1] == '0')
			digits[i][--len] = '\0';
	}
	return strcmp(digits[0], digits[1]) == 0 &&
	    strtod(text, NULL) == strtod(b, NULL);
}

static int
digits_in(const char *text, size_t n)
{
	int count = 0, zeros = 0;
	size_t i;

	for (i = 0; i < n && text[i] != 'e'; i++) {
		if (text[i] < '0' || text[i] > '9')
			continue;
		if (text[i] == '0' && count == 0)
			continue;
		zeros = text[i] == '0' ? zeros + 1 : 0;
		count++;
	}
	return count - zeros;
}

static double
random_double(uint64_t *seed)
{
	uint64_t bits = tap_drawn((*seed)++), form = bits % 4;
	double v;

	if (form == 0)
		return (double)(int64_t)(bits >> (1 + bits / 4 % 60));
	if (form == 1)
		return (double)(bits >> 40) / 1000;
	memcpy(&v, &bits, sizeof v);
	return v;
}

static void
round_trip(void)
{
	uint64_t seed = 1;
	char text[NUM_DOUBLE_MAX], tried[40];
	int i;

	for (i = 0; i < 20000; i++) {
		double v = random_double(&seed), back;
		size_t n;
		int least;

		if (!isfinite(v) || v == 0)
			continue;
		n = num_put_double(text, v);
		least = digits_needed(v, tried);
		/* fewer digits than of the nearest text, or the nearest */
		if (n <= NUM_DOUBLE_MAX &&
		    num_double((struct str){ text, n }, &back) && back == v &&
		    (digits_in(text, n) < least || is_same(text, n, tried)))
			continue;
		diag("%a gave %.*s", v, (int)n, text);
		break;
	}
	is_int(i, 20000, "shortest text, and back");
}

/* Texts that no double prints, and those just between two doubles. */
static void
read_as_strtod(void)
{
	uint64_t seed = 1000000;
	char text[80];
	int i;

	for (i = 0; i < 20000; i++) {
		uint64_t a = tap_drawn(seed++), b = tap_drawn(seed++);
		double v = random_double(&seed), want, got = 0;
		bool fits;

		if (i % 2 == 0 || !isfinite(v))
			snprintf(text, sizeof text,
			    "%" PRIu64 ".%" PRIu64 "e%d", a >> a % 64,
			    b >> b % 64, (int)(b % 800) - 400);
		else
			snprintf(text, sizeof text, "%.*Le", (int)(a % 25),
			    ((long double)v +
				(long double)nextafter(v, INFINITY)) /
				2);
		want = strtod(text, NULL);
		fits = num_double(str_of(text), &got);
		if (fits == (isfinite(want) != 0) && (!fits || got == want))
			continue;
		diag("%s gave %a, not %a", text, got, want);
		break;
	}
	is_int(i, 20000, "the nearest double, as strtod() finds it");
}

static void
read_double(void)
{
	static const char *const bad[] = { "", "-", ".", "nan", "inf", "0x1p3",
		" 1", "1 ", "1e", "1e+", "1,5", "1e400", "-1e400", "1.2.3" };
	static const char *const good[] = { "1", "-1.5", "+2", ".5", "1.",
		"1e3", "1E-3", "1e-400" };
	char zeros[300];
	double v = 7;
	size_t i;

	for (i = 0; i < sizeof bad / sizeof bad[0]; i++)
		ok(!num_double(str_of(bad[i]), &v), "'%s' is none", bad[i]);
	ok(v == 7, "and nothing is stored");
	for (i = 0; i < sizeof good / sizeof good[0]; i++)
		ok(num_double(str_of(good[i]), &v) &&
			v == strtod(good[i], NULL),
		    "'%s'", good[i]);
	memset(zeros, '0', sizeof zeros);
	zeros[299] = '3';
	ok(num_double((struct str){ zeros, 300 }, &v) && v == 3, "a long one");
	ok(num_double((struct str){ "123", 2 }, &v) && v == 12,
	    "needs no NUL behind");
}

static void
times(void)
{
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = {
		{ "0", 0 },
		{ "900ns", 900 },
		{ "2us", 2000 },
		{ "2\xc2\xb5s", 2000 },
		{ "2\xce\xbcs", 2000 },
		{ "3ms", 3000000 },
		{ "4s", 4000000000 },
		{ "5min", 300000000000 },
		{ "1h", 3600000000000 },
		{ "1.5us", 1500 },
		{ "1.500us", 1500 },
		{ "0.001us", 1 },
		{ "000.0010us", 1 },
		{ ".5s", 500000000 },
		{ "1.0ns", 1 },
		{ "-3ms", -3000000 },
		{ "0.05min", 3000000000 },
		{ "1.00000000000000000000000000000s", 1000000000 },
		{ "9223372036854775807ns", INT64_MAX },
		{ "2562047h", 2562047 * INT64_C(3600000000000) },
	};
	static const char *const bad[] = { "", "1", "0.0", "1.5", "s", "-",
		".s", "1.0005us", "0.1ns", "1 s", " 1s", "1S", "1sec", "1e3s",
		"+1s", "--1s", "1.2.3s", "9223372036854775808ns", "2562048h",
		"99999999999999999999s", "0.0000000000000000000000001s",
		"1us2ns", "nan", "1m" };
	static const struct {
		int64_t ns;
		const char *text;
	} put[] = {
		{ 0, "0ns" },
		{ 999, "999ns" },
		{ 1000, "1us" },
		{ 10050, "10.05us" },
		{ -1500000, "-1.5ms" },
		{ 1000000001, "1.000000001s" },
		{ 3000000123456789, "3000000.123456789s" },
		{ INT64_MAX, "9223372036.854775807s" },
		{ INT64_MIN + 1, "-9223372036.854775807s" },
	};
	int64_t ns = 7;
	size_t i;

	for (i = 0; i < sizeof put / sizeof put[0]; i++) {
		struct buf b = { 0 };

		time_put(&b, put[i].ns);
		ok(str_eq(buf_str(&b), str_of(put[i].text)), "%s", put[i].text);
		ok(time_parse(buf_str(&b), &ns) && ns == put[i].ns,
		    "and read back");
		buf_free(&b);
	}
	for (i = 0; i < sizeof bad / sizeof bad[0]; i++)
		ok(!time_parse(str_of(bad[i]), &ns), "'%s' is no time", bad[i]);
	for (i = 0; i < sizeof good / sizeof good[0]; i++) {
		ok(time_parse(str_of(good[i].text), &ns), "'%s'", good[i].text);
		is_int(ns, good[i].ns, "in ns");
	}
}

int
main(void)
{
	integers();
	decimals();
	scale();
	doubles();
	round_trip();
	read_as_strtod();
	read_double();
	times();
	done_testing();
}
