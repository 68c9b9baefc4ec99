/* SPDX-License-Identifier: MIT */
/*
 * Debug annotations: keys and values of a slice. They are kept, as a slice may
 * wait for its end; lists and dictionaries become JSON.
 */
#include "cmd/tl-decode/perfetto/usual.h"

#include "stream/from-json.h"
#include "json/json.h"

#define DEPTH_MAX 32       /* nested lists */
#define JSON_MAX (4 << 20) /* bytes of cached texts */
#define OPEN_MAX (1 << 20) /* bytes of a text with members ... */
#define OPEN_KEYS 256      /* ... and their number */

const struct known_key perfetto_keys[KEYS_N] = {
#define X(name, text, role) [name] = { STR_INIT(text), role },
	EACH_KEY(X)
#undef X
};

/* ---- keeping ---- */

static void
put_inline(struct args *to, uint32_t key, enum value_type type, struct str s)
{
	struct arg *a = args_put(to, key, type);

	a->at = to->text.len;
	a->len = s.len;
	buf_put(&to->text, s.p, s.len);
}

/* By number, as texts repeat. */
static void
put_text(struct perfetto *p, struct args *to, uint32_t key,
    enum value_type type, struct str s)
{
	struct arg *a;

	if (s.len > STREAM_INTERN_MAX || type == VAL_NUM) {
		put_inline(to, key, type, s);
		return;
	}
	a = args_put(to, key, type);
	a->is_name = true;
	a->i = intern_put(p->texts, s);
}

/* A sequence's interned text, or NO_NAME. */
static void
put_interned(
    const struct perfetto *p, struct args *to, uint32_t key, uint32_t text)
{
	struct str s = perfetto_name(p, text);
	struct arg *a;

	if (s.len > STREAM_INTERN_MAX) {
		put_inline(to, key, VAL_STR, s);
		return;
	}
	a = args_put(to, key, VAL_STR);
	a->is_name = true;
	a->i = text != NO_NAME ? text : KEY_NONE_GIVEN;
}

void
args_text(struct perfetto *p, struct args *to, uint32_t key, struct str s)
{
	put_text(p, to, key, VAL_STR, json_as_utf8(s, &p->text2));
}

void
args_json(struct args *to, uint32_t key, struct str s)
{
	put_inline(to, key, VAL_JSON, s);
}

void
args_free(struct args *a)
{
	vec_free(&a->list);
	buf_free(&a->text);
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

struct value
args_double(struct perfetto *p, double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof bits);
	p->text.len = 0;
	put_double(&p->text, bits);
	if (*p->text.p == 'n') /* null: no finite number */
		return (struct value){ .type = VAL_NULL };
	return value_of_digits(buf_str(&p->text));
}

struct value
args_value(const struct perfetto *p, const struct args *of, const struct arg *a)
{
	struct value v = { .type = a->type, .i = a->i, .u = (uint64_t)a->i };

	if (a->is_name)
		v.s = intern_get(p->texts, (uint32_t)a->i);
	else if (a->type >= VAL_NUM)
		v.s = (struct str){ buf_str(&of->text).p + a->at, a->len };
	return a->type == VAL_NUM ? value_of_digits(v.s) : v;
}

/* ---- reading ---- */

/* A DebugAnnotation's fields. */
struct annotation {
	uint32_t name;  /* or NO_NAME */
	uint32_t field; /* field of the value; 0: none */
	uint64_t u;
	struct str bytes;
	bool is_dict, is_list;
};

static bool
read_annotation(struct perfetto *p, const struct sequence *q, struct str bytes,
    struct annotation *a)
{
	struct fields m = fields_of(bytes);

	*a = (struct annotation){ .name = NO_NAME };
	while (perfetto_next_fast(p, &m)) {
		bool is_text = m.type == PROTO_BYTES;

		switch (m.field) {
		case 1: a->name = sequence_name(q, NAMES_KEY, m.u); break;
		case 10:
			if (is_text)
				a->name = perfetto_text(p, m.bytes);
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
	return perfetto_is_good(p, m.error);
}

static bool put_json(struct perfetto *p, const struct sequence *q,
    struct str bytes, unsigned depth, struct buf *out);

/* Members of a list (12) or dictionary (11). */
static bool
put_members(struct perfetto *p, const struct sequence *q, struct str bytes,
    bool is_dict, unsigned depth, struct buf *out)
{
	struct fields m = fields_of(bytes);
	bool is_first = true;

	if (depth >= DEPTH_MAX)
		return perfetto_fault(p, "annotations nest too deep");
	buf_putc(out, is_dict ? '{' : '[');
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
			json_put_string(out, perfetto_name(p, a.name));
			buf_putc(out, ':');
		}
		if (!put_json(p, q, m.bytes, depth + 1, out))
			return false;
	}
	buf_putc(out, is_dict ? '}' : ']');
	return p->fault == NULL;
}

