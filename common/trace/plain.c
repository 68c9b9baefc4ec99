/* SPDX-License-Identifier: MIT */
/* Makes names of two traces comparable: removes what differs from run to
 * run. */
#include "trace/plain.h"

#define LAUNCH "__kernel_launch__"

static bool
is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
	    (c >= 'A' && c <= 'F');
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Bytes of "(12)" at i, or 0. */
static size_t
line_number(struct str s, size_t i)
{
	size_t at = i;

	if (at >= s.len || s.p[at++] != '(')
		return 0;
	while (at < s.len && is_digit(s.p[at]))
		at++;
	return at > i + 1 && at < s.len && s.p[at] == ')' ? at + 1 - i : 0;
}

/* Bytes of an address at i, or 0. */
static size_t
address(struct str s, size_t i)
{
	size_t at = i + 2;

	if (at >= s.len || s.p[i] != '0' || s.p[i + 1] != 'x')
		return 0;
	while (at < s.len && is_hex(s.p[at]))
		at++;
	return at > i + 2 ? at - i : 0;
}

void
name_plain(struct buf *b, struct str s)
{
	static const struct str py = STR_INIT(".py");

	for (size_t i = 0; i < s.len;) {
		size_t n = address(s, i);

		if (n > 0) {
			buf_puts(b, "0xXXXX");
			i += n;
			continue;
		}
		if (str_starts((struct str){ s.p + i, s.len - i }, py)) {
			n = line_number(s, i + py.len);
			if (n > 0 && i + py.len + n < s.len &&
			    s.p[i + py.len + n] == ':') {
				buf_puts(b, ".py:");
				i += py.len + n + 1;
				continue;
			}
		}
		buf_putc(b, s.p[i++]);
	}
}

struct str
name_one_launch(struct str s)
{
	if (str_eq(s, STR("hipModuleLaunchKernel")) ||
	    str_eq(s, STR("cuLaunchKernel")))
		return STR(LAUNCH);
	return s;
}

void
name_without_lines(struct buf *b, struct str name)
{
	for (size_t i = 0; i < name.len;) {
		size_t n = line_number(name, i);

		if (n == 0)
			buf_putc(b, name.p[i++]);
		i += n;
	}
}
