/* SPDX-License-Identifier: MIT */
/*
 * number: all numbers except short integers, which json_number() reads inline.
 *
 *	-12.50e+3
 *	 mmnmm  e	mantissa 1250, n = 2 digits after the point,
 *			exponent e - n = 1
 */
#include "json/json.h"

static const uint32_t pow10_of[9] = { 1, 10, 100, 1000, 10000, 100000, 1000000,
	10000000, 100000000 };

/* Appends the digits at p to *v (may wrap: the caller counts them). */
static const unsigned char *
digits(const unsigned char *p, uint64_t *v)
{
	for (;;) {
		uint64_t t = json_digits8(p);
		unsigned n = json_ndigits8(t);

		if (n > 0)
			*v = *v * pow10_of[n] + json_valuen(t, n);
		p += n;
		if (n < 8)
			return p;
	}
}

/* Where the exponent at p (past the e) ends; *e is clamped to +-1000000. */
static const unsigned char *
exponent(const unsigned char *p, long *e)
{
	bool neg = *p == '-';
	long v = 0;

	p += *p == '-' || *p == '+';
	for (; (unsigned)(*p - '0') < 10; p++)
		if (v < 100000)
			v = v * 10 + (*p - '0');
	*e = neg ? -v : v;
	return p;
}

/* An integer, as i or u if it fits. */
static void
set_integer(struct json_num *num, const unsigned char *first, size_t n,
    uint64_t v, bool neg)
{
	num->type = JSON_TEXT;
	if (UNLIKELY(n > 18)) {
		v = 0;
		for (size_t i = 0; i < n; i++) {
			uint64_t d = (uint64_t)(first[i] - '0');

			if (__builtin_mul_overflow(v, 10, &v) ||
			    __builtin_add_overflow(v, d, &v))
				return;
		}
	}
	if (v <= INT64_MAX) {
		if (neg && v == 0)
			return; /* -0 is no integer */
		num->type = JSON_INT;
		num->i = neg ? -(int64_t)v : (int64_t)v;
	} else if (!neg) {
		num->type = JSON_UINT;
		num->u = v;
	} else if (v == UINT64_C(1) << 63) {
		num->type = JSON_INT;
		num->i = INT64_MIN;
	}
}

/* A number with a point or exponent; its n digits from first on give v. */
static void
set_decimal(struct json_num *num, const unsigned char *first, size_t nint,
    size_t nfrac, uint64_t v, bool neg, long e)
{
	size_t n = nint + nfrac;

	num->type = JSON_TEXT;
	if (n > 18) {
		/* Zeros before the first other digit do not count. */
		for (; n > 18 && (*first == '0' || *first == '.'); first++)
			n -= *first == '0';
		if (n > 18)
			return;
	}
	if (nfrac > 1000 || (neg && v == 0))
		return;
	e -= (long)nfrac;
	if (e < -400 || e > 400)
		return;
	num->type = JSON_DEC;
	num->dec.mant = neg ? -(int64_t)v : (int64_t)v;
	num->dec.exp10 = (int)e;
}

enum json_status
json_number_slow(struct json *j, struct json_num *num)
{
	const unsigned char *p = j->p, *first, *mark;
	bool neg = *p == '-', decimal = false;
	size_t nint, nfrac = 0;
	uint64_t v = 0;
	long e = 0;

	first = p += neg;
	p = digits(p, &v);
	nint = (size_t)(p - first);
	if (UNLIKELY(nint == 0))
		return json_fail(j, p,
		    neg ? "expected a digit after '-'" : "expected a number");
	if (UNLIKELY(*first == '0' && nint > 1))
		return json_fail(j, first, "number has a leading zero");
	if (*p == '.') {
		mark = ++p;
		p = digits(p, &v);
		nfrac = (size_t)(p - mark);
		if (UNLIKELY(nfrac == 0))
			return json_fail(
			    j, p, "expected a digit after the point");
		decimal = true;
	}
	if ((*p | 0x20) == 'e') {
		p = exponent(p + 1, &e);
		if (UNLIKELY((unsigned)(p[-1] - '0') >= 10))
			return json_fail(
			    j, p, "expected a digit in the exponent");
		decimal = true;
	}
	if (p >= j->end && !j->eof)
		return JSON_MORE;
	num->text = (struct str){ (const char *)j->p, (size_t)(p - j->p) };
	if (decimal)
		set_decimal(num, first, nint, nfrac, v, neg, e);
	else
		set_integer(num, first, nint, v, neg);
	j->p = p;
	return JSON_OK;
}
