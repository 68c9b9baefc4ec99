/* SPDX-License-Identifier: MIT */
/*
 * Comparing, searching and matching bytes. No locale: a name sorts the same
 * on every machine.
 */
#include "base/base.h"

int
str_cmp(struct str a, struct str b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int c = n > 0 ? memcmp(a.p, b.p, n) : 0;

	return c != 0 ? c : (a.len > b.len) - (a.len < b.len);
}

int
str_order(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

bool
str_starts(struct str s, struct str prefix)
{
	return s.len >= prefix.len &&
	    str_eq((struct str){ s.p, prefix.len }, prefix);
}

bool
str_take(struct str *s, struct str prefix)
{
	if (!str_starts(*s, prefix))
		return false;
	s->p += prefix.len;
	s->len -= prefix.len;
	return true;
}

bool
str_ends(struct str s, struct str end)
{
	return s.len >= end.len &&
	    str_eq((struct str){ s.p + s.len - end.len, end.len }, end);
}

bool
str_next(const char **list, char sep, struct str *word)
{
	const char *end;

	if (*list == NULL)
		return false;
	end = strchrnul(*list, sep);
	*word = (struct str){ *list, (size_t)(end - *list) };
	*list = *end != '\0' ? end + 1 : NULL;
	return true;
}

static unsigned char
lower(char c)
{
	unsigned char u = (unsigned char)c;

	return u >= 'A' && u <= 'Z' ? (unsigned char)(u + ('a' - 'A')) : u;
}

static bool
same_nocase(const char *a, const char *b, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (lower(a[i]) != lower(b[i]))
			return false;
	return true;
}

ptrdiff_t
str_find(struct str s, struct str needle, bool nocase)
{
	unsigned char first;
	size_t i;

	if (needle.len == 0)
		return 0;
	if (needle.len > s.len)
		return -1;
	if (!nocase) {
		const char *p = memmem(s.p, s.len, needle.p, needle.len);

		return p != NULL ? p - s.p : -1;
	}
	first = lower(needle.p[0]);
	for (i = 0; i <= s.len - needle.len; i++)
		if (lower(s.p[i]) == first &&
		    same_nocase(s.p + i, needle.p, needle.len))
			return (ptrdiff_t)i;
	return -1;
}

/*
 * The set that starts at pat[i] == '[': *end is the index after its ']', or i
 * if there is none and the bracket is literal. A ']' directly after the opening
 * is a member, as in the shell.
 */
static bool
in_set(struct str pat, size_t i, unsigned char c, size_t *end)
{
	size_t k = i + 1, first;
	bool negate = false, found = false;

	if (k < pat.len && (pat.p[k] == '!' || pat.p[k] == '^')) {
		negate = true;
		k++;
	}
	for (first = k; k < pat.len && (pat.p[k] != ']' || k == first); k++) {
		unsigned char lo = (unsigned char)pat.p[k], hi = lo;

		if (k + 2 < pat.len && pat.p[k + 1] == '-' &&
		    pat.p[k + 2] != ']') {
			hi = (unsigned char)pat.p[k + 2];
			k += 2;
		}
		found |= lo <= c && c <= hi;
	}
	*end = k < pat.len ? k + 1 : i;
	return found != negate;
}

/* Whether the pattern element at i matches c; *next is the following one. */
static bool
glob_one(struct str pat, size_t i, char c, size_t *next)
{
	if (pat.p[i] == '[') {
		bool hit = in_set(pat, i, (unsigned char)c, next);

		if (*next > i)
			return hit;
	}
	*next = i + 1;
	return pat.p[i] == '?' || pat.p[i] == c;
}

/*
 * On a mismatch only the last star takes one more byte: earlier ones already
 * matched as early as possible. At most pattern x text steps.
 */
static bool
like(struct str pat, struct str s)
{
	size_t i = 0, k = 0, star = SIZE_MAX, star_k = 0, next;

	while (k < s.len) {
		if (i < pat.len && pat.p[i] == '*') {
			star = ++i;
			star_k = k;
		} else if (i < pat.len && glob_one(pat, i, s.p[k], &next)) {
			i = next;
			k++;
		} else if (star != SIZE_MAX) {
			i = star;
			k = ++star_k;
		} else {
			return false;
		}
	}
	while (i < pat.len && pat.p[i] == '*')
		i++;
	return i == pat.len;
}

bool
str_glob(struct str pat, struct str s)
{
	return like(pat, s) || str_eq(pat, s);
}

bool
str_glob_any(const struct str *patterns, size_t n, struct str s)
{
	for (size_t i = 0; i < n; i++)
		if (str_glob(patterns[i], s))
			return true;
	return n == 0;
}

/* ---- UTF-8 ---- */

size_t
utf8_next(const char *text, size_t n, uint32_t *cp)
{
	/*
	 * The least character of so many bytes: below it, the encoding is
	 * overlong.
	 */
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)text;
	size_t len = p[0] < 0x80 ? 1
	    : p[0] < 0xc2        ? 0
	    : p[0] < 0xe0        ? 2
	    : p[0] < 0xf0        ? 3
	    : p[0] < 0xf5        ? 4
				 : 0;
	uint32_t c = p[0];

	*cp = UTF8_BAD;
	if (len == 0 || len > n)
		return 1;
	if (len > 1)
		c &= 0x7fU >> len;
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 1;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 1;
	*cp = c;
	return len;
}

size_t
utf8_put(char *o, uint32_t c)
{
	if (c < 0x80) {
		o[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		o[0] = (char)(0xc0 | c >> 6);
		o[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		o[0] = (char)(0xe0 | c >> 12);
		o[1] = (char)(0x80 | (c >> 6 & 63));
		o[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	o[0] = (char)(0xf0 | c >> 18);
	o[1] = (char)(0x80 | (c >> 12 & 63));
	o[2] = (char)(0x80 | (c >> 6 & 63));
	o[3] = (char)(0x80 | (c & 63));
	return 4;
}
