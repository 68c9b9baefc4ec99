/* SPDX-License-Identifier: MIT */
/*
 * Times as people write them: "900ns", "1.5us", "5min". A time finer than a
 * nanosecond is an error, not rounded.
 */
#include "base/base.h"

/* mant x 10^exp10 nanoseconds */
static const struct unit {
	const char *name;
	int mant, exp10;
} units[] = {
	{ "ns", 1, 0 },
	{ "us", 1, 3 },
	{ "\xc2\xb5s", 1, 3 }, /* U+00B5 micro sign */
	{ "\xce\xbcs", 1, 3 }, /* U+03BC Greek mu */
	{ "ms", 1, 6 },
	{ "s", 1, 9 },
	{ "min", 6, 10 },
	{ "h", 36, 11 },
};

/* Takes an unsigned decimal without exponent off the start of s. */
static bool
take_decimal(struct str *s, struct dec *d)
{
	bool point = false;
	size_t i, ndigits = 0;
	int zeros = 0; /* pending: trailing zeros of a fraction do not count */

	*d = (struct dec){ 0 };
	for (i = 0; i < s->len; i++) {
		char c = s->p[i];

		if (c == '.' && !point) {
			point = true;
			continue;
		}
		if (c < '0' || c > '9')
			break;
		ndigits++;
		if (point && c == '0') {
			zeros++;
			continue;
		}
		for (; zeros >= 0; zeros--) {
			if (__builtin_mul_overflow(d->mant, 10, &d->mant))
				return false;
			d->exp10 -= point;
		}
		zeros = 0;
		if (__builtin_add_overflow(d->mant, c - '0', &d->mant))
			return false;
	}
	s->p += i;
	s->len -= i;
	return ndigits > 0 && d->exp10 >= -400;
}

bool
time_parse(struct str s, int64_t *ns)
{
	bool negative = s.len > 0 && s.p[0] == '-', exact;
	struct dec d;
	size_t i;

	if (negative) {
		s.p++;
		s.len--;
	}
	if (str_eq(s, STR("0"))) {
		*ns = 0;
		return true;
	}
	if (!take_decimal(&s, &d))
		return false;
	if (negative)
		d.mant = -d.mant;
	for (i = 0; i < sizeof units / sizeof units[0]; i++) {
		if (!str_eq(s, str_of(units[i].name)))
			continue;
		return !__builtin_mul_overflow(
			   d.mant, units[i].mant, &d.mant) &&
		    num_dec_scale(d, units[i].exp10, ns, &exact) && exact;
	}
	return false;
}

void
time_put(struct buf *b, int64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} by_size[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" },
		{ 1, "ns" } };
	uint64_t n = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, rest;
	size_t i = 0;

	while (i < 3 && n < by_size[i].ns)
		i++;
	buf_printf(b, "%s%" PRIu64, ns < 0 ? "-" : "", n / by_size[i].ns);
	rest = n % by_size[i].ns;
	buf_puts(b, rest > 0 ? "." : "");
	for (uint64_t digit = by_size[i].ns / 10; rest > 0; digit /= 10) {
		buf_putc(b, (char)('0' + rest / digit));
		rest %= digit;
	}
	buf_puts(b, by_size[i].name);
}
