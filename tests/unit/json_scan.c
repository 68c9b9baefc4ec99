/* SPDX-License-Identifier: MIT */
/*
 * The scans by blocks against the bytewise ones, on random text at every
 * alignment; UTF-8 against a decoder; long and deep texts.
 */
#include "tests/unit/tap.h"
#include "json/json.h"
#include "json/text.h"

#define PAD 64

static uint64_t seed = 1;

static uint32_t
rnd(uint32_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)((seed >> 33) % n);
}

/* Mostly plain text, with what scanners care about in it. */
static void
fill(unsigned char *p, size_t n)
{
	static const char dense[] = "\"\\\\\\[]{}[]{}\"\\";
	uint32_t plain = 1 + rnd(30);

	for (size_t i = 0; i < n; i++) {
		if (rnd(plain) > 0)
			p[i] = (unsigned char)(' ' + rnd(90));
		else
			p[i] = (unsigned char)dense[rnd(sizeof dense - 1)];
		if (rnd(200) == 0)
			p[i] = (unsigned char)rnd(256);
	}
	memset(p + n, 0, PAD);
}

static void
strings(void)
{
	static unsigned char mem[600];
	int wrong = 0;

	for (int round = 0; round < 3000; round++) {
		size_t at = rnd(64), n = rnd(300);

		fill(mem + at, n);
		for (size_t i = 0; i < n; i += 1 + rnd(20))
			wrong += scan_string(mem + at + i) !=
			    scan_string_portable(mem + at + i);
	}
	for (int c = 0; c < 256; c++)
		for (size_t i = 0; i < 16; i++) {
			memset(mem, 'x', 64);
			mem[i] = (unsigned char)c;
			mem[40] = 0;
			wrong += scan_string(mem) != scan_string_portable(mem);
		}
	is_int(wrong, 0, "scan_string as the portable one");
}

/* On blocks that end just there, so that ASan sees a byte too far. */
static void
plain(void)
{
	int wrong = 0;

	for (int round = 0; round < 20000; round++) {
		size_t n = rnd(70), i = 0;
		unsigned char mem[70 + PAD], *p = malloc(n + 1);

		fill(mem, n);
		memcpy(p + 1, mem, n);
		while (i < n && mem[i] >= 0x20 && mem[i] < 0x80 &&
		    mem[i] != '"' && mem[i] != '\\')
			i++;
		wrong += scan_plain(p + 1, p + 1 + n) != p + 1 + i;
		free(p);
	}
	is_int(wrong, 0, "scan_plain byte by byte");
}

static void
brackets(void)
{
	static unsigned char mem[1200];
	int wrong = 0, found = 0;

	for (int round = 0; round < 30000; round++) {
		size_t at = rnd(64), n = 1 + rnd(round % 8 ? 150 : 1000);
		const unsigned char *a, *b;

		fill(mem + at, n);
		mem[at] = rnd(2) ? '[' : '{';
		a = scan_brackets(mem + at, mem + at + n);
		b = scan_brackets_portable(mem + at, mem + at + n);
		wrong += a != b;
		found += a != NULL;
	}
	is_int(wrong, 0, "scan_brackets as the portable one");
	ok(found > 3000, "... which found an end %d times", found);
}

/* Backslashes in runs of every length across the border of a block. */
static void
backslashes(void)
{
	static unsigned char mem[300];
	int wrong = 0;

	for (size_t at = 0; at < 70; at++)
		for (size_t run = 0; run < 70; run++) {
			size_t n = 2 + at;

			memset(mem, 'a', sizeof mem);
			memcpy(mem, "[\"", 2);
			memset(mem + n, '\\', run);
			n += run;
			memcpy(mem + n, "\"]\"]", 4);
			memset(mem + n + 4, 0, PAD);
			wrong += scan_brackets(mem, mem + n + 4) !=
			    mem + n + (run % 2 ? 4 : 2);
		}
	is_int(wrong, 0, "runs of backslashes");
}

