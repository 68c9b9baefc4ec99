/* SPDX-License-Identifier: MIT */
/*
 * What an entry may call about an op besides its lists: its name, its kernels,
 * the annotation around it, its forward or backward op, further arguments.
 * Except for the name, only if the entry declares that it reads it.
 */
#include "model/priv.h"

const struct model_op *
current_op(lua_State *L)
{
	struct models *ms = models_of(L);

	if (ms->view == NULL || ms->view->op == NULL)
		luaL_error(L, "there is no op here: call this from an entry");
	return ms->view->op;
}

static void
must_read(lua_State *L, unsigned bit, const char *what)
{
	const struct models *ms = models_of(L);
	const struct model *m = ms->entry;

	if (ms->tree != NULL && m == NULL)
		return; /* a rule may read anything */
	if (m == NULL || !(m->reads & bit))
		luaL_error(L, "the entry doesn't say reads = { \"%s\" }", what);
}

static int
a_op_name(lua_State *L)
{
	push_str(L, current_op(L)->name);
	return 1;
}

static int
a_kernels(lua_State *L)
{
	const struct model_op *op = current_op(L);

	must_read(L, MODEL_READS_KERNELS, "kernels");
	lua_newtable(L);
	for (size_t i = 0; i < op->nkernels; i++) {
		push_str(L, op->kernels[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}

int
a_annotation(lua_State *L)
{
	must_read(L, MODEL_READS_ANNOTATION, "annotation");
	push_str(L, current_op(L)->annotation);
	return 1;
}

/* argument(key): a further argument of the event as text, or nil. */
static int
a_argument(lua_State *L)
{
	const struct model_op *op = current_op(L);
	const struct model *m = models_of(L)->entry;
	struct str key = to_str(L, 1), text;
	size_t i = 0;

	while (m != NULL && i < m->args.n && !str_eq(m->args.v[i], key))
		i++;
	if (m == NULL || i == m->args.n)
		must_read(L, 0, luaL_checkstring(L, 1));
	if (op->arg == NULL || !op->arg(op->ctx, key, &text))
		return 0;
	if (text.len >= 2 && text.p[0] == '"')
		text = (struct str){ text.p + 1, text.len - 2 };
	push_str(L, text);
	return 1;
}

/* Calls the function on the stack as if for the linked op. */
static int
call_in(lua_State *L, const struct model_op *linked, const char *which)
{
	struct models *ms = models_of(L);
	int n = lua_gettop(L);

	if (linked == NULL || ms->view != &ms->views[0]) {
		ms->lacks = linked == NULL;
		return luaL_error(L, "no linked %s op", which);
	}
	view_set(&ms->views[1], linked);
	ms->view = &ms->views[1];
	lua_call(L, n - 1, LUA_MULTRET);
	ms->view = &ms->views[0];
	return lua_gettop(L);
}

/* in_forward(f, ...): f(...) as if for the linked forward op. */
static int
a_in_forward(lua_State *L)
{
	must_read(L, MODEL_READS_FORWARD, "forward");
	return call_in(L, current_op(L)->forward, "forward");
}

/* in_backward(f, ...): the same for the first linked backward op. */
static int
a_in_backward(lua_State *L)
{
	must_read(L, MODEL_READS_BACKWARD, "backward");
	return call_in(L, current_op(L)->backward, "backward");
}

static int
a_has_backward(lua_State *L)
{
	must_read(L, MODEL_READS_BACKWARD, "backward");
	lua_pushboolean(L, current_op(L)->backward != NULL);
	return 1;
}

static int
a_fail(lua_State *L)
{
	models_of(L)->lacks = true;
	return luaL_error(L, "%s", luaL_checkstring(L, 1));
}

static int
a_skip(lua_State *L)
{
	models_of(L)->skipped = true;
	return luaL_error(L, "%s", luaL_optstring(L, 1, "not defined"));
}

/* no_model(why): as if the op had no entry. */
static int
a_no_model(lua_State *L)
{
	models_of(L)->unmodelled = true;
	return luaL_error(L, "%s", luaL_optstring(L, 1, "no model"));
}

static uint64_t
args_from(lua_State *L, int i)
{
	uint64_t bits = 0;

	for (; i <= lua_gettop(L); i++) {
		lua_Integer arg = luaL_checkinteger(L, i);

		luaL_argcheck(L, arg >= 0, i, "no argument");
		if (arg < MODEL_ARGS)
			bits |= UINT64_C(1) << arg;
	}
	return bits;
}

/* writes(bytes, i, ...): sets the size of the result, and returns it; arguments
 * i, ... are where it goes, and are not read. */
static int
a_writes(lua_State *L)
{
	models_of(L)->effect = (struct model_effect){ .is_told = true,
		.written = luaL_checknumber(L, 1),
		.unread = args_from(L, 2) };
	lua_settop(L, 1);
	return 1;
}

/* may_read(i, ...): after writes(), whether these are read is not known. */
static int
a_may_read(lua_State *L)
{
	models_of(L)->effect.unsure = args_from(L, 1);
	return 0;
}

const luaL_Reg access_op_functions[] = {
	{ "annotation", a_annotation },
	{ "argument", a_argument },
	{ "fail", a_fail },
	{ "has_backward", a_has_backward },
	{ "hlo", a_hlo },
	{ "in_backward", a_in_backward },
	{ "in_forward", a_in_forward },
	{ "kernels", a_kernels },
	{ "may_read", a_may_read },
	{ "no_model", a_no_model },
	{ "op_name", a_op_name },
	{ "requests", a_requests },
	{ "skip", a_skip },
	{ "variable", a_variable },
	{ "writes", a_writes },
	{ NULL, NULL },
};
