/* SPDX-License-Identifier: MIT */
/* One value of JSON: see from-json.h. */
#include "stream/from-json.h"

struct value
value_of_number(const struct json_num *num)
{
	struct value v = { .s = num->text };

	switch (num->type) {
	case JSON_INT:
		v.type = VAL_INT;
		v.i = num->i;
		break;
	case JSON_UINT:
		v.type = VAL_UINT;
		v.u = num->u;
		break;
	case JSON_DEC:
		v.type = VAL_DEC;
		v.dec = num->dec;
		break;
	case JSON_TEXT: v.type = VAL_NUM; break;
	}
	return v;
}

struct value
value_of_digits(struct str s)
{
	char text[NUM_DEC_MAX + IN_PAD] = "";
	struct value v = { .type = VAL_NUM, .s = s };
	struct json_num num;
	struct json j;

	if (s.len == 0 || s.len >= NUM_DEC_MAX ||
	    (*s.p != '-' && (*s.p < '0' || *s.p > '9')))
		return v;
	memcpy(text, s.p, s.len);
	json_start(&j, text, s.len);
	if (json_number(&j, &num) == JSON_OK && num.text.len == s.len &&
	    num.type != JSON_TEXT)
		v = value_of_number(&num);
	return v;
}

bool
value_of_json(struct json *j, enum json_token t, unsigned depth,
    struct buf *text, struct value *v)
{
	const char *error;
	size_t at;

	text->len = 0;
	if (LIKELY(t == JSON_T_NUMBER)) {
		*v = value_of_number(&j->num);
		return true;
	}
	*v = (struct value){ .s = j->raw };
	switch (t) {
	case JSON_T_NULL: v->type = VAL_NULL; return true;
	case JSON_T_FALSE: v->type = VAL_FALSE; return true;
	case JSON_T_TRUE: v->type = VAL_TRUE; return true;
	case JSON_T_NAN: v->type = VAL_NUM; return true;
	case JSON_T_STRING:
		v->type = VAL_STRX;
		if (!j->escaped)
			return true;
		(void)!json_unescape(j->raw, text, &error, &at);
		v->s = buf_str(text);
		return true;
	case JSON_T_OBJECT:
	case JSON_T_ARRAY:
		v->type = VAL_JSONX;
		if (!json_copy(j, depth, text))
			return false;
		v->s = buf_str(text);
		return true;
	case JSON_T_MORE:
	case JSON_T_BAD: return false;
	default: (void)json_fail(j, j->p, "expected a value"); return false;
	}
}

bool
value_of_text(struct json *j, struct str s, unsigned depth, struct buf *text,
    struct value *v)
{
	json_start(j, s.p, s.len);
	if (!value_of_json(j, json_next(j), depth, text, v))
		return false;
	if (j->p < j->end)
		(void)json_fail(j, j->p, "expected nothing after the value");
	return j->p >= j->end;
}
