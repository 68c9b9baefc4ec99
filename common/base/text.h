/* SPDX-License-Identifier: MIT */
/* text: bytes with a length, compared, searched and matched. */
#ifndef TL_BASE_TEXT_H
#define TL_BASE_TEXT_H

#include "base/c.h"

struct str {
	const char *p;
	size_t len;
};

/* For initialisers of static tables. */
#define STR_INIT(literal)                      \
	{                                      \
		(literal), sizeof(literal) - 1 \
	}
#define STR(literal) ((struct str){ (literal), sizeof(literal) - 1 })

static inline struct str
str_of(const char *s)
{
	return (struct str){ s, strlen(s) };
}

static inline bool
str_eq(struct str a, struct str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

/* Bytewise order, shorter first on a common prefix. */
int str_cmp(struct str a, struct str b);
int str_order(const void *a, const void *b); /* str_cmp() for qsort() */
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str end);
/* Removes the prefix; false if s does not start with it. */
bool str_take(struct str *s, struct str prefix);
/*
 * Takes the next word of a list separated by sep; the list becomes NULL after
 * the last. False: it was NULL.
 */
bool str_next(const char **list, char sep, struct str *word);
/* The first index of needle in s, or -1; nocase ignores ASCII case. */
ptrdiff_t str_find(struct str s, struct str needle, bool nocase);
/*
 * Shell pattern (* ? [...]), over all of s; any byte but NUL is literal. A name
 * matches itself, also with brackets: "add[bf16]".
 */
bool str_glob(struct str pattern, struct str s);
/* Whether one of n patterns matches; true without patterns. */
bool str_glob_any(const struct str *patterns, size_t n, struct str s);

struct buf;
/*
 * Appends ": is it PREFIXa or PREFIXb?" with the known words nearest to a wrong
 * one; false, and nothing, if none is near.
 */
bool suggest_put(struct buf *b, struct str word, const char *const known[],
    size_t n, const char *prefix);
/* How far a known word is from a wrong one; less is nearer. */
size_t suggest_distance(struct str known, struct str word);
#define SUGGEST_FAR (3 << 20) /* from here on it is not meant */

#define UTF8_BAD UINT32_MAX
/* Bytes of the character at p (n > 0); 1 and UTF8_BAD if it is invalid. */
size_t utf8_next(const char *p, size_t n, uint32_t *cp);
/* Writes a character, also a lone surrogate: at most 4 bytes. */
size_t utf8_put(char *out, uint32_t cp);

#endif
