/* SPDX-License-Identifier: MIT */
/*
 * Categories of kernels by their names, where no op is known: rules are data,
 * a JSON object of categories and texts, in the order in which they are tried.
 */
#include <stdio.h>

#include "base/embedded.h"
#include "cmd/tl-kernels/kernels.h"
#include "json/json.h"

extern const struct embedded tl_kernels_data[];
extern const size_t tl_kernels_ndata;

#define FILE_MAX_BYTES (4u << 20)

static bool
read_texts(struct rules *r, struct str category, const struct json_item *list)
{
	json_items texts = { 0 };
	bool is_good = list->type == JSON_T_ARRAY &&
	    json_split(&texts, r->mem, list->text);

	for (size_t i = 0; i < texts.n && is_good; i++) {
		is_good = texts.v[i].type == JSON_T_STRING;
		vec_push(
		    &r->list, ((struct rule){ texts.v[i].text, category }));
	}
	vec_free(&texts);
	return is_good;
}

static bool
read_rules(struct rules *r, struct str text)
{
	json_items items = { 0 };
	bool is_good = text.len > 0 && json_split(&items, r->mem, text) &&
	    (items.n == 0 || items.v[0].type == JSON_T_KEY);

	for (size_t i = 0; i + 1 < items.n && is_good; i += 2)
		is_good = read_texts(r, items.v[i].text, &items.v[i + 1]);
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
	is_good = read_rules(
	    r, (struct str){ (const char *)in->p, (size_t)(in->end - in->p) });
	in_close(in);
	return is_good;
}

void
rules_load(struct rules *r, const char *name)
{
	char file[64];

	r->mem = arena_create();
	snprintf(file, sizeof file, "categories/%.40s.json", name);
	for (size_t i = 0; i < tl_kernels_ndata; i++) {
		const struct embedded *e = &tl_kernels_data[i];

		if (strcmp(e->name, file) != 0)
			continue;
		if (!read_rules(
			r, (struct str){ (const char *)e->bytes, e->len }))
			die("built-in %s is malformed", e->name);
		return;
	}
	if (!read_file(r, name))
		die("%s: no JSON object of categories and lists of texts",
		    name);
}

static bool
fits(const struct bucket_rules *buckets, struct str text, struct str name)
{
	if (str_eq(text, STR("@collective")))
		return bucket_of(buckets, KIND_KERNEL, name) == BUCKET_COMM;
	if (memchr(text.p, '*', text.len) != NULL)
		return str_glob(text, name);
	return str_find(name, text, true) >= 0;
}

uint32_t
rules_category(const struct sink *s, struct rules *r, uint32_t name)
{
	struct str text = dict_get(s->dict, name), category = STR("Other");
	bool is_new;
	uint64_t *slot = map_put(&r->known, name, &is_new);

	if (!is_new)
		return (uint32_t)*slot;
	for (size_t i = 0; i < r->list.n; i++)
		if (fits(&s->rules, r->list.v[i].text, text)) {
			category = r->list.v[i].category;
			break;
		}
	*slot = intern_put(s->dict->text, category);
	return (uint32_t)*slot;
}

void
rules_free(struct rules *r)
{
	vec_free(&r->list);
	map_free(&r->known);
	if (r->mem != NULL)
		arena_destroy(r->mem);
}
