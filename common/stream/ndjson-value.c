/* SPDX-License-Identifier: MIT */
/* ndjson-value: what may stand in a line below its outermost members. */
#include "stream/ndjson.h"

#include <stdarg.h>
#include <stdio.h>

bool
ndjson_fail(struct ndjson_dec *d, const void *where, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(d->message, sizeof d->message, fmt, ap);
	va_end(ap);
	d->error = d->message;
	d->at = (size_t)((const char *)where - d->line);
	return false;
}

/* What the JSON reader found. */
static bool
fail_json(struct ndjson_dec *d)
{
	const struct json *j = d->j;

	if (j->where >= j->end)
		return ndjson_fail(d, j->end, "the line ends within a value");
	return ndjson_fail(d, j->where, "%s", j->error);
}

bool
ndjson_get_text(struct ndjson_dec *d, struct str *s)
{
	struct json *j = d->j;
	const char *error = "invalid UTF-8 in a string";
	struct str raw;
	bool escaped, good;
	size_t at;

	if (*j->p != '"')
		return ndjson_fail(d, j->p, "expected a string");
	if (json_string(j, &raw, &escaped) != JSON_OK)
		return fail_json(d);
	if (LIKELY(!escaped)) {
		good = json_check_utf8(raw, &at);
		*s = raw;
	} else {
		d->scratch.len = 0;
		good = json_unescape(raw, &d->scratch, &error, &at);
		*s = buf_str(&d->scratch);
	}
	return good || ndjson_fail(d, raw.p + at, "%s", error);
}

/* Text to STR, JSON or NUM, or their inline forms. */
static void
set_text(struct ndjson_dec *d, bool intern, enum value_type type, struct str s,
    struct value *v)
{
	bool is_long = s.len > STREAM_INTERN_MAX && type != VAL_NUM;

	v->type = type;
	v->s = s;
	if (intern && !is_long) {
		v->id = intern_put(d->st->text, s);
		v->s = intern_get(d->st->text, v->id);
	} else if (type == VAL_STR) {
		v->type = VAL_STRX;
	} else if (type == VAL_JSON) {
		v->type = VAL_JSONX;
	}
}

static bool
set_number(struct ndjson_dec *d, bool intern, const struct json_num *num,
    struct value *v)
{
	switch (num->type) {
	case JSON_INT:
		v->type = VAL_INT;
		v->i = num->i;
		break;
	case JSON_UINT:
		v->type = VAL_UINT;
		v->u = num->u;
		break;
	case JSON_DEC:
		v->type = VAL_DEC;
		v->dec = num->dec;
		break;
	case JSON_TEXT: set_text(d, intern, VAL_NUM, num->text, v); break;
	}
	return true;
}

/* "#" and a number: its text, copied, since a number needs an end. */
static bool
get_tagged(struct ndjson_dec *d, bool intern, struct str text, struct value *v)
{
	struct json j = *d->j;
	struct json_num num;
	size_t at = 0;

	if (d->scratch.p == NULL || text.p < d->scratch.p ||
	    text.p >= d->scratch.p + d->scratch.len) {
		d->scratch.len = 0;
		buf_put(&d->scratch, text.p, text.len);
	} else {
		at = (size_t)(text.p - d->scratch.p);
	}
	buf_room(&d->scratch, IN_PAD);
	memset(d->scratch.p + d->scratch.len, 0, IN_PAD);
	text.p = d->scratch.p + at;
	j.p = (const unsigned char *)text.p;
	j.end = j.p + text.len;
	if (text.len > 0 && (*j.p == '-' || (*j.p >= '0' && *j.p <= '9')) &&
	    json_number(&j, &num) == JSON_OK && j.p == j.end)
		return set_number(d, intern, &num, v);
	set_text(d, intern, VAL_NUM, text, v);
	return true;
}

static bool
get_string(struct ndjson_dec *d, bool intern, struct value *v)
{
	struct str s;

	if (!ndjson_get_text(d, &s))
		return false;
	if (UNLIKELY(s.len > 0 && s.p[0] == '#')) {
		s.p++;
		s.len--;
		if (s.len == 0 || s.p[0] != '#')
			return get_tagged(d, intern, s, v);
	}
	set_text(d, intern, VAL_STR, s, v);
	return true;
}

