/* SPDX-License-Identifier: MIT */
/*
 * Text for terminals without a locale: how wide a character is, and those
 * that must not reach a terminal as they are.
 */
#include "base/unsafe.h"
#include "table/view.h"

struct range {
	uint32_t first, last;
};

/* Combining marks and joiners found in names: no width. */
static const struct range zero_width[] = {
	{ 0x0300, 0x036f },
	{ 0x0483, 0x0489 },
	{ 0x0591, 0x05bd },
	{ 0x0610, 0x061a },
	{ 0x064b, 0x065f },
	{ 0x06d6, 0x06dc },
	{ 0x06df, 0x06e4 },
	{ 0x0900, 0x0902 },
	{ 0x093c, 0x093c },
	{ 0x0941, 0x0948 },
	{ 0x094d, 0x094d },
	{ 0x0e31, 0x0e31 },
	{ 0x0e34, 0x0e3a },
	{ 0x0e47, 0x0e4e },
	{ 0x1ab0, 0x1aff },
	{ 0x1dc0, 0x1dff },
	{ 0x200b, 0x200d },
	{ 0x20d0, 0x20ff },
	{ 0x302a, 0x302d },
	{ 0x3099, 0x309a },
	{ 0xfe00, 0xfe0f },
	{ 0xfe20, 0xfe2f },
	{ 0xe0100, 0xe01ef },
};

/* East Asian wide and full-width characters, and emoji. */
static const struct range two_wide[] = {
	{ 0x1100, 0x115f },
	{ 0x231a, 0x231b },
	{ 0x2329, 0x232a },
	{ 0x23e9, 0x23ec },
	{ 0x2e80, 0x303e },
	{ 0x3041, 0x4dbf },
	{ 0x4e00, 0xa4cf },
	{ 0xa960, 0xa97f },
	{ 0xac00, 0xd7a3 },
	{ 0xf900, 0xfaff },
	{ 0xfe30, 0xfe6f },
	{ 0xff00, 0xff60 },
	{ 0xffe0, 0xffe6 },
	{ 0x1f300, 0x1f64f },
	{ 0x1f680, 0x1f6ff },
	{ 0x1f900, 0x1f9ff },
	{ 0x1fa70, 0x1faff },
	{ 0x20000, 0x3fffd },
};

static bool
is_in(const struct range *r, size_t n, uint32_t cp)
{
	for (size_t lo = 0; lo < n;) {
		size_t mid = lo + (n - lo) / 2;

		if (cp > r[mid].last)
			lo = mid + 1;
		else if (cp < r[mid].first)
			n = mid;
		else
			return true;
	}
	return false;
}

#define IS_IN(ranges, cp) is_in(ranges, sizeof(ranges) / sizeof *(ranges), cp)

static size_t
char_width(uint32_t cp)
{
	if (cp < 0x300 || cp == UTF8_BAD)
		return 1;
	return IS_IN(zero_width, cp) ? 0 : IS_IN(two_wide, cp) ? 2 : 1;
}

size_t
text_width(struct str s)
{
	size_t width = 0;
	uint32_t cp;

	for (size_t i = 0; i < s.len;) {
		i += utf8_next(s.p + i, s.len - i, &cp);
		width += char_width(cp);
	}
	return width;
}

static void
put_unsafe(uint32_t cp, unsigned char byte, struct buf *out)
{
	if (cp == '\n')
		buf_puts(out, "\\n");
	else if (cp == '\t')
		buf_puts(out, "\\t");
	else if (cp == '\r')
		buf_puts(out, "\\r");
	else if (cp == UTF8_BAD || cp < 0x80)
		buf_printf(out, "\\x%02x", byte);
	else
		buf_printf(out, "\\u%04" PRIx32, cp);
}

void
text_visible(struct str s, struct buf *out)
{
	uint32_t cp;

	for (size_t i = 0, n; i < s.len; i += n) {
		n = utf8_next(s.p + i, s.len - i, &cp);
		if (cp == UTF8_BAD || char_is_unsafe(cp))
			put_unsafe(cp, (unsigned char)s.p[i], out);
		else
			buf_put(out, s.p + i, n);
	}
}

static bool
has(const char *list, char c)
{
	while (*list != '\0')
		if (*list++ == c)
			return true;
	return false;
}

static void
put_bytes(struct buf *out, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "\\x%02x", (unsigned char)p[i]);
}

void
text_escape(struct str s, const char *kept, const char *more, struct buf *out)
{
	size_t from = 0;
	uint32_t cp;

	for (size_t i = 0, n; i < s.len; i += n) {
		char c = s.p[i];

		n = 1;
		if (LIKELY((unsigned)(unsigned char)c - 0x20 < 0x7f - 0x20)) {
			if (LIKELY(!has(more, c)))
				continue;
		} else if (has(kept, c)) {
			continue;
		} else {
			n = utf8_next(s.p + i, s.len - i, &cp);
			if (cp != UTF8_BAD && !char_is_unsafe(cp))
				continue;
		}
		buf_put(out, s.p + from, i - from);
		from = i + n;
		switch (c) {
		case '\t': buf_puts(out, "\\t"); break;
		case '\n': buf_puts(out, "\\n"); break;
		case '\\': buf_puts(out, "\\\\"); break;
		default: put_bytes(out, s.p + i, n); break;
		}
	}
	buf_put(out, s.p + from, s.len - from);
}

/* The longest beginning of s in at most width columns. */
static struct str
head_of(struct str s, size_t width)
{
	size_t i = 0;
	uint32_t cp;

	while (i < s.len) {
		size_t n = utf8_next(s.p + i, s.len - i, &cp);

		if (char_width(cp) > width)
			break;
		width -= char_width(cp);
		i += n;
	}
	return (struct str){ s.p, i };
}

/* The longest end of s, which has total columns, in width columns. */
static struct str
tail_of(struct str s, size_t total, size_t width)
{
	size_t i = 0;
	uint32_t cp;

	while (i < s.len) {
		size_t n = utf8_next(s.p + i, s.len - i, &cp);

		/* no combining mark without its letter */
		if (total <= width && char_width(cp) > 0)
			break;
		total -= char_width(cp);
		i += n;
	}
	return (struct str){ s.p + i, s.len - i };
}

void
text_head(struct str s, size_t width, struct buf *out)
{
	struct str part = head_of(s, width);

	buf_put(out, part.p, part.len);
}

void
text_tail(struct str s, size_t width, struct buf *out)
{
	struct str part = tail_of(s, text_width(s), width);

	buf_put(out, part.p, part.len);
}

void
text_elide(struct str s, size_t width, struct buf *out)
{
	if (text_width(s) <= width) {
		buf_put(out, s.p, s.len);
	} else if (width <= 3) {
		text_head(s, width, out);
	} else {
		struct str head = head_of(s, (width - 3 + 1) / 2);
		struct str tail = tail_of(s, text_width(s), (width - 3) / 2);

		/* dots beside the ellipsis would be taken for it */
		while (head.len > 0 && head.p[head.len - 1] == '.')
			head.len--;
		while (tail.len > 0 && tail.p[0] == '.') {
			tail.p++;
			tail.len--;
		}
		buf_put(out, head.p, head.len);
		buf_puts(out, "...");
		buf_put(out, tail.p, tail.len);
	}
}
