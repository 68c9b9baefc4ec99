/* SPDX-License-Identifier: MIT */
/*
 * An instruction from its text, which events of TPUs have, where the file has
 * no module:
 *
 *	%name = shape opcode(shape %operand, ...), attribute=value, ...
 */
#include "cmd/tl-decode/hlo/module.h"
#include "json/json.h"

static struct str
trim(struct str s)
{
	while (s.len > 0 && s.p[0] == ' ')
		s = (struct str){ s.p + 1, s.len - 1 };
	return s;
}

/* What is in front of sep, outside of all brackets and quotes; *rest moves
 * behind it. */
static struct str
until(struct str *rest, char sep)
{
	struct str s = trim(*rest);
	bool is_quoted = false;
	size_t n, depth = 0;

	for (n = 0; n < s.len; n++) {
		char c = s.p[n];

		if (c == '"')
			is_quoted = !is_quoted;
		else if (is_quoted)
			n += c == '\\';
		else if (depth == 0 && c == sep)
			break;
		else if (c == '(' || c == '[' || c == '{')
			depth++;
		else if (depth > 0 && (c == ')' || c == ']' || c == '}'))
			depth--;
	}
	n = n < s.len ? n : s.len;
	*rest = (struct str){ s.p + n, s.len - n };
	if (rest->len > 0)
		*rest = (struct str){ rest->p + 1, rest->len - 1 };
	return (struct str){ s.p, n };
}

static bool
is_shape_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ',' ||
	    c == '(' || c == ')' || c == '[' || c == ']';
}

/* "3,2,1,0:T(8,128)S(5)": the order, and the memory space. */
static void
put_layout_text(struct hlo_module *m, struct str layout)
{
	ptrdiff_t space = str_find(layout, STR("S("), false);
	size_t before = m->out->len;

	buf_putc(m->out, '{');
	for (size_t i = 0; i < layout.len && layout.p[i] != ':'; i++)
		if (is_shape_char(layout.p[i]))
			buf_putc(m->out, layout.p[i]);
	if (space >= 0) {
		struct str number = { layout.p + space + 2,
			layout.len - (size_t)space - 2 };
		uint64_t u;

		if (num_u64(until(&number, ')'), &u))
			buf_printf(m->out, ":S(%" PRIu64 ")", u);
	}
	if (m->out->len == before + 1)
		m->out->len = before;
	else
		buf_putc(m->out, '}');
}

/* As put_shape() has it: without tiles, blanks and comments. */
static void
put_shape_text(struct hlo_module *m, struct str s)
{
	put_key(m, "shape");
	buf_putc(m->out, '"');
	while (s.len > 0) {
		char c = s.p[0];

		s = (struct str){ s.p + 1, s.len - 1 };
		if (c == '{') {
			put_layout_text(m, until(&s, '}'));
		} else if (c == '/') {
			(void)until(&s, '/');
		} else if (is_shape_char(c)) {
			buf_putc(m->out, c);
		}
	}
	buf_putc(m->out, '"');
}

static void
put_operand_texts(struct hlo_module *m, struct str operands)
{
	put_key(m, "operands");
	buf_putc(m->out, '[');
	while (operands.len > 0) {
		struct str one = until(&operands, ',');
		bool has_shape = one.len > 0 && one.p[0] != '%';
		struct str shape = has_shape ? until(&one, ' ') : STR("");

		one = trim(one);
		if (one.len > 0 && one.p[0] == '%')
			one = (struct str){ one.p + 1, one.len - 1 };
		if (m->out->p[m->out->len - 1] == '}')
			buf_putc(m->out, ',');
		buf_putc(m->out, '{');
		put_text(m, "name", one);
		if (has_shape)
			put_shape_text(m, shape);
		buf_putc(m->out, '}');
	}
	buf_putc(m->out, ']');
}

/* ---- attributes ---- */

/* {{0,1},{2,3}} */
static void
put_list_text(struct hlo_module *m, const char *key, struct str value)
{
	size_t before = m->out->len, at;
	const char *error;

	m->text.len = 0;
	for (size_t i = 0; i < value.len; i++) {
		char c = value.p[i];

		buf_putc(&m->text, c == '{' ? '[' : c == '}' ? ']' : c);
	}
	put_key(m, key);
	if (value.len <= 2 || value.p[0] != '{' ||
	    !json_minify(buf_str(&m->text), 2, m->out, &error, &at))
		m->out->len = before;
}

/* [4,2]<=[2,4]T(1,0) */
static void
put_group_text(struct hlo_module *m, const char *key, struct str value)
{
	struct iota io = { 0 };
	size_t list = 0, n[3] = { 0 };

	if (value.len == 0 || value.p[0] != '[') {
		put_list_text(m, key, value);
		return;
	}
	for (; value.len > 0 && list < 3; list++) {
		struct str numbers;

		(void)until(&value, list == 2 ? '(' : '[');
		numbers = until(&value, list == 2 ? ')' : ']');
		while (numbers.len > 0 && n[list] < IOTA_MAX_DIMS) {
			uint64_t u = 0;

			(void)!num_u64(until(&numbers, ','), &u);
			if (list == 1)
				io.dims[n[1]] = u;
			else if (list == 2)
				io.perm[n[2]] = u;
			else if (n[0] == 0)
				io.ngroups = u;
			else
				io.per_group = u;
			n[list]++;
		}
	}
	io.ndims = n[1];
	io.nperm = n[2];
	put_iota(m, &io);
}

static void
put_number_text(struct hlo_module *m, const char *key, struct str value)
{
	uint64_t u;

	if (num_u64(value, &u)) {
		put_key(m, key);
		buf_printf(m->out, "%" PRIu64, u);
	}
}

static void
put_true_text(struct hlo_module *m, const char *key, struct str value)
{
	if (str_eq(value, STR("true"))) {
		put_key(m, key);
		buf_puts(m->out, "true");
	}
}

static void
put_word_text(struct hlo_module *m, const char *key, struct str value)
{
	if (value.len >= 2 && value.p[0] == '"')
		value = (struct str){ value.p + 1, value.len - 2 };
	put_text(m, key, value);
}

static const struct attribute {
	struct str word;
	const char *key;
	void (*put)(struct hlo_module *m, const char *key, struct str value);
} attributes[] = {
	{ STR_INIT("custom_call_target"), "target", put_word_text },
	{ STR_INIT("kind"), "fusion", put_word_text },
	{ STR_INIT("dimensions"), "dimensions", put_list_text },
	{ STR_INIT("channel_id"), "channel", put_number_text },
	{ STR_INIT("replica_groups"), "groups", put_group_text },
	{ STR_INIT("source_target_pairs"), "pairs", put_list_text },
	{ STR_INIT("use_global_device_ids"), "global_ids", put_true_text },
};

void
module_put_text(struct hlo_module *m, struct str name, struct str text)
{
	struct str word;

	buf_putc(m->out, '{');
	put_text(m, "name", name);
	(void)until(&text, '=');
	word = until(&text, ' ');
	put_text(m, "opcode", until(&text, '('));
	put_shape_text(m, word);
	put_operand_texts(m, until(&text, ')'));
	while (text.len > 0) {
		struct str value = until(&text, ',');

		word = until(&value, '=');
		for (size_t i = 0; i < sizeof attributes / sizeof *attributes;
		     i++)
			if (str_eq(word, attributes[i].word))
				attributes[i].put(m, attributes[i].key, value);
	}
	buf_putc(m->out, '}');
}
