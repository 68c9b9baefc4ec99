/* SPDX-License-Identifier: MIT */
/* A damaged value made clean: see clean.h. */
#include "cmd/tl-decode/json/clean.h"

#include <stdio.h>

enum want {
	WANT_VALUE,
	WANT_FIRST_VALUE, /* or the closing bracket */
	WANT_NEXT_VALUE,  /* behind a comma, not yet written */
	WANT_FIRST_KEY,
	WANT_NEXT_KEY,
	WANT_AFTER,
};

static enum clean_status
bad(struct cleaner *c, const unsigned char *where, const char *error)
{
	if (where >= c->end && !c->eof)
		return CLEAN_MORE;
	c->where = where < c->end ? where : c->end;
	c->error = where < c->end ? error : "the data end in the middle of it";
	return CLEAN_BAD;
}

static void
mend(struct cleaner *c, enum mend what, const unsigned char *at)
{
	if (c->mends[what]++ == 0)
		c->first[what] = at;
}

/* At end stands a zero, which is no white space. */
static const unsigned char *
skip_space(const unsigned char *p)
{
	while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
		p++;
	return p;
}

/* ---- strings ---- */

enum quote {
	QUOTE_END,
	QUOTE_TEXT,
	QUOTE_LOST,
	QUOTE_MORE,
};

static enum quote
at_end(const struct cleaner *c)
{
	return c->eof ? QUOTE_END : QUOTE_MORE;
}

/* Behind a value of an object and a comma: a further key, with its colon? */
static enum quote
before_key(const struct cleaner *c, const unsigned char *p)
{
	if (p >= c->end)
		return at_end(c);
	if (*p == '}')
		return QUOTE_END;
	if (*p != '"')
		return QUOTE_TEXT;
	p = scan_string(p + 1);
	if (p < c->end && *p != '"')
		return QUOTE_END; /* too odd to be looked through */
	p = p < c->end ? skip_space(p + 1) : p;
	if (p >= c->end)
		return at_end(c);
	return *p == ':' ? QUOTE_END : QUOTE_TEXT;
}

static bool
begins_value(unsigned char ch)
{
	return ch != 0 && strchr("\"{[-0123456789tfnNIi]", ch) != NULL;
}

/* q is inside a string, whose own quote ends the way back. */
static bool
follows_comma(const unsigned char *q)
{
	while (q[-1] == ' ')
		q--;
	return q[-1] == ',';
}

/* What the quote at q is, in a string that is a key or a value. */
static enum quote
judge_quote(const struct cleaner *c, const unsigned char *q, bool is_key)
{
	const unsigned char *p = skip_space(q + 1), *next;
	bool in_object = c->depth > 0 && c->open[c->depth - 1] == '{';

	if (c->depth == 0)
		return QUOTE_END;
	if (!is_key && !in_object && follows_comma(q))
		return QUOTE_LOST; /* rather the next string of the list */
	if (p >= c->end)
		return at_end(c);
	if (is_key)
		return *p == ':' ? QUOTE_END : QUOTE_LOST;
	next = skip_space(p + 1);
	switch (*p) {
	case ':': return QUOTE_LOST;
	case ',':
		if (in_object)
			return before_key(c, next);
		if (next >= c->end)
			return at_end(c);
		return begins_value(*next) ? QUOTE_END : QUOTE_TEXT;
	case '}':
	case ']':
		if ((*p == '}') != in_object)
			return QUOTE_TEXT;
		if (c->depth == 1)
			return QUOTE_END; /* whatever garbage follows */
		if (next >= c->end)
			return at_end(c);
		return memchr(",}]", *next, 3) ? QUOTE_END : QUOTE_TEXT;
	default: return QUOTE_TEXT;
	}
}

/* Text without quotes, backslashes or control characters. */
static void
put_text(struct cleaner *c, const unsigned char *p, size_t n)
{
	struct str s = { (const char *)p, n };
	size_t at;

	while (!json_check_utf8(s, &at)) {
		mend(c, MEND_UTF8, (const unsigned char *)s.p + at);
		buf_put(&c->out, s.p, at);
		buf_puts(&c->out, "\xef\xbf\xbd");
		s.p += at + 1;
		s.len -= at + 1;
	}
	buf_put(&c->out, s.p, s.len);
}

