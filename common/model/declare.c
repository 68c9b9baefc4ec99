/* SPDX-License-Identifier: MIT */
/*
 * op{}, category{}, sheets{}, datatype{}: the declarations in a file of models.
 * Each is checked as it is read; errors name file and line.
 */
#include "model/priv.h"

/* ---- fields ---- */

/* A field's text, or def; any other type is an error. */
static struct str
text_field(lua_State *L, int t, const char *key, struct str def)
{
	struct models *ms = models_of(L);
	int type = lua_getfield(L, t, key);

	if (type == LUA_TSTRING)
		def = word(ms, to_str(L, -1));
	else if (type != LUA_TNIL)
		luaL_error(L, "%s must be a text", key);
	lua_pop(L, 1);
	return def;
}

bool
field(lua_State *L, int t, const char *key, int type, const char *must)
{
	int got = lua_getfield(L, t, key);

	if (got != LUA_TNIL && got != type)
		luaL_error(L, "%s must be %s", key, must);
	if (got == LUA_TNIL)
		lua_pop(L, 1);
	return got != LUA_TNIL;
}

static bool
flag_field(lua_State *L, int t, const char *key)
{
	bool yes = field(L, t, key, LUA_TBOOLEAN, "true or false");

	if (yes) {
		yes = lua_toboolean(L, -1);
		lua_pop(L, 1);
	}
	return yes;
}

size_t
list_field(lua_State *L, int t, const char *key)
{
	struct models *ms = models_of(L);
	lua_Integer n;

	ms->list.n = 0;
	if (!field(L, t, key, LUA_TTABLE, "a list of texts"))
		return 0;
	n = (lua_Integer)lua_rawlen(L, -1);
	for (lua_Integer i = 1; i <= n; i++) {
		if (lua_rawgeti(L, -1, i) != LUA_TSTRING)
			luaL_error(L, "%s must be a list of texts", key);
		vec_push(&ms->list, to_str(L, -1));
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	return ms->list.n;
}

void
known_fields(lua_State *L, int t, const char *const names[])
{
	luaL_checktype(L, t, LUA_TTABLE);
	for (lua_pushnil(L); lua_next(L, t) != 0; lua_pop(L, 1)) {
		const char *key;
		int i = 0;

		if (lua_type(L, -2) != LUA_TSTRING)
			luaL_error(L, "a field without a name");
		key = lua_tostring(L, -2);
		while (names[i] != NULL && strcmp(names[i], key) != 0)
			i++;
		if (names[i] == NULL)
			luaL_error(L, "there is no field %s", key);
	}
}

/* ---- op ---- */

static const char *const op_fields[] = { "alone", "backward",
	"backward_category", "category", "eval", "examples", "extra", "gemm",
	"globs", "like", "names", "prec", "reads", "sheet", "unit", "whole",
	NULL };
/* The fields that like = ENTRY inherits. */
static const char *const inherited[] = { "alone", "backward",
	"backward_category", "category", "eval", "extra", "gemm", "prec",
	"reads", "sheet", "unit", "whole", NULL };

static void
inherit(lua_State *L)
{
	if (!field(L, 1, "like", LUA_TTABLE, "another entry"))
		return;
	for (int i = 0; inherited[i] != NULL; i++) {
		bool own = lua_getfield(L, 1, inherited[i]) != LUA_TNIL;

		lua_pop(L, 1);
		if (own)
			continue;
		lua_getfield(L, -1, inherited[i]);
		lua_setfield(L, 1, inherited[i]);
	}
	lua_pop(L, 1);
}

static void
set_reads(lua_State *L, struct model *m)
{
	static const char *const words[] = { "kernels", "annotation", "forward",
		"backward" };
	const unsigned nwords = sizeof words / sizeof *words;
	struct models *ms = models_of(L);

	/* kernel names prove the precision */
	if (m->is_gemm || str_eq(m->unit, STR("matrix")))
		m->reads |= MODEL_READS_KERNELS;
	for (size_t i = 0, n = list_field(L, 1, "reads"); i < n; i++) {
		struct str s = ms->list.v[i];
		unsigned k = 0;

		while (k < nwords && !str_eq(s, str_of(words[k])))
			k++;
		m->reads |= 1u << k;
		if (k == nwords)
			vec_push(&m->args, word(ms, s));
	}
}

static void
set_prec(lua_State *L, struct model *m)
{
	m->prec_arg = -1;
	if (lua_getfield(L, 1, "prec") != LUA_TNIL) {
		if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) < 0 ||
		    lua_tointeger(L, -1) > 1000)
			luaL_error(L, "prec must be an argument's number");
		m->prec_arg = (int)lua_tointeger(L, -1);
	}
	lua_pop(L, 1);
}