/* At any value: its extent, within the line. */
static bool
get_span(struct ndjson_dec *d, struct str *raw)
{
	if (json_span(d->j, raw) != JSON_OK)
		return fail_json(d);
	/* what follows the line is text, too, and may close its brackets */
	return d->j->p <= d->j->end ||
	    ndjson_fail(d, d->j->end, "the line ends within a value");
}

static bool
get_json(struct ndjson_dec *d, bool intern, struct value *v)
{
	struct str raw;
	const char *error;
	size_t at;

	if (!get_span(d, &raw))
		return false;
	d->scratch.len = 0;
	if (!json_minify(raw, 2, &d->scratch, &error, &at))
		return ndjson_fail(d, raw.p + at, "%s", error);
	set_text(d, intern, VAL_JSON, buf_str(&d->scratch), v);
	return true;
}

static bool
get_word(struct ndjson_dec *d, const char *word, enum value_type type,
    struct value *v)
{
	size_t n = strlen(word);

	if (strncmp((const char *)d->j->p, word, n) != 0)
		return ndjson_fail(d, d->j->p, "expected a value");
	d->j->p += n;
	v->type = type;
	return true;
}

bool
ndjson_get_value(struct ndjson_dec *d, bool intern, struct value *v)
{
	struct json_num num;

	switch (*d->j->p) {
	case '"': return get_string(d, intern, v);
	case '{':
	case '[': return get_json(d, intern, v);
	case 'n': return get_word(d, "null", VAL_NULL, v);
	case 't': return get_word(d, "true", VAL_TRUE, v);
	case 'f': return get_word(d, "false", VAL_FALSE, v);
	case '-':
	case '0':
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
	case '8':
	case '9':
		if (json_number(d->j, &num) != JSON_OK)
			return fail_json(d);
		return set_number(d, intern, &num, v);
	default: return ndjson_fail(d, d->j->p, "expected a value");
	}
}

bool
ndjson_get_int(struct ndjson_dec *d, const char *member, int64_t min,
    int64_t max, int64_t *out)
{
	const unsigned char *start = d->j->p;
	struct value v;

	if (!ndjson_get_value(d, false, &v))
		return false;
	if (v.type != VAL_INT)
		return ndjson_fail(
		    d, start, "\"%s\" needs a whole number", member);
	if (v.i < min || v.i > max)
		return ndjson_fail(
		    d, start, "the number of \"%s\" is out of range", member);
	*out = v.i;
	return true;
}

bool
ndjson_get_bool(struct ndjson_dec *d, const char *member, void *to)
{
	const unsigned char *start = d->j->p;
	struct value v;

	if (!ndjson_get_value(d, false, &v))
		return false;
	if (v.type != VAL_TRUE && v.type != VAL_FALSE)
		return ndjson_fail(
		    d, start, "\"%s\" needs true or false", member);
	*(bool *)to = v.type == VAL_TRUE;
	return true;
}

bool
ndjson_get_src(struct ndjson_dec *d, const char *member, void *to)
{
	int64_t i = 0;

	if (!ndjson_get_int(d, member, 0, WIRE_MAX_SRC - 1, &i))
		return false;
	*(uint32_t *)to = (uint32_t)i;
	return true;
}

bool
ndjson_get_count(struct ndjson_dec *d, const char *member, void *to)
{
	return ndjson_get_int(d, member, 0, INT64_MAX, to);
}

/* The bit of a word, or -1. */
static int
bit_of_word(struct str s, const char *const words[])
{
	int64_t n;

	for (int i = 0; words[i] != NULL; i++)
		if (str_eq(s, str_of(words[i])))
			return i;
	if (s.len > 3 && memcmp(s.p, "bit", 3) == 0 &&
	    num_i64((struct str){ s.p + 3, s.len - 3 }, &n) && n >= 0 && n < 32)
		return (int)n;
	return -1;
}

