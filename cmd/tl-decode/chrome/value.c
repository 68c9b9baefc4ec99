/* SPDX-License-Identifier: MIT */
/* Values of an event: strings and lists by number, entries encoded. */
#include "cmd/tl-decode/chrome/event.h"

/* ---- strings and lists ---- */

static enum json_status
fail_in(struct event_reader *r, struct str raw, size_t at, const char *error)
{
	return json_fail(r->json, (const unsigned char *)raw.p + at, error);
}

/* The number of a plain string; its UTF-8 is checked when it is new. */
enum json_status
intern_plain(struct event_reader *r, struct str raw, uint32_t *id)
{
	struct intern *text = r->src->dict->text;
	size_t before = text->list.n, at;

	*id = intern_put(text, raw);
	if (LIKELY(text->list.n == before) || json_check_utf8(raw, &at))
		return JSON_OK;
	return fail_in(r, raw, at, "invalid UTF-8 in a string");
}

/*
 * What the raw text means, appended to r->text from empty. Around a list are
 * the file, its events, the event and args.
 */
static enum json_status
cook(struct event_reader *r, struct str raw, bool is_string)
{
	const char *error;
	size_t at;
	bool ok;

	r->text.len = 0;
	ok = is_string ? json_unescape(raw, &r->text, &error, &at)
		       : json_minify(raw, 4, &r->text, &error, &at);
	return ok ? JSON_OK : fail_in(r, raw, at, error);
}

/*
 * The number of what an escaped string or a list means. The same text as
 * written was cooked before, mostly; strings and lists can't be confused, for
 * a list begins with a bracket that a raw string with a quote before it
 * can't: the quote is part of its raw text here.
 */
enum json_status
intern_cooked(struct event_reader *r, struct str raw, uint32_t *id)
{
	bool is_string = raw.p[0] == '"';
	uint32_t n = intern_put(r->raw, raw);
	enum json_status status;

	if (LIKELY(n < r->raw_value.n && r->raw_value.v[n] != INTERN_NONE)) {
		*id = r->raw_value.v[n];
		return JSON_OK;
	}
	if (is_string)
		raw = (struct str){ raw.p + 1, raw.len - 2 };
	if (n == r->raw_value.n)
		vec_push(&r->raw_value, INTERN_NONE);
	status = cook(r, raw, is_string);
	if (status != JSON_OK)
		return status;
	*id = intern_put(r->src->dict->text, buf_str(&r->text));
	r->raw_value.v[n] = *id;
	return JSON_OK;
}

void
vals_room(struct event_reader *r, size_t more)
{
	if (r->vals_cap - r->vals_len >= more)
		return;
	while (r->vals_cap - r->vals_len < more)
		r->vals_cap *= 2;
	r->vals = xrealloc(r->vals, r->vals_cap);
}

static void
put_inline(struct event_reader *r, struct str s)
{
	vals_room(r, s.len + 64);
	put_varint(r, s.len);
	memcpy(r->vals + r->vals_len, s.p, s.len);
	r->vals_len += s.len;
}

/* ---- values of entries ---- */

static enum json_status
put_string(struct event_reader *r, uint64_t *code)
{
	struct json *j = r->json;
	const unsigned char *start = j->p;
	enum json_status status;
	struct str raw;
	bool escaped;
	uint32_t id;

	if ((status = json_string(j, &raw, &escaped)) != JSON_OK)
		return status;
	*code = VAL_STR;
	if (LIKELY(!escaped && raw.len <= STREAM_INTERN_MAX)) {
		status = intern_plain(r, raw, &id);
	} else if (raw.len <= STREAM_INTERN_MAX) {
		status = intern_cooked(
		    r, (struct str){ (const char *)start, raw.len + 2 }, &id);
	} else {
		if ((status = cook(r, raw, true)) != JSON_OK)
			return status;
		if (r->text.len > STREAM_INTERN_MAX) {
			*code = VAL_STRX;
			put_inline(r, buf_str(&r->text));
			return JSON_OK;
		}
		id = intern_put(r->src->dict->text, buf_str(&r->text));
	}
	if (status == JSON_OK)
		put_varint(r, id);
	return status;
}

static enum json_status
put_list(struct event_reader *r, uint64_t *code)
{
	struct json *j = r->json;
	enum json_status status;
	struct str raw;
	uint32_t id;

	if ((status = json_span(j, &raw)) != JSON_OK)
		return status;
	*code = VAL_JSON;
	if (LIKELY(raw.len <= STREAM_INTERN_MAX)) {
		status = intern_cooked(r, raw, &id);
	} else {
		if ((status = cook(r, raw, false)) != JSON_OK)
			return status;
		if (r->text.len > STREAM_INTERN_MAX) {
			*code = VAL_JSONX;
			put_inline(r, buf_str(&r->text));
			return JSON_OK;
		}
		id = intern_put(r->src->dict->text, buf_str(&r->text));
	}
	if (status == JSON_OK)
		put_varint(r, id);
	return status;
}

static void
put_number(struct event_reader *r, const struct json_num *num, uint64_t *code)
{
	switch (num->type) {
	case JSON_INT:
		*code = VAL_INT;
		put_zigzag(r, num->i);
		break;
	case JSON_UINT:
		*code = VAL_UINT;
		put_varint(r, num->u);
		break;
	case JSON_DEC:
		*code = VAL_DEC;
		put_zigzag(r, num->dec.mant);
		put_zigzag(r, num->dec.exp10);
		break;
	case JSON_TEXT:
		*code = VAL_NUM;
		put_varint(r, intern_put(r->src->dict->text, num->text));
		break;
	}
}

struct literal {
	struct str text;
	enum value_type type;
};

static const struct literal literals[] = {
	{ STR_INIT("null"), VAL_NULL },
	{ STR_INIT("true"), VAL_TRUE },
	{ STR_INIT("false"), VAL_FALSE },
	{ STR_INIT("NaN"), VAL_NUM },
	{ STR_INIT("Infinity"), VAL_NUM },
	{ STR_INIT("-Infinity"), VAL_NUM },
};

static enum json_status
put_literal(struct event_reader *r, uint64_t *code)
{
	struct json *j = r->json;
	size_t room = (size_t)(j->end - j->p);

	for (size_t i = 0; i < sizeof literals / sizeof *literals; i++) {
		struct str t = literals[i].text;
		size_t n = room < t.len ? room : t.len;

		if (memcmp(j->p, t.p, n) != 0)
			continue;
		if (n < t.len)
			return json_fail(j, j->end, "the file ends in a value");
		j->p += t.len;
		*code = literals[i].type;
		if (literals[i].type == VAL_NUM)
			put_varint(r, intern_put(r->src->dict->text, t));
		return JSON_OK;
	}
	return json_fail(j, j->p, "expected a value");
}

/* Any value, encoded as an entry. */
enum json_status
put_value(struct event_reader *r, uint64_t *code)
{
	struct json *j = r->json;
	struct json_num num;
	enum json_status status;
	unsigned char c = *j->p;

	vals_room(r, 64);
	if (c == '"')
		return put_string(r, code);
	if (c == '[' || c == '{')
		return put_list(r, code);
	if ((unsigned)(c - '0') < 10 || (c == '-' && j->p[1] != 'I')) {
		if ((status = json_number(j, &num)) == JSON_OK)
			put_number(r, &num, code);
		return status;
	}
	return put_literal(r, code);
}