static bool
put_json(struct perfetto *p, const struct sequence *q, struct str bytes,
    unsigned depth, struct buf *out)
{
	struct annotation a;

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
		json_put_string(
		    out, perfetto_name(p, sequence_name(q, NAMES_STRING, a.u)));
		break;
	case 6:
	case 9: json_put_string(out, json_as_utf8(a.bytes, &p->text2)); break;
	default: buf_puts(out, "null"); break;
	}
	return true;
}

/* JSON as a value, else text. */
static void
read_json(struct perfetto *p, uint32_t key, struct str bytes, struct args *to)
{
	struct value v;
	struct json j;

	p->text.len = 0;
	buf_put(&p->text, bytes.p, bytes.len);
	buf_room(&p->text, IN_PAD);
	memset(p->text.p + p->text.len, 0, IN_PAD);
	if (!value_of_text(&j, buf_str(&p->text), 0, &p->text2, &v)) {
		args_text(p, to, key, bytes);
		return;
	}
	switch (v.type) {
	case VAL_STRX: put_text(p, to, key, VAL_STR, v.s); break;
	case VAL_JSONX: put_text(p, to, key, VAL_JSON, v.s); break;
	case VAL_DEC:
	case VAL_NUM: put_text(p, to, key, VAL_NUM, v.s); break;
	default:
		args_put(to, key, v.type)->i =
		    v.type == VAL_UINT ? (int64_t)v.u : v.i;
		break;
	}
}

/* The same text was mostly read before. */
static void
put_json_text(
    struct perfetto *p, uint32_t key, struct str bytes, struct args *to)
{
	const struct arg *known = args_json_known(p, bytes);
	struct arg *a;
	uint32_t n;

	if (LIKELY(known != NULL)) {
		a = args_put(to, key, (enum value_type)known->type);
		a->is_name = true;
		a->i = known->i;
		return;
	}
	read_json(p, key, bytes, to);
	n = intern_put(p->json, bytes);
	if (n == p->json_values.n)
		vec_push(&p->json_values, to->list.v[to->list.n - 1]);
	if (UNLIKELY(intern_bytes(p->json) > JSON_MAX)) {
		intern_clear(p->json);
		p->json_values.n = 0;
	}
}

/*
 * A text of JSON members, with or without braces, as Kineto's builder writes:
 * each becomes an argument. Any other text stays one.
 */
static void
open_text(struct perfetto *p, uint32_t key, struct str bytes, struct args *to)
{
	struct arena *mem = arena_create();
	json_items list = { 0 };
	struct buf whole = { 0 };
	bool is_bare = !str_starts(bytes, STR("{"));

	if (is_bare)
		buf_putc(&whole, '{');
	buf_put(&whole, bytes.p, bytes.len);
	if (is_bare)
		buf_putc(&whole, '}');
	if (bytes.len > OPEN_MAX || !json_split(&list, mem, buf_str(&whole)) ||
	    list.n / 2 > OPEN_KEYS)
		list.n = 0;
	for (size_t i = 0; i + 1 < list.n; i += 2) {
		uint32_t name = perfetto_text(p, list.v[i].text);
		struct str value = list.v[i + 1].text;

		if (list.v[i + 1].type == JSON_T_STRING)
			args_text(p, to, name, value);
		else
			read_json(p, name, value, to);
	}
	if (list.n == 0)
		args_text(p, to, key, bytes);
	vec_free(&list);
	buf_free(&whole);
	arena_destroy(mem);
}

static bool
is_opened(uint32_t key)
{
	return key == KEY_METADATA || key == KEY_DEBUG;
}

