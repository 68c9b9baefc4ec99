/* SPDX-License-Identifier: MIT */
/*
 * Doubles as text and back: the shortest text that reads back as the same
 * value, in the form of Python's repr.
 *
 * strtod() and printf() follow the locale, but no program here ever calls
 * setlocale(), so that they speak the one of C.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

#define MANT_BITS 53
#define MANT_EXACT (UINT64_C(1) << MANT_BITS)

__extension__ typedef unsigned __int128 u128;

/* Skips digits from *at on; returns how many. */
static size_t
step_over_digits(struct str s, size_t *at)
{
	size_t from = *at;

	while (*at < s.len && (unsigned)(s.p[*at] - '0') < 10)
		++*at;
	return *at - from;
}

static bool
is_sign(struct str s, size_t at)
{
	return at < s.len && (s.p[at] == '-' || s.p[at] == '+');
}

/* [-+]digits[.digits][e[-+]digits]: strtod() alone takes "nan", " 1", "0x1". */
static bool
is_decimal(struct str s)
{
	size_t i = is_sign(s, 0), n = step_over_digits(s, &i);

	if (i < s.len && s.p[i] == '.') {
		i++;
		n += step_over_digits(s, &i);
	}
	if (n > 0 && i < s.len && (s.p[i] == 'e' || s.p[i] == 'E')) {
		i++;
		i += is_sign(s, i);
		n = step_over_digits(s, &i);
	}
	return n > 0 && i == s.len;
}

bool
num_double(struct str s, double *out)
{
	char small[64], *text = small;
	double v;

	if (!is_decimal(s))
		return false;
	if (s.len >= sizeof small)
		text = xmalloc(s.len + 1);
	memcpy(text, s.p, s.len);
	text[s.len] = '\0';
	v = strtod(text, NULL);
	if (text != small)
		free(text);
	if (!isfinite(v))
		return false;
	*out = v;
	return true;
}

/*
 * Digits without leading or trailing zeros; the value is 0.DIGITS x 10^point.
 */
struct digits {
	char p[24];
	int n, point;
};

/*
 * Decimals between the middles to v's neighbours read back as v. In units of
 * 10^-k, in which v has 17 or 18 digits, those are the integers lo to hi; as
 * long as a digit less leaves one, it goes. All is exact: v is c x 2^q, and
 * c x 10^k, four times for the middles, fits into 128 bits. False where it
 * does not, below 1e-15, and for integers beyond 2^53.
 */
static bool
shortest_of(double v, uint64_t *digits, int *exp10)
{
	static const uint64_t fives[] = { 1, 5, 25, 125, 625, 3125, 15625,
		78125, 390625, 1953125, 9765625, 48828125, 244140625,
		1220703125, 6103515625, 30517578125 };
	uint64_t c, lo, hi, at, near, root, ten = 1;
	u128 five, all, lower, upper, unit;
	int e, k, bits;
	bool is_odd;

	memcpy(&c, &v, sizeof c);
	e = (int)(c >> (MANT_BITS - 1)) - 1022; /* v is below 2^e */
	c = (c & (MANT_EXACT / 2 - 1)) | MANT_EXACT / 2;
	k = 16 - (((e - 1) * 1233) >> 12);
	if (k < 1 || k > 31)
		return false;
	root = fives[k / 2];
	five = (u128)root * root * (k % 2 != 0 ? 5 : 1);
	all = five * c * 4;
	bits = MANT_BITS - e - k + 2; /* bits after the point */
	is_odd = c % 2 != 0; /* then the midpoints read back as v, too */
	/* below a power of two the next double is nearer */
	lower = all - (c == MANT_EXACT / 2 ? five : 2 * five) + is_odd;
	upper = all + 2 * five - is_odd;
	unit = (u128)1 << bits;
	lo = (uint64_t)((lower + unit - 1) >> bits);
	hi = (uint64_t)(upper >> bits);
	at = (uint64_t)(all >> bits);
	for (; (lo + 9999) / 10000 <= hi / 10000; ten *= 10000, k -= 4) {
		lo = (lo + 9999) / 10000;
		hi /= 10000;
	}
	for (; (lo + 9) / 10 <= hi / 10; ten *= 10, k--) {
		lo = (lo + 9) / 10;
		hi /= 10;
	}
	unit *= ten;
	near = at / ten;
	all = (all - near * unit) * 2;
	near += all > unit || (all == unit && near % 2 != 0);
	*digits = near < lo ? lo : near > hi ? hi : near;
	*exp10 = -k;
	return true;
}

/*
 * By trial. A value of up to 15 digits reads back from 15, except subnormals.
 * Some powers of two, from 2^89 on and below 2^-76, get the nearest 17 digits,
 * not 16.
 */
static void
try_digits(double v, struct digits *d)
{
	char text[32], *e;
	int n = v < DBL_MIN ? 1 : 15;

	do {
		snprintf(text, sizeof text, "%.*e", n - 1, v);
	} while (n++ < 17 && strtod(text, NULL) != v);
	for (e = text; *e != 'e'; e++)
		if (*e != '.')
			d->p[d->n++] = *e;
	d->point = atoi(e + 1) + 1;
}

static void
digits_of(double v, struct digits *d)
{
	bool is_whole = v < (double)MANT_EXACT && v == (double)(int64_t)v;
	uint64_t digits = is_whole ? (uint64_t)(int64_t)v : 0;
	int exp10 = 0;

	d->n = 0;
	if (is_whole || shortest_of(v, &digits, &exp10)) {
		d->n = (int)num_put_u64(d->p, digits);
		d->point = d->n + exp10;
	} else {
		try_digits(v, d);
	}
	while (d->n > 1 && d->p[d->n - 1] == '0')
		d->n--;
}

static size_t
put_exponent(char *out, const struct digits *d)
{
	int e = d->point - 1;
	size_t n = 0;

	out[n++] = d->p[0];
	if (d->n > 1) {
		out[n++] = '.';
		memcpy(out + n, d->p + 1, (size_t)d->n - 1);
		n += (size_t)d->n - 1;
	}
	out[n++] = 'e';
	out[n++] = e < 0 ? '-' : '+';
	if (e < 0)
		e = -e;
	if (e < 10)
		out[n++] = '0';
	return n + num_put_i64(out + n, e);
}

static size_t
put_plain(char *out, const struct digits *d)
{
	int whole = d->point > 0 ? d->point : 0;
	int given = whole < d->n ? whole : d->n;
	char *p = out;

	memcpy(p, d->p, (size_t)given);
	p += given;
	for (int i = given; i < whole; i++)
		*p++ = '0';
	if (whole == 0)
		*p++ = '0';
	*p++ = '.';
	for (int i = d->point; i < 0; i++)
		*p++ = '0';
	memcpy(p, d->p + given, (size_t)(d->n - given));
	p += d->n - given;
	if (given == d->n)
		*p++ = '0';
	return (size_t)(p - out);
}

/* Python's repr turns to an exponent below 1e-4 and from 1e16. */
size_t
num_put_double(char *out, double v)
{
	struct digits d = { .p = "0", .n = 1, .point = 1 };
	size_t n = 0;

	if (isnan(v)) {
		memcpy(out, "nan", 3);
		return 3;
	}
	if (signbit(v)) {
		out[n++] = '-';
		v = -v;
	}
	if (isinf(v)) {
		memcpy(out + n, "inf", 3);
		return n + 3;
	}
	if (v != 0)
		digits_of(v, &d);
	if (d.point < -3 || d.point > 16)
		return n + put_exponent(out + n, &d);
	return n + put_plain(out + n, &d);
}
