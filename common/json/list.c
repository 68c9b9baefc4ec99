/* SPDX-License-Identifier: MIT */
/* The items of a list or an object. */
#include "json/json.h"

/* The text of an item whose first token was just read; false: malformed. */
static bool
item_of(struct json *j, enum json_token t, struct buf *b, struct str *text)
{
	const char *from = (const char *)j->p - 1, *error;
	size_t at;

	*text = j->raw;
	switch (t) {
	case JSON_T_STRING:
	case JSON_T_KEY:
		b->len = 0;
		if (!json_unescape(j->raw, b, &error, &at))
			return false;
		*text = buf_str(b);
		break;
	case JSON_T_OBJECT:
	case JSON_T_ARRAY:
		if (json_skip(j) != JSON_OK)
			return false;
		*text =
		    (struct str){ from, (size_t)((const char *)j->p - from) };
		break;
	case JSON_T_TRUE: *text = STR("true"); break;
	case JSON_T_FALSE: *text = STR("false"); break;
	case JSON_T_NULL: *text = STR("null"); break;
	default: break;
	}
	return true;
}

bool
json_split(json_items *out, struct arena *mem, struct str text)
{
	struct json j;
	struct buf b = { 0 };
	enum json_token t, end;
	struct str item;
	char *padded = xcalloc(1, text.len + IN_PAD);

	out->n = 0;
	if (text.len > 0)
		memcpy(padded, text.p, text.len);
	json_start(&j, padded, text.len);
	t = json_next(&j);
	end = t == JSON_T_ARRAY ? JSON_T_ARRAY_END : JSON_T_OBJECT_END;
	t = t == JSON_T_ARRAY || t == JSON_T_OBJECT ? json_next(&j)
						    : JSON_T_BAD;
	for (; t > JSON_T_END && t != end; t = json_next(&j)) {
		if (!item_of(&j, t, &b, &item))
			break;
		vec_push(out, ((struct json_item){ t, arena_str(mem, item) }));
	}
	if (t == end)
		t = json_next(&j);
	json_space(&j);
	if (t != JSON_T_END || j.p != j.end)
		out->n = 0;
	buf_free(&b);
	vec_release(padded);
	return t == JSON_T_END && j.p == j.end;
}

const struct json_item *
json_member(const json_items *of, struct str name)
{
	for (size_t i = 0; i + 1 < of->n && of->v[i].type == JSON_T_KEY; i += 2)
		if (str_eq(of->v[i].text, name))
			return &of->v[i + 1];
	return NULL;
}

struct str
json_member_text(const json_items *of, struct str name)
{
	const struct json_item *item = json_member(of, name);

	return item != NULL && item->type != JSON_T_NULL ? item->text : STR("");
}
