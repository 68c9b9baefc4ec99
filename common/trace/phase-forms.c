/* SPDX-License-Identifier: MIT */
/* The forms of names of iterations: reading and matching them. */
#include "base/embedded.h"
#include "trace/phase-inside.h"
#include "json/json.h"

#define FILE_MAX_BYTES (1u << 20)
#define FORMS_MAX 1000
#define TEXTS_MAX 100
#define SHOWN_BYTES 100 /* of a text in a message */

extern const struct embedded trace_data[];
extern const size_t trace_ndata;

typedef VEC(struct form) form_list;

/* The program's: forms of the source being read. */
static struct {
	form_list list; /* in matching order */
	struct arena *mem;
	VEC(struct str) texts; /* of sites, each once */
	struct str loaded;     /* by option */
	bool begins[256];      /* the first byte of any */
} forms;

/* ---- fields ---- */

#define EACH_FIELD(X)          \
	X(context_requests)    \
	X(generation_requests) \
	X(context_sum)         \
	X(generation_sum)      \
	X(batch_size)          \
	X(num_requests)        \
	X(c_sq)                \
	X(c_sk)                \
	X(c_sqsq)              \
	X(c_sqsk)              \
	X(g_sq)                \
	X(g_sk)                \
	X(g_sqsq)              \
	X(g_sqsk)              \
	X(padded)              \
	X(spec)                \
	X(p)                   \
	X(d)                   \
	X(overlap)

/* The field's offset in struct iteration; 0: unknown. */
static uint16_t
field_of(struct str word)
{
	static const struct {
		const char *word;
		uint16_t at;
	} fields[] = {
#define X(field) { #field, offsetof(struct iteration, field) },
		EACH_FIELD(X)
#undef X
	};

	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (str_eq(word, str_of(fields[i].word)))
			return fields[i].at;
	return 0;
}

/* ---- reading ---- */

struct reader {
	struct arena *mem;
	struct buf *why;
	struct form *form;
};

static bool
refuse(const struct reader *r, const char *what, struct str text)
{
	struct str name = r->form->name;

	return buf_fail(r->why, "%.*s: %s '%.*s'",
	    (int)(name.len < SHOWN_BYTES ? name.len : SHOWN_BYTES), name.p,
	    what, (int)(text.len < SHOWN_BYTES ? text.len : SHOWN_BYTES),
	    text.p);
}

/* "FIELD FIELD", "FIELD/FIELD" */
static bool
read_target(const struct reader *r, struct str text, struct form_target *to)
{
	const char *slash = memchr(text.p, '/', text.len);
	struct str fields = text;
	size_t at = 0;

	if (slash != NULL) {
		fields.len = (size_t)(slash - text.p);
		to->rest = field_of(
		    (struct str){ slash + 1, text.len - fields.len - 1 });
		if (to->rest == 0)
			return refuse(r, "no such field:", text);
	}
	while (at < fields.len) {
		size_t from = at;
		uint16_t field;

		while (at < fields.len && fields.p[at] != ' ')
			at++;
		field = field_of((struct str){ fields.p + from, at - from });
		if (field == 0 || to->n == FIELDS_MAX)
			return refuse(r, "no such field:", text);
		to->fields[to->n++] = field;
		at += at < fields.len;
	}
	return true;
}

