/* SPDX-License-Identifier: MIT */
/*
 * Debug annotations: what is said of a slice, as keys and values. They are kept
 * as bytes (key, type, and 8 bytes or a length and text), as a slice may wait
 * for its end; lists and dictionaries become JSON.
 */
#include "cmd/tl-decode/perfetto/perfetto.h"

#include "stream/from-json.h"
#include "json/json.h"

#define DEPTH_MAX 32 /* of lists in lists */

/* A DebugAnnotation's fields. */
struct annotation {
	struct str name;
	bool has_name;
	uint32_t field; /* of the value; 0: none */
	uint64_t u;
	struct str bytes;
	bool is_dict, is_list;
};

static bool
read_annotation(struct perfetto *p, const struct sequence *q, struct str bytes,
    struct annotation *a)
{
	struct proto m;

	*a = (struct annotation){ .field = 0 };
	proto_start(&m, bytes.p, bytes.len);
	while (perfetto_next(p, &m)) {
		bool is_text = m.type == PROTO_BYTES;
		uint32_t text;

		switch (m.field) {
		case 1:
			text = sequence_name(q, NAMES_KEY, m.u);
			a->has_name = text != NO_NAME;
			if (a->has_name)
				a->name = intern_get(p->texts, text);
			break;
		case 10:
			a->has_name = is_text;
			if (is_text)
				a->name = intern_get(
				    p->texts, perfetto_text(p, m.bytes));
			break;
		case 2:
		case 3:
		case 4:
		case 5:
		case 7:
		case 17:
			if (is_text)
				break;
			a->field = m.field;
			a->u = m.u;
			break;
		case 6:
		case 9:
			if (!is_text)
				break;
			a->field = m.field;
			a->bytes = m.bytes;
			break;
		case 11: a->is_dict |= is_text; break;
		case 12: a->is_list |= is_text; break;
		default: break;
		}
	}
	return p->fault == NULL;
}

static bool put_json(struct perfetto *p, const struct sequence *q,
    struct str bytes, unsigned depth, struct buf *out);

/* The members of a list (12) or dictionary (11). */
static bool
put_members(struct perfetto *p, const struct sequence *q, struct str bytes,
    bool is_dict, unsigned depth, struct buf *out)
{
	struct proto m;
	bool is_first = true;

	if (depth >= DEPTH_MAX)
		return perfetto_fault(p, "annotations nest too deep");
	buf_putc(out, is_dict ? '{' : '[');
	proto_start(&m, bytes.p, bytes.len);
	while (perfetto_next(p, &m)) {
		if (m.field != (is_dict ? 11U : 12U) || m.type != PROTO_BYTES)
			continue;
		if (!is_first)
			buf_putc(out, ',');
		is_first = false;
		if (is_dict) {
			struct annotation a;

			if (!read_annotation(p, q, m.bytes, &a))
				return false;
			json_put_string(out, a.name);
			buf_putc(out, ':');
		}
		if (!put_json(p, q, m.bytes, depth + 1, out))
			return false;
	}
	buf_putc(out, is_dict ? '}' : ']');
	return p->fault == NULL;
}

static void
put_double(struct buf *out, uint64_t bits)
{
	char text[NUM_DOUBLE_MAX];
	double d = proto_double(bits);

	if (d != d || d - d != 0)
		buf_puts(out, "null");
	else
		buf_put(out, text, num_put_double(text, d));
}

static bool
put_json(struct perfetto *p, const struct sequence *q, struct str bytes,
    unsigned depth, struct buf *out)
{
	struct annotation a;
	uint32_t text;

	if (!read_annotation(p, q, bytes, &a))
		return false;
	if (a.is_dict || a.is_list)
		return put_members(p, q, bytes, a.is_dict, depth, out);
	switch (a.field) {
	case 2: buf_puts(out, a.u != 0 ? "true" : "false"); break;
	case 3:
	case 7: buf_printf(out, "%" PRIu64, a.u); break;
	case 4: json_put_i64(out, (int64_t)a.u); break;
	case 5: put_double(out, a.u); break;
	case 17:
		text = sequence_name(q, NAMES_STRING, a.u);
		json_put_string(out,
		    text != NO_NAME ? intern_get(p->texts, text) : STR(""));
		break;
	case 6:
	case 9: json_put_string(out, source_text(a.bytes, &p->text2)); break;
	default: buf_puts(out, "null"); break;
	}
	return true;
}

/* ---- kept ---- */

static void
keep(struct buf *args, uint32_t key, enum value_type type, const void *v,
    size_t n)
{
	uint8_t t = (uint8_t)type;
	uint32_t len = (uint32_t)n;

	buf_put(args, &key, sizeof key);
	buf_put(args, &t, sizeof t);
	buf_put(args, &len, sizeof len);
	buf_put(args, v, n);
}

void
args_add_int(struct perfetto *p, struct str key, int64_t v, struct buf *args)
{
	keep(args, perfetto_text(p, key), VAL_INT, &v, sizeof v);
}

void
args_add_text(struct perfetto *p, struct str key, enum value_type type,
    struct str text, struct buf *args)
{
	uint32_t number = perfetto_text(p, key);

	if (type == VAL_STR)
		text = source_text(text, &p->text2);
	keep(args, number, type, text.p, text.len);
}

