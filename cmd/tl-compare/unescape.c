/* SPDX-License-Identifier: MIT */
/* The texts of a workbook: _xNNNN_ undone. */
#include "cmd/tl-compare/workbook.h"

static int
hex4(const char *p)
{
	int v = 0;

	for (int i = 0; i < 4; i++) {
		int c = p[i] >= '0' && p[i] <= '9' ? p[i] - '0'
		    : p[i] >= 'A' && p[i] <= 'F'   ? p[i] - 'A' + 10
		    : p[i] >= 'a' && p[i] <= 'f'   ? p[i] - 'a' + 10
						   : -1;

		if (c < 0)
			return -1;
		v = v << 4 | c;
	}
	return v;
}

/* The UTF-16 unit that an _xNNNN_ at i stands for, or -1. */
static int
escape_at(struct str s, size_t i)
{
	if (s.len - i < 7 || s.p[i] != '_' || s.p[i + 1] != 'x' ||
	    s.p[i + 6] != '_')
		return -1;
	return hex4(s.p + i + 2);
}

static void
put_utf8(struct buf *b, uint32_t cp)
{
	if (cp < 0x80) {
		buf_putc(b, (char)cp);
		return;
	}
	if (cp < 0x800) {
		buf_putc(b, (char)(0xc0 | cp >> 6));
	} else {
		if (cp < 0x10000) {
			buf_putc(b, (char)(0xe0 | cp >> 12));
		} else {
			buf_putc(b, (char)(0xf0 | cp >> 18));
			buf_putc(b, (char)(0x80 | (cp >> 12 & 0x3f)));
		}
		buf_putc(b, (char)(0x80 | (cp >> 6 & 0x3f)));
	}
	buf_putc(b, (char)(0x80 | (cp & 0x3f)));
}

void
book_unescape(struct str s, struct buf *out)
{
	for (size_t i = 0; i < s.len;) {
		int unit = escape_at(s, i), low;
		uint32_t cp = (uint32_t)unit;

		if (unit < 0) {
			buf_putc(out, s.p[i++]);
			continue;
		}
		i += 7;
		low = unit >= 0xd800 && unit < 0xdc00 && i < s.len
		    ? escape_at(s, i)
		    : -1;
		if (low >= 0xdc00 && low < 0xe000) {
			cp = 0x10000 + ((cp - 0xd800) << 10) +
			    ((uint32_t)low - 0xdc00);
			i += 7;
		} else if (unit >= 0xd800 && unit < 0xe000) {
			cp = 0xfffd; /* half a character */
		}
		put_utf8(out, cp);
	}
}
