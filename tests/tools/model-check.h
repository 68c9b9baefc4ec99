/* SPDX-License-Identifier: MIT */
/*
 * model-check: runs the examples of entries:
 *
 *	examples = { { op = "aten::mm", dims = { { 8, 4 }, { 4, 2 } },
 *	    types = { "float", "float" }, flops = 128, bytes = 224,
 *	    spec = "matrix_fp32", params = { M = 8 } } }
 *
 * Arguments are dims, strides, types, values, hlo, kernels, annotation, args:
 * names and texts; forward: an example's arguments; backward: the same, or true
 * to evaluate the backward. Expected are flops, bytes and written, numbers or
 * "unknown", unread and unsure, lists of arguments, spec, params, and status,
 *by default "ok".
 */
#ifndef TL_MODEL_CHECK_H
#define TL_MODEL_CHECK_H

#include "model/priv.h"
#include "json/json.h"

typedef void model_check_fn(void *ctx, bool passed, struct str what);

#define EXAMPLE_KERNELS 16

static const char *const example_fields[] = { "annotation", "args", "backward",
	"bytes", "dims", "flops", "forward", "hlo", "kernels", "op", "params",
	"spec", "status", "strides", "types", "unread", "unsure", "values",
	"written", NULL };

struct checker {
	struct models *ms;
	const struct model *m;
	model_check_fn *tell;
	void *ctx;
	struct arena *mem;
	struct buf what; /* the example, then its error */
	size_t nrun, nfailed;
	VEC(struct str) args; /* key, text, key, text, ... */
};

/* The entry's examples, or nil, on the stack. */
static void
push_examples(lua_State *L, const struct model *m)
{
	lua_rawgeti(L, LUA_REGISTRYINDEX, m->ref);
	lua_getfield(L, -1, "examples");
	lua_remove(L, -2);
}

/* ---- an example as an op ---- */

static struct str
json_field(struct checker *c, int t, const char *key)
{
	lua_State *L = c->ms->L;
	struct buf b = { 0 };
	struct str s = { "", 0 };

	if (lua_getfield(L, t, key) != LUA_TNIL) {
		if (!lua_json(L, -1, 0, &b))
			buf_puts(&b, "?");
		s = arena_str(c->mem, buf_str(&b));
	}
	lua_pop(L, 1);
	buf_free(&b);
	return s;
}

static struct str
text_field(struct checker *c, int t, const char *key, struct str def)
{
	lua_State *L = c->ms->L;

	if (lua_getfield(L, t, key) == LUA_TSTRING)
		def = arena_str(c->mem, to_str(L, -1));
	lua_pop(L, 1);
	return def;
}

static bool
example_arg(void *ctx, struct str key, struct str *text)
{
	struct checker *c = ctx;

	for (size_t i = 0; i + 1 < c->args.n; i += 2)
		if (str_eq(c->args.v[i], key)) {
			*text = c->args.v[i + 1];
			return true;
		}
	return false;
}

static void
args_of(struct checker *c, int t)
{
	lua_State *L = c->ms->L;

	c->args.n = 0;
	if (lua_getfield(L, t, "args") == LUA_TTABLE)
		for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
			vec_push(&c->args, arena_str(c->mem, to_str(L, -2)));
			vec_push(&c->args, arena_str(c->mem, to_str(L, -1)));
		}
	lua_pop(L, 1);
}

