/* SPDX-License-Identifier: MIT */
/* Lists in cells. */
#include "json/json.h"

#include "reader/reader.h"

/* The text of an item whose first token was just read; false: it is bad. */
static bool
item_of(struct json *j, enum json_token t, struct arena *a, struct buf *b,
    struct str *item)
{
	const char *from = (const char *)j->p - 1, *error;
	size_t at;

	*item = j->raw;
	if (t == JSON_T_STRING) {
		b->len = 0;
		if (!json_unescape(j->raw, b, &error, &at))
			return false;
		*item = buf_str(b);
	} else if (t == JSON_T_OBJECT || t == JSON_T_ARRAY) {
		if (json_skip(j) != JSON_OK)
			return false;
		*item =
		    (struct str){ from, (size_t)((const char *)j->p - from) };
	} else if (t == JSON_T_TRUE || t == JSON_T_FALSE || t == JSON_T_NULL) {
		*item = t == JSON_T_TRUE ? STR("true")
		    : t == JSON_T_FALSE  ? STR("false")
					 : STR("null");
	}
	*item = arena_str(a, *item);
	return true;
}

static bool
take_items(struct json *j, struct arena *a, struct buf *b, struct cell_list *l)
{
	enum json_token t;
	struct str item;

	if (json_next(j) != JSON_T_ARRAY)
		return false;
	while ((t = json_next(j)) > JSON_T_END && t != JSON_T_ARRAY_END) {
		if (!item_of(j, t, a, b, &item))
			return false;
		vec_push(&l->items, item);
	}
	return t == JSON_T_ARRAY_END && json_next(j) == JSON_T_END &&
	    (json_space(j), j->p == j->end);
}

void
list_of_cell(struct cell_list *l, struct arena *a, struct str cell)
{
	struct json j;
	struct buf b = { 0 };
	char *copy;

	l->items.n = 0;
	if (cell.len == 0)
		return;
	copy = arena_alloc(a, cell.len + IN_PAD);
	memcpy(copy, cell.p, cell.len);
	memset(copy + cell.len, 0, IN_PAD);
	json_start(&j, copy, cell.len);
	if (!take_items(&j, a, &b, l)) {
		l->items.n = 0;
		vec_push(&l->items, ((struct str){ copy, cell.len }));
	}
	buf_free(&b);
}
