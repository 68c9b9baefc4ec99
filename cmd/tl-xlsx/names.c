/* SPDX-License-Identifier: MIT */
/*
 * Names of sheets: 1 to 31 UTF-16 units, none of []:*?/\ and no control
 * characters, no apostrophe at an end, not "History", which Excel reserves, and
 * no two that differ in case only.
 */
#include <stdlib.h>

#include "cmd/tl-xlsx/tables.h"

/*
 * Lower case of Latin, Greek and Cyrillic. Excel knows more scripts; names that
 * differ in their case count as different.
 */
static uint32_t
fold(uint32_t cp)
{
	if ((cp >= 'A' && cp <= 'Z') ||
	    (cp >= 0xc0 && cp <= 0xde && cp != 0xd7) ||
	    (cp >= 0x391 && cp <= 0x3a9) || (cp >= 0x410 && cp <= 0x42f))
		return cp + 32;
	if (cp >= 0x400 && cp <= 0x40f)
		return cp + 80;
	if ((cp >= 0x100 && cp <= 0x137) || (cp >= 0x14a && cp <= 0x177))
		return cp | 1;
	return cp == 0xb5 ? 0x3bc : cp; /* micro sign to small mu */
}

/* The next character, U+FFFD for invalid bytes. */
static uint32_t
next_of(struct str s, size_t *at)
{
	uint32_t cp;

	*at += utf8_next(s.p + *at, s.len - *at, &cp);
	return cp == UTF8_BAD ? 0xfffd : cp;
}

static void
put_char(struct buf *b, uint32_t cp)
{
	buf_room(b, 4);
	b->len += utf8_put(b->p + b->len, cp);
}

/* A name in lower case, ending in NUL; the caller frees it. */
static char *
folded(struct str s)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < s.len;)
		put_char(&b, fold(next_of(s, &i)));
	buf_putc(&b, '\0');
	return b.p;
}

bool
names_equal(struct str a, struct str b)
{
	char *fa = folded(a), *fb = folded(b);
	bool equal = strcmp(fa, fb) == 0;

	free(fa);
	free(fb);
	return equal;
}

/* Appends up to so many units of s; characters a name cannot have become _. */
static void
put_part(struct buf *b, struct str s, size_t units)
{
	for (size_t i = 0; i < s.len;) {
		uint32_t cp = next_of(s, &i);

		if (cp < ' ' || (cp >= 0x7f && cp < 0xa0) || cp == 0xfffe ||
		    cp == 0xffff || (cp < 0x80 && strchr("[]:*?/\\", (int)cp)))
			cp = '_';
		if (units < (cp > 0xffff ? 2u : 1u))
			return;
		units -= cp > 0xffff ? 2 : 1;
		put_char(b, cp);
	}
}

static char *
try_name(struct str wanted, const char *suffix, unsigned number)
{
	struct buf b = { 0 };
	char tail[32] = "";
	size_t n = strlen(suffix);

	if (number > 1) {
		tail[0] = '~';
		tail[1 + num_put_u64(tail + 1, number)] = '\0';
	}
	put_part(&b, wanted, XLSX_NAME - n - strlen(tail));
	if (b.len == 0)
		buf_puts(&b, "Sheet");
	if (b.p[0] == '\'')
		b.p[0] = '_';
	buf_puts(&b, suffix);
	buf_puts(&b, tail);
	if (b.p[b.len - 1] == '\'')
		b.p[b.len - 1] = '_';
	if (names_equal(buf_str(&b), STR("History")))
		buf_putc(&b, '_');
	buf_putc(&b, '\0');
	return b.p;
}

static bool
is_taken(const struct names *n, const char *key)
{
	for (size_t i = 0; i < n->folded.n; i++)
		if (strcmp(n->folded.v[i], key) == 0)
			return true;
	return false;
}

char *
names_make(struct names *n, struct str wanted, const char *suffix)
{
	for (unsigned number = 1;; number++) {
		char *name = try_name(wanted, suffix, number);
		char *key = folded(str_of(name));

		if (!is_taken(n, key)) {
			vec_push(&n->folded, key);
			return name;
		}
		free(key);
		free(name);
	}
}

void
names_free(struct names *n)
{
	for (size_t i = 0; i < n->folded.n; i++)
		free(n->folded.v[i]);
	vec_free(&n->folded);
}
