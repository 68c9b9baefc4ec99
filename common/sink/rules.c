/* SPDX-License-Identifier: MIT */
/* Categories of kernels by their names; see rules.h. */
#include <stdio.h>

#include "base/embedded.h"
#include "sink/rules.h"
#include "json/json.h"

extern const struct embedded sink_data[];
extern const size_t sink_ndata;

#define FILE_MAX_BYTES (4u << 20)

static bool
read_texts(struct rules *r, struct str category, const struct json_item *list,
    uint32_t group)
{
	json_items texts = { 0 };
	bool is_of = group > 0 && str_eq(category, STR("of"));
	bool is_good = list->type == JSON_T_ARRAY &&
	    json_split(&texts, r->mem, list->text);

	for (size_t i = 0; i < texts.n && is_good; i++) {
		struct rule rule = { texts.v[i].text, category, group };

		is_good = texts.v[i].type == JSON_T_STRING;
		if (is_of)
			vec_push(&r->of, rule);
		else
			vec_push(&r->list, rule);
	}
	vec_free(&texts);
	return is_good;
}

/* Reads categories, or those of a group, which has no groups itself. */
static bool
read_rules(struct rules *r, struct str text, uint32_t group)
{
	json_items items = { 0 };
	bool is_good = text.len > 0 && json_split(&items, r->mem, text) &&
	    (items.n == 0 || items.v[0].type == JSON_T_KEY);

	for (size_t i = 0; i + 1 < items.n && is_good; i += 2) {
		struct str category = items.v[i].text;
		const struct json_item *value = &items.v[i + 1];

		if (str_eq(category, STR("@base")))
			r->is_base = true;
		else if (value->type == JSON_T_OBJECT && group == 0)
			is_good = read_rules(r, value->text, ++r->ngroups);
		else
			is_good = read_texts(r, category, value, group);
	}
	vec_free(&items);
	return is_good;
}

static bool
read_file(struct rules *r, const char *path)
{
	struct in *in = in_open(path);
	bool is_good;

	while (in_more(in))
		if ((size_t)(in->end - in->p) > FILE_MAX_BYTES)
			die("%s: too long for a file of categories", path);
	is_good = read_rules(r,
	    (struct str){ (const char *)in->p, (size_t)(in->end - in->p) }, 0);
	in_close(in);
	return is_good;
}

void
rules_load(struct rules *r, const char *name)
{
	char file[64];

	r->mem = arena_create();
	snprintf(file, sizeof file, "categories/%.40s.json", name);
	for (size_t i = 0; i < sink_ndata; i++) {
		const struct embedded *e = &sink_data[i];

		if (strcmp(e->name, file) != 0)
			continue;
		if (!read_rules(
			r, (struct str){ (const char *)e->bytes, e->len }, 0))
			die("built-in %s is malformed", e->name);
		return;
	}
	if (!read_file(r, name))
		die("%s: no JSON object of categories and lists of texts",
		    name);
}

/* ---- names ---- */

#define NAME_MAX_BYTES 65536 /* a longer one is cut */
#define FIRST_BYTES 20       /* the first word of a name without blanks */

/* Removes all occurrences of a text. */
static void
drop(struct buf *b, struct str text)
{
	size_t to = 0;

	for (size_t i = 0; i < b->len;) {
		if (str_starts((struct str){ b->p + i, b->len - i }, text))
			i += text.len;
		else
			b->p[to++] = b->p[i++];
	}
	b->len = to;
}

/* "at::native::softmax" of "void at::native::softmax<4>(float *)". */
static void
put_base(struct buf *b, struct str name)
{
	static const struct str kernel = STR_INIT("void ");

	if (name.len > NAME_MAX_BYTES)
		name.len = NAME_MAX_BYTES;
	if (str_starts(name, kernel)) {
		name.p += kernel.len;
		name.len -= kernel.len;
	}
	table_fold_name(name, 0, b);
	drop(b, STR("<...>"));
	drop(b, STR("(...)"));
}

