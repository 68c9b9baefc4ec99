/* SPDX-License-Identifier: MIT */
/*
 * Lua's patterns, in our own code: Lua's may run forever on a hostile text
 * (".-a.-b.-c"), inside C, where no instruction limit applies. Here each step
 * counts. Omitted: %f, %b, "()".
 */
#include <ctype.h>

#include "model/pattern.h"

#define DEPTH 200 /* nested calls: captures, and items tried one at a time */

struct matcher {
	struct str text;
	struct str pat;
	struct pattern_match *m;
	const char *error;
	int steps, depth;
};

static size_t match_here(struct matcher *s, size_t t, size_t p);
#define NO_MATCH SIZE_MAX

static bool
step(struct matcher *s)
{
	if (--s->steps < 0)
		s->error = "the pattern needs too many steps";
	return s->error == NULL;
}

static bool
in_class(unsigned char c, char class)
{
	bool in;

	switch (class | 0x20) {
	case 'a': in = isalpha(c) != 0; break;
	case 'c': in = iscntrl(c) != 0; break;
	case 'd': in = isdigit(c) != 0; break;
	case 'l': in = islower(c) != 0; break;
	case 'p': in = ispunct(c) != 0; break;
	case 's': in = isspace(c) != 0; break;
	case 'u': in = isupper(c) != 0; break;
	case 'w': in = isalnum(c) != 0; break;
	case 'x': in = isxdigit(c) != 0; break;
	default: return c == (unsigned char)class;
	}
	return in != (isupper((unsigned char)class) != 0);
}

/* Past the single-character item at p. */
static size_t
item_end(struct matcher *s, size_t p)
{
	char c = s->pat.p[p++];

	if (c == '%') {
		if (p == s->pat.len)
			s->error = "the pattern ends with %";
		return p + 1;
	}
	if (c != '[')
		return p;
	if (p < s->pat.len && s->pat.p[p] == '^')
		p++;
	do { /* a ] in first place is plain */
		if (p >= s->pat.len) {
			s->error = "the pattern lacks a ]";
			return p;
		}
		if (s->pat.p[p++] == '%')
			p++;
	} while (p >= s->pat.len || s->pat.p[p] != ']');
	return p + 1;
}

static bool
in_set(const struct matcher *s, unsigned char c, size_t p, size_t last)
{
	const char *pat = s->pat.p;
	bool in = true;

	if (pat[p + 1] == '^') {
		in = false;
		p++;
	}
	while (++p < last) {
		if (pat[p] == '%' && p + 1 < last) {
			if (in_class(c, pat[++p]))
				return in;
		} else if (p + 2 < last && pat[p + 1] == '-') {
			if ((unsigned char)pat[p] <= c &&
			    c <= (unsigned char)pat[p + 2])
				return in;
			p += 2;
		} else if ((unsigned char)pat[p] == c) {
			return in;
		}
	}
	return !in;
}

/* Whether the item from p to end matches the byte at t. */
static bool
item_at(struct matcher *s, size_t t, size_t p, size_t end)
{
	unsigned char c;

	if (!step(s) || t >= s->text.len)
		return false;
	c = (unsigned char)s->text.p[t];
	switch (s->pat.p[p]) {
	case '.': return true;
	case '%': return in_class(c, s->pat.p[p + 1]);
	case '[': return in_set(s, c, p, end - 1);
	default: return (unsigned char)s->pat.p[p] == c;
	}
}

static size_t
match_most(struct matcher *s, size_t t, size_t p, size_t end)
{
	size_t n = 0;

	while (item_at(s, t + n, p, end))
		n++;
	for (;;) {
		size_t r = match_here(s, t + n, end + 1);

		if (r != NO_MATCH || s->error != NULL || n == 0)
			return r;
		n--;
	}
}

static size_t
match_least(struct matcher *s, size_t t, size_t p, size_t end)
{
	for (;;) {
		size_t r = match_here(s, t, end + 1);

		if (r != NO_MATCH || !item_at(s, t, p, end))
			return r;
		t++;
	}
}

