/* SPDX-License-Identifier: MIT */
/* ndjson-value: values nested in a line's members. */
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

/* The JSON reader's error. */
static bool
fail_json(struct ndjson_dec *d)
{
	const struct json *j = d->j;

	if (j->where >= j->end)
		return ndjson_fail(d, j->end, "the line ends within a value");
	return ndjson_fail(d, j->where, "%s", j->error);
}

/* The first byte of the current token. */
const void *
ndjson_here(const struct ndjson_dec *d)
{
	switch (d->t) {
	case JSON_T_KEY:
	case JSON_T_STRING: return d->j->raw.p - 1;
	case JSON_T_OBJECT:
	case JSON_T_OBJECT_END:
	case JSON_T_ARRAY:
	case JSON_T_ARRAY_END: return d->j->p - 1;
	default: return d->j->raw.p;
	}
}

bool
ndjson_next(struct ndjson_dec *d)
{
	d->t = json_next(d->j);
	return LIKELY(d->t > JSON_T_END) || fail_json(d);
}

struct str
ndjson_key(struct ndjson_dec *d)
{
	const char *error;
	size_t at;

	if (LIKELY(!d->j->escaped))
		return d->j->raw;
	d->scratch.len = 0;
	(void)!json_unescape(d->j->raw, &d->scratch, &error, &at);
	return buf_str(&d->scratch);
}

bool
ndjson_get_text(struct ndjson_dec *d, struct str *s)
{
	if (d->t != JSON_T_STRING)
		return ndjson_fail(d, ndjson_here(d), "expected a string");
	*s = ndjson_key(d);
	return true;
}

/* "#" and a number; "##" is a text that begins with one. */
static void
untag(struct value *v)
{
	v->s.p++;
	v->s.len--;
	if (v->s.len == 0 || v->s.p[0] != '#')
		*v = value_of_digits(v->s);
}

bool
ndjson_get_value(struct ndjson_dec *d, bool intern, struct value *v)
{
	if (d->t == JSON_T_NAN)
		return ndjson_fail(d, ndjson_here(d), "expected a value");
	if (!value_of_json(d->j, d->t, 0, &d->scratch, v))
		return fail_json(d);
	if (UNLIKELY(v->type == VAL_STRX && v->s.len > 0 && v->s.p[0] == '#'))
		untag(v);
	if (intern)
		value_store(d->st, v);
	return true;
}

bool
ndjson_get_int(struct ndjson_dec *d, const char *member, int64_t min,
    int64_t max, int64_t *out)
{
	const void *start = ndjson_here(d);
	struct value v = { .type = VAL_INT };

	if (LIKELY(d->t == JSON_T_NUMBER && d->j->num.type == JSON_INT))
		v.i = d->j->num.i;
	else if (!ndjson_get_value(d, false, &v))
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
	const void *start = ndjson_here(d);
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

	const void *start = ndjson_here(d);

	if (!ndjson_get_int(d, member, 0, WIRE_MAX_SRC - 1, &i))
		return false;
	*(uint32_t *)to = (uint32_t)i;
	if (!wire_src_is_near((uint32_t)i, &d->nnamed))
		return ndjson_fail(d, start, WIRE_BAD_SRC);
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
	struct str s = { NULL, 0 };
	int bit;

	*bits = 0;
	if (!ndjson_list(d))
		return false;
	while (ndjson_element(d)) {
		const void *start = ndjson_here(d);

		if (!ndjson_get_text(d, &s))
			return false;
		bit = bit_of_word(s, words);
		if (bit < 0)
			return ndjson_fail(d, start,
			    "\"%s\" does not know the word '%.*s'", member,
			    (int)(s.len < 40 ? s.len : 40), s.p);
		*bits |= UINT32_C(1) << bit;
	}
	return d->error == NULL;
}

bool
ndjson_get_uid(struct ndjson_dec *d, const char *member, void *to)
{
	struct uid *uid = to;
	const void *start = ndjson_here(d);
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
	return (d->t != JSON_T_OBJECT && d->t != JSON_T_ARRAY) ||
	    json_skip(d->j) == JSON_OK || fail_json(d);
}

bool
ndjson_list(struct ndjson_dec *d)
{
	return d->t == JSON_T_ARRAY ||
	    ndjson_fail(d, ndjson_here(d), "expected a list");
}

bool
ndjson_element(struct ndjson_dec *d)
{
	return ndjson_next(d) && d->t != JSON_T_ARRAY_END;
}

bool
ndjson_members(struct ndjson_dec *d,
    bool (*member)(struct ndjson_dec *d, struct str key, const void *arg),
    const void *arg)
{
	if (d->t != JSON_T_KEY) {
		if (UNLIKELY(d->t != JSON_T_OBJECT))
			return ndjson_fail(
			    d, ndjson_here(d), "expected an object");
		if (!ndjson_next(d))
			return false;
	}
	while (d->t == JSON_T_KEY) {
		struct str key = ndjson_key(d);

		if (!ndjson_next(d) || !member(d, key, arg) || !ndjson_next(d))
			return false;
	}
	return true;
}
