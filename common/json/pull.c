/* SPDX-License-Identifier: MIT */
/*
 * pull: the tokens of one value, with a full check of the grammar; and the
 * extent of a value without one. The state is what may come next. It changes
 * only after a complete token, so that the call can be repeated after
 * JSON_T_MORE.
 */
#include "json/json.h"

enum state {
	S_VALUE,       /* at the start */
	S_FIRST_VALUE, /* after [ */
	S_FIRST_KEY,   /* after { */
	S_AFTER_KEY,
	S_AFTER_VALUE,
	S_DONE,
};

void
json_start(struct json *j, const void *bytes, size_t len)
{
	j->p = bytes;
	j->end = j->p + len;
	j->eof = true;
	j->error = NULL;
	j->where = NULL;
	j->raw = (struct str){ NULL, 0 };
	j->escaped = false;
	j->depth = 0;
	j->state = S_VALUE;
}

enum json_status
json_fail(struct json *j, const unsigned char *where, const char *error)
{
	if (where >= j->end && !j->eof)
		return JSON_MORE;
	j->error = error;
	j->where = where;
	return JSON_BAD;
}

enum json_status
json_bom(struct json *j)
{
	static const unsigned char utf8[3] = { 0xef, 0xbb, 0xbf };
	size_t n = (size_t)(j->end - j->p);
	const unsigned char *p = j->p;

	/* The zeros after end are part of UTF-32's mark only. */
	if (n < 4 && !j->eof &&
	    (n == 0 || *p == utf8[0] || *p >= 0xfe || *p == 0))
		return JSON_MORE;
	if (p[0] == 0xff && p[1] == 0xfe && n >= 4 && p[2] == 0 && p[3] == 0)
		return json_fail(j, p, "UTF-32 is not supported: convert it");
	if (p[0] == 0 && p[1] == 0 && p[2] == 0xfe && p[3] == 0xff)
		return json_fail(j, p, "UTF-32 is not supported: convert it");
	if ((p[0] == 0xff && p[1] == 0xfe) || (p[0] == 0xfe && p[1] == 0xff))
		return json_fail(j, p, "UTF-16 is not supported: convert it");
	if (n >= sizeof utf8 && memcmp(p, utf8, sizeof utf8) == 0)
		j->p += sizeof utf8;
	return JSON_OK;
}

/* ---- tokens ---- */

static enum json_token
bad(struct json *j, const unsigned char *where, const char *error)
{
	if (where >= j->end)
		error = "unexpected end of the data";
	return json_fail(j, where, error) == JSON_MORE ? JSON_T_MORE
						       : JSON_T_BAD;
}

static enum json_token
token_of(enum json_status status, enum json_token good)
{
	switch (status) {
	case JSON_OK: return good;
	case JSON_MORE: return JSON_T_MORE;
	default: return JSON_T_BAD;
	}
}

/* What may follow a value or a closed container. */
static void
value_done(struct json *j)
{
	j->state = j->depth > 0 ? S_AFTER_VALUE : S_DONE;
}

static enum json_token
open_container(struct json *j, bool object)
{
	uint64_t bit = UINT64_C(1) << j->depth % 64;

	if (UNLIKELY(j->depth == JSON_MAX_DEPTH))
		return bad(j, j->p, "nesting deeper than 10000");
	if (object)
		j->kinds[j->depth / 64] |= bit;
	else
		j->kinds[j->depth / 64] &= ~bit;
	j->depth++;
	j->p++;
	j->state = object ? S_FIRST_KEY : S_FIRST_VALUE;
	return object ? JSON_T_OBJECT : JSON_T_ARRAY;
}

static enum json_token
close_container(struct json *j, enum json_token t)
{
	j->p++;
	j->depth--;
	value_done(j);
	return t;
}

static enum json_token
string(struct json *j, enum json_token t)
{
	const char *error = "invalid UTF-8 in a string";
	size_t at;
	enum json_status status = json_string(j, &j->raw, &j->escaped);

	if (status != JSON_OK)
		return token_of(status, t);
	if (UNLIKELY(j->escaped ? !json_check_string(j->raw, &error, &at)
				: !json_check_utf8(j->raw, &at)))
		return bad(j, (const unsigned char *)j->raw.p + at, error);
	if (t == JSON_T_KEY)
		j->state = S_AFTER_KEY;
	else
		value_done(j);
	return t;
}

static enum json_token
key(struct json *j, const char *error)
{
	if (*j->p != '"')
		return bad(j, j->p, error);
	return string(j, JSON_T_KEY);
}

static enum json_token
literal(struct json *j, const char *word, enum json_token t)
{
	size_t n = 0;

	while (word[n] != '\0' && j->p[n] == (unsigned char)word[n])
		n++;
	if (word[n] != '\0') {
		if (j->p + n >= j->end)
			return bad(j, j->p + n, NULL);
		return bad(j, j->p, "expected a value");
	}
	j->raw = (struct str){ (const char *)j->p, n };
	j->p += n;
	value_done(j);
	return t;
}