static bool
read_pattern(
    const struct reader *r, const struct json_item *v, json_items *list)
{
	struct str s = v->text;
	size_t at = 0;

	(void)list;
	while (at < s.len) {
		struct form_part part = { .text = { s.p + at, 0 } };

		while (at < s.len && strchr("#{*", s.p[at]) == NULL)
			at++;
		part.text.len = (size_t)(s.p + at - part.text.p);
		if (part.text.len > 0) {
			vec_push(&r->form->parts, part);
			continue;
		}
		part.what = s.p[at] == '*' ? PART_KEYS : PART_NUMBER;
		if (s.p[at] == '{') {
			const char *close = memchr(s.p + at, '}', s.len - at);

			if (close == NULL)
				return refuse(r, "a } is missing in", s);
			part.text = (struct str){ s.p + at + 1,
				(size_t)(close - s.p) - at - 1 };
			at = (size_t)(close - s.p);
			if (!read_target(r, part.text, &part.to))
				return false;
		}
		at++;
		vec_push(&r->form->parts, part);
	}
	return (r->form->parts.n > 0 &&
		   r->form->parts.v[0].what == PART_TEXT) ||
	    refuse(r, "a pattern begins with a plain text, not", s);
}

static bool
read_word(const struct reader *r, const char *const *words, size_t n,
    struct str text, uint8_t *word)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(text, str_of(words[i]))) {
			*word = (uint8_t)i;
			return true;
		}
	return refuse(r, "no such word:", text);
}

/* Items of a list or members of an object; false: neither. */
static bool
split(const struct reader *r, const struct json_item *item,
    enum json_token type, json_items *out)
{
	return (item->type == type && json_split(out, r->mem, item->text)) ||
	    refuse(r,
		type == JSON_T_ARRAY ? "no list:" : "no object:", item->text);
}

static bool
read_keys(const struct reader *r, const struct json_item *v, json_items *keys)
{
	(void)v;
	for (size_t i = 0; i + 1 < keys->n; i += 2) {
		struct form_key k = { .key = keys->v[i].text };

		if (keys->v[i + 1].type != JSON_T_STRING ||
		    r->form->keys.n == KEYS_MAX)
			return refuse(r, "no fields for", k.key);
		k.is_list = str_eq(keys->v[i + 1].text, STR("ctx"));
		if (!k.is_list && !read_target(r, keys->v[i + 1].text, &k.to))
			return false;
		vec_push(&r->form->keys, k);
	}
	return true;
}

static bool
read_sums(const struct reader *r, const struct json_item *v, json_items *sums)
{
	(void)v;
	for (size_t i = 0; i < sums->n; i++) {
		size_t k = 0;

		while (k < r->form->keys.n &&
		    !str_eq(r->form->keys.v[k].key, sums->v[i].text))
			k++;
		if (k == r->form->keys.n)
			return refuse(r, "no such key:", sums->v[i].text);
		r->form->keys.v[k].is_sum = true;
	}
	return true;
}

/* Checks a field of an example against its name. */
static bool
agrees(const struct iteration *it, struct str key, const struct json_item *v)
{
	uint16_t field = field_of(key);
	int64_t n;

	if (str_eq(key, STR("name")))
		return true;
	if (str_eq(key, STR("phase")))
		return str_eq(v->text, str_of(phase_words[it->phase]));
	if (str_eq(key, STR("has_sqsk")))
		return (v->type == JSON_T_TRUE) == it->has_sqsk;
	return field != 0 && num_i64(v->text, &n) &&
	    n == *(const int64_t *)((const char *)it + field);
}

static bool
check_example(const struct reader *r, const json_items *example)
{
	const struct json_item *name = json_member(example, STR("name"));
	struct iteration it;

	if (name == NULL || !form_matches(r->form, name->text, &it))
		return refuse(r, "the pattern does not fit",
		    name != NULL ? name->text : STR(""));
	for (size_t i = 0; i + 1 < example->n; i += 2)
		if (!agrees(&it, example->v[i].text, &example->v[i + 1]))
			return refuse(
			    r, "an example has another", example->v[i].text);
	return true;
}

static bool
check_examples(
    const struct reader *r, const struct json_item *v, json_items *list)
{
	json_items example = { 0 };
	bool is_good = true;

	(void)v;
	for (size_t i = 0; is_good && i < list->n; i++)
		is_good = split(r, &list->v[i], JSON_T_OBJECT, &example) &&
		    check_example(r, &example);
	vec_free(&example);
	return is_good;
}