/* An independent reading of the definition: decode, then encode again. */
static bool
slow_utf8(const unsigned char *p, size_t n, size_t *at)
{
	for (size_t i = 0; i < n;) {
		static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
		size_t len = p[i] < 0x80 ? 1
		    : p[i] >> 5 == 6     ? 2
		    : p[i] >> 4 == 14    ? 3
		    : p[i] >> 3 == 30    ? 4
					 : 0;
		uint32_t c = len > 1 ? p[i] & (0x7fU >> len) : p[i];

		*at = i;
		if (len == 0 || len > n - i)
			return false;
		for (size_t k = 1; k < len; k++) {
			if (p[i + k] >> 6 != 2)
				return false;
			c = c << 6 | (p[i + k] & 63U);
		}
		if (c < least[len] || c > 0x10ffff ||
		    (c >= 0xd800 && c < 0xe000))
			return false;
		i += len;
	}
	return true;
}

static void
utf8(void)
{
	static const unsigned char some[] = { 0x00, 0x41, 0x7f, 0x80, 0x8f,
		0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1,
		0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff };
	const uint32_t n = sizeof some;
	int wrong = 0, good = 0;

	for (uint32_t i = 0; i < n * n * n * n; i++) {
		unsigned char p[40];
		size_t a = 0, b = 0, pre = i % 33;
		bool x, y;

		memset(p, 'a', sizeof p);
		p[pre] = some[i % n];
		p[pre + 1] = some[i / n % n];
		p[pre + 2] = some[i / n / n % n];
		p[pre + 3] = some[i / n / n / n];
		x = json_check_utf8(
		    (struct str){ (const char *)p, pre + 4 }, &a);
		y = slow_utf8(p, pre + 4, &b);
		wrong += x != y || (!x && a != b);
		good += y;
	}
	is_int(wrong, 0, "UTF-8 by every class of byte (%d valid)", good);
}

static void
long_string(void)
{
	size_t n = 100 * 1000 * 1000, at = 0;
	unsigned char *p = malloc(n + PAD);
	struct buf out = { 0 };
	struct json j;
	struct str raw;
	const char *error = NULL;
	bool escaped;

	memset(p, 'x', n);
	memset(p + n, 0, PAD);
	p[0] = p[n - 1] = '"';
	json_start(&j, p, n);
	ok(json_string(&j, &raw, &escaped) == JSON_OK && raw.len == n - 2 &&
		j.p == j.end,
	    "a string of 100 MB");
	json_start(&j, p, n);
	ok(json_span(&j, &raw) == JSON_OK && raw.len == n, "... its span");
	ok(json_minify((struct str){ (char *)p, n }, 0, &out, &error, &at) &&
		out.len == n,
	    "... minified");
	json_start(&j, p, n - 1);
	p[n - 1] = 0;
	is_int(json_next(&j), JSON_T_BAD, "... without its end");
	free(out.p);
	free(p);
}

static void
nested(unsigned depth, unsigned around, bool good)
{
	size_t n = 2 * (size_t)depth, at = 0;
	char *p = malloc(n + PAD);
	struct buf out = { 0 };
	struct json j;
	const char *error = "";
	enum json_token t;
	bool held;

	memset(p, '[', depth);
	memset(p + depth, ']', depth);
	memset(p + n, 0, PAD);
	held = json_minify((struct str){ p, n }, around, &out, &error, &at);
	ok(held == good, "depth %u within %u: minify", depth, around);
	if (!good)
		ok(at + around == JSON_MAX_DEPTH &&
			strcmp(error, "nesting deeper than 10000") == 0,
		    "... which names the bracket");
	if (around == 0) {
		json_start(&j, p, n);
		while ((t = json_next(&j)) > JSON_T_END)
			;
		ok((t == JSON_T_END) == good, "depth %u: tokens", depth);
		json_start(&j, p, n);
		ok((json_skip(&j) == JSON_OK) == good, "depth %u: skip", depth);
	}
	free(out.p);
	free(p);
}

int
main(void)
{
	strings();
	plain();
	brackets();
	backslashes();
	utf8();
	long_string();
	nested(10000, 0, true);
	nested(10001, 0, false);
	nested(9990, 10, true);
	nested(9991, 10, false);
	done_testing();
}
