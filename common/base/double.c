/* SPDX-License-Identifier: MIT */
/*
 * Doubles as text and back: the shortest text that reads back as the same
 * value, in the form of Python's repr.
 *
 * strtod() and printf() follow the locale, but no program here ever calls
 * setlocale(), so that they speak the one of C.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

/* Powers of ten that a double holds exactly. */
static const double pow10_exact[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7,
	1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
	1e20, 1e21, 1e22 };
#define POW10_EXACT 22
#define MANT_EXACT ((int64_t)1 << 53)

/* Both exact, so that one operation rounds once: correctly (Clinger). */
double
num_dec_double(struct dec d)
{
	char text[48];

	if (d.mant >= -MANT_EXACT && d.mant <= MANT_EXACT) {
		double m = (double)d.mant;

		if (d.exp10 >= 0 && d.exp10 <= POW10_EXACT)
			return m * pow10_exact[d.exp10];
		if (d.exp10 < 0 && d.exp10 >= -POW10_EXACT)
			return m / pow10_exact[-d.exp10];
	}
	snprintf(text, sizeof text, "%" PRId64 "e%d", d.mant, d.exp10);
	return strtod(text, NULL);
}

static size_t
skip_digits(struct str s, size_t i)
{
	while (i < s.len && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	return i;
}

/* [-+]digits[.digits][e[-+]digits]: strtod() alone takes "nan", " 1", "0x1". */
static bool
is_decimal(struct str s)
{
	size_t i = 0, start, ndigits;

	if (i < s.len && (s.p[i] == '-' || s.p[i] == '+'))
		i++;
	start = i;
	i = skip_digits(s, i);
	ndigits = i - start;
	if (i < s.len && s.p[i] == '.') {
		start = ++i;
		i = skip_digits(s, i);
		ndigits += i - start;
	}
	if (ndigits == 0)
		return false;
	if (i < s.len && (s.p[i] == 'e' || s.p[i] == 'E')) {
		i++;
		if (i < s.len && (s.p[i] == '-' || s.p[i] == '+'))
			i++;
		start = i;
		i = skip_digits(s, i);
		if (i == start)
			return false;
	}
	return i == s.len;
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

/* Digits without a leading or ending zero, value 0.DIGITS x 10^point. */
struct digits {
	char p[24];
	int n, point;
};

static void
strip_zeros(struct digits *d)
{
	while (d->n > 1 && d->p[d->n - 1] == '0')
		d->n--;
}

/*
 * Up to 15 digits and 22 decimals: the nearest m to v x 10^k. With m < 2^51 the
 * product is off by less than a quarter, so that when a decimal of k places
 * reads back as v at all, it is this m; and m / 10^k is rounded once, as
 * reading the text would be. The first k that does is the shortest.
 */
static bool
digits_fast(double v, struct digits *d)
{
	const double limit = (double)((int64_t)1 << 51);
	int k;

	for (k = 0; k <= POW10_EXACT; k++) {
		double scaled = v * pow10_exact[k];
		int64_t m;

		if (scaled >= limit)
			return false;
		m = (int64_t)(scaled + 0.5);
		if (m > 0 && (double)m / pow10_exact[k] == v) {
			d->n = (int)num_put_i64(d->p, m);
			d->point = d->n - k;
			strip_zeros(d);
			return true;
		}
	}
	return false;
}

/* v rounded to n digits; whether that reads back as v. */
static bool
digits_round(double v, int n, struct digits *d)
{
	char text[40];

	snprintf(text, sizeof text, "%.*e", n - 1, v);
	d->p[0] = text[0];
	if (n > 1)
		memcpy(d->p + 1, text + 2, (size_t)n - 1);
	d->n = n;
	d->point = 1 + (int)strtol(text + (n > 1 ? n + 2 : 2), NULL, 10);
	return strtod(text, NULL) == v;
}

/*
 * Above a power of two doubles are twice as far apart as below it, so that 16
 * digits may read back as v although they are not the nearest 16 digits.
 */
static bool
digits_beside(double v, struct digits *d)
{
	char text[40];
	int step;

	for (step = -1; step <= 1; step += 2) {
		int64_t m = 0;
		int i;

		for (i = 0; i < d->n; i++)
			m = m * 10 + (d->p[i] - '0');
		m += step;
		snprintf(
		    text, sizeof text, "%" PRId64 "e%d", m, d->point - d->n);
		if (strtod(text, NULL) != v)
			continue;
		i = (int)num_put_i64(d->p, m);
		d->point += i - d->n;
		d->n = i;
		return true;
	}
	return false;
}

/*
 * A normal double keeps any 15 digits, so that the nearest 15 are the shortest
 * text with zeros behind it or fail; a subnormal may have fewer good ones.
 */
static void
digits_slow(double v, struct digits *d)
{
	int n;

	for (n = v < 0x1p-1022 ? 1 : 15; n <= 17; n++) {
		if (digits_round(v, n, d) || (n == 16 && digits_beside(v, d)))
			break;
	}
	strip_zeros(d);
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
	size_t n = 0;
	int i;

	if (d->point <= 0)
		out[n++] = '0';
	for (i = 0; i < d->point; i++)
		out[n++] = i < d->n ? d->p[i] : '0';
	out[n++] = '.';
	for (i = d->point; i < 0; i++)
		out[n++] = '0';
	if (d->point >= d->n)
		out[n++] = '0';
	for (i = d->point > 0 ? d->point : 0; i < d->n; i++)
		out[n++] = d->p[i];
	return n;
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
	if (v != 0 && !digits_fast(v, &d))
		digits_slow(v, &d);
	if (d.point < -3 || d.point > 16)
		return n + put_exponent(out + n, &d);
	return n + put_plain(out + n, &d);
}
