/* SPDX-License-Identifier: MIT */
/* One event as text, as TraceLens prints it. */
#include "base/unsafe.h"
#include "cmd/tl-tree/tree.h"
#include "json/json.h"

/* ---- texts ---- */

/*
 * Writes one character, as bytes \xNN if unsafe or invalid; returns its length.
 */
static size_t
put_visible(struct out *out, const char *p, size_t left)
{
	uint32_t c;
	size_t n = utf8_next(p, left, &c);

	if (c != UTF8_BAD && !char_is_unsafe(c))
		out_write(out, p, n);
	else
		for (size_t i = 0; i < n; i++)
			out_printf(out, "\\x%02x", (unsigned char)p[i]);
	return n;
}

void
line_name(struct out *out, struct str name, size_t max)
{
	size_t at = 0;

	for (size_t chars = 0; at < name.len && chars < max; chars++)
		at += put_visible(out, name.p + at, name.len - at);
	if (at < name.len)
		out_puts(out, "..");
}

void
line_us(struct out *out, int64_t ns)
{
	char text[NUM_DEC_MAX];
	size_t n = num_put_dec(text, (struct dec){ ns, -3 });

	while (n > 0 && text[n - 1] == '0')
		n--;
	if (n > 0 && text[n - 1] == '.')
		n--;
	out_write(out, text, n);
}

/* ---- values as Python writes them ---- */

static void
put_quoted(struct out *out, struct str s)
{
	char quote = '\'';

	if (str_find(s, STR("'"), false) >= 0 &&
	    str_find(s, STR("\""), false) < 0)
		quote = '"';
	out_write(out, &quote, 1);
	for (size_t i = 0; i < s.len;) {
		if (s.p[i] == quote || s.p[i] == '\\')
			out_write(out, "\\", 1);
		i += put_visible(out, s.p + i, s.len - i);
	}
	out_write(out, &quote, 1);
}

static void
put_token(struct out *out, const struct json *j, enum json_token t)
{
	struct buf text = { 0 };
	const char *error;
	size_t at;

	switch (t) {
	case JSON_T_OBJECT: out_puts(out, "{"); break;
	case JSON_T_OBJECT_END: out_puts(out, "}"); break;
	case JSON_T_ARRAY: out_puts(out, "["); break;
	case JSON_T_ARRAY_END: out_puts(out, "]"); break;
	case JSON_T_TRUE: out_puts(out, "True"); break;
	case JSON_T_FALSE: out_puts(out, "False"); break;
	case JSON_T_NULL: out_puts(out, "None"); break;
	case JSON_T_KEY:
	case JSON_T_STRING:
		if (json_unescape(j->raw, &text, &error, &at))
			put_quoted(out, buf_str(&text));
		buf_free(&text);
		if (t == JSON_T_KEY)
			out_puts(out, ": ");
		break;
	default: out_str(out, j->raw); break;
	}
}

static bool
is_close(enum json_token t)
{
	return t == JSON_T_OBJECT_END || t == JSON_T_ARRAY_END;
}

/* Writes a list or object, which was checked when it was read. */
static void
put_json(struct out *out, struct str s)
{
	struct json *j = xmalloc(sizeof *j);
	struct buf copy = { 0 };
	enum json_token t, before = JSON_T_END;

	buf_room(&copy, s.len + IN_PAD);
	memcpy(copy.p, s.p, s.len);
	memset(copy.p + s.len, 0, IN_PAD);
	json_start(j, copy.p, s.len);
	while ((t = json_next(j)) > JSON_T_END) {
		if (before != JSON_T_END && before != JSON_T_ARRAY &&
		    before != JSON_T_OBJECT && before != JSON_T_KEY &&
		    !is_close(t))
			out_puts(out, ", ");
		put_token(out, j, t);
		before = t;
	}
	buf_free(&copy);
	vec_release(j);
}

static void
put_value(struct out *out, const struct value *v)
{
	char text[NUM_DEC_MAX];

	switch (v->type) {
	case VAL_NULL: out_puts(out, "None"); break;
	case VAL_FALSE: out_puts(out, "False"); break;
	case VAL_TRUE: out_puts(out, "True"); break;
	case VAL_INT: out_printf(out, "%" PRId64, v->i); break;
	case VAL_UINT: out_printf(out, "%" PRIu64, v->u); break;
	case VAL_DEC: out_write(out, text, num_put_dec(text, v->dec)); break;
	case VAL_NUM: out_str(out, v->s); break;
	case VAL_STR:
	case VAL_STRX: line_name(out, v->s, SIZE_MAX); break;
	default: put_json(out, v->s); break;
	}
}

/* ---- lines ---- */

void
line_event(struct out *out, const struct dict *st, const struct event *ev)
{
	struct str cat = dict_get(st, ev->shape->cat);
	char uid[UID_MAX];

	out_printf(
	    out, "UID: %.*s, Category: ", (int)uid_put(uid, ev->uid), uid);
	line_name(out, cat.len > 0 ? cat : str_of(kind_words[ev->shape->kind]),
	    SIZE_MAX);
	out_puts(out, ", Name: ");
	line_name(out, dict_get(st, ev->name), LINE_NAME_MAX);
	if (event_is(ev, KINDS_GPU)) {
		out_puts(out, ", Duration: ");
		line_us(out, ev->dur_ns);
	}
}

bool
line_fields(struct out *out, const struct dict *st, const struct event *ev,
    const struct view *view, struct str prefix)
{
	bool any = false;

	if (ev->shape->kind != KIND_OP)
		return false;
	for (size_t i = 0; i < view->fields.n; i++) {
		struct value v;

		if (!event_arg(st, ev, view->fields.v[i], &v))
			continue;
		out_str(out, prefix);
		out_str(out, view->fields.v[i]);
		out_puts(out, ": ");
		put_value(out, &v);
		out_puts(out, "\n");
		any = true;
	}
	return any;
}
