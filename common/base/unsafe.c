/* SPDX-License-Identifier: MIT */
/* Characters that control a terminal, or change the text around them. */
#include "base/unsafe.h"

static const struct {
	uint32_t first, last;
} ranges[] = {
	{ 0x0000, 0x001f },
	{ 0x007f, 0x009f },
	{ 0x061c, 0x061c },
	{ 0x200e, 0x200f },
	{ 0x2028, 0x202e },
	{ 0x2060, 0x206f },
	{ 0xfeff, 0xfeff },
	{ 0xfff9, 0xfffb },
	{ 0xfffe, 0xffff }, /* noncharacters; XML cannot contain them */
	{ 0xe0000, 0xe00ff },
};

bool
char_is_unsafe(uint32_t cp)
{
	size_t i = 0;

	if (cp >= 0x20 && cp < 0x7f)
		return false;
	while (i < sizeof ranges / sizeof *ranges && cp > ranges[i].last)
		i++;
	return i < sizeof ranges / sizeof *ranges && cp >= ranges[i].first;
}