static struct str
first_word(struct str name)
{
	const char *end = memchr(name.p, '_', name.len);

	if (end == NULL)
		end = memchr(name.p, ' ', name.len);
	if (end != NULL)
		name.len = (size_t)(end - name.p);
	else if (name.len > FIRST_BYTES)
		name.len = FIRST_BYTES;
	return name;
}

static int
kind_of(char c)
{
	if (c >= '0' && c <= '9')
		return 1;
	if (c >= 'a' && c <= 'z')
		return 2;
	return c >= 'A' && c <= 'Z' ? 3 : 0;
}

/* Also between an "l" and an "N", or a letter and a digit. */
static bool
is_border(struct str name, size_t at)
{
	int before, behind;

	if (at == 0 || at == name.len)
		return true;
	before = kind_of(name.p[at - 1]);
	behind = kind_of(name.p[at]);
	return before == 0 ||
	    (before != behind && !(before == 3 && behind == 2));
}

static bool
has_whole(struct str name, struct str word)
{
	for (size_t at = 0; at + word.len <= name.len; at++) {
		ptrdiff_t more = str_find(
		    (struct str){ name.p + at, name.len - at }, word, true);

		if (more < 0)
			return false;
		at += (size_t)more;
		if (is_border(name, at) && is_border(name, at + word.len))
			return true;
	}
	return false;
}

/* ---- which one ---- */

static bool
fits(const struct bucket_rules *buckets, struct str text, struct str name)
{
	if (str_eq(text, STR("@collective")))
		return bucket_of(buckets, KIND_KERNEL, name) == BUCKET_COMM;
	if (memchr(text.p, '*', text.len) != NULL)
		return str_glob(text, name);
	if (text.len > 2 && *text.p == '<' && text.p[text.len - 1] == '>')
		return has_whole(
		    name, (struct str){ text.p + 1, text.len - 2 });
	if (text.len > 1 && *text.p == '^')
		return str_find(first_word(name),
			   (struct str){ text.p + 1, text.len - 1 }, true) >= 0;
	return str_find(name, text, true) >= 0;
}

static bool
is_in_group(const struct bucket_rules *buckets, const struct rules *r,
    uint32_t group, struct str name)
{
	size_t at;

	bisect(at, r->of.n, mid, r->of.v[mid].group < group);
	for (; at < r->of.n && r->of.v[at].group == group; at++) {
		struct str text = r->of.v[at].text;
		bool is_not = text.len > 1 && *text.p == '!';

		if (is_not)
			text = (struct str){ text.p + 1, text.len - 1 };
		if (fits(buckets, text, name))
			return !is_not;
	}
	return false;
}

static struct str
find_category(
    const struct bucket_rules *buckets, const struct rules *r, struct str name)
{
	uint32_t group = 0;
	bool is_in = true;

	for (size_t i = 0; i < r->list.n; i++) {
		const struct rule *rule = &r->list.v[i];

		if (rule->group != group) {
			group = rule->group;
			is_in =
			    group == 0 || is_in_group(buckets, r, group, name);
		}
		if (is_in && fits(buckets, rule->text, name))
			return rule->category;
	}
	return STR("Other");
}

uint32_t
rules_category(const struct sink *s, struct rules *r, uint32_t name)
{
	struct buf base = { 0 };
	bool is_new;
	uint64_t *slot = map_put(&r->known, name, &is_new);

	if (!is_new)
		return (uint32_t)*slot;
	if (r->is_base)
		put_base(&base, dict_get(s->dict, name));
	*slot = intern_put(s->dict->text,
	    find_category(&s->rules, r,
		r->is_base ? buf_str(&base) : dict_get(s->dict, name)));
	buf_free(&base);
	return (uint32_t)*slot;
}

void
rules_free(struct rules *r)
{
	vec_free(&r->list);
	vec_free(&r->of);
	map_free(&r->known);
	if (r->mem != NULL)
		arena_destroy(r->mem);
}