static void
op_of(struct checker *c, int t, struct model_op *op)
{
	lua_State *L = c->ms->L;
	struct str *kernels =
	    arena_alloc(c->mem, EXAMPLE_KERNELS * sizeof *kernels);

	op->name = text_field(c, t, "op", op->name);
	op->dims = json_field(c, t, "dims");
	op->strides = json_field(c, t, "strides");
	op->types = json_field(c, t, "types");
	op->concrete = json_field(c, t, "values");
	if (op->concrete.len == 0)
		op->concrete = STR("[]"); /* there are none, rather than lost */
	op->annotation = text_field(c, t, "annotation", STR(""));
	op->hlo = text_field(c, t, "hlo", STR(""));
	op->kernels = kernels;
	if (lua_getfield(L, t, "kernels") == LUA_TTABLE)
		for (; op->nkernels < EXAMPLE_KERNELS; op->nkernels++) {
			bool more =
			    lua_rawgeti(L, -1, (lua_Integer)op->nkernels + 1) ==
			    LUA_TSTRING;

			if (more)
				kernels[op->nkernels] =
				    arena_str(c->mem, to_str(L, -1));
			lua_pop(L, 1);
			if (!more)
				break;
		}
	lua_pop(L, 1);
}

/* ---- results ---- */

static void
wrong(struct checker *c, const char *what, struct str got, struct str want)
{
	buf_printf(&c->what, "; %s is %.*s instead of %.*s", what, (int)got.len,
	    got.p, (int)want.len, want.p);
}

static void
check_number(struct checker *c, int t, const char *key, double got)
{
	lua_State *L = c->ms->L;
	char a[NUM_DOUBLE_MAX], b[NUM_DOUBLE_MAX];
	int type = lua_getfield(L, t, key);
	double want = type == LUA_TNUMBER ? lua_tonumber(L, -1) : NAN;

	lua_pop(L, 1);
	if (type == LUA_TNIL || (isnan(want) && isnan(got)) ||
	    fabs(got - want) <= 1e-15 * fabs(want))
		return;
	wrong(c, key,
	    isnan(got) ? STR("unknown")
		       : (struct str){ a, num_put_double(a, got) },
	    isnan(want) ? STR("unknown")
			: (struct str){ b, num_put_double(b, want) });
}

static void
check_text(
    struct checker *c, int t, const char *key, struct str got, const char *def)
{
	struct str want =
	    text_field(c, t, key, def != NULL ? str_of(def) : got);

	if (!str_eq(got, want))
		wrong(c, key, got, want);
}

static void
check_params(struct checker *c, int t, const struct model_result *r)
{
	lua_State *L = c->ms->L;
	struct buf got = { 0 }, want = { 0 };

	if (lua_getfield(L, t, "params") != LUA_TTABLE) {
		lua_pop(L, 1);
		return;
	}
	for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
		const char *name = lua_tostring(L, -2);
		struct model_value v;

		got.len = want.len = 0;
		if (model_param(r, str_of(name), &v))
			model_value_json(&got, &v);
		else
			buf_puts(&got, "absent");
		lua_json(L, -1, 0, &want);
		if (!str_eq(buf_str(&got), buf_str(&want)))
			wrong(c, name, buf_str(&got), buf_str(&want));
	}
	lua_pop(L, 1);
	buf_free(&got);
	buf_free(&want);
}

/* A list of arguments, from 0, against bits. */
static void
check_args(struct checker *c, int t, const char *key, uint64_t bits)
{
	lua_State *L = c->ms->L;
	struct buf got = { 0 }, want = { 0 };

	if (lua_getfield(L, t, key) != LUA_TNIL) {
		for (int i = 0; i < MODEL_ARGS; i++)
			if ((bits >> i & 1) != 0)
				buf_printf(
				    &got, "%s%d", got.len > 0 ? "," : "[", i);
		buf_puts(&got, got.len > 0 ? "]" : "[]");
		lua_json(L, -1, 0, &want);
		if (!str_eq(buf_str(&got), buf_str(&want)))
			wrong(c, key, buf_str(&got), buf_str(&want));
	}
	lua_pop(L, 1);
	buf_free(&got);
	buf_free(&want);
}