static bool
read_name(const struct reader *r, const struct json_item *v, json_items *list)
{
	(void)list;
	r->form->name = v->text;
	return true;
}

static bool
read_tier(const struct reader *r, const struct json_item *v, json_items *list)
{
	static const char *const tiers[] = { "detailed", "native" };

	(void)list;
	return read_word(r, tiers, 2, v->text, &r->form->tier);
}

static bool
read_phase(const struct reader *r, const struct json_item *v, json_items *list)
{
	(void)list;
	return read_word(r, phase_words, PHASE_COUNT, v->text, &r->form->phase);
}

static bool
read_like(const struct reader *r, const struct json_item *v, json_items *list)
{
	(void)list;
	r->form->like = v->text;
	return true;
}

/* In reading order: sums name keys. */
static const struct member {
	const char *name;
	enum json_token type;
	bool (*read)(const struct reader *r, const struct json_item *v,
	    json_items *list);
	bool is_needed;
} members[] = {
	{ "name", JSON_T_STRING, read_name, true },
	{ "tier", JSON_T_STRING, read_tier, true },
	{ "phase", JSON_T_STRING, read_phase, false },
	{ "pattern", JSON_T_STRING, read_pattern, true },
	{ "like", JSON_T_STRING, read_like, false },
	{ "keys", JSON_T_OBJECT, read_keys, false },
	{ "sums", JSON_T_ARRAY, read_sums, false },
	{ "examples", JSON_T_ARRAY, check_examples, false },
};
#define MEMBERS (sizeof members / sizeof *members)

static bool
is_member(struct str key)
{
	for (size_t i = 0; i < MEMBERS; i++)
		if (str_eq(key, str_of(members[i].name)))
			return true;
	return false;
}

static bool
read_form(const struct reader *r, const json_items *form)
{
	json_items list = { 0 };
	bool is_good = true;

	for (size_t i = 0; i < form->n; i += 2)
		if (!is_member(form->v[i].text))
			return refuse(
			    r, "no member is called", form->v[i].text);
	for (size_t i = 0; is_good && i < MEMBERS; i++) {
		const struct member *m = &members[i];
		const struct json_item *v = json_member(form, str_of(m->name));

		if (v == NULL)
			is_good = !m->is_needed ||
			    refuse(r, "a format needs", str_of(m->name));
		else
			is_good = (m->type == JSON_T_STRING
					  ? v->type == m->type ||
					      refuse(r, "no text:", v->text)
					  : split(r, v, m->type, &list)) &&
			    m->read(r, v, &list);
	}
	vec_free(&list);
	return is_good;
}

static void
free_forms(form_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		vec_free(&list->v[i].parts);
		vec_free(&list->v[i].keys);
	}
	vec_free(list);
}

/* Reads into an empty list. */
static bool
read_forms(struct str text, form_list *to, struct buf *why)
{
	json_items list = { 0 }, form = { 0 };
	struct reader r = { forms.mem, why, NULL };
	bool is_good = json_split(&list, forms.mem, text) &&
	    (list.n == 0 || list.v[0].type != JSON_T_KEY);

	if (!is_good || list.n > FORMS_MAX)
		is_good = buf_fail(why, "no JSON list of formats");
	for (size_t i = 0; is_good && i < list.n; i++) {
		r.form = vec_add(to);
		*r.form = (struct form){ .name = STR("format") };
		is_good = split(&r, &list.v[i], JSON_T_OBJECT, &form) &&
		    read_form(&r, &form);
	}
	if (!is_good)
		free_forms(to);
	vec_free(&list);
	vec_free(&form);
	return is_good;
}

static void
note_first_bytes(void)
{
	memset(forms.begins, 0, sizeof forms.begins);
	for (size_t i = 0; i < forms.list.n; i++)
		forms.begins
		    [(unsigned char)forms.list.v[i].parts.v[0].text.p[0]] =
		    true;
}