/* File and line of the formula on top of the stack; pops it. */
static void
set_where(lua_State *L, struct model *m)
{
	struct models *ms = models_of(L);
	lua_Debug ar;

	lua_getinfo(L, ">S", &ar);
	ms->text.len = 0;
	buf_printf(&ms->text, "%s:%d", ar.short_src, ar.linedefined);
	m->where = word(ms, buf_str(&ms->text));
	m->file = ms->files.n - 1;
	m->first_line = ar.linedefined;
	m->last_line = ar.lastlinedefined;
}

struct op_name *
op_name(struct models *ms, struct str name)
{
	uint32_t id = intern_put(ms->names, name);

	while (ms->by_name.n <= id)
		vec_push(&ms->by_name, ((struct op_name){ 0 }));
	return &ms->by_name.v[id];
}

/* Prefixes, or shell patterns; returns whether there are any. */
static void
add_names(lua_State *L, struct model *m)
{
	struct models *ms = models_of(L);
	size_t nnames = list_field(L, 1, "names");
	size_t nglobs;

	for (size_t i = 0; i < nnames; i++) {
		struct op_name *n = op_name(ms, ms->list.v[i]);

		if (n->exact == NULL)
			vec_push(&ms->listed, (uint32_t)(n - ms->by_name.v));
		n->exact = m;
		if (m->category.len > 0)
			n->category = m->category;
	}
	nglobs = list_field(L, 1, "globs");
	for (size_t i = 0; i < nglobs; i++) {
		struct str glob = word(ms, ms->list.v[i]);

		vec_push(
		    &ms->model_globs, ((struct glob_rule){ glob, m->number }));
		if (m->category.len > 0)
			vec_push(&ms->globs,
			    ((struct category_rule){ glob, m->category }));
	}
	if (nnames + nglobs == 0)
		luaL_error(L, "an op without names or globs");
}

static int
d_op(lua_State *L)
{
	struct models *ms = models_of(L);
	const struct str none = { "", 0 };
	struct model *m;

	known_fields(L, 1, op_fields);
	inherit(L);
	m = arena_alloc(ms->mem, sizeof *m);
	*m = (struct model){ .number = (uint32_t)ms->entries.n,
		.words = ms->words,
		.is_builtin = ms->builtin };
	m->category = text_field(L, 1, "category", none);
	m->sheet = text_field(L, 1, "sheet", none);
	m->backward_category = text_field(L, 1, "backward_category", none);
	m->unit = text_field(L, 1, "unit", none);
	if (m->unit.len > 0 && !str_eq(m->unit, STR("matrix")) &&
	    !str_eq(m->unit, STR("vector")))
		luaL_error(L, "unit must be matrix or vector");
	m->is_gemm = flag_field(L, 1, "gemm");
	m->is_alone = flag_field(L, 1, "alone");
	m->is_whole = flag_field(L, 1, "whole");
	m->is_extra = m->is_alone || m->is_whole || flag_field(L, 1, "extra");
	set_prec(L, m);
	set_reads(L, m);
	if (!field(L, 1, "eval", LUA_TFUNCTION, "a function (_ENV)"))
		luaL_error(L, "an op without eval");
	set_where(L, m);
	m->has_backward =
	    field(L, 1, "backward", LUA_TFUNCTION, "a function (_ENV)");
	if (m->has_backward)
		lua_pop(L, 1);
	if (field(L, 1, "examples", LUA_TTABLE, "a list"))
		lua_pop(L, 1);
	lua_settop(L, 1);
	add_names(L, m);
	lua_pushvalue(L, 1);
	m->ref = luaL_ref(L, LUA_REGISTRYINDEX);
	vec_push(&ms->entries, m);
	ms->generation++;
	return 1; /* the entry, for like = */
}

