/* SPDX-License-Identifier: MIT */
/* Parses the profiler's lists of arguments. */
#include "cmd/tl-replay/replay.h"
#include "json/json.h"

#define LENGTH_MAX 65536 /* arguments of an op, tensors of a list */

/* ---- names ---- */

static bool
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_';
}

bool
is_dispatched(struct str name)
{
	ptrdiff_t colons = str_find(name, STR("::"), false);

	for (size_t i = 0; i < name.len; i++)
		if (!is_word(name.p[i]) && (ptrdiff_t)i != colons &&
		    (ptrdiff_t)i != colons + 1)
			return false;
	return colons > 0 && (size_t)colons + 2 < name.len;
}

/* ---- lists ---- */

static bool
is_list(const struct json_item *item)
{
	return item->type == JSON_T_ARRAY;
}

static bool
has_lists(const json_items *items)
{
	for (size_t i = 0; i < items->n; i++)
		if (is_list(&items->v[i]))
			return true;
	return false;
}

/* Reads sizes; false if they are not all non-negative integers. */
static bool
sizes_read(struct arena *mem, struct str text, const int64_t **out, size_t *n)
{
	json_items items = { 0 };
	bool is_good = json_split(&items, mem, text);
	int64_t *v = arena_alloc(mem, (items.n + 1) * sizeof *v);

	for (size_t i = 0; i < items.n && is_good; i++)
		is_good = items.v[i].type == JSON_T_NUMBER &&
		    num_i64(items.v[i].text, &v[i]) && v[i] >= 0;
	*out = v;
	*n = items.n;
	vec_free(&items);
	return is_good;
}

/* The shapes of one argument, or its strides. */
struct part {
	json_items dims, strides;
};

static bool
tensor_read(struct arena *mem, const struct json_item *dims,
    const struct json_item *strides, struct recorded *r)
{
	if (!is_list(dims) || !sizes_read(mem, dims->text, &r->dims, &r->ndims))
		return false;
	if (strides == NULL || !is_list(strides))
		return strides == NULL;
	return sizes_read(mem, strides->text, &r->strides, &r->nstrides) &&
	    (r->nstrides == 0 || r->nstrides == r->ndims);
}

/* Reads a list of tensors: the shapes of each. */
static bool
list_read(struct form *f, size_t at, struct arena *mem, const struct part *p)
{
	struct recorded *items =
	    arena_alloc(mem, (p->dims.n + 1) * sizeof *items);
	bool is_good = p->strides.n == 0 || p->strides.n == p->dims.n;

	for (size_t i = 0; i < p->dims.n && is_good; i++) {
		items[i] = (struct recorded){ .type = STR("TensorList") };
		is_good = tensor_read(mem, &p->dims.v[i],
		    p->strides.n > 0 ? &p->strides.v[i] : NULL, &items[i]);
	}
	f->lists[at] = (struct arguments){ items, p->dims.n };
	return is_good;
}

static bool
arg_read(struct form *f, size_t at, struct arena *mem,
    const struct json_item *dims, const struct json_item *strides,
    struct recorded *r)
{
	struct part p = { 0 };
	bool is_good = true;

	if (str_eq(r->type, STR("TensorList"))) {
		is_good = json_split(&p.dims, mem, dims->text) &&
		    p.dims.n <= LENGTH_MAX &&
		    (strides == NULL ||
			json_split(&p.strides, mem, strides->text)) &&
		    list_read(f, at, mem, &p);
		vec_free(&p.dims);
		vec_free(&p.strides);
		return is_good;
	}
	if (!is_list(dims) ||
	    (json_split(&p.dims, mem, dims->text) && has_lists(&p.dims)))
		is_good = !recorded_tensor(r);
	else
		is_good = tensor_read(mem, dims, strides, r);
	vec_free(&p.dims);
	return is_good;
}

/* ---- an op ---- */

enum { DIMS, TYPES, STRIDES, CONCRETE, LISTS };

struct lists {
	json_items of[LISTS];
};

/* Each list has an entry for every argument, or is missing. */
static bool
lists_read(struct replay *g, const struct op_args *args, struct lists *l)
{
	const uint32_t ids[LISTS] = { args->dims, args->types, args->strides,
		args->concrete };

	for (int i = 0; i < LISTS; i++)
		if (ids[i] != INTERN_NONE &&
		    !json_split(
			&l->of[i], g->mem, dict_get(g->sink.dict, ids[i])))
			return false;
	return l->of[TYPES].n <= LENGTH_MAX &&
	    l->of[TYPES].n == l->of[DIMS].n &&
	    (l->of[STRIDES].n == l->of[DIMS].n || l->of[STRIDES].n == 0) &&
	    (l->of[CONCRETE].n == l->of[DIMS].n || l->of[CONCRETE].n == 0);
}

static bool
args_read(struct replay *g, const struct lists *l, struct form *f)
{
	size_t n = l->of[TYPES].n;
	struct recorded *args = arena_alloc(g->mem, (n + 1) * sizeof *args);

	f->lists = arena_alloc(g->mem, (n + 1) * sizeof *f->lists);
	f->args = (struct arguments){ args, n };
	for (size_t i = 0; i < n; i++) {
		args[i] = (struct recorded){ .type = l->of[TYPES].v[i].text };
		f->lists[i] = (struct arguments){ NULL, 0 };
		if (l->of[CONCRETE].n > 0)
			args[i].value = l->of[CONCRETE].v[i].text;
		if (!arg_read(f, i, g->mem, &l->of[DIMS].v[i],
			l->of[STRIDES].n > 0 ? &l->of[STRIDES].v[i] : NULL,
			&args[i]))
			return false;
	}
	return true;
}

const char *
form_read(
    struct replay *g, uint32_t name, const struct op_args *args, struct form *f)
{
	struct lists l = { 0 };
	const char *why = NULL;

	f->name = dict_get(g->sink.dict, name);
	if (args->dims == INTERN_NONE || args->types == INTERN_NONE)
		why = "no recorded shapes: record with record_shapes=True";
	else if (!lists_read(g, args, &l) || !args_read(g, &l, f))
		why = "its argument lists disagree";
	for (int i = 0; i < LISTS; i++)
		vec_free(&l.of[i]);
	return why;
}
