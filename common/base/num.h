/* SPDX-License-Identifier: MIT */
/* num: numbers from text and back, exactly. */
#ifndef TL_BASE_NUM_H
#define TL_BASE_NUM_H

#include "base/text.h"

/* Parses all of s as a decimal integer; false if it is none or out of range. */
bool num_i64(struct str s, int64_t *out) USE_RESULT;
bool num_u64(struct str s, uint64_t *out) USE_RESULT;
/* Parses all of s as a finite double. */
bool num_double(struct str s, double *out) USE_RESULT;
static inline bool USE_RESULT
num_add(int64_t a, int64_t b, int64_t *out)
{
	return !__builtin_add_overflow(a, b, out);
}
/* For b >= 0: the sum, or INT64_MAX if it does not fit. */
int64_t num_add_max(int64_t a, int64_t b) USE_RESULT;
/* The greatest common divisor of a and |b|; 0 of 0 and 0. */
uint64_t num_gcd(uint64_t a, int64_t b) USE_RESULT;

/*
 * A decimal number as mantissa x 10^exp10, exactly: up to 18 digits;
 * num_put_dec() writes the same text.
 */
struct dec {
	int64_t mant;
	int exp10; /* -400..400 */
};

/*
 * Writes canonical text: exp10 < 0 gives a point and -exp10 decimals
 * ("0.050"), exp10 > 0 gives "<mant>e<exp10>". At most NUM_DEC_MAX bytes.
 */
#define NUM_DEC_MAX 432
size_t num_put_dec(char *out, struct dec d);
/*
 * Decimal x 10^shift rounded to the nearest integer, halves away from zero;
 * *exact: nothing was lost. False if it does not fit.
 */
bool num_dec_scale(
    struct dec d, int shift, int64_t *out, bool *exact) USE_RESULT;
/*
 * The same for text of any length ("1712195495519689.0470", "1.5e3"). False if
 * it is no number or does not fit.
 */
bool num_text_scale(struct str s, int shift, int64_t *out) USE_RESULT;

/* Writes v as decimal text (at most 20 bytes); returns its length. */
size_t num_put_i64(char *out, int64_t v);
size_t num_put_u64(char *out, uint64_t v);
/* The shortest decimal that reads back as v, as Python's repr prints it. */
#define NUM_DOUBLE_MAX 32
size_t num_put_double(char *out, double v);

#endif
