/* SPDX-License-Identifier: MIT */
/*
 * An instruction from its text, which events of TPUs have, where the file has
 * no module, and a module from its dump:
 *
 *	HloModule jit_f, attribute=value, ...
 *	ENTRY %main (...) -> ... {
 *	  ROOT %name = shape opcode(shape %operand, ...), attribute=value, ...
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

/* The part before sep outside of brackets and quotes; *rest moves past sep. */
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

/* "3,2,1,0:T(8,128)S(5)": order and memory space. */
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

/* As put_shape(): without tiles, blanks and comments. */
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

/* The shape of an instruction, or empty. */
static struct str
shape_of(const struct hlo_module *m, struct str name)
{
	uint32_t inst = m->is_text ? module_find(m, name) : NO_HLO;
	struct str text;

	if (inst == NO_HLO)
		return STR("");
	text = m->insts.v[inst].bytes;
	(void)until(&text, '=');
	return until(&text, ' ');
}

static void
put_operand_texts(struct hlo_module *m, struct str operands)
{
	put_key(m, "operands");
	buf_putc(m->out, '[');
	while (operands.len > 0) {
		struct str one = until(&operands, ',');
		struct str rest, shape;

		if (str_take(&one, STR("/*")))
			(void)until(&one, '/');
		rest = one;
		shape = until(&rest, ' ');
		one = rest.len > 0 ? trim(rest) : one;
		if (one.len > 0 && one.p[0] == '%')
			one = (struct str){ one.p + 1, one.len - 1 };
		if (rest.len == 0)
			shape = shape_of(m, one);
		if (m->out->p[m->out->len - 1] == '}')
			buf_putc(m->out, ',');
		buf_putc(m->out, '{');
		put_text(m, "name", one);
		if (shape.len > 0)
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
	struct iota io = { .ngroups = 1,
		.per_group = m->ndevices,
		.dims = { m->ndevices },
		.ndims = 1 };
	size_t list = 0, n[3] = { 0 };

	if (str_eq(value, STR("{}"))) {
		put_iota(m, &io);
		return;
	}
	if (value.len == 0 || value.p[0] != '[') {
		put_list_text(m, key, value);
		return;
	}
	io = (struct iota){ 0 };
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

static struct str
unquote(struct str s)
{
	return s.len >= 2 && s.p[0] == '"' ? (struct str){ s.p + 1, s.len - 2 }
					   : s;
}

static void
put_word_text(struct hlo_module *m, const char *key, struct str value)
{
	put_text(m, key, unquote(value));
}

/* Unescaped text, in m->text. */
static struct str
meant(struct hlo_module *m, struct str s)
{
	s = unquote(s);
	m->text.len = 0;
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] == '\\' && i + 1 < s.len)
			i++;
		buf_putc(&m->text, s.p[i]);
	}
	return buf_str(&m->text);
}

/* {op_name="jit(f)/add" source_file="f.py" source_line=3} */
static void
put_metadata_text(struct hlo_module *m, const char *key, struct str value)
{
	struct str rest = { value.p + 1, value.len > 2 ? value.len - 2 : 0 };
	struct str file = STR("");

	(void)key;
	while (rest.len > 0) {
		struct str is = until(&rest, ' '), word = until(&is, '=');

		if (str_eq(word, STR("op_name"))) {
			put_text(m, "op_name", meant(m, is));
		} else if (str_eq(word, STR("source_file"))) {
			file = is;
		} else if (str_eq(word, STR("source_line")) && file.len > 0) {
			(void)meant(m, file);
			buf_putc(&m->text, ':');
			buf_put(&m->text, is.p, is.len);
			put_text(m, "source", buf_str(&m->text));
		}
	}
}

static void
put_config_text(struct hlo_module *m, const char *key, struct str value)
{
	(void)key;
	put_config(
	    m, value.len > 0 && value.p[0] == '"' ? meant(m, value) : value);
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
	{ STR_INIT("metadata"), NULL, put_metadata_text },
	{ STR_INIT("backend_config"), NULL, put_config_text },
};

void
module_put_members(struct hlo_module *m, struct str text)
{
	struct str word;

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
}

void
module_put_text(struct hlo_module *m, struct str name, struct str text)
{
	buf_putc(m->out, '{');
	put_text(m, "name", name);
	module_put_members(m, text);
	buf_putc(m->out, '}');
}

/* ---- a module ---- */

static struct str
take_line(struct str *text)
{
	const char *end = memchr(text->p, '\n', text->len);
	size_t n = end != NULL ? (size_t)(end - text->p) : text->len;
	struct str line = { text->p, n };

	n += end != NULL;
	*text = (struct str){ text->p + n, text->len - n };
	return trim(line);
}

/* Of equal names in several computations the last, the entry's, counts. */
static void
add_name(struct hlo_module *m, struct str name, uint32_t inst)
{
	uint32_t id = intern_put(m->names, name);

	if (id == m->by_name.n)
		vec_push(&m->by_name, inst);
	else
		m->by_name.v[id] = inst;
}

/* %name = ...; other lines have another second word. */
static void
read_line(struct hlo_module *m, struct str line)
{
	struct str rest, name;

	(void)str_take(&line, STR("ROOT "));
	rest = line;
	name = until(&rest, ' ');
	if (!str_starts(rest, STR("= ")) || name.len == 0)
		return;
	if (name.p[0] == '%')
		name = (struct str){ name.p + 1, name.len - 1 };
	add_name(m, name, (uint32_t)m->insts.n);
	vec_push(&m->insts, ((struct hlo_inst){ .name = name, .bytes = line }));
}

/* Events may have the scheduler's name. */
static void
add_scheduled(struct hlo_module *m)
{
	static const struct str key = STR_INIT("scheduling_name=\"");

	for (uint32_t i = 0; i < m->insts.n; i++) {
		struct str s = m->insts.v[i].bytes;
		ptrdiff_t at = str_find(s, key, false);
		const char *name, *end;

		if (at < 0)
			continue;
		name = s.p + at + key.len;
		end = memchr(name, '"', s.len - (size_t)at - key.len);
		s = (struct str){ name,
			end != NULL ? (size_t)(end - name) : 0 };
		if (s.len > 0 && module_find(m, s) == NO_HLO)
			add_name(m, s, i);
	}
}

static uint64_t
count_in(struct str line, struct str key)
{
	ptrdiff_t at = str_find(line, key, false);
	struct str s;
	uint64_t u;

	if (at < 0)
		return 1;
	s = (struct str){ line.p + at + key.len,
		line.len - (size_t)at - key.len };
	return num_u64(until(&s, ','), &u) ? u : 0;
}

struct str
module_name_in(struct str text)
{
	struct str line = take_line(&text), name;

	if (!str_take(&line, STR("HloModule ")))
		return STR("");
	name = until(&line, ',');
	return until(&name, ' ');
}

void
module_read_text(struct hlo_module *m, struct str text)
{
	struct str head = text, line = take_line(&head);

	*m = (struct hlo_module){ .base = text.p,
		.names = intern_create(),
		.is_text = true,
		.name = module_name_in(text) };
	module_count(m, count_in(line, STR("replica_count=")),
	    count_in(line, STR("num_partitions=")));
	if (m->ndevices == 1)
		m->ndevices = 0; /* older dumps have neither */
	while (head.len > 0)
		read_line(m, take_line(&head));
	add_scheduled(m);
}