static bool
is_hex4(const unsigned char *p)
{
	for (int i = 0; i < 4; i++)
		if (!json_is_digit(p[i]) &&
		    ((p[i] | 32) < 'a' || (p[i] | 32) > 'f'))
			return false;
	return true;
}

/* At a backslash; how many bytes it took, 0: more are needed. */
static size_t
put_escape(struct cleaner *c, const unsigned char *p)
{
	size_t have = (size_t)(c->end - p), n = 0;

	if (have >= 2 && p[1] != 0 && strchr("\"\\/bfnrt", p[1]) != NULL)
		n = 2;
	else if (have >= 6 && p[1] == 'u' && is_hex4(p + 2))
		n = 6;
	else if (have < 6 && !c->eof)
		return 0;
	if (n > 0) {
		buf_put(&c->out, p, n);
		return n;
	}
	mend(c, MEND_ESCAPE, p);
	buf_puts(&c->out, "\\\\");
	return 1;
}

static void
put_control(struct cleaner *c, const unsigned char *p)
{
	mend(c, MEND_CONTROL, p);
	buf_printf(&c->out, "\\u%04x", (unsigned)*p);
}

/* Cursor at the quote. */
static enum clean_status
clean_string(struct cleaner *c, bool is_key)
{
	const unsigned char *p = c->p + 1;
	bool has_bare = false, has_line = false;

	buf_putc(&c->out, '"');
	for (;;) {
		const unsigned char *hit = scan_string(p);
		size_t n;

		if (hit >= c->end)
			return bad(c, c->end, NULL);
		put_text(c, p, (size_t)(hit - p));
		p = hit + 1;
		if (*hit == '\\') {
			if ((n = put_escape(c, hit)) == 0)
				return CLEAN_MORE;
			p = hit + n;
		} else if (*hit == 0) {
			return bad(c, hit, "NUL bytes");
		} else if (*hit != '"') {
			has_line |= *hit == '\n';
			put_control(c, hit);
		} else {
			switch (judge_quote(c, hit, is_key)) {
			case QUOTE_MORE: return CLEAN_MORE;
			case QUOTE_LOST:
				return bad(c, hit, "a string is not closed");
			case QUOTE_END:
				buf_putc(&c->out, '"');
				c->p = p;
				return CLEAN_OK;
			case QUOTE_TEXT:
				has_bare = true;
				mend(c, MEND_QUOTE, hit);
				buf_puts(&c->out, "\\\"");
			}
		}
		if (has_bare && (has_line || is_key))
			return bad(c, hit, "a string is not closed");
	}
}

/* ---- other scalars ---- */

static enum clean_status
clean_number(struct cleaner *c)
{
	struct json j;
	struct json_num num;
	enum json_status status;

	j.p = c->p;
	j.end = c->end;
	j.eof = c->eof;
	status = json_number(&j, &num);
	if (status == JSON_MORE)
		return CLEAN_MORE;
	if (status == JSON_BAD)
		return bad(c, j.where, j.error);
	buf_put(&c->out, num.text.p, num.text.len);
	c->p = j.p;
	return CLEAN_OK;
}

static const struct {
	struct str text, clean;
} literals[] = {
	{ STR_INIT("true"), STR_INIT("true") },
	{ STR_INIT("false"), STR_INIT("false") },
	{ STR_INIT("null"), STR_INIT("null") },
	{ STR_INIT("NaN"), STR_INIT("NaN") },
	{ STR_INIT("Infinity"), STR_INIT("Infinity") },
	{ STR_INIT("-Infinity"), STR_INIT("-Infinity") },
	{ STR_INIT("nan"), STR_INIT("NaN") },
	{ STR_INIT("-nan"), STR_INIT("NaN") },
	{ STR_INIT("inf"), STR_INIT("Infinity") },
	{ STR_INIT("-inf"), STR_INIT("-Infinity") },
};

static enum clean_status
clean_literal(struct cleaner *c)
{
	size_t room = (size_t)(c->end - c->p);

	for (size_t i = 0; i < sizeof literals / sizeof *literals; i++) {
		struct str t = literals[i].text, clean = literals[i].clean;
		size_t n = room < t.len ? room : t.len;

		if (memcmp(c->p, t.p, n) != 0)
			continue;
		if (n < t.len)
			return bad(c, c->end, NULL);
		if (!str_eq(t, clean))
			mend(c, MEND_NAN, c->p);
		buf_put(&c->out, clean.p, clean.len);
		c->p += n;
		return CLEAN_OK;
	}
	return bad(c, c->p, "expected a value");
}

