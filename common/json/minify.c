/* SPDX-License-Identifier: MIT */
/*
 * minify: one value checked and copied without its white space.
 *
 * The output is never longer than the input, so room is made once and bytes
 * are stored without looking, up to 16 at a time. What stands behind the text
 * may be read but is not zero (it lies inside a window): each step may run
 * over the end, and is then found out and taken back.
 */
#include "json/json.h"

#define SLACK 64 /* stores may go this far behind the text */

struct mini {
	const unsigned char *end;
	const char *error;
	const unsigned char *where;
	unsigned depth; /* containers open inside the value */
	unsigned max;
	uint64_t kinds[(JSON_MAX_DEPTH + 63) / 64]; /* bit: 1 = object */
};

/* Where we read and write: by value, so that both stay in registers. */
struct at {
	const unsigned char *p; /* NULL after a failure */
	char *o;
};

static struct at
fail(struct mini *m, const unsigned char *where, const char *error)
{
	m->where = where < m->end ? where : m->end;
	m->error = where < m->end ? error : "unexpected end of the data";
	return (struct at){ NULL, NULL };
}

/*
 * At a byte that is no white space, or at the end. Writers put one space
 * behind comma and colon (likely 1) and none elsewhere (0).
 */
static inline const unsigned char *
space(const struct mini *m, const unsigned char *p, unsigned likely)
{
	p += json_foresee(*p == ' ', likely);
	if (LIKELY(*p > ' '))
		return p < m->end ? p : m->end;
	while (
	    p < m->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
		p++;
	return p < m->end ? p : m->end;
}

/*
 * Copies 16 bytes: how many stand before the first that can't be in a string
 * as it is. *high collects whether one of these, or that one, is above 127.
 */
#if defined(__SSE2__)
static inline unsigned
copy16(const unsigned char *p, char *o, unsigned *high)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i hit =
	    _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
			     _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))),
		_mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v));
	unsigned mask = (unsigned)_mm_movemask_epi8(hit);

	_mm_storeu_si128((__m128i *)(void *)o, v);
	*high |= (unsigned)_mm_movemask_epi8(v) & (mask ^ (mask - 1));
	return mask ? (unsigned)__builtin_ctz(mask) : 16;
}
#else
static inline unsigned
copy16(const unsigned char *p, char *o, unsigned *high)
{
	memcpy(o, p, 16);
	for (unsigned i = 0; i < 16; i += 8) {
		uint64_t x = json_load8(p + i), mask = json_special8(x);

		x &= UINT64_C(0x8080808080808080) & (mask ^ (mask - 1));
		*high |= x != 0;
		if (mask != 0)
			return i + (unsigned)__builtin_ctzll(mask) / 8;
	}
	return 16;
}
#endif

/* With escapes, with bytes above 127, or wrong. */
static struct at
string_slow(struct mini *m, struct at a)
{
	const unsigned char *first = a.p + 1, *p = first;
	const char *error;
	size_t at, n;

	while (p < m->end && *p >= 0x20 && *p != '"')
		p += 1 + (*p == '\\');
	if (p >= m->end)
		return fail(m, m->end, NULL);
	if (*p != '"')
		return fail(m, p, "control character in a string");
	n = (size_t)(p - first);
	if (!json_check_string(
		(struct str){ (const char *)first, n }, &error, &at))
		return fail(m, first + at, error);
	memcpy(a.o, a.p, n + 2);
	return (struct at){ p + 1, a.o + n + 2 };
}

static inline struct at
string(struct mini *m, struct at a)
{
	const unsigned char *p = a.p + 1;
	char *o = a.o;
	unsigned high = 0, n;

	*o++ = '"';
	do {
		n = copy16(p, o, &high);
		p += n;
		o += n;
	} while (n == 16 && p < m->end);
	if (UNLIKELY(p >= m->end || *p != '"' || high != 0))
		return string_slow(m, a);
	return (struct at){ p + 1, o + 1 };
}

static const unsigned char *
digits_end(const unsigned char *p, const unsigned char *end)
{
	while (p < end && (unsigned)(*p - '0') < 10)
		p++;
	return p;
}

static struct at
number_slow(struct mini *m, struct at a)
{
	const unsigned char *p = a.p, *end = m->end, *q;
	size_t n;

	p += *p == '-';
	q = digits_end(p, end);
	if (q == p)
		return fail(m, p, "expected a digit after '-'");
	if (*p == '0' && q - p > 1)
		return fail(m, p, "number has a leading zero");
	if (q < end && *q == '.') {
		p = q + 1;
		q = digits_end(p, end);
		if (q == p)
			return fail(m, q, "expected a digit after the point");
	}
	if (q < end && (*q | 0x20) == 'e') {
		p = q + 1;
		p += p < end && (*p == '-' || *p == '+');
		q = digits_end(p, end);
		if (q == p)
			return fail(m, q, "expected a digit in the exponent");
	}
	n = (size_t)(q - a.p);
	memcpy(a.o, a.p, n);
	return (struct at){ q, a.o + n };
}

