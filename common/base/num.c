/* SPDX-License-Identifier: MIT */
/*
 * Integers and decimals as text, exactly. num_put_double() and the reading of
 * doubles are in double.c.
 */
#include "base/base.h"

/* 10^19 is the largest power of ten in 64 bits. */
#define POW10_MAX 19

static uint64_t
pow10_u64(int n)
{
	uint64_t p = 1;

	while (n-- > 0)
		p *= 10;
	return p;
}

static uint64_t
magnitude(int64_t v)
{
	return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

/* Applies the sign; false if u does not fit. */
static bool
with_sign(uint64_t u, bool negative, int64_t *out)
{
	if (u > (uint64_t)INT64_MAX + negative)
		return false;
	*out = (int64_t)(negative ? 0 - u : u);
	return true;
}

bool
num_u64(struct str s, uint64_t *out)
{
	uint64_t u = 0;
	size_t i;

	for (i = 0; i < s.len; i++) {
		unsigned d = (unsigned)((unsigned char)s.p[i] - '0');

		if (d > 9 || __builtin_mul_overflow(u, 10, &u) ||
		    __builtin_add_overflow(u, d, &u))
			return false;
	}
	if (s.len == 0)
		return false;
	*out = u;
	return true;
}

bool
num_i64(struct str s, int64_t *out)
{
	bool negative = s.len > 0 && s.p[0] == '-';
	uint64_t u;

	if (negative) {
		s.p++;
		s.len--;
	}
	return num_u64(s, &u) && with_sign(u, negative, out);
}

int64_t
num_add_max(int64_t a, int64_t b)
{
	int64_t sum;

	return num_add(a, b, &sum) ? sum : INT64_MAX;
}

/* Four digits per 64-bit division, written from the end. */
size_t
num_put_u64(char *out, uint64_t v)
{
	static const char pairs[] = "00010203040506070809"
				    "10111213141516171819"
				    "20212223242526272829"
				    "30313233343536373839"
				    "40414243444546474849"
				    "50515253545556575859"
				    "60616263646566676869"
				    "70717273747576777879"
				    "80818283848586878889"
				    "90919293949596979899";
	char tmp[20], *p = tmp + sizeof tmp;
	unsigned few;

	for (; v >= 10000; v /= 10000) {
		few = (unsigned)(v % 10000);
		p -= 4;
		memcpy(p, pairs + few / 100 * 2, 2);
		memcpy(p + 2, pairs + few % 100 * 2, 2);
	}
	few = (unsigned)v;
	if (few >= 100) {
		p -= 2;
		memcpy(p, pairs + few % 100 * 2, 2);
		few /= 100;
	}
	if (few >= 10) {
		p -= 2;
		memcpy(p, pairs + few * 2, 2);
	} else {
		*--p = (char)('0' + few);
	}
	memcpy(out, p, (size_t)(tmp + sizeof tmp - p));
	return (size_t)(tmp + sizeof tmp - p);
}

size_t
num_put_i64(char *out, int64_t v)
{
	size_t n = 0;

	if (v < 0)
		out[n++] = '-';
	return n + num_put_u64(out + n, magnitude(v));
}

size_t
num_put_dec(char *out, struct dec d)
{
	char digits[20];
	size_t n = 0, len = num_put_u64(digits, magnitude(d.mant)), places,
	       whole;

	if (d.mant < 0)
		out[n++] = '-';
	if (d.exp10 >= 0) {
		memcpy(out + n, digits, len);
		n += len;
		if (d.exp10 == 0)
			return n;
		out[n++] = 'e';
		return n + num_put_i64(out + n, d.exp10);
	}
	places = (size_t)-d.exp10;
	whole = len > places ? len - places : 0;
	memcpy(out + n, whole > 0 ? digits : "0", whole > 0 ? whole : 1);
	n += whole > 0 ? whole : 1;
	out[n++] = '.';
	if (places > len) {
		memset(out + n, '0', places - len);
		n += places - len;
	}
	memcpy(out + n, digits + whole, len - whole);
	return n + len - whole;
}

/*
 * Works on magnitudes and adds the sign last, so that halves round away from
 * zero. The exponents are added in 64 bits, since shift is arbitrary.
 */
bool
num_dec_scale(struct dec d, int shift, int64_t *out, bool *exact)
{
	int64_t e = (int64_t)d.exp10 + shift;
	uint64_t u = magnitude(d.mant), p, rest;

	*exact = true;
	if (u == 0)
		e = 0;
	if (e > POW10_MAX)
		return false;
	if (e < -POW10_MAX) { /* below 2^64 / 10^20, so below a half */
		*exact = false;
		*out = 0;
		return true;
	}
	p = pow10_u64((int)(e < 0 ? -e : e));
	if (e >= 0) {
		if (__builtin_mul_overflow(u, p, &u))
			return false;
	} else {
		rest = u % p;
		*exact = rest == 0;
		u = u / p + (rest >= p - rest);
	}
	return with_sign(u, d.mant < 0, out);
}

uint64_t
num_gcd(uint64_t a, int64_t b)
{
	uint64_t rest, u = magnitude(b);

	while (u != 0) {
		rest = a % u;
		a = u;
		u = rest;
	}
	return a;
}