bool
ndjson_get_bits(struct ndjson_dec *d, const char *member,
    const char *const words[], uint32_t *bits)
{
	const unsigned char *start;
	struct str s;
	bool done;
	int bit;

	*bits = 0;
	for (bool first = true;; first = false) {
		if (!ndjson_element(d, first, &done))
			return false;
		if (done)
			return true;
		start = d->j->p;
		if (!ndjson_get_text(d, &s))
			return false;
		bit = bit_of_word(s, words);
		if (bit < 0)
			return ndjson_fail(d, start,
			    "\"%s\" does not know the word '%.*s'", member,
			    (int)(s.len < 40 ? s.len : 40), s.p);
		*bits |= UINT32_C(1) << bit;
	}
}

bool
ndjson_get_uid(struct ndjson_dec *d, const char *member, void *to)
{
	struct uid *uid = to;
	const unsigned char *start = d->j->p;
	struct value v;

	if (!ndjson_get_value(d, false, &v))
		return false;
	*uid = (struct uid){ 0, 0 };
	if (v.type == VAL_INT && v.i >= 0 && (uint64_t)v.i < WIRE_MAX_ID) {
		uid->id = (uint64_t)v.i;
		return true;
	}
	if (v.type == VAL_STRX && memchr(v.s.p, '.', v.s.len) != NULL &&
	    uid_read(v.s, uid))
		return true;
	return ndjson_fail(
	    d, start, "\"%s\" needs an event: its id, or \"id.inst\"", member);
}

bool
ndjson_skip(struct ndjson_dec *d)
{
	struct str raw;
	const char *error;
	size_t at;

	if (!get_span(d, &raw))
		return false;
	d->scratch.len = 0;
	return json_minify(raw, 1, &d->scratch, &error, &at) ||
	    ndjson_fail(d, raw.p + at, "%s", error);
}

bool
ndjson_element(struct ndjson_dec *d, bool first, bool *done)
{
	struct json *j = d->j;

	*done = false;
	if (first) {
		if (*j->p != '[')
			return ndjson_fail(d, j->p, "expected a list");
		j->p++;
	}
	ndjson_space(j);
	if (*j->p == ']') {
		j->p++;
		*done = true;
		return true;
	}
	if (!first) {
		if (*j->p != ',')
			return ndjson_fail(
			    d, j->p, "expected ',' or ']' after an element");
		j->p++;
		ndjson_space(j);
	}
	return true;
}

bool
ndjson_member(struct ndjson_dec *d, bool first, struct str *key, bool *done)
{
	struct json *j = d->j;
	bool escaped;

	*done = false;
	if (first) {
		if (UNLIKELY(*j->p != '{'))
			return ndjson_fail(d, j->p, "expected an object");
		j->p++;
	}
	ndjson_space(j);
	if (*j->p == '}') {
		j->p++;
		*done = true;
		return true;
	}
	if (!first) {
		if (UNLIKELY(*j->p != ','))
			return ndjson_fail(
			    d, j->p, "expected ',' or '}' after a member");
		j->p++;
		ndjson_space(j);
	}
	if (UNLIKELY(*j->p != '"'))
		return ndjson_fail(d, j->p, "expected a key");
	if (json_string(j, key, &escaped) != JSON_OK)
		return fail_json(d);
	if (UNLIKELY(escaped)) {
		struct str raw = *key;
		const char *error;
		size_t at;

		d->scratch.len = 0;
		if (!json_unescape(raw, &d->scratch, &error, &at))
			return ndjson_fail(d, raw.p + at, "%s", error);
		*key = buf_str(&d->scratch);
	} else {
		size_t at;

		if (UNLIKELY(!json_check_utf8(*key, &at)))
			return ndjson_fail(
			    d, key->p + at, "invalid UTF-8 in a key");
	}
	ndjson_space(j);
	if (UNLIKELY(*j->p != ':'))
		return ndjson_fail(d, j->p, "expected ':' after a key");
	j->p++;
	ndjson_space(j);
	return true;
}
