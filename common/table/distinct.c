/* SPDX-License-Identifier: MIT */
/*
 * Texts of a column that lose their middle may look alike. Sorted by what is
 * shown, such texts are neighbours; sorted by the whole text among these, the
 * common beginning of the first and the last is that of all.
 */
#include <stdlib.h>

#include "table/layout.h"

#define ROUNDS 3    /* of texts that still look alike, some may differ later */
#define WIDTH_MIN 9 /* for a beginning, dots and the difference */
#define TOKEN 8     /* how far to look for a word's beginning */

struct text {
	struct str whole, shown;
	size_t row;
};

static int
compare(const void *pa, const void *pb)
{
	const struct text *a = pa, *b = pb;
	int c = str_cmp(a->shown, b->shown);

	if (c == 0)
		c = str_cmp(a->whole, b->whole);
	return c != 0 ? c : (a->row > b->row) - (a->row < b->row);
}

static size_t
common(struct str a, struct str b)
{
	size_t n = a.len < b.len ? a.len : b.len, i = 0;

	while (i < n && a.p[i] == b.p[i])
		i++;
	return i;
}

/* Where the word around a byte begins, if that is near. */
static size_t
word_start(struct str s, size_t at)
{
	size_t i = at;

	while (
	    i > 0 && at - i < TOKEN && strchr("_<>,:.(/[ ", s.p[i - 1]) == NULL)
		i--;
	if (at - i == TOKEN)
		i = at;
	while (i > 0 && ((unsigned char)s.p[i] & 0xc0) == 0x80)
		i--;
	return i;
}

static struct str
show_from(struct str s, size_t at, size_t width, struct arena *text)
{
	size_t head = (width - 6) / 3, start = word_start(s, at);
	struct str rest = { s.p + start, s.len - start };
	struct buf b = { 0 };
	struct str made;

	if (text_width((struct str){ s.p, start }) <= head + 3) {
		text_head(s, width - 3, &b);
		buf_puts(&b, "...");
	} else if (text_width(rest) <= width - 3 - head) {
		text_head(s, head, &b);
		buf_puts(&b, "...");
		text_tail(s, width - 3 - head, &b);
	} else {
		text_head(s, head, &b);
		buf_puts(&b, "...");
		text_head(rest, width - 6 - head, &b);
		buf_puts(&b, "...");
	}
	made = arena_str(text, buf_str(&b));
	buf_free(&b);
	return made;
}

/* Separates those from i to end, which look alike. */
static bool
part(struct text *t, size_t i, size_t end, size_t width, struct arena *text)
{
	size_t at = common(t[i].whole, t[end - 1].whole);

	if (at == t[i].whole.len && at == t[end - 1].whole.len)
		return false;
	for (; i < end; i++)
		t[i].shown = show_from(t[i].whole, at, width, text);
	return true;
}

void
texts_distinct(const struct str *whole, struct str *shown, size_t n,
    size_t width, struct arena *text)
{
	struct text *t;
	bool changed = width >= WIDTH_MIN && n > 1;

	if (!changed)
		return;
	t = xmalloc(n * sizeof *t);
	for (size_t i = 0; i < n; i++)
		t[i] = (struct text){ whole[i], shown[i], i };
	for (int round = 0; changed && round < ROUNDS; round++) {
		changed = false;
		qsort(t, n, sizeof *t, compare);
		for (size_t i = 0, end; i < n; i = end) {
			for (end = i + 1;
			     end < n && str_eq(t[i].shown, t[end].shown);)
				end++;
			if (part(t, i, end, width, text))
				changed = true;
		}
	}
	for (size_t i = 0; i < n; i++)
		shown[t[i].row] = t[i].shown;
	free(t);
}
