/* SPDX-License-Identifier: MIT */
/*
 * The primitives that a reader runs for every few bytes, inline: json.h says
 * what they do and includes this file, nobody else does. Each has its rare
 * cases in a function of its own (json_string_slow() ...).
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

/* Eight characters as digit values: bytes above 9 are none. */
static inline uint64_t
json_digits8(const unsigned char *p)
{
	return json_load8(p) ^ JSON_ZEROS8;
}

/*
 * How many of the eight are digits, before the first that is none. A carry
 * out of a byte that is no digit only reaches bytes behind it.
 */
static inline unsigned
json_ndigits8(uint64_t t)
{
	uint64_t none = ((t + UINT64_C(0x7676767676767676)) | t) &
	    UINT64_C(0x8080808080808080);

	return none ? (unsigned)__builtin_ctzll(none) / 8 : 8;
}

/* The number that eight digit values make: pairs, fours, then all. */
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
 * Bytes of a word that are a quote, a backslash or a control character, as
 * bits 7: right up to the lowest, which is all that its users look at.
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

	/* The zeros behind end stop the scan, so a quote is before end. */
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

/*
 * n, which mostly is likely. Where the cursor goes next then hangs on a branch
 * that is foreseen and no longer on n, so that the next load needn't wait for
 * the digits to be counted: the cursor's chain of loads is what a reader's
 * time consists of. (The asm keeps the compiler from seeing that both ways
 * lead to the same.)
 */
static inline unsigned
json_foresee(unsigned n, unsigned likely)
{
	unsigned same = n == likely;

	__asm__("" : "+r"(same));
	return LIKELY(same) ? likely : n;
}

/* The whole microseconds at p; where they end, or NULL. */
static inline const unsigned char *
json_us(const unsigned char *p, uint64_t *us)
{
	static const uint32_t scale[8] = { 1, 10, 100, 1000, 10000, 100000,
		1000000, 10000000 };
	uint64_t t = json_digits8(p);
	unsigned n = json_ndigits8(t);

	if (n < 8) {
		if (UNLIKELY(n == 0))
			return NULL;
		*us = json_valuen(t, n);
		return p + n;
	}
	*us = json_value8(t);
	p += 8;
	t = json_digits8(p);
	n = json_ndigits8(t);
	if (n == 8) {
		*us = *us * 100000000 + json_value8(t);
		return p + 8;
	}
	/* Since boot, and that is weeks: 13 digits. */
	n = json_foresee(n, 5);
	if (n > 0)
		*us = *us * scale[n] + json_valuen(t, n);
	return p + n;
}

static inline bool
json_us_to_ns(struct json *j, int64_t *ns)
{
	bool neg = *j->p == '-';
	const unsigned char *first = j->p + json_foresee(neg, 0), *p;
	uint64_t us, t;
	unsigned n;

	p = json_us(first, &us);
	if (UNLIKELY(p == NULL))
		return false;
	us *= 1000; /* at most 16 digits: below 2^64 */
	if (*p == '.') {
		t = json_digits8(p + 1);
		n = json_ndigits8(t);
		if (UNLIKELY(n - 1 >= 3))
			return false;
		n = json_foresee(n, 3);
		p += 1 + n;
		t &= (UINT64_C(1) << 8 * n) - 1;
		us += (t & 15) * 100 + (t >> 8 & 15) * 10 + (t >> 16);
	}
	if (UNLIKELY(json_is_digit(*p) || json_in_fraction(*p) ||
		((*first == '0') & (int)json_is_digit(first[1])) ||
		us > INT64_MAX || (p >= j->end && !j->eof)))
		return false;
	*ns = neg ? -(int64_t)us : (int64_t)us;
	j->p = p;
	return true;
}

#endif
