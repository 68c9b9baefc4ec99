/* SPDX-License-Identifier: MIT */
/*
 * scan: where strings, bracketed values and white space end.
 *
 * scan_brackets() takes blocks of 64 bytes, with masks of one bit per byte.
 * Text between quotes is the running parity of the quotes (a prefix xor);
 * brackets count only outside of it:
 *
 *	{"a}": [1]}
 *	.1..1......	quotes that no backslash escapes
 *	.111.......	inside a string (with its opening quote)
 *	1......1...	opening brackets outside
 *	.........11	closing brackets outside
 *
 * While a block closes fewer brackets than are open, two popcounts do: single
 * brackets need not be looked at.
 */
#include "json/json.h"
#include "json/text.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* ---- portable ---- */

const unsigned char *
scan_string_portable(const unsigned char *p)
{
	while (*p >= 0x20 && *p != '"' && *p != '\\')
		p++;
	return p;
}

const unsigned char *
scan_brackets_portable(const unsigned char *p, const unsigned char *end)
{
	size_t depth = 0;
	bool quoted = false;

	for (; p < end; p++) {
		if (quoted) {
			if (*p == '\\')
				p++;
			else if (*p == '"')
				quoted = false;
			continue;
		}
		switch (*p) {
		case '\\': /* an error here; as the masks see it */
			p += p[1] == '\\' || p[1] == '"';
			break;
		case '"': quoted = true; break;
		case '[':
		case '{': depth++; break;
		case ']':
		case '}':
			if (--depth == 0)
				return p + 1;
			break;
		default: break;
		}
	}
	return NULL;
}

/* Which of eight bytes may not be plain. Right up to the lowest. */
static inline uint64_t
unplain8(uint64_t x)
{
	return json_special8(x) | (x & UINT64_C(0x8080808080808080));
}

/* All n = 1..7 bytes, in any order, some twice, padded with plain ones. */
static inline uint64_t
load_short(const unsigned char *p, size_t n)
{
	uint32_t low, high;

	if (n < 4)
		return UINT64_C(0x7878787878000000) | (uint64_t)p[0] << 16 |
		    (uint64_t)p[n / 2] << 8 | p[n - 1];
	memcpy(&low, p, sizeof low);
	memcpy(&high, p + n - 4, sizeof high);
	return (uint64_t)high << 32 | low;
}

const unsigned char *
scan_plain(const unsigned char *p, const unsigned char *end)
{
	uint64_t mask;

#if defined(__SSE2__)
	for (; end - p >= 16; p += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
		/* As signed bytes, all from 128 on are below a space, too. */
		__m128i hit = _mm_or_si128(
		    _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
			_mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))),
		    _mm_cmplt_epi8(v, _mm_set1_epi8(' ')));
		unsigned m = (unsigned)_mm_movemask_epi8(hit);

		if (m != 0)
			return p + __builtin_ctz(m);
	}
#endif
	for (; end - p >= 8; p += 8) {
		mask = unplain8(json_load8(p));
		if (mask != 0)
			return p + __builtin_ctzll(mask) / 8;
	}
	if (p < end && unplain8(load_short(p, (size_t)(end - p))) == 0)
		return end;
	while (p < end && *p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\')
		p++;
	return p;
}

/* Pretty-printed files have a line feed and a run of spaces before a value. */
void
json_space_slow(struct json *j)
{
	const unsigned char *p = j->p;

	for (;;) {
		while (json_load8(p) == UINT64_C(0x2020202020202020))
			p += 8;
		if (*p != ' ' && *p != '\n' && *p != '\r' && *p != '\t')
			break;
		p++;
	}
	j->p = p;
}

/* ---- by blocks of 64 ---- */

struct brackets {
	uint64_t escaped; /* 1 if the block's first byte is escaped */
	uint64_t quoted;  /* all ones inside a string, else 0 */
	uint64_t depth;
};

/*
 * Which bytes are escaped. In a run of backslashes every other one escapes the
 * next byte. Adding the run's start to the run carries out of it; where the
 * carry lands, at an even or odd place, gives the run's parity.
 */
static inline uint64_t
escaped_bytes(struct brackets *s, uint64_t slash)
{
	const uint64_t even = UINT64_C(0x5555555555555555);
	uint64_t follows, starts, carried;

	slash &= ~s->escaped;
	follows = slash << 1 | s->escaped;
	starts = slash & ~even & ~follows;
	s->escaped = __builtin_add_overflow(starts, slash, &carried);
	return (even ^ carried << 1) & follows;
}

/* The quotes of a block that open or close a string. */
static ALWAYS_INLINE uint64_t
quotes(struct brackets *s, uint64_t quote, uint64_t slash)
{
	if (LIKELY((slash | s->escaped) == 0))
		return quote;
	return quote & ~escaped_bytes(s, slash);
}

/*
 * Processes a block; inside: bytes between quotes. Returns the index of the
 * bracket that closes the value, or 64.
 */
static ALWAYS_INLINE unsigned
closing(struct brackets *s, uint64_t inside, uint64_t open, uint64_t close)
{
	inside ^= s->quoted;
	s->quoted = (uint64_t)((int64_t)inside >> 63);
	open &= ~inside;
	close &= ~inside;

	uint64_t nopen = (uint64_t)__builtin_popcountll(open);
	uint64_t nclose = (uint64_t)__builtin_popcountll(close);

	if (s->depth <= nclose) {
		uint64_t done = 0;

		for (uint64_t left = close; left != 0; left &= left - 1) {
			uint64_t below = (left & -left) - 1;

			done++;
			if (s->depth +
				(uint64_t)__builtin_popcountll(open & below) ==
			    done)
				return (unsigned)__builtin_ctzll(left);
		}
	}
	s->depth += nopen - nclose;
	return 64;
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2,pclmul,popcnt,bmi")))

static inline AVX2 uint64_t
equal64(__m256i lo, __m256i hi, int c)
{
	__m256i x = _mm256_set1_epi8((char)c);

	return (uint64_t)(unsigned)_mm256_movemask_epi8(
		   _mm256_cmpeq_epi8(lo, x)) |
	    (uint64_t)(unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(hi, x))
	    << 32;
}

static AVX2 const unsigned char *
brackets_avx2(const unsigned char *p, const unsigned char *end)
{
	const __m256i bit = _mm256_set1_epi8(0x20);
	const __m128i ones = _mm_set1_epi8((char)0xff);
	struct brackets s = { 0, 0, 0 };

	for (; p < end; p += 64) {
		__m256i lo = _mm256_loadu_si256((const void *)p);
		__m256i hi = _mm256_loadu_si256((const void *)(p + 32));
		uint64_t quote =
		    quotes(&s, equal64(lo, hi, '"'), equal64(lo, hi, '\\'));
		/* Carry-less multiplication by all ones is the prefix xor. */
		uint64_t inside =
		    (uint64_t)_mm_cvtsi128_si64(_mm_clmulepi64_si128(
			_mm_set_epi64x(0, (int64_t)quote), ones, 0));

		lo = _mm256_or_si256(lo, bit);
		hi = _mm256_or_si256(hi, bit);

		unsigned at = closing(
		    &s, inside, equal64(lo, hi, '{'), equal64(lo, hi, '}'));

		if (at < 64)
			return p + at + 1;
	}
	return NULL;
}
#endif

const unsigned char *
scan_brackets(const unsigned char *p, const unsigned char *end)
{
#if defined(__x86_64__)
	if (LIKELY(__builtin_cpu_supports("avx2") &&
		__builtin_cpu_supports("pclmul")))
		return brackets_avx2(p, end);
#endif
	return scan_brackets_portable(p, end);
}
