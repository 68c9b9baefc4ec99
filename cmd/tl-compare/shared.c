/* SPDX-License-Identifier: MIT */
/*
 * The texts of a workbook: _xNNNN_ undone, and the list of those that sheets
 * share.
 *
 *	<sst><si><t>a</t></si><si><r><t>rich
 *</t></r><r><t>text</t></r></si></sst>
 */
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

struct shared_reader {
	struct shared *into;
	struct xml *xml;
	bool in_item, in_text, in_phonetic;
	struct buf text, plain;
};

static void
on_shared_start(void *ctx, const char *name, const char **attributes)
{
	struct shared_reader *r = ctx;

	(void)attributes;
	if (strcmp(name, "si") == 0) {
		r->in_item = true;
		r->text.len = 0;
	} else if (strcmp(name, "t") == 0) {
		r->in_text = r->in_item && !r->in_phonetic;
	} else if (strcmp(name, "rPh") == 0) {
		r->in_phonetic = true;
	}
}

static void
on_shared_end(void *ctx, const char *name)
{
	struct shared_reader *r = ctx;

	if (strcmp(name, "t") == 0) {
		r->in_text = false;
	} else if (strcmp(name, "rPh") == 0) {
		r->in_phonetic = false;
	} else if (strcmp(name, "si") == 0) {
		if (r->into->list.n == SHARED_MAX) {
			xml_fail(r->xml, "too many texts");
			return;
		}
		r->plain.len = 0;
		book_unescape(buf_str(&r->text), &r->plain);
		vec_push(&r->into->list,
		    arena_str(r->into->arena, buf_str(&r->plain)));
		r->in_item = false;
	}
}

static void
on_shared_text(void *ctx, const char *p, size_t n)
{
	struct shared_reader *r = ctx;

	if (!r->in_text)
		return;
	if (r->text.len + n > CELL_MAX)
		xml_fail(r->xml, "a text that is too long");
	else
		buf_put(&r->text, p, n);
}

bool
shared_parse(
    struct shared *s, struct parts *p, const char *name, struct buf *error)
{
	struct shared_reader r = { .into = s };
	struct xml_sink sink = { on_shared_start, on_shared_end, on_shared_text,
		&r };
	bool good;

	r.xml = xml_create(&sink, error);
	good = parts_parse(p, name, r.xml, error);
	xml_destroy(r.xml);
	buf_free(&r.text);
	buf_free(&r.plain);
	return good;
}
