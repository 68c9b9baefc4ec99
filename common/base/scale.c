/* SPDX-License-Identifier: MIT */
/* Decimal text of any length and form to a scaled integer, exactly. */
#include "base/base.h"

/* A number's digits without the point, and where that was. */
struct parts {
	bool negative;
	struct str whole, fraction;
	int64_t exp10;
};

static size_t
digits_at(struct str s, size_t i)
{
	size_t n = 0;

	while (i + n < s.len && s.p[i + n] >= '0' && s.p[i + n] <= '9')
		n++;
	return n;
}

static bool
take_apart(struct str s, struct parts *p)
{
	size_t i = 0, n;

	p->negative = s.len > 0 && s.p[0] == '-';
	if (p->negative)
		i++;
	n = digits_at(s, i);
	p->whole = (struct str){ s.p + i, n };
	i += n;
	p->fraction = (struct str){ s.p + i, 0 };
	if (i < s.len && s.p[i] == '.') {
		n = digits_at(s, i + 1);
		p->fraction = (struct str){ s.p + i + 1, n };
		i += 1 + n;
	}
	p->exp10 = 0;
	if (i < s.len && (s.p[i] | 0x20) == 'e') {
		i++;
		if (i < s.len && s.p[i] == '+')
			i++;
		if (!num_i64((struct str){ s.p + i, s.len - i }, &p->exp10) ||
		    p->exp10 > 1000000 || p->exp10 < -1000000)
			return false;
		i = s.len;
	}
	return i == s.len && p->whole.len + p->fraction.len > 0;
}

/* Digit k in a row, 0 beyond the end. */
static int
digit(const struct parts *p, int64_t k)
{
	if (k < 0)
		return 0;
	if ((uint64_t)k < p->whole.len)
		return p->whole.p[k] - '0';
	k -= (int64_t)p->whole.len;
	return (uint64_t)k < p->fraction.len ? p->fraction.p[k] - '0' : 0;
}

bool
num_text_scale(struct str s, int shift, int64_t *out)
{
	struct parts p;
	int64_t v = 0, count, last;

	if (!take_apart(s, &p))
		return false;
	/* digits before the point after the shift */
	count = (int64_t)p.whole.len + p.exp10 + shift;
	last = (int64_t)(p.whole.len + p.fraction.len);
	for (int64_t k = 0; k < count; k++) {
		if (k >= last && v == 0)
			break; /* only zeros follow */
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, digit(&p, k), &v))
			return false;
	}
	if (count >= 0 && digit(&p, count) >= 5 &&
	    __builtin_add_overflow(v, 1, &v))
		return false;
	*out = p.negative ? -v : v;
	return true;
}
