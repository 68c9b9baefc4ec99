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
		buf_room(out, 4);
		out->len += utf8_put(out->p + out->len, cp);
	}
}
