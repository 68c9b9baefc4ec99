/* SPDX-License-Identifier: MIT */
/*
 * Doubles to decimal digits and back in a few multiplications of 128 bits.
 *
 * To digits: Schubfach, of Raffaello Giulietti, "The Schubfach way to render
 * doubles" (2020). Decimals that read back as v lie between the middles to its
 * neighbours. With the power of ten that just fits into that gap there are one
 * or two candidates of its last place and at most one shorter.
 *
 * Back: Daniel Lemire, "Number Parsing at a Gigabyte per Second" (2021).
 */
#include "base/pow10.h"

#define MANT_BITS 52
#define MANT_HIDDEN (UINT64_C(1) << MANT_BITS)
#define EXP_BIAS 1023
#define EXP_MAX 2047

static int
floor_shift(int64_t v, int bits)
{
	return (int)(v >> bits);
}

/* The upper part of p x c, its lowest bit set if anything was cut off. */
static uint64_t
times_odd(struct pow10 p, uint64_t c)
{
	uint64_t low, lost, high = mul_wide(p.hi, c, &low);
	uint64_t carry = mul_wide(p.lo, c, &lost);

	low += carry;
	high += low < carry;
	return high | (low > 1);
}

/* Rounded up, so that a bound is never taken for one that is further out. */
static struct pow10
pow10_up(int k)
{
	struct pow10 p = pow10_of(k);

	if (!pow10_is_exact(k)) {
		p.lo++;
		p.hi += p.lo == 0;
	}
	return p;
}

uint64_t
shortest_of(double v, int *exp10)
{
	uint64_t bits, mant, c, lower, upper, at, s, shorter;
	bool is_even, is_edge, down, up;
	int e, q, k, h;
	struct pow10 p;

	memcpy(&bits, &v, sizeof bits);
	mant = bits & (MANT_HIDDEN - 1);
	e = (int)(bits >> MANT_BITS);
	c = e != 0 ? MANT_HIDDEN | mant : mant;
	q = (e != 0 ? e : 1) - EXP_BIAS - MANT_BITS;
	is_even = c % 2 == 0;         /* then the middles read back, too */
	is_edge = mant == 0 && e > 1; /* the neighbour below is nearer */
	/* floor(log10(2^q)), at an edge of 3/4 of it */
	k = floor_shift(q * INT64_C(1262611) - (is_edge ? 524031 : 0), 22);
	h = q + pow10_log2(-k) + 1;
	p = pow10_up(-k);
	/* four times v and the bounds, in units of 10^k */
	lower = times_odd(p, (4 * c - 2 + is_edge) << h) + !is_even;
	upper = times_odd(p, (4 * c + 2) << h) - !is_even;
	at = times_odd(p, (4 * c) << h);
	s = at / 4;
	if (s >= 10) {
		shorter = s / 10;
		down = lower <= 40 * shorter;
		up = 40 * shorter + 40 <= upper;
		if (down != up) {
			*exp10 = k + 1;
			return shorter + up;
		}
	}
	*exp10 = k;
	down = lower <= 4 * s;
	up = 4 * s + 4 <= upper;
	if (down != up)
		return s + up;
	return s + (at > 4 * s + 2 || (at == 4 * s + 2 && s % 2 != 0));
}

bool
nearest_of(uint64_t digits, int exp10, double *v)
{
	uint64_t low, high, more, lost, mant, bits;
	int zeros, top, shift, e;
	struct pow10 p;

	/* beyond that range, whatever the digits, there is no normal double */
	if (digits == 0 || exp10 < POW10_LEAST || exp10 > 308)
		return false;
	zeros = __builtin_clzll(digits);
	p = pow10_of(exp10);
	if (exp10 < 0 && exp10 >= -27)
		p = pow10_up(exp10);
	high = mul_wide(digits << zeros, p.hi, &low);
	if ((high & 0x1ff) == 0x1ff) { /* what was cut off may matter */
		more = mul_wide(digits << zeros, p.lo, &lost);
		low += more;
		high += low < more;
	}
	top = (int)(high >> 63);
	shift = top + 64 - MANT_BITS - 3;
	mant = high >> shift;
	e = pow10_log2(exp10) + 63 + top - zeros + EXP_BIAS;
	if (e <= 0 || e >= EXP_MAX - 1)
		return false;
	/* just between two doubles: to the even one */
	if (low <= 1 && exp10 >= -4 && exp10 <= 23 && (mant & 3) == 1 &&
	    mant << shift == high)
		mant &= ~UINT64_C(1);
	mant += mant & 1;
	mant >>= 1;
	if (mant >= 2 * MANT_HIDDEN) {
		mant = MANT_HIDDEN;
		e++;
	}
	bits = (uint64_t)e << MANT_BITS | (mant & (MANT_HIDDEN - 1));
	memcpy(v, &bits, sizeof bits);
	return true;
}
