/* SPDX-License-Identifier: MIT */
/* Inside base only: powers of ten to 128 bits, for doubles as text and back. */
#ifndef TL_BASE_POW10_H
#define TL_BASE_POW10_H

#include "base/base.h"

#define POW10_LEAST (-342)
#define POW10_MOST 324

/* hi:lo x 2^e = 10^k with the top bit set, cut off behind 128 bits. */
struct pow10 {
	uint64_t hi, lo;
};

struct pow10 pow10_of(int k);

/* Whether nothing was cut off. */
static inline bool
pow10_is_exact(int k)
{
	return k >= 0 && k <= 55;
}

/* floor(log2(10^k)): hi's top bit stands for it. */
static inline int
pow10_log2(int k)
{
	return (int)((k * INT64_C(1741647)) >> 19);
}

/* The product's upper half, and the lower one in *lo. */
static inline uint64_t
mul_wide(uint64_t a, uint64_t b, uint64_t *lo)
{
	__extension__ unsigned __int128 m = (unsigned __int128)a * b;

	*lo = (uint64_t)m;
	return (uint64_t)(m >> 64);
}

/* Digits of a positive, finite v: digits x 10^exp10. */
uint64_t shortest_of(double v, int *exp10);
/*
 * The double nearest to digits x 10^exp10. False where this way does not tell,
 * as for subnormals and what is out of range.
 */
bool nearest_of(uint64_t digits, int exp10, double *v) USE_RESULT;

#endif
