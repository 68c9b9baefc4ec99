/* SPDX-License-Identifier: MIT */
/*
 * Numbers against an oracle that goes digit by digit in 128 bits, on random
 * texts of every shape, and the cases at the borders.
 */
#include "tests/unit/tap.h"
#include "json/json.h"

#define PAD 64

__extension__ typedef unsigned __int128 u128;

static uint64_t seed = 7;

static uint32_t
rnd(uint32_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)((seed >> 33) % n);
}

static size_t
put_digits(char *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (char)('0' + rnd(rnd(4) ? 10 : 2));
	return n;
}

/* Mostly numbers, sometimes almost. */
static size_t
random_text(char *p)
{
	size_t n = 0;

	if (rnd(5) == 0)
		p[n++] = '-';
	n += put_digits(p + n, rnd(40) ? 1 + rnd(rnd(2) ? 8 : 22) : 0);
	if (rnd(2)) {
		p[n++] = '.';
		n += put_digits(p + n, rnd(40) ? 1 + rnd(rnd(2) ? 4 : 22) : 0);
	}
	if (rnd(8) == 0) {
		p[n++] = "eE"[rnd(2)];
		if (rnd(2))
			p[n++] = "+-"[rnd(2)];
		n += put_digits(p + n, rnd(40) ? 1 + rnd(4) : 0);
	}
	memset(p + n, 0, PAD);
	p[n] = ",}] \n:x-"[rnd(8)];
	return n;
}

/* The grammar and the value, digit by digit. */
struct slow {
	bool good, neg, decimal, exact; /* exact: mant holds all digits */
	size_t len, nint, nfrac;
	u128 mant;
	long exp;
};

static struct slow
slow_number(const char *p)
{
	struct slow s = { .exact = true };
	const char *q = p;
	bool eneg = false;

	if (*q == '-')
		s.neg = *q++;
	for (int part = 0; part < 2; part++) {
		const char *first = q;

		for (; *q >= '0' && *q <= '9'; q++) {
			s.exact = s.exact && s.mant < (u128)1 << 120;
			s.mant = s.mant * 10 + (unsigned)(*q - '0');
		}
		if (q == first || (part == 0 && *first == '0' && q > first + 1))
			return s;
		if (part == 0)
			s.nint = (size_t)(q - first);
		else
			s.nfrac = (size_t)(q - first);
		if (part == 0 && *q != '.')
			break;
		q += part == 0;
		s.decimal = true;
	}
	if (*q == 'e' || *q == 'E') {
		q++;
		if (*q == '+' || *q == '-')
			eneg = *q++ == '-';
		if (*q < '0' || *q > '9')
			return s;
		for (; *q >= '0' && *q <= '9'; q++)
			if (s.exp < 1000000)
				s.exp = s.exp * 10 + (*q - '0');
		s.exp = eneg ? -s.exp : s.exp;
		s.decimal = true;
	}
	s.len = (size_t)(q - p);
	s.good = true;
	return s;
}

static bool
same(const struct slow *s, const struct json_num *num)
{
	bool zero = s->exact && s->mant == 0 && s->neg;
	long e = s->exp - (long)s->nfrac;

	if (s->decimal) {
		if (zero || !s->exact || s->mant >= (u128)1000000000000000000 ||
		    e < -400 || e > 400)
			return num->type == JSON_TEXT;
		return num->type == JSON_DEC && num->dec.exp10 == e &&
		    num->dec.mant ==
		    (s->neg ? -(int64_t)s->mant : (int64_t)s->mant);
	}
	if (zero || !s->exact || s->mant > UINT64_MAX ||
	    (s->neg && s->mant > (u128)1 << 63))
		return num->type == JSON_TEXT;
	if (s->mant <= INT64_MAX || s->neg)
		return num->type == JSON_INT &&
		    (uint64_t)num->i ==
		    (s->neg ? -(uint64_t)s->mant : (uint64_t)s->mant);
	return num->type == JSON_UINT && num->u == (uint64_t)s->mant;
}