/* Short integers are what dimensions and strides are made of. */
static inline struct at
number(struct mini *m, struct at a)
{
	unsigned n = json_ndigits8(json_digits8(a.p));

	if (UNLIKELY(n - 1 >= 7 || a.p + n > m->end ||
		json_in_fraction(a.p[n]) || (*a.p == '0' && n > 1)))
		return number_slow(m, a);
	memcpy(a.o, a.p, 8);
	return (struct at){ a.p + n, a.o + n };
}

static struct at
literal(struct mini *m, struct at a, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i < n; i++) {
		if (a.p + i >= m->end)
			return fail(m, m->end, NULL);
		if (a.p[i] != (unsigned char)word[i])
			return fail(m, a.p, "expected a value");
	}
	memcpy(a.o, word, n);
	return (struct at){ a.p + n, a.o + n };
}

static struct at
rare(struct mini *m, struct at a)
{
	if (a.p == m->end)
		return fail(m, a.p, NULL);
	switch (*a.p) {
	case '-':
		if (a.p + 1 < m->end && a.p[1] == 'I')
			return literal(m, a, "-Infinity");
		return number_slow(m, a);
	case 't': return literal(m, a, "true");
	case 'f': return literal(m, a, "false");
	case 'n': return literal(m, a, "null");
	case 'N': return literal(m, a, "NaN");
	case 'I': return literal(m, a, "Infinity");
	default: return fail(m, a.p, "expected a value");
	}
}

/* A key and its colon. */
static inline struct at
key(struct mini *m, struct at a, unsigned likely, const char *error)
{
	a.p = space(m, a.p, likely);
	if (UNLIKELY(a.p == m->end || *a.p != '"'))
		return fail(m, a.p, error);
	a = string(m, a);
	if (UNLIKELY(a.p == NULL))
		return a;
	a.p = space(m, a.p, 0);
	if (UNLIKELY(a.p == m->end || *a.p != ':'))
		return fail(m, a.p, "expected ':' after a key");
	*a.o++ = ':';
	a.p++;
	return a;
}

static inline bool
in_object(const struct mini *m)
{
	return m->kinds[(m->depth - 1) / 64] >> (m->depth - 1) % 64 & 1;
}

static inline struct at
copy1(struct at a)
{
	*a.o = (char)*a.p;
	return (struct at){ a.p + 1, a.o + 1 };
}

/* Closes containers, then moves to the next value if there is one. */
static inline struct at
behind(struct mini *m, struct at a)
{
	while (m->depth > 0) {
		bool object = in_object(m);
		unsigned char close = object ? '}' : ']';

		a.p = space(m, a.p, 0);
		if (LIKELY(a.p < m->end && *a.p == ',')) {
			a = copy1(a);
			return object ? key(m, a, 1, "expected a key after ','")
				      : a;
		}
		if (UNLIKELY(a.p == m->end || *a.p != close))
			return fail(m, a.p,
			    object ? "expected ',' or '}' after a member"
				   : "expected ',' or ']' after an element");
		a = copy1(a);
		m->depth--;
	}
	return a;
}

/* An opening bracket, and on to the first value or behind an empty one. */
static inline struct at
container(struct mini *m, struct at a)
{
	bool object = *a.p == '{';
	uint64_t bit = UINT64_C(1) << m->depth % 64;

	if (UNLIKELY(m->depth >= m->max))
		return fail(m, a.p, "nesting deeper than 10000");
	if (object)
		m->kinds[m->depth / 64] |= bit;
	else
		m->kinds[m->depth / 64] &= ~bit;
	m->depth++;
	a = copy1(a);
	a.p = space(m, a.p, 0);
	if (a.p < m->end && *a.p == (object ? '}' : ']'))
		return behind(m, a);
	return object ? key(m, a, 0, "expected a key or '}'") : a;
}

static struct at
value(struct mini *m, struct at a)
{
	do {
		unsigned char c;

		a.p = space(m, a.p, 1);
		c = a.p < m->end ? *a.p : 0;
		if (c == '[' || c == '{') {
			a = container(m, a);
			continue;
		}
		if (json_is_digit(c))
			a = number(m, a);
		else if (c == '"')
			a = string(m, a);
		else
			a = rare(m, a);
		if (LIKELY(a.p != NULL))
			a = behind(m, a);
	} while (a.p != NULL && m->depth > 0);
	return a;
}

bool
json_minify(struct str raw, unsigned depth, struct buf *out, const char **error,
    size_t *at)
{
	const unsigned char *start = (const unsigned char *)raw.p;
	struct mini m;
	struct at a;

	m.end = start + raw.len;
	m.depth = 0;
	m.max = depth < JSON_MAX_DEPTH ? JSON_MAX_DEPTH - depth : 0;
	if (out->cap - out->len < raw.len + SLACK)
		buf_room(out, raw.len + SLACK);
	a = value(&m, (struct at){ start, out->p + out->len });
	if (a.p != NULL) {
		a.p = space(&m, a.p, 0);
		if (a.p < m.end)
			a = fail(&m, a.p, "expected nothing behind the value");
	}
	if (a.p == NULL) {
		*error = m.error;
		*at = (size_t)(m.where - start);
		return false;
	}
	out->len = (size_t)(a.o - out->p);
	return true;
}
