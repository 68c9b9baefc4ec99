/* SPDX-License-Identifier: MIT */
/* Values: strings and lists by number, encoded entries. */
#include "cmd/tl-decode/chrome/event.h"

/* ---- strings and lists ---- */

static enum json_status
fail_in(struct event_reader *r, struct str raw, size_t at, const char *error)
{
	return json_fail(r->json, (const unsigned char *)raw.p + at, error);
}

/* The number of a plain string, whose UTF-8 is checked once. */
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
 * Sets r->text to the unescaped string or minified list. Nesting counts the
 * file, its events, the event and args.
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
 * The number of an escaped string or a list; the same raw text was mostly seen
 * before. The two cannot be confused: a list begins with a bracket, a raw
 * string with its quote.
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

/* Puts the number of r->text; STREAM_INTERN_MAX and more stays inline. */
static void
put_cooked(struct event_reader *r, enum value_type type, uint64_t *code)
{
	struct value v = { .type = type, .s = buf_str(&r->text) };

	value_store(r->src->dict, &v);
	*code = v.type;
	value_encode(&r->vals, &v);
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
	if (UNLIKELY(raw.len > STREAM_INTERN_MAX)) {
		if ((status = cook(r, raw, true)) == JSON_OK)
			put_cooked(r, VAL_STR, code);
		return status;
	}
	*code = VAL_STR;
	status = LIKELY(!escaped)
	    ? intern_plain(r, raw, &id)
	    : intern_cooked(
		  r, (struct str){ (const char *)start, raw.len + 2 }, &id);
	if (status == JSON_OK)
		buf_varint(&r->vals, id);
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
	if (UNLIKELY(raw.len > STREAM_INTERN_MAX)) {
		if ((status = cook(r, raw, false)) == JSON_OK)
			put_cooked(r, VAL_JSON, code);
		return status;
	}
	*code = VAL_JSON;
	if ((status = intern_cooked(r, raw, &id)) == JSON_OK)
		buf_varint(&r->vals, id);
	return status;
}

/* A number or a literal. */
static enum json_status
put_scalar(struct event_reader *r, uint64_t *code)
{
	struct json *j = r->json;
	enum json_status status;
	struct json_num num;
	struct value v;
	struct str raw;

	if (json_is_digit(*j->p) || (*j->p == '-' && j->p[1] != 'I')) {
		if ((status = json_number(j, &num)) != JSON_OK)
			return status;
		v = value_of_number(&num);
	} else {
		if ((status = json_span(j, &raw)) != JSON_OK)
			return status;
		if (!value_of_text(&r->literal, raw, 0, &r->text, &v))
			return json_fail(
			    j, r->literal.where, "expected a value");
	}
	value_store(r->src->dict, &v);
	*code = v.type;
	value_encode(&r->vals, &v);
	return JSON_OK;
}

/* Encodes any value as an entry. */
enum json_status
put_value(struct event_reader *r, uint64_t *code)
{
	switch (*r->json->p) {
	case '"': return put_string(r, code);
	case '[':
	case '{': return put_list(r, code);
	default: return put_scalar(r, code);
	}
}