static void
against_oracle(void)
{
	static const int rounds = 1000000;
	char text[200];
	int wrong = 0, more = 0, good = 0;

	for (int i = 0; i < rounds; i++) {
		size_t n = random_text(text);
		struct slow s = slow_number(text);
		struct json_num num;
		struct json j;
		enum json_status got;

		json_start(&j, text, n + 1);
		got = json_number(&j, &num);
		good += s.good;
		if ((got == JSON_OK) != s.good ||
		    (s.good &&
			(num.text.len != s.len || num.text.p != text ||
			    (const char *)j.p != text + s.len ||
			    !same(&s, &num)))) {
			if (wrong++ < 5)
				diag("%.*s: status %d type %d", (int)n + 1,
				    text, got, num.type);
		}
		/* Cut at the window's end, more is wanted. */
		text[n] = '\0';
		json_start(&j, text, n);
		j.eof = false;
		s = slow_number(text);
		got = json_number(&j, &num);
		more += s.good && s.len == n && got != JSON_MORE;
	}
	is_int(wrong, 0, "%d of %d numbers as the oracle", good, rounds);
	is_int(more, 0, "at the window's end more is wanted");
}

static void
number(const char *text, enum json_num_type type, int64_t a, int b)
{
	char mem[200] = { 0 };
	struct json_num num = { .type = JSON_TEXT };
	struct json j;
	bool good;

	memcpy(mem, text, strlen(text));
	json_start(&j, mem, strlen(text));
	good = json_number(&j, &num) == JSON_OK && num.type == type;
	switch (type) {
	case JSON_INT: good = good && num.i == a; break;
	case JSON_UINT: good = good && num.u == (uint64_t)a; break;
	case JSON_DEC:
		good = good && num.dec.mant == a && num.dec.exp10 == b;
		break;
	case JSON_TEXT:
	default: break;
	}
	ok(good && num.text.len == strlen(text), "%s", text);
}

static void
failure(const char *text, const char *error, size_t byte)
{
	char mem[200] = { 0 };
	struct json_num num;
	struct json j;

	memcpy(mem, text, strlen(text));
	json_start(&j, mem, strlen(text));
	ok(json_number(&j, &num) == JSON_BAD && strcmp(j.error, error) == 0 &&
		j.where == (unsigned char *)mem + byte,
	    "%s: %s", text, error);
}

static void
long_number(void)
{
	char mem[1000 + PAD] = { 0 };
	struct json_num num;
	struct json j;

	memset(mem, '7', 1000);
	json_start(&j, mem, 1000);
	ok(json_number(&j, &num) == JSON_OK && num.type == JSON_TEXT &&
		num.text.len == 1000,
	    "1000 digits");
	mem[1] = '.';
	json_start(&j, mem, 1000);
	ok(json_number(&j, &num) == JSON_OK && num.type == JSON_TEXT &&
		num.text.len == 1000,
	    "1000 digits with a point");
}

int
main(void)
{
	against_oracle();
	number("0", JSON_INT, 0, 0);
	number("-1", JSON_INT, -1, 0);
	number("9223372036854775807", JSON_INT, INT64_MAX, 0);
	number("-9223372036854775808", JSON_INT, INT64_MIN, 0);
	number("9223372036854775808", JSON_UINT, INT64_MIN, 0);
	number("18446744073709551615", JSON_UINT, -1, 0);
	number("18446744073709551616", JSON_TEXT, 0, 0);
	number("-9223372036854775809", JSON_TEXT, 0, 0);
	number("53.090", JSON_DEC, 53090, -3);
	number("1.0", JSON_DEC, 10, -1);
	number("1e-05", JSON_DEC, 1, -5);
	number("1.5e3", JSON_DEC, 15, 2);
	number("0.000", JSON_DEC, 0, -3);
	number("0.000000000000000000000123", JSON_DEC, 123, -24);
	number("12345678901234567.8", JSON_DEC, 123456789012345678, -1);
	number("123456789012345678.9", JSON_TEXT, 0, 0);
	number("1e400", JSON_DEC, 1, 400);
	number("1e401", JSON_TEXT, 0, 0);
	number("1e-400", JSON_DEC, 1, -400);
	number("1.0e-400", JSON_TEXT, 0, 0);
	number("1e99999999999999999999", JSON_TEXT, 0, 0);
	number("-0", JSON_TEXT, 0, 0);
	number("-0.0", JSON_TEXT, 0, 0);
	failure("01", "number has a leading zero", 0);
	failure("-x", "expected a digit after '-'", 1);
	failure("1.x", "expected a digit after the point", 2);
	failure("1ex", "expected a digit in the exponent", 2);
	long_number();
	done_testing();
}
