/* SPDX-License-Identifier: MIT */
/* Which overload of an op a recorded call was. */
#include <stdlib.h>

#include "base/embedded.h"
#include "io/io.h"
#include "schema.h"

extern const struct embedded tl_replay_data[];
extern const size_t tl_replay_ndata;

#define SCHEMAS_MAX ((size_t)64 << 20) /* of a file; PyTorch has 1 MB */

struct chain {
	uint32_t first, last; /* in the list */
};

struct schemas {
	struct arena *mem;
	struct intern *names;
	VEC(struct chain) chains; /* by name */
	VEC(struct schema) list;
	VEC(uint32_t) next; /* of the same name, or INTERN_NONE */
};

/* ---- the set ---- */

static void
add(struct schemas *set, const struct schema *s)
{
	uint32_t name = intern_put(set->names, s->name);
	uint32_t at = (uint32_t)set->list.n;

	vec_push(&set->list, *s);
	vec_push(&set->next, INTERN_NONE);
	if (name == set->chains.n)
		vec_push(&set->chains, ((struct chain){ at, at }));
	else
		set->next.v[set->chains.v[name].last] = at;
	set->chains.v[name].last = at;
}

static void
add_text(struct schemas *set, const char *path, struct str text)
{
	struct schema s;
	const char *error;
	size_t number = 0;

	while (text.len > 0) {
		const char *end = memchr(text.p, '\n', text.len);
		struct str line = { text.p,
			end != NULL ? (size_t)(end - text.p) : text.len };

		number++;
		text.p += line.len + (end != NULL);
		text.len -= line.len + (end != NULL);
		if (line.len == 0 || line.p[0] == '#')
			continue;
		if (!schema_parse(set->mem, line, &s, &error))
			die("%s: line %zu: %s", path, number, error);
		add(set, &s);
	}
}

static void
add_file(struct schemas *set, const char *path)
{
	struct in *in = in_open(path);

	while (in_more(in)) {
		if ((size_t)(in->end - in->p) > SCHEMAS_MAX)
			die("%s: too long for a file of schemas", path);
	}
	add_text(set, path,
	    arena_str(set->mem,
		(struct str){
		    (const char *)in->p, (size_t)(in->end - in->p) }));
	in_close(in);
}

struct schemas *
schemas_create(const struct str *paths, size_t npaths)
{
	struct schemas *set = xcalloc(1, sizeof *set);

	set->mem = arena_create();
	set->names = intern_create();
	for (size_t i = 0; i < npaths; i++)
		add_file(set, paths[i].p);
	for (size_t i = 0; i < tl_replay_ndata; i++) {
		const struct embedded *e = &tl_replay_data[i];

		if (str_ends(str_of(e->name), STR(".txt")))
			add_text(set, e->name,
			    (struct str){ (const char *)e->bytes, e->len });
	}
	return set;
}

void
schemas_destroy(struct schemas *set)
{
	arena_destroy(set->mem);
	intern_destroy(set->names);
	vec_free(&set->chains);
	vec_free(&set->list);
	vec_free(&set->next);
	free(set);
}

/* ---- values, as the profiler writes them ---- */

static bool
is_bool(struct str s)
{
	return str_eq(s, STR("True")) || str_eq(s, STR("False"));
}

static bool
is_int(struct str s)
{
	int64_t i;

	return num_i64(s, &i);
}

static bool
is_float(struct str s)
{
	double d;

	if (num_double(s, &d))
		return true;
	(void)str_take(&s, STR("-"));
	return str_eq(s, STR("inf")) || str_eq(s, STR("nan"));
}

/* A complex number is in parentheses. */
static bool
is_scalar(struct str s)
{
	return is_float(s) || is_bool(s) || str_starts(s, STR("("));
}

static bool (*const is_value[])(struct str) = {
	[ARG_BOOL] = is_bool,
	[ARG_INT] = is_int,
	[ARG_FLOAT] = is_float,
	[ARG_SCALAR] = is_scalar,
	/* these are numbers of enums */
	[ARG_DTYPE] = is_int,
	[ARG_LAYOUT] = is_int,
	[ARG_MEMORY_FORMAT] = is_int,
	[ARG_GENERATOR] = NULL,
};