static void
put_value(struct perfetto *p, const struct sequence *q, uint32_t key,
    const struct annotation *a, struct args *to)
{
	uint32_t number;

	p->text.len = 0;
	switch (a->field) {
	case 2: args_put(to, key, a->u != 0 ? VAL_TRUE : VAL_FALSE); break;
	case 3: args_uint(to, key, a->u); break;
	case 4: args_int(to, key, (int64_t)a->u); break;
	case 5:
		put_double(&p->text, a->u);
		if (*p->text.p == 'n') /* null: no finite number */
			args_put(to, key, VAL_NULL);
		else
			put_text(p, to, key, VAL_NUM, buf_str(&p->text));
		break;
	case 6:
		if (is_opened(key))
			open_text(p, key, a->bytes, to);
		else
			args_text(p, to, key, a->bytes);
		break;
	case 9: put_json_text(p, key, a->bytes, to); break;
	case 7:
		buf_printf(&p->text, "0x%" PRIx64, a->u);
		put_text(p, to, key, VAL_STR, buf_str(&p->text));
		break;
	case 17:
		number = sequence_name(q, NAMES_STRING, a->u);
		if (is_opened(key))
			open_text(p, key, perfetto_name(p, number), to);
		else
			put_interned(p, to, key, number);
		break;
	default: args_put(to, key, VAL_NULL); break;
	}
}

/* Entries of a dictionary as annotations; a dictionary in it stays one. */
static bool
add_entries(struct perfetto *p, const struct sequence *q, struct str bytes,
    unsigned depth, struct args *to)
{
	struct fields m = fields_of(bytes);

	while (perfetto_next(p, &m))
		if (m.field == 11 && m.type == PROTO_BYTES &&
		    !args_add(p, q, m.bytes, depth + 1, to))
			return false;
	return p->fault == NULL;
}

/* {1: name_iid, VALUE} with these types of values, the usual ones. */
static inline __attribute__((always_inline)) bool
add_usual(struct perfetto *p, const struct sequence *q, struct str bytes,
    struct args *to)
{
	const unsigned char *at = (const unsigned char *)bytes.p;
	const unsigned char *end = at + bytes.len;
	unsigned tag;
	uint64_t iid, u;
	uint32_t key;

	if (bytes.len < 4 || *at++ != PROTO_TAG(1, PROTO_VARINT) ||
	    !varint_get(&at, end, &iid) || at == end)
		return false;
	tag = *at++;
	if ((tag != PROTO_TAG(3, PROTO_VARINT) &&
		tag != PROTO_TAG(4, PROTO_VARINT) &&
		tag != PROTO_TAG(9, PROTO_BYTES)) ||
	    !varint_get(&at, end, &u) ||
	    (uint64_t)(end - at) != (tag == PROTO_TAG(9, PROTO_BYTES) ? u : 0))
		return false;
	key = sequence_name(q, NAMES_KEY, iid);
	key = key != NO_NAME ? key : KEY_NONE_GIVEN;
	if (tag == PROTO_TAG(4, PROTO_VARINT))
		args_int(to, key, (int64_t)u);
	else if (tag == PROTO_TAG(3, PROTO_VARINT))
		args_uint(to, key, u);
	else
		put_json_text(
		    p, key, (struct str){ (const char *)at, (size_t)u }, to);
	return true;
}

/* Any other annotation. */
static __attribute__((noinline)) bool
add_other(struct perfetto *p, const struct sequence *q, struct str bytes,
    unsigned depth, struct args *to)
{
	struct annotation a;
	uint32_t key;

	if (!read_annotation(p, q, bytes, &a))
		return false;
	key = a.name != NO_NAME ? a.name : KEY_NONE_GIVEN;
	if (a.is_dict && key == KEY_ARGS && depth == 0)
		return add_entries(p, q, bytes, depth, to);
	if (!a.is_dict && !a.is_list) {
		put_value(p, q, key, &a, to);
		return true;
	}
	p->text.len = 0;
	if (!put_members(p, q, bytes, a.is_dict, 0, &p->text))
		return false;
	put_text(p, to, key, VAL_JSON, buf_str(&p->text));
	return true;
}

bool
args_add(struct perfetto *p, const struct sequence *q, struct str bytes,
    unsigned depth, struct args *to)
{
	return add_usual(p, q, bytes, to) || add_other(p, q, bytes, depth, to);
}

const unsigned char *
args_add_run(struct perfetto *p, const struct sequence *q, struct str bytes,
    const unsigned char *end, struct args *to)
{
	for (;;) {
		const unsigned char *next =
		    (const unsigned char *)bytes.p + bytes.len;

		if ((!add_usual(p, q, bytes, to) &&
			!add_other(p, q, bytes, 0, to)) ||
		    end - next < 2 || next[0] != PROTO_TAG(4, PROTO_BYTES) ||
		    next[1] >= 0x80 || next[1] > end - next - 2)
			return next;
		bytes = (struct str){ (const char *)next + 2, next[1] };
	}
}