static enum json_token
number(struct json *j)
{
	enum json_status status = json_number(j, &j->num);

	if (status != JSON_OK)
		return token_of(status, JSON_T_NUMBER);
	j->raw = j->num.text;
	value_done(j);
	return JSON_T_NUMBER;
}

static enum json_token
value(struct json *j)
{
	switch (*j->p) {
	case '{': return open_container(j, true);
	case '[': return open_container(j, false);
	case '"': return string(j, JSON_T_STRING);
	case '0':
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
	case '8':
	case '9': return number(j);
	case '-':
		if (j->p[1] == 'I')
			return literal(j, "-Infinity", JSON_T_NAN);
		return number(j);
	case 't': return literal(j, "true", JSON_T_TRUE);
	case 'f': return literal(j, "false", JSON_T_FALSE);
	case 'n': return literal(j, "null", JSON_T_NULL);
	case 'N': return literal(j, "NaN", JSON_T_NAN);
	case 'I': return literal(j, "Infinity", JSON_T_NAN);
	default: return bad(j, j->p, "expected a value");
	}
}

static enum json_token
after_value(struct json *j)
{
	if (json_in_object(j)) {
		if (*j->p == '}')
			return close_container(j, JSON_T_OBJECT_END);
		if (*j->p != ',')
			return bad(
			    j, j->p, "expected ',' or '}' after a member");
		j->p++;
		json_space(j);
		return key(j, "expected a key after ','");
	}
	if (*j->p == ']')
		return close_container(j, JSON_T_ARRAY_END);
	if (*j->p != ',')
		return bad(j, j->p, "expected ',' or ']' after an element");
	j->p++;
	json_space(j);
	return value(j);
}

/* After a bracket or a key: what may follow, usually a value. */
static enum json_token
after_token(struct json *j)
{
	switch ((enum state)j->state) {
	case S_FIRST_VALUE:
		if (*j->p == ']')
			return close_container(j, JSON_T_ARRAY_END);
		return value(j);
	case S_FIRST_KEY:
		if (*j->p == '}')
			return close_container(j, JSON_T_OBJECT_END);
		return key(j, "expected a key or '}'");
	case S_AFTER_KEY:
		if (*j->p != ':')
			return bad(j, j->p, "expected ':' after a key");
		j->p++;
		json_space(j);
		return value(j);
	case S_DONE: return JSON_T_END;
	default: return value(j);
	}
}

enum json_token
json_next(struct json *j)
{
	const unsigned char *start = j->p;
	enum json_token t;

	if (LIKELY(j->state != S_DONE))
		json_space(j);
	t = j->state == S_AFTER_VALUE ? after_value(j) : after_token(j);
	/* without zeros after it, the text may seem to continue */
	if (UNLIKELY(j->p > j->end) && j->eof && t > JSON_T_END)
		t = bad(j, j->end, NULL);
	if (UNLIKELY(t == JSON_T_MORE))
		j->p = start;
	return t;
}

enum json_status
json_skip(struct json *j)
{
	const unsigned char *p = j->p;
	uint32_t depth = j->depth;
	uint8_t state = j->state;
	uint32_t target =
	    depth - (state != S_VALUE && state != S_AFTER_KEY && depth > 0);

	do {
		enum json_token t = json_next(j);

		if (t == JSON_T_BAD)
			return JSON_BAD;
		if (t == JSON_T_MORE) {
			/* Kinds up to depth are unchanged: start over. */
			j->p = p;
			j->depth = depth;
			j->state = state;
			return JSON_MORE;
		}
	} while (j->depth > target || j->state < S_AFTER_VALUE);
	return JSON_OK;
}

/* ---- extent ---- */

/* A number or literal, up to a byte that may follow a value. */
static enum json_status
span_scalar(struct json *j, struct str *raw)
{
	const unsigned char *p = j->p;

	while (*p > ' ' && *p != ',' && *p != ']' && *p != '}' && *p != ':' &&
	    *p != '"' && *p != '[' && *p != '{')
		p++;
	if (p == j->p)
		return json_fail(j, p, "expected a value");
	if (p >= j->end && !j->eof)
		return JSON_MORE;
	*raw = (struct str){ (const char *)j->p, (size_t)(p - j->p) };
	j->p = p;
	return JSON_OK;
}

enum json_status
json_span(struct json *j, struct str *raw)
{
	const unsigned char *p = j->p;
	bool escaped;

	if (*p == '{' || *p == '[') {
		const unsigned char *behind = scan_brackets(p, j->end);

		if (behind == NULL)
			return json_fail(j, j->end, "value is not closed");
		*raw = (struct str){ (const char *)p, (size_t)(behind - p) };
		j->p = behind;
		return JSON_OK;
	}
	if (*p != '"')
		return span_scalar(j, raw);

	enum json_status status = json_string(j, raw, &escaped);

	if (status == JSON_OK)
		*raw = (struct str){ (const char *)p, raw->len + 2 };
	return status;
}