static size_t
match_open(struct matcher *s, size_t t, size_t p)
{
	struct pattern_match *m = s->m;
	size_t r;

	if (m->ncaptures == PATTERN_CAPTURES) {
		s->error = "the pattern has too many captures";
		return NO_MATCH;
	}
	m->captures[m->ncaptures++] = (struct capture){ t, SIZE_MAX };
	r = match_here(s, t, p + 1);
	if (r == NO_MATCH)
		m->ncaptures--;
	return r;
}

static size_t
match_close(struct matcher *s, size_t t, size_t p)
{
	int i = s->m->ncaptures;
	size_t r;

	while (--i >= 0 && s->m->captures[i].len != SIZE_MAX)
		;
	if (i < 0) {
		s->error = "the pattern has a ) without its (";
		return NO_MATCH;
	}
	s->m->captures[i].len = t - s->m->captures[i].start;
	r = match_here(s, t, p + 1);
	if (r == NO_MATCH)
		s->m->captures[i].len = SIZE_MAX;
	return r;
}

/* The single item at p, with its repetition. */
static size_t
match_item(struct matcher *s, size_t t, size_t p)
{
	size_t end = item_end(s, p), r;

	if (s->error != NULL)
		return NO_MATCH;
	switch (end < s->pat.len ? s->pat.p[end] : '\0') {
	case '*': return match_most(s, t, p, end);
	case '-': return match_least(s, t, p, end);
	case '+':
		return item_at(s, t, p, end) ? match_most(s, t + 1, p, end)
					     : NO_MATCH;
	case '?':
		if (item_at(s, t, p, end) &&
		    (r = match_here(s, t + 1, end + 1)) != NO_MATCH)
			return r;
		return match_here(s, t, end + 1);
	default:
		return item_at(s, t, p, end) ? match_here(s, t + 1, end)
					     : NO_MATCH;
	}
}

/* The end of a match of the pattern from p on that begins at t. */
static size_t
match_here(struct matcher *s, size_t t, size_t p)
{
	size_t r;

	/* Consecutive plain items need no recursion. */
	while (p < s->pat.len && strchr("()%[.$", s->pat.p[p]) == NULL &&
	    (p + 1 == s->pat.len || strchr("*+-?", s->pat.p[p + 1]) == NULL)) {
		if (!item_at(s, t, p, p + 1))
			return NO_MATCH;
		t++, p++;
	}
	if (p >= s->pat.len)
		return t;
	if (!step(s))
		return NO_MATCH;
	if (s->depth == DEPTH) {
		s->error = "the pattern is nested too deep";
		return NO_MATCH;
	}
	s->depth++;
	if (s->pat.p[p] == '(')
		r = match_open(s, t, p);
	else if (s->pat.p[p] == ')')
		r = match_close(s, t, p);
	else if (s->pat.p[p] == '$' && p + 1 == s->pat.len)
		r = t == s->text.len ? t : NO_MATCH;
	else
		r = match_item(s, t, p);
	s->depth--;
	return r;
}

int
pattern_find(struct str text, struct str pattern, size_t init,
    struct pattern_match *m, const char **error)
{
	bool anchored = pattern.len > 0 && pattern.p[0] == '^';
	struct matcher s = { text, pattern, m, NULL, MODEL_PATTERN_STEPS, 0 };

	for (size_t t = init; t <= text.len; t++) {
		m->ncaptures = 0;
		m->start = t;
		m->end = match_here(&s, t, anchored ? 1 : 0);
		m->nsteps = MODEL_PATTERN_STEPS - s.steps;
		if (s.error == NULL && m->end != NO_MATCH) {
			for (int i = 0; i < m->ncaptures; i++)
				if (m->captures[i].len == SIZE_MAX)
					s.error = "the pattern lacks a )";
			if (s.error == NULL)
				return 1;
		}
		if (s.error != NULL) {
			*error = s.error;
			return -1;
		}
		if (anchored)
			break;
	}
	return 0;
}