static void
keep_text(struct buf *args, uint32_t key, enum value_type type, struct str s)
{
	keep(args, key, type, s.p, s.len);
}

static void
keep_number(struct perfetto *p, struct buf *args, uint32_t key,
    const struct annotation *a)
{
	int64_t i = (int64_t)a->u;

	p->text.len = 0;
	switch (a->field) {
	case 2:
		keep(args, key, a->u != 0 ? VAL_TRUE : VAL_FALSE, NULL, 0);
		return;
	case 5:
		put_double(&p->text, a->u);
		if (*p->text.p == 'n') /* null: it is no finite number */
			keep(args, key, VAL_NULL, NULL, 0);
		else
			keep_text(args, key, VAL_NUM, buf_str(&p->text));
		return;
	case 7:
		buf_printf(&p->text, "0x%" PRIx64, a->u);
		keep_text(args, key, VAL_STR, buf_str(&p->text));
		return;
	default:
		if (a->field == 3 && a->u > INT64_MAX)
			keep(args, key, VAL_UINT, &a->u, sizeof a->u);
		else
			keep(args, key, VAL_INT, &i, sizeof i);
		return;
	}
}

/* A list or dictionary. */
static bool
keep_json(struct perfetto *p, const struct sequence *q,
    const struct annotation *a, struct str bytes, struct buf *args)
{
	uint32_t key = perfetto_text(p, a->name);

	p->text.len = 0;
	if (!put_members(p, q, bytes, a->is_dict, 0, &p->text))
		return false;
	keep_text(args, key, VAL_JSON, buf_str(&p->text));
	return true;
}

/* The entries of a dictionary as annotations of their own. */
static bool
add_entries(struct perfetto *p, const struct sequence *q, struct str bytes,
    struct buf *args)
{
	struct proto m;

	proto_start(&m, bytes.p, bytes.len);
	while (perfetto_next(p, &m)) {
		struct annotation a;

		if (m.field != 11 || m.type != PROTO_BYTES)
			continue;
		if (!read_annotation(p, q, m.bytes, &a))
			return false;
		/* a dictionary in it stays one */
		if (a.is_dict ? !keep_json(p, q, &a, m.bytes, args)
			      : !args_add(p, q, m.bytes, args))
			return false;
	}
	return p->fault == NULL;
}

bool
args_add(struct perfetto *p, const struct sequence *q, struct str bytes,
    struct buf *args)
{
	struct annotation a;
	uint32_t key, text;

	if (!read_annotation(p, q, bytes, &a))
		return false;
	if (!a.has_name)
		a.name = STR("");
	if (a.is_dict && str_eq(a.name, STR("args")))
		return add_entries(p, q, bytes, args);
	if (a.is_dict || a.is_list)
		return keep_json(p, q, &a, bytes, args);
	key = perfetto_text(p, a.name);
	switch (a.field) {
	case 6:
	case 9:
		keep_text(args, key, VAL_STR, source_text(a.bytes, &p->text2));
		break;
	case 17:
		text = sequence_name(q, NAMES_STRING, a.u);
		keep_text(args, key, VAL_STR,
		    text != NO_NAME ? intern_get(p->texts, text) : STR(""));
		break;
	case 0: keep(args, key, VAL_NULL, NULL, 0); break;
	default: keep_number(p, args, key, &a); break;
	}
	return true;
}

/* A number's text as what it is. */
static void
set_number(struct value *v)
{
	char text[NUM_DOUBLE_MAX + IN_PAD] = "";
	struct json_num num;
	struct json j;

	memcpy(text, v->s.p, v->s.len);
	json_start(&j, text, v->s.len);
	if (v->s.len > 0 && json_number(&j, &num) == JSON_OK &&
	    num.type != JSON_TEXT)
		*v = value_of_number(&num);
}

bool
args_next(const struct perfetto *p, const struct buf *args, size_t *at,
    struct str *key, struct value *v)
{
	uint32_t number, len;
	uint8_t type;
	const char *from;

	if (*at >= args->len)
		return false;
	from = args->p + *at;
	memcpy(&number, from, sizeof number);
	memcpy(&type, from + 4, sizeof type);
	memcpy(&len, from + 5, sizeof len);
	from += 9;
	*at += 9 + len;
	*key = intern_get(p->texts, number);
	*v = (struct value){ .type = type, .s = { from, len } };
	if (type == VAL_INT)
		memcpy(&v->i, from, sizeof v->i);
	else if (type == VAL_UINT)
		memcpy(&v->u, from, sizeof v->u);
	else if (type == VAL_NUM)
		set_number(v);
	return true;
}

static bool
find(const struct perfetto *p, const struct buf *args, struct str key,
    struct value *v)
{
	size_t at = 0;
	struct str k;

	while (args_next(p, args, &at, &k, v))
		if (str_eq(k, key))
			return true;
	return false;
}

bool
args_has(const struct perfetto *p, const struct buf *args, struct str key)
{
	struct value v;

	return find(p, args, key, &v);
}

bool
args_int(const struct perfetto *p, const struct buf *args, struct str key,
    int64_t *i)
{
	struct value v;

	if (!find(p, args, key, &v) || v.type != VAL_INT)
		return false;
	*i = v.i;
	return true;
}