/* ---- the grammar ---- */

static enum clean_status
close_bracket(struct cleaner *c, enum want *want)
{
	buf_putc(&c->out, (char)*c->p++);
	c->depth--;
	*want = WANT_AFTER;
	return CLEAN_OK;
}

static enum clean_status
value(struct cleaner *c, enum want *want)
{
	unsigned char ch = *c->p;

	*want = WANT_AFTER;
	if (ch == '"')
		return clean_string(c, false);
	if (ch == '{' || ch == '[') {
		if (c->depth == JSON_MAX_DEPTH)
			return bad(c, c->p, "nesting deeper than 10000");
		c->open[c->depth++] = ch;
		buf_putc(&c->out, (char)ch);
		c->p++;
		*want = ch == '{' ? WANT_FIRST_KEY : WANT_FIRST_VALUE;
		return CLEAN_OK;
	}
	c->is_scalar = c->depth == 0;
	if (json_is_digit(ch) ||
	    (ch == '-' && (c->p + 1 >= c->end || json_is_digit(c->p[1]))))
		return clean_number(c);
	return clean_literal(c);
}

static void
on_key(struct cleaner *c, struct str key)
{
	c->nkeys++;
	c->ntop += c->depth <= 2;
	if (c->depth > 1)
		return;
	for (const struct str *m = c->marks; m->len > 0; m++)
		c->is_marked |= str_eq(key, *m);
}

/* A key and its colon. */
static enum clean_status
key(struct cleaner *c, enum want *want)
{
	size_t from = c->out.len;
	enum clean_status status;

	if (*c->p != '"')
		return bad(c, c->p, "expected a key in quotes");
	if ((status = clean_string(c, true)) != CLEAN_OK)
		return status;
	on_key(c, (struct str){ c->out.p + from, c->out.len - from });
	c->p = skip_space(c->p);
	if (*c->p != ':')
		return bad(c, c->p, "expected ':' after a key");
	c->p++;
	buf_putc(&c->out, ':');
	*want = WANT_VALUE;
	return CLEAN_OK;
}

static enum clean_status
after(struct cleaner *c, enum want *want)
{
	bool in_object = c->open[c->depth - 1] == '{';

	if (*c->p == (in_object ? '}' : ']'))
		return close_bracket(c, want);
	if (*c->p != ',')
		return bad(c, c->p,
		    in_object ? "expected ',' or '}' after a value"
			      : "expected ',' or ']' after a value");
	c->p++;
	*want = in_object ? WANT_NEXT_KEY : WANT_NEXT_VALUE;
	return CLEAN_OK;
}

static enum clean_status
next(struct cleaner *c, enum want *want, unsigned char closing)
{
	if (*c->p == closing) {
		mend(c, MEND_COMMA, c->p);
		return close_bracket(c, want);
	}
	buf_putc(&c->out, ',');
	return closing == '}' ? key(c, want) : value(c, want);
}

static enum clean_status
step(struct cleaner *c, enum want *want)
{
	c->p = skip_space(c->p);
	if (c->p >= c->end)
		return bad(c, c->end, NULL);
	switch (*want) {
	case WANT_FIRST_VALUE:
		if (*c->p == ']')
			return close_bracket(c, want);
		break;
	case WANT_NEXT_VALUE: return next(c, want, ']');
	case WANT_FIRST_KEY:
		return *c->p == '}' ? close_bracket(c, want) : key(c, want);
	case WANT_NEXT_KEY: return next(c, want, '}');
	case WANT_AFTER: return after(c, want);
	case WANT_VALUE: break;
	}
	return value(c, want);
}

enum clean_status
clean_value(struct cleaner *c)
{
	size_t len = c->out.len;
	enum want want = WANT_VALUE;
	enum clean_status status;

	c->is_marked = false;
	c->nkeys = c->ntop = 0;
	c->is_scalar = false;
	c->depth = 0;
	memset(c->mends, 0, sizeof c->mends);
	do
		status = step(c, &want);
	while (status == CLEAN_OK && (c->depth > 0 || want != WANT_AFTER));
	if (status != CLEAN_OK)
		c->out.len = len;
	return status;
}
