/* SPDX-License-Identifier: MIT */
/* put: strings and integers as JSON. */
#include "base/unsafe.h"
#include "json/json.h"
#include "json/text.h"

static void
put_u(struct buf *b, unsigned c)
{
	static const char hex[] = "0123456789abcdef";
	char o[6] = { '\\', 'u', hex[c >> 12 & 15], hex[c >> 8 & 15],
		hex[c >> 4 & 15], hex[c & 15] };

	buf_put(b, o, sizeof o);
}

/* An ASCII character that needs an escape. */
static void
put_escape(struct buf *b, unsigned char c)
{
	static const char letters[] = "btn\0fr"; /* 8 to 13; 11 has none */
	char o[2] = { '\\', (char)c };

	if (c >= '\b' && c <= '\r' && letters[c - '\b'] != '\0')
		o[1] = letters[c - '\b'];
	else if (c < 0x20) {
		put_u(b, c);
		return;
	}
	buf_put(b, o, sizeof o);
}

/* The sequence at p, a byte above 127: its length. */
static size_t
put_high(struct buf *b, const unsigned char *p, const unsigned char *end)
{
	size_t n = utf8_length(p, end);
	uint32_t c;

	if (n > 0) {
		(void)utf8_next((const char *)p, n, &c);
		if (!char_is_unsafe(c)) {
			buf_put(b, p, n);
		} else if (c <= 0xffff) {
			put_u(b, c);
		} else {
			put_u(b, 0xd7c0 + (c >> 10));
			put_u(b, 0xdc00 | (c & 0x3ff));
		}
		return n;
	}
	if (end - p >= 3 && p[0] == 0xed && p[1] >= 0xa0 && p[1] <= 0xbf &&
	    (p[2] & 0xc0) == 0x80) {
		put_u(b, 0xd000U | (p[1] & 63U) << 6 | (p[2] & 63U));
		return 3;
	}
	buf_put(b, "\xef\xbf\xbd", 3);
	return 1;
}

void
json_put_string(struct buf *b, struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	const unsigned char *end = s.len > 0 ? p + s.len : p;

	buf_putc(b, '"');
	for (;;) {
		const unsigned char *q = scan_plain(p, end);

		buf_put(b, p, (size_t)(q - p));
		p = q;
		if (p == end)
			break;
		if (*p >= 0x80) {
			p += put_high(b, p, end);
		} else {
			put_escape(b, *p);
			p++;
		}
	}
	buf_putc(b, '"');
}

void
json_put_i64(struct buf *b, int64_t v)
{
	buf_room(b, 20);
	b->len += num_put_i64(b->p + b->len, v);
}
