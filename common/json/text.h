/* SPDX-License-Identifier: MIT */
/* Shared by reading and writing strings; private to this area. */
#ifndef TL_JSON_TEXT_H
#define TL_JSON_TEXT_H

#include "base/base.h"

/*
 * The first byte from p on that is not plain: a quote, a backslash, a control
 * character or one above 127. Reads nothing past end.
 */
const unsigned char *scan_plain(
    const unsigned char *p, const unsigned char *end);

/*
 * The length of the UTF-8 sequence at p (2..4), whose first byte is above 127;
 * 0: invalid. No overlong forms, no surrogates, nothing beyond U+10FFFF.
 */
static inline size_t
utf8_length(const unsigned char *p, const unsigned char *end)
{
	size_t left = (size_t)(end - p);
	unsigned c = p[0];

	if (c < 0xc2 || c > 0xf4 || left < 2 || (p[1] & 0xc0) != 0x80)
		return 0;
	if (c < 0xe0)
		return 2;
	if (left < 3 || (p[2] & 0xc0) != 0x80)
		return 0;
	if (c < 0xf0) {
		if ((c == 0xe0 && p[1] < 0xa0) || (c == 0xed && p[1] > 0x9f))
			return 0;
		return 3;
	}
	if (left < 4 || (p[3] & 0xc0) != 0x80 || (c == 0xf0 && p[1] < 0x90) ||
	    (c == 0xf4 && p[1] > 0x8f))
		return 0;
	return 4;
}

#endif