/* ---- category ---- */

static const char *const category_fields[] = { "globs", "kernels", "name",
	"names", NULL };

static void
add_rules(
    lua_State *L, category_rules *rules, const char *key, struct str category)
{
	struct models *ms = models_of(L);

	for (size_t i = 0, n = list_field(L, 1, key); i < n; i++)
		vec_push(rules,
		    ((struct category_rule){
			word(ms, ms->list.v[i]), category }));
}

static int
d_category(lua_State *L)
{
	struct models *ms = models_of(L);
	struct str category;

	known_fields(L, 1, category_fields);
	category = text_field(L, 1, "name", (struct str){ "", 0 });
	if (category.len == 0)
		luaL_error(L, "a category without name");
	for (size_t i = 0, n = list_field(L, 1, "names"); i < n; i++)
		op_name(ms, ms->list.v[i])->category = category;
	add_rules(L, &ms->globs, "globs", category);
	add_rules(L, &ms->kernels, "kernels", category);
	ms->generation++;
	return 0;
}

/* ---- sheets, datatype ---- */

/* sheets { order = {...}, single = {...} }: appended to those declared. */
static int
d_sheets(lua_State *L)
{
	static const char *const fields[] = { "order", "single", NULL };
	struct models *ms = models_of(L);

	known_fields(L, 1, fields);
	for (size_t i = 0, n = list_field(L, 1, "order"); i < n; i++)
		vec_push(&ms->sheets,
		    ((struct model_sheet){ word(ms, ms->list.v[i]), false }));
	for (size_t i = 0, n = list_field(L, 1, "single"); i < n; i++)
		for (size_t k = 0; k < ms->sheets.n; k++)
			if (str_eq(ms->sheets.v[k].name, ms->list.v[i]))
				ms->sheets.v[k].is_single = true;
	return 0;
}

/* datatype { names = {...}, bytes = 2, precision = "bf16" } */
static int
d_datatype(lua_State *L)
{
	static const char *const fields[] = { "bytes", "names", "precision",
		NULL };
	struct models *ms = models_of(L);
	struct dtype t = { NAN, { "", 0 } };
	size_t n;

	known_fields(L, 1, fields);
	t.precision = text_field(L, 1, "precision", t.precision);
	if (field(L, 1, "bytes", LUA_TNUMBER, "a number")) {
		t.bytes = lua_tonumber(L, -1);
		lua_pop(L, 1);
	}
	n = list_field(L, 1, "names");
	if (n == 0)
		return luaL_error(L, "a datatype without names");
	for (size_t i = 0; i < n; i++) {
		char low[DTYPE_NAME_MAX];
		struct str s = dtype_lower(ms->list.v[i], low);
		uint32_t id;

		if (s.len == 0)
			return luaL_error(L, "too long a name");
		id = intern_put(ms->dtype_names, s);
		while (ms->dtypes.n <= id)
			vec_push(&ms->dtypes, ((struct dtype){ 0 }));
		ms->dtypes.v[id] = t;
	}
	return 0;
}

void
declare_open(lua_State *L, int table)
{
	static const luaL_Reg functions[] = {
		{ "annotation", d_annotation },
		{ "category", d_category },
		{ "datatype", d_datatype },
		{ "op", d_op },
		{ "pseudo", d_pseudo },
		{ "sheets", d_sheets },
		{ NULL, NULL },
	};

	lua_pushvalue(L, table);
	luaL_setfuncs(L, functions, 0);
	lua_pop(L, 1);
}