/* "[1, 2]": all of one kind; an empty list is of any. */
static bool
is_list_of(struct str s, enum arg_kind kind)
{
	if (s.len < 2 || s.p[0] != '[' || s.p[s.len - 1] != ']')
		return false;
	s = (struct str){ s.p + 1, s.len - 2 };
	while (s.len > 0) {
		const char *comma = memchr(s.p, ',', s.len);
		size_t n = comma != NULL ? (size_t)(comma - s.p) : s.len;

		if (!is_value[kind]((struct str){ s.p, n }))
			return false;
		n += comma != NULL;
		n += n < s.len && s.p[n] == ' ';
		s.p += n;
		s.len -= n;
	}
	return true;
}

/* ---- calls ---- */

/* Types that old profilers wrote are those of numbers without their values. */
static bool
type_fits(const struct schema_arg *a, struct str type)
{
	static const struct {
		struct str type;
		bool is_list, of_tensors;
	} words[] = {
		{ STR_INIT("Scalar"), false, false },
		{ STR_INIT("Bool"), false, false },
		{ STR_INIT("Int"), false, false },
		{ STR_INIT("Double"), false, false },
		{ STR_INIT("ScalarList"), true, false },
		{ STR_INIT("GenericList"), true, false },
		{ STR_INIT("GenericList"), true, true },
		{ STR_INIT("TensorList"), true, true },
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (str_eq(type, words[i].type) &&
		    words[i].is_list == a->is_list &&
		    words[i].of_tensors == (a->kind == ARG_TENSOR))
			return true;
	}
	return false;
}

/* Whether the profiler omits a value that is not None. */
static bool
is_left_out(const struct schema_arg *a)
{
	return a->is_list ? a->may_hold_none || a->kind != ARG_TENSOR
			  : is_value[a->kind] == NULL && a->kind != ARG_TENSOR;
}

static bool
fits(const struct schema_arg *a, const struct recorded *r, bool undefined)
{
	if (recorded_nothing(r))
		return a->may_be_none || is_left_out(a) ||
		    (undefined && a->kind == ARG_TENSOR);
	if (recorded_tensor(r))
		return a->kind == ARG_TENSOR && !a->is_list;
	if (!type_fits(a, r->type))
		return false;
	if (r->value.len == 0)
		return true;
	if (is_value[a->kind] == NULL)
		return a->kind == ARG_TENSOR;
	return a->is_list ? is_list_of(r->value, a->kind)
			  : is_value[a->kind](r->value);
}

static size_t
first_misfit(
    const struct schema *s, const struct arguments *args, bool undefined)
{
	size_t i = 0;

	while (i < args->n && fits(&s->args[i], &args->v[i], undefined))
		i++;
	return i;
}

static void
say_why(struct buf *why, const struct schema *s, size_t at,
    const struct recorded *r)
{
	const struct schema_arg *a = &s->args[at];

	why->len = 0;
	buf_printf(why, "argument %.*s is %.*s", (int)a->name.len, a->name.p,
	    (int)a->type.len, a->type.p);
	buf_printf(why, "; recorded: %.*s",
	    recorded_nothing(r) ? 7 : (int)r->type.len,
	    recorded_nothing(r) ? "nothing" : r->type.p);
	if (r->value.len > 0)
		buf_printf(why, " %.*s", (int)r->value.len, r->value.p);
}

static const struct schema *
find(const struct schemas *set, uint32_t first, const struct arguments *args,
    bool undefined, struct buf *why)
{
	for (uint32_t at = first; at != INTERN_NONE; at = set->next.v[at]) {
		const struct schema *s = &set->list.v[at];
		size_t misfit;

		if (s->nargs != args->n)
			continue;
		misfit = first_misfit(s, args, undefined);
		if (misfit == args->n)
			return s;
		say_why(why, s, misfit, &args->v[misfit]);
	}
	return NULL;
}

/*
 * Undefined tensors, which backward ops get, are recorded as None, though their
 * schemas don't allow None: tried only when nothing else fits.
 */
const struct schema *
schema_match(const struct schemas *set, struct str name,
    const struct arguments *args, struct buf *why)
{
	uint32_t id =
	    intern_find(set->names, name, hash_bytes(name.p, name.len));
	const struct schema *s;
	uint32_t first;

	why->len = 0;
	if (id == INTERN_NONE)
		return NULL;
	first = set->chains.v[id].first;
	buf_printf(why, "no overload takes %zu arguments", args->n);
	s = find(set, first, args, false, why);
	return s != NULL ? s : find(set, first, args, true, why);
}
