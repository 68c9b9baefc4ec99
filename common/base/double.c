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

#include "base/pow10.h"

#define MANT_EXACT ((int64_t)1 << 53)

double
num_dec_double(struct dec d)
{
	uint64_t digits = d.mant < 0 ? 0 - (uint64_t)d.mant : (uint64_t)d.mant;
	char text[48];
	double v;

	if (digits == 0 || d.exp10 == 0)
		return (double)d.mant;
	if (nearest_of(digits, d.exp10, &v))
		return d.mant < 0 ? -v : v;
	snprintf(text, sizeof text, "%" PRId64 "e%d", d.mant, d.exp10);
	return strtod(text, NULL);
}

/* A number as it is written, digit by digit. */
struct decimal {
	uint64_t digits; /* those up to the 19th that is not a leading zero */
	int64_t exp10;
	unsigned nkept;
	size_t ndigits; /* written, leading zeros too */
	bool is_negative, is_cut;
};

static size_t
take_digits(struct str s, size_t i, struct decimal *d)
{
	for (; i < s.len && (unsigned)(s.p[i] - '0') < 10; i++, d->ndigits++) {
		if (d->nkept == 19) {
			d->is_cut = true;
			continue;
		}
		d->digits = d->digits * 10 + (unsigned)(s.p[i] - '0');
		d->nkept += d->digits > 0;
	}
	return i;
}

/* [-+]digits; what is far out of range only has to stay so. */
static bool
take_exponent(struct str s, size_t i, int64_t *exp10)
{
	bool is_negative = i < s.len && s.p[i] == '-';
	size_t from;
	int64_t e = 0;

	i += i < s.len && (s.p[i] == '-' || s.p[i] == '+');
	for (from = i; i < s.len && (unsigned)(s.p[i] - '0') < 10; i++)
		if (e < INT32_MAX)
			e = e * 10 + (s.p[i] - '0');
	*exp10 += is_negative ? -e : e;
	return i > from && i == s.len;
}

/* [-+]digits[.digits][e[-+]digits]: strtod() alone takes "nan", " 1", "0x1". */
static bool
read_decimal(struct str s, struct decimal *d)
{
	size_t i = 0, nwhole;

	if (s.len > 0 && (s.p[0] == '-' || s.p[0] == '+'))
		i++;
	d->is_negative = s.len > 0 && s.p[0] == '-';
	i = take_digits(s, i, d);
	nwhole = d->ndigits;
	if (i < s.len && s.p[i] == '.') {
		i = take_digits(s, i + 1, d);
		d->exp10 = -(int64_t)(d->ndigits - nwhole);
	}
	if (d->ndigits == 0)
		return false;
	if (i < s.len && (s.p[i] == 'e' || s.p[i] == 'E'))
		return take_exponent(s, i + 1, &d->exp10);
	return i == s.len;
}

static double
read_slowly(struct str s)
{
	char small[64], *text = small;
	double v;

	if (s.len >= sizeof small)
		text = xmalloc(s.len + 1);
	memcpy(text, s.p, s.len);
	text[s.len] = '\0';
	v = strtod(text, NULL);
	if (text != small)
		free(text);
	return v;
}

bool
num_double(struct str s, double *out)
{
	struct decimal d = { 0 };
	double v;

	if (!read_decimal(s, &d))
		return false;
	if (d.is_cut || d.exp10 < -999 || d.exp10 > 999 ||
	    !nearest_of(d.digits, (int)d.exp10, &v))
		v = read_slowly(s);
	else if (d.is_negative)
		v = -v;
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
digits_of(double v, struct digits *d)
{
	bool is_whole = v <= (double)MANT_EXACT && v == (double)(int64_t)v;
	int exp10 = 0;

	d->n = (int)num_put_u64(
	    d->p, is_whole ? (uint64_t)v : shortest_of(v, &exp10));
	d->point = d->n + exp10;
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
	memset(p + given, '0', (size_t)(whole - given));
	p += whole;
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
