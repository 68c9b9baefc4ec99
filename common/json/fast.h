/* SPDX-License-Identifier: MIT */
/*
 * The primitives that run every few bytes, inline. Documented in json.h, which
 * alone includes this file. Rare cases are in functions of their own
 * (json_string_slow() ...).
 *
 * Digits are read eight at a time from a 64-bit word whose lowest byte is the
 * first character, on any machine.
 */
#ifndef TL_JSON_FAST_H
#define TL_JSON_FAST_H

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

static inline uint64_t
json_load8(const unsigned char *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	return x;
}

/* ---- eight digits ---- */

#define JSON_ZEROS8 UINT64_C(0x3030303030303030)

/* Eight characters as digit values; bytes above 9 are no digits. */
static inline uint64_t
json_digits8(const unsigned char *p)
{
	return json_load8(p) ^ JSON_ZEROS8;
}

/*
 * How many of the eight are digits, before the first non-digit. Carries out of
 * a non-digit only reach bytes after it.
 */
static inline unsigned
json_ndigits8(uint64_t t)
{
	uint64_t none = ((t + UINT64_C(0x7676767676767676)) | t) &
	    UINT64_C(0x8080808080808080);

	return none ? (unsigned)__builtin_ctzll(none) / 8 : 8;
}

/* The number of eight digit values: combines pairs, then fours, then all. */
static inline uint64_t
json_value8(uint64_t t)
{
	const uint64_t mask = UINT64_C(0x000000ff000000ff);

	t = t * 10 + (t >> 8);
	return ((t & mask) * (100 + (UINT64_C(1000000) << 32)) +
		   ((t >> 16) & mask) * (1 + (UINT64_C(10000) << 32))) >>
	    32;
}

/* The first n digits of t, n = 1..8. */
static inline uint64_t
json_valuen(uint64_t t, unsigned n)
{
	return json_value8(t << (64 - 8 * n));
}

static inline bool
json_in_fraction(unsigned char c)
{
	return c == '.' || (c | 0x20) == 'e';
}

static inline bool
json_is_digit(unsigned char c)
{
	return (unsigned char)(c - '0') < 10;
}

/*
 * Bytes of a word that are a quote, a backslash or a control character, as bits
 * 7. Right up to the lowest set bit; users look no further.
 */
static inline uint64_t
json_special8(uint64_t x)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t quote = x ^ ones * '"', slash = x ^ ones * '\\';

	return (((quote - ones) & ~quote) | ((slash - ones) & ~slash) |
		   ((x - ones * 0x20) & ~x)) &
	    ones * 0x80;
}

/* ---- white space ---- */

static inline bool
json_is_space(unsigned char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static inline void
json_space(struct json *j)
{
	if (*j->p > ' ')
		return;
	if (*j->p == ' ' && j->p[1] > ' ') {
		j->p++;
		return;
	}
	json_space_slow(j);
}

/* ---- strings ---- */

#if defined(__SSE2__)
static inline const unsigned char *
scan_string(const unsigned char *p)
{
	const __m128i quote = _mm_set1_epi8('"');
	const __m128i slash = _mm_set1_epi8('\\');
	const __m128i last = _mm_set1_epi8(0x1f);

	for (;; p += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i hit =
		    _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote),
				     _mm_cmpeq_epi8(v, slash)),
			_mm_cmpeq_epi8(_mm_min_epu8(v, last), v));
		unsigned mask = (unsigned)_mm_movemask_epi8(hit);

		if (LIKELY(mask != 0))
			return p + __builtin_ctz(mask);
	}
}
#elif defined(__ARM_NEON) && defined(__aarch64__)
static inline const unsigned char *
scan_string(const unsigned char *p)
{
	for (;; p += 16) {
		uint8x16_t v = vld1q_u8(p);
		uint8x16_t hit = vorrq_u8(vorrq_u8(vceqq_u8(v, vdupq_n_u8('"')),
					      vceqq_u8(v, vdupq_n_u8('\\'))),
		    vcleq_u8(v, vdupq_n_u8(0x1f)));
		/* Four bits a byte: NEON's movemask. */
		uint64_t mask = vget_lane_u64(
		    vreinterpret_u64_u8(
			vshrn_n_u16(vreinterpretq_u16_u8(hit), 4)),
		    0);

		if (LIKELY(mask != 0))
			return p + __builtin_ctzll(mask) / 4;
	}
}
#else
static inline const unsigned char *
scan_string(const unsigned char *p)
{
	for (;; p += 8) {
		uint64_t mask = json_special8(json_load8(p));

		if (LIKELY(mask != 0))
			return p + __builtin_ctzll(mask) / 8;
	}
}
#endif

static inline enum json_status
json_string(struct json *j, struct str *raw, bool *escaped)
{
	const unsigned char *p = j->p + 1;
	const unsigned char *hit = scan_string(p);

	/* The zeros after end stop the scan, so a quote is before end. */
	if (UNLIKELY(*hit != '"'))
		return json_string_slow(j, hit, raw, escaped);
	raw->p = (const char *)p;
	raw->len = (size_t)(hit - p);
	*escaped = false;
	j->p = hit + 1;
	return JSON_OK;
}

/* ---- numbers ---- */

static inline enum json_status
json_number(struct json *j, struct json_num *num)
{
	const unsigned char *p = j->p;
	uint64_t t = json_digits8(p);
	unsigned n = json_ndigits8(t);

	/* Most are integers of up to seven digits. */
	if (UNLIKELY(n - 1 >= 7 || p + n >= j->end || json_in_fraction(p[n]) ||
		(*p == '0' && n > 1)))
		return json_number_slow(j, num);
	num->type = JSON_INT;
	num->i = (int64_t)json_valuen(t, n);
	num->text.p = (const char *)p;
	num->text.len = n;
	j->p = p + n;
	return JSON_OK;
}

#endif
