/* SPDX-License-Identifier: MIT */
/*
 * string: decoding a string's text. The scan for its end is inline; escapes and
 * UTF-8 are handled here, once per distinct text.
 */
#include "json/json.h"
#include "json/text.h"

enum json_status
json_string_slow(
    struct json *j, const unsigned char *hit, struct str *raw, bool *escaped)
{
	const unsigned char *p = j->p + 1;

	*escaped = false;
	while (*hit == '\\') {
		*escaped = true;
		if (hit + 1 >= j->end)
			return json_fail(j, j->end, "string is not closed");
		hit = scan_string(hit + 2);
	}
	if (*hit != '"') {
		if (hit >= j->end)
			return json_fail(j, j->end, "string is not closed");
		return json_fail(j, hit, "control character in a string");
	}
	*raw = (struct str){ (const char *)p, (size_t)(hit - p) };
	j->p = hit + 1;
	return JSON_OK;
}

#define TOPS UINT64_C(0x8080808080808080)

/* The first byte above 127 from p on, or end. */
static const unsigned char *
skip_ascii(const unsigned char *p, const unsigned char *end)
{
	size_t n = (size_t)(end - p);

	while (end - p >= 8 && (hash_load(p, 8) & TOPS) == 0)
		p += 8;
	/* most keys and names end here, or with their last word */
	if (end - p < 8 &&
	    (n >= 8 ? (hash_load(end - 8, 8) & TOPS) == 0
		    : n >= 4 &&
			((hash_load(p, 4) | hash_load(end - 4, 4)) & TOPS) ==
			    0))
		return end;
	while (p < end && *p < 0x80)
		p++;
	return p;
}

bool
json_check_utf8(struct str raw, size_t *at)
{
	const unsigned char *start = (const unsigned char *)raw.p;
	const unsigned char *p = start, *end = raw.len > 0 ? p + raw.len : p;

	while ((p = skip_ascii(p, end)) < end) {
		do {
			size_t n = utf8_length(p, end);

			if (n == 0) {
				*at = (size_t)(p - start);
				return false;
			}
			p += n;
		} while (p < end && *p >= 0x80);
	}
	return true;
}

struct str
json_as_utf8(struct str s, struct buf *scratch)
{
	size_t n;

	if (json_check_utf8(s, &n))
		return s;
	scratch->len = 0;
	for (size_t i = 0; i < s.len; i += n) {
		uint32_t c;
		char out[4];

		n = utf8_next(s.p + i, s.len - i, &c);
		buf_put(
		    scratch, out, utf8_put(out, c != UTF8_BAD ? c : 0xfffd));
	}
	return buf_str(scratch);
}

/* ---- escapes ---- */

/* The value of four hexadecimal digits, or -1. */
static int
hex4(const unsigned char *p, const unsigned char *end)
{
	int v = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int c = p[i], low = c | 0x20;

		if (c >= '0' && c <= '9')
			v = v << 4 | (c - '0');
		else if (low >= 'a' && low <= 'f')
			v = v << 4 | (low - 'a' + 10);
		else
			return -1;
	}
	return v;
}

/*
 * The escape at p (a backslash): returns its length, its character in *c; 0:
 * invalid. A surrogate pair is one character.
 */
static size_t
escape(const unsigned char *p, const unsigned char *end, uint32_t *c)
{
	int v, low;

	if (end - p < 2)
		return 0;
	switch (p[1]) {
	case '"':
	case '\\':
	case '/': *c = p[1]; return 2;
	case 'b': *c = '\b'; return 2;
	case 'f': *c = '\f'; return 2;
	case 'n': *c = '\n'; return 2;
	case 'r': *c = '\r'; return 2;
	case 't': *c = '\t'; return 2;
	case 'u': break;
	default: return 0;
	}
	v = hex4(p + 2, end);
	if (v < 0)
		return 0;
	*c = (uint32_t)v;
	if (v >> 10 == 0xd800 >> 10 && end - p >= 8 && p[6] == '\\' &&
	    p[7] == 'u') {
		low = hex4(p + 8, end);
		if (low >= 0 && low >> 10 == 0xdc00 >> 10) {
			*c = 0x10000 + ((uint32_t)(v & 0x3ff) << 10) +
			    (uint32_t)(low & 0x3ff);
			return 12;
		}
	}
	return 6;
}

/*
 * One step over a byte at p that is not plain: returns the length, the decoded
 * bytes in o[0..*n); 0 and an error if invalid.
 */
static size_t
special(const unsigned char *p, const unsigned char *end, char *o, size_t *n,
    const char **error)
{
	uint32_t c;
	size_t len;

	if (*p == '\\') {
		len = escape(p, end, &c);
		if (len == 0)
			*error = end - p >= 2 && p[1] == 'u'
			    ? "bad \\u escape in a string"
			    : "bad escape in a string";
		else
			*n = utf8_put(o, c);
		return len;
	}
	if (*p < 0x80) {
		*error = *p == '"' ? "quote in a string"
				   : "control character in a string";
		return 0;
	}
	len = utf8_length(p, end);
	if (len == 0)
		*error = "invalid UTF-8 in a string";
	memcpy(o, p, len);
	*n = len;
	return len;
}

bool
json_check_string(struct str raw, const char **error, size_t *at)
{
	const unsigned char *start = (const unsigned char *)raw.p;
	const unsigned char *p = start, *end = raw.len > 0 ? p + raw.len : p;
	char o[4];
	size_t n;

	while ((p = scan_plain(p, end)) < end) {
		size_t len = special(p, end, o, &n, error);

		if (len == 0) {
			*at = (size_t)(p - start);
			return false;
		}
		p += len;
	}
	return true;
}

bool
json_unescape(struct str raw, struct buf *out, const char **error, size_t *at)
{
	const unsigned char *start = (const unsigned char *)raw.p;
	const unsigned char *p = start, *end = raw.len > 0 ? p + raw.len : p;
	char o[4];
	size_t n;

	for (;;) {
		const unsigned char *q = scan_plain(p, end);
		size_t len;

		buf_put(out, p, (size_t)(q - p));
		if (q == end)
			return true;
		len = special(q, end, o, &n, error);
		if (len == 0) {
			*at = (size_t)(q - start);
			return false;
		}
		buf_put(out, o, n);
		p = q + len;
	}
}
