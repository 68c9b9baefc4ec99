/* SPDX-License-Identifier: MIT */
/* Types of ops: words of options, and names of kernels. */
#include "cmd/tl-roofline/roof.h"
#include "model/element.h"
#include "json/json.h"

/* ---- options ---- */

/* Short words for types, and how traces spell them. */
static const struct {
	const char *word, *type;
} short_types[] = {
	{ "bf16", "c10::BFloat16" },
	{ "fp16", "c10::Half" },
	{ "fp32", "float" },
	{ "fp64", "double" },
	{ "fp8", "c10::Float8_e4m3fn" },
	{ "fp4", "c10::Float4_e2m1fn_x2" },
	{ "int8", "signed char" },
	{ "int32", "int" },
	{ "int64", "long int" },
};

static struct str
type_of(struct str s)
{
	for (size_t i = 0; i < sizeof short_types / sizeof *short_types; i++)
		if (str_eq(s, str_of(short_types[i].word)))
			return str_of(short_types[i].type);
	return s;
}

void
types_put(struct buf *b, struct arena *mem, struct str text, struct str dims)
{
	bool is_list = str_find(text, STR(","), false) >= 0;
	json_items shapes = { 0 };
	const char *list = is_list ? arena_str(mem, text).p : NULL;
	struct str word;

	if (!is_list && !json_split(&shapes, mem, dims))
		shapes.n = 0;
	for (size_t i = 0; i < shapes.n; i++) {
		bool is_scalar = str_eq(shapes.v[i].text, STR("[]"));

		buf_putc(b, i == 0 ? '[' : ',');
		json_put_string(b, is_scalar ? STR("Scalar") : type_of(text));
	}
	while (str_next(&list, ',', &word)) {
		buf_putc(b, b->len == 0 ? '[' : ',');
		json_put_string(b, type_of(word));
	}
	buf_puts(b, b->len == 0 ? "[]" : "]");
	vec_free(&shapes);
}

/* Types of the user's own are declared in a file of models. */
void
types_check(struct models *ms, const char *word)
{
	struct str s = str_of(word);

	if (word[0] == '[' || str_find(s, STR(","), false) >= 0)
		return;
	if (!models_know_type(ms, type_of(s)))
		die_usage("option '--dtype' needs a type such as bf16, fp16, "
			  "fp8 or int8, not '%s'",
		    word);
}

/* ---- of a trace ---- */

static uint32_t
type_of_kernel(struct roof_state *g, uint32_t name)
{
	bool is_new;
	uint64_t *slot = map_put(&g->typing.by_kernel, name, &is_new);

	if (is_new)
		*slot = intern_put(g->sink.dict->text,
		    element_type(dict_get(g->sink.dict, name)));
	return (uint32_t)*slot;
}

/* The type in the names of its kernels; empty if none or several. */
static struct str
type_of_node(struct roof_state *g, const struct node *n)
{
	struct str found = { "", 0 };

	for (uint32_t i = n->work; i < n->work + n->nwork; i++) {
		struct str s = dict_get(
		    g->sink.dict, type_of_kernel(g, g->works.v[i].name));

		if (found.len == 0)
			found = s;
		else if (s.len > 0 && !str_eq(s, found))
			return (struct str){ "", 0 };
	}
	return found;
}

bool
types_lack(const struct op_args *args)
{
	return args->dims != INTERN_NONE && args->types == INTERN_NONE &&
	    args->hlo == INTERN_NONE;
}

void
types_fill(struct roof_state *g, struct node *n)
{
	struct dict *st = g->sink.dict;
	struct str type;
	struct buf b = { 0 };
	uint64_t *slot;
	bool is_new;

	if (!types_lack(&n->args))
		return;
	type = type_of_node(g, n);
	if (type.len == 0 && g->types != NULL)
		type = type_of(str_of(g->types));
	if (type.len == 0)
		return;
	slot = map_put(&g->typing.lists,
	    (uint64_t)n->args.dims << 32 | intern_put(st->text, type), &is_new);
	if (is_new) {
		types_put(&b, g->mem, type, dict_get(st, n->args.dims));
		*slot = intern_put(st->text, buf_str(&b));
		buf_free(&b);
	}
	n->args.types = (uint32_t)*slot;
}

void
types_free(struct typing *t)
{
	map_free(&t->by_kernel);
	map_free(&t->lists);
}