static void
check_fields(struct checker *c, int t)
{
	lua_State *L = c->ms->L;

	for (lua_pushnil(L); lua_next(L, t) != 0; lua_pop(L, 1)) {
		const char *key = lua_type(L, -2) == LUA_TSTRING
		    ? lua_tostring(L, -2)
		    : "[...]";
		int i = 0;

		while (example_fields[i] != NULL &&
		    strcmp(example_fields[i], key) != 0)
			i++;
		if (example_fields[i] == NULL)
			buf_printf(&c->what, "; there is no field %s", key);
	}
}

/* The example on top of the stack. */
static void
check_example(struct checker *c, struct str first_name)
{
	lua_State *L = c->ms->L;
	int t = lua_gettop(L);
	struct model_op op = {
		.name = first_name, .arg = example_arg, .ctx = c
	};
	struct model_op forward = { .name = first_name };
	struct model_op linked = { .name = STR("") };
	const struct model_result *r;
	bool backward;
	size_t start;

	op_of(c, t, &op);
	args_of(c, t);
	if (lua_getfield(L, t, "forward") == LUA_TTABLE) {
		op_of(c, lua_gettop(L), &forward);
		op.forward = &forward;
	}
	backward = lua_getfield(L, t, "backward") == LUA_TBOOLEAN &&
	    lua_toboolean(L, -1);
	if (lua_istable(L, -1)) {
		op_of(c, lua_gettop(L), &linked);
		op.backward = &linked;
	}
	c->what.len = 0;
	buf_printf(&c->what, "%.*s %.*s", (int)c->m->where.len, c->m->where.p,
	    (int)op.name.len, op.name.p);
	start = c->what.len;
	check_fields(c, t);
	r = model_eval(c->ms, c->m, &op, backward ? MODEL_BWD : MODEL_FWD);
	check_text(c, t, "status", str_of(model_status_words[r->status]), "ok");
	if (r->reason.len > 0 && c->what.len > start)
		buf_printf(
		    &c->what, " (%.*s)", (int)r->reason.len, r->reason.p);
	check_number(c, t, "flops", r->flops);
	check_number(c, t, "bytes", r->bytes);
	check_number(c, t, "written", r->effect.written);
	check_args(c, t, "unread", r->effect.unread);
	check_args(c, t, "unsure", r->effect.unsure);
	check_text(c, t, "spec", r->spec, NULL);
	check_params(c, t, r);
	c->nrun++;
	c->nfailed += c->what.len > start;
	if (c->tell != NULL)
		c->tell(c->ctx, c->what.len == start, buf_str(&c->what));
	lua_settop(L, t - 1);
}

static struct str
first_name(struct models *ms, const struct model *m)
{
	struct str name;

	for (size_t i = 0; i < models_count(ms); i++)
		if (models_name(ms, i, &name) == m)
			return name;
	return STR("");
}

/*
 * Examples of one chunk (NULL: all); calls tell() for each. Returns the number
 * of failures.
 */
static size_t
models_check(struct models *ms, const char *chunk, model_check_fn *tell,
    void *ctx, size_t *nrun)
{
	struct checker c = { .ms = ms, .tell = tell, .ctx = ctx };
	lua_State *L = ms->L;

	models_need_hlo(ms);
	c.mem = arena_create();
	for (size_t i = 0; i < ms->entries.n; i++) {
		c.m = ms->entries.v[i];
		if (chunk != NULL &&
		    (!str_starts(c.m->where, str_of(chunk)) ||
			c.m->where.p[strlen(chunk)] != ':'))
			continue;
		lua_settop(L, 0);
		push_examples(L, c.m);
		for (lua_Integer k = 1; lua_type(L, 1) == LUA_TTABLE &&
		     lua_rawgeti(L, 1, k) == LUA_TTABLE;
		     k++)
			check_example(&c, first_name(ms, c.m));
		lua_settop(L, 0);
	}
	arena_destroy(c.mem);
	vec_free(&c.args);
	buf_free(&c.what);
	if (nrun != NULL)
		*nrun = c.nrun;
	return c.nfailed;
}

#endif
