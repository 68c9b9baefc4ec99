/* SPDX-License-Identifier: MIT */
/*
 * Names to frames. A semicolon would split a frame, a newline a line, and a
 * number after the last blank would be a column: they are escaped like all that
 * text_escape() escapes, so that different names are different frames.
 */
#include "cmd/tl-fold/fold.h"
#include "table/view.h"
#include "trace/plain.h"

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Where the blank before a final "12" or "1.5" is, or the length. */
static size_t
blank_before_number(struct str s)
{
	size_t at = s.len;

	while (at > 0 && is_digit(s.p[at - 1]))
		at--;
	if (at > 0 && s.p[at - 1] == '.')
		for (at--; at > 0 && is_digit(s.p[at - 1]);)
			at--;
	return at > 0 && at < s.len && s.p[at - 1] == ' ' && is_digit(s.p[at])
	    ? at - 1
	    : s.len;
}

static void
escape(struct buf *b, struct str s)
{
	size_t blank = blank_before_number(s);

	text_escape((struct str){ s.p, blank }, "", ";\\", b);
	if (blank == s.len)
		return;
	buf_puts(b, "\\x20");
	text_escape(
	    (struct str){ s.p + blank + 1, s.len - blank - 1 }, "", ";\\", b);
}

/* Drops folders of "a/b/model.py(12): forward", with or without the line. */
static struct str
without_folders(struct str s)
{
	ptrdiff_t end = str_find(s, STR(".py("), false);

	if (end < 0)
		end = str_find(s, STR(".py:"), false);

	for (ptrdiff_t i = end; i-- > 0;) {
		if (s.p[i] != '/' && s.p[i] != '\\')
			continue;
		s.p += i + 1;
		s.len -= (size_t)i + 1;
		return s;
	}
	return s;
}

/* The name as printed: shortened with --short. */
static struct str
readable(struct frames *f, struct str name, enum frame_type type)
{
	static const struct str prefix = STR_INIT("nn.Module: ");

	if (type == FRAME_MODULE && str_starts(name, prefix)) {
		name.p += prefix.len;
		name.len -= prefix.len;
	}
	if (!f->is_short)
		return name;
	if (type == FRAME_PYTHON)
		name = without_folders(name);
	if (type != FRAME_GPU && (f->width == 0 || name.len <= f->width))
		return name;
	f->part.len = 0;
	table_fold_name(name, f->width, &f->part);
	return buf_str(&f->part);
}

uint32_t
frame_of(struct frames *f, struct dict *st, uint32_t name, enum frame_type type)
{
	bool is_new;
	uint64_t *slot =
	    map_put(&f->known, (uint64_t)name * FRAME_TYPES + type, &is_new);

	if (is_new) {
		struct str s = dict_get(st, name);

		f->text.len = 0;
		f->plain.len = 0;
		if (f->is_plain) {
			name_plain(&f->plain, s);
			s = name_one_launch(buf_str(&f->plain));
		}
		escape(&f->text, readable(f, s, type));
		if (f->text.len == 0)
			buf_puts(&f->text, "[no name]");
		*slot = intern_put(st->text, buf_str(&f->text));
	}
	return (uint32_t)*slot;
}

void
frames_free(struct frames *f)
{
	map_free(&f->known);
	buf_free(&f->text);
	buf_free(&f->part);
	buf_free(&f->plain);
}
