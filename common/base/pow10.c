/* SPDX-License-Identifier: MIT */
/*
 * Powers of ten to 128 bits. They are computed when the first is wanted, by
 * long arithmetic on the powers of five, in less time than it takes to start a
 * program: ten kilobytes of constants could not be checked by reading.
 */
#include <pthread.h>

#include "base/pow10.h"

/* Of 32 bits: 5^342 has 795 bits, and 2^1088 / 5^342 still 294. */
#define NLIMBS 35

static struct pow10 table[POW10_MOST - POW10_LEAST + 1];

/* The 128 bits from the highest that is set. */
static struct pow10
top(const uint32_t *limbs)
{
	uint64_t v[3] = { 0 };
	int n = NLIMBS, shift;

	while (limbs[n - 1] == 0)
		n--;
	for (int i = 0; i < 6; i++) {
		uint64_t limb = n - 1 - i >= 0 ? limbs[n - 1 - i] : 0;

		v[i / 2] |= i % 2 == 0 ? limb << 32 : limb;
	}
	shift = __builtin_clzll(v[0]);
	if (shift > 0) {
		v[0] = v[0] << shift | v[1] >> (64 - shift);
		v[1] = v[1] << shift | v[2] >> (64 - shift);
	}
	return (struct pow10){ v[0], v[1] };
}

static void
times_five(uint32_t *limbs)
{
	uint64_t carry = 0;

	for (int i = 0; i < NLIMBS; i++) {
		carry += UINT64_C(5) * limbs[i];
		limbs[i] = (uint32_t)carry;
		carry >>= 32;
	}
}

/* Rounded down; over and over it is still the quotient rounded down. */
static void
by_five(uint32_t *limbs)
{
	uint64_t rest = 0;

	for (int i = NLIMBS; i-- > 0;) {
		rest = rest << 32 | limbs[i];
		limbs[i] = (uint32_t)(rest / 5);
		rest %= 5;
	}
}

static void
fill(void)
{
	uint32_t up[NLIMBS] = { 1 }, down[NLIMBS] = { [NLIMBS - 1] = 1 };

	for (int k = 0; k <= POW10_MOST; k++, times_five(up))
		table[k - POW10_LEAST] = top(up);
	for (int k = -1; k >= POW10_LEAST; k--) {
		by_five(down);
		table[k - POW10_LEAST] = top(down);
	}
}

struct pow10
pow10_of(int k)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, fill);
	return table[k - POW10_LEAST];
}