static void
need_builtin(void)
{
	struct buf why = { 0 };

	if (forms.mem != NULL)
		return;
	forms.mem = arena_create();
	for (size_t i = 0; i < trace_ndata; i++) {
		const struct embedded *e = &trace_data[i];
		struct str text = { (const char *)e->bytes, e->len };

		if (str_starts(str_of(e->name), STR("phases/")) &&
		    !read_forms(text, &forms.list, &why))
			die("%s: %.*s", e->name, (int)why.len, why.p);
	}
	buf_free(&why);
	note_first_bytes();
}

/* Most sources have the same text. */
static bool
is_known(struct str text)
{
	for (size_t i = 0; i < forms.texts.n; i++)
		if (str_eq(forms.texts.v[i], text))
			return true;
	return false;
}

bool
iteration_formats_read(struct str text, struct buf *why)
{
	form_list list = { 0 };

	need_builtin();
	if (is_known(text))
		return true;
	if (text.len > FILE_MAX_BYTES || forms.texts.n == TEXTS_MAX)
		return buf_fail(why, "too many formats");
	if (!read_forms(text, &list, why))
		return false;
	vec_push(&forms.texts, arena_str(forms.mem, text));
	for (size_t i = 0; i < forms.list.n; i++)
		vec_push(&list, forms.list.v[i]);
	vec_free(&forms.list);
	forms.list = list;
	note_first_bytes();
	return true;
}

void
iteration_formats_free(void)
{
	free_forms(&forms.list);
	vec_free(&forms.texts);
	if (forms.mem != NULL)
		arena_destroy(forms.mem);
	memset(&forms, 0, sizeof forms);
}

void
iteration_formats_load(const char *path)
{
	struct in *in = in_open(path);
	struct buf text = { 0 }, why = { 0 };
	const char *error;
	size_t at;

	while (in_more(in))
		if ((size_t)(in->end - in->p) > FILE_MAX_BYTES)
			die("%s: too long for a file of annotations", path);
	if (!json_minify(
		(struct str){ (const char *)in->p, (size_t)(in->end - in->p) },
		0, &text, &error, &at))
		die("%s: byte %zu: %s", path, at + 1, error);
	if (!iteration_formats_read(buf_str(&text), &why))
		die("%s: %.*s", path, (int)why.len, why.p);
	forms.loaded = arena_str(forms.mem, buf_str(&text));
	buf_free(&text);
	buf_free(&why);
	in_close(in);
}

struct str
iteration_formats_text(void)
{
	return forms.loaded;
}

void
iteration_formats_of(const struct source *src)
{
	const struct fact *f = source_fact(src, ITERATION_FORMATS_FACT);
	struct buf why = { 0 };

	if (f == NULL || (f->val.type != VAL_JSON && f->val.type != VAL_JSONX))
		return;
	if (!iteration_formats_read(f->val.s, &why))
		die("source %" PRIu32 ": the fact '%s': %.*s", src->src,
		    ITERATION_FORMATS_FACT, (int)why.len, why.p);
	buf_free(&why);
}

bool
iteration_of_name(struct str name, struct iteration *it)
{
	need_builtin();
	if (name.len > 0 && forms.begins[(unsigned char)name.p[0]])
		for (size_t i = 0; i < forms.list.n; i++)
			if (form_matches(&forms.list.v[i], name, it)) {
				it->format = (uint32_t)i;
				return true;
			}
	*it = (struct iteration){ .tier = ITERATION_NOT,
		.phase = PHASE_GENERIC,
		.generation_requests = 1,
		.generation_sum = 1,
		.batch_size = 1,
		.num_requests = 1,
		.padded = -1,
		.spec = -1,
		.p = -1,
		.d = -1,
		.overlap = -1 };
	return false;
}

struct str
iteration_format_name(uint32_t format)
{
	return forms.list.v[format].name;
}
