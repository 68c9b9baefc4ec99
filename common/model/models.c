/* SPDX-License-Identifier: MIT */
/* The set of models: state, files, and the model for a name. */
#include "model/priv.h"

const char *const model_status_words[] = { "ok", "skipped", "failed", "none" };

/* ---- environments ---- */

/*
 * A file's globals are its helpers, visible to all entries. Those of the
 * built-in files are read-only, or one file could change all others.
 */
static int
file_set(lua_State *L)
{
	struct models *ms = models_of(L);

	if (!ms->loading)
		return luaL_error(L,
		    "%s is set outside of the op: is the function without "
		    "_ENV?",
		    luaL_tolstring(L, 2, NULL));
	lua_rawgeti(L, LUA_REGISTRYINDEX, ms->reserved);
	lua_pushvalue(L, 2);
	if (lua_rawget(L, -2) != LUA_TNIL)
		return luaL_error(
		    L, "%s is there already", luaL_tolstring(L, 2, NULL));
	lua_pop(L, 1);
	if (ms->builtin) {
		lua_pushvalue(L, 2);
		lua_pushboolean(L, 1);
		lua_rawset(L, -3);
	}
	lua_rawgeti(L, LUA_REGISTRYINDEX, ms->api);
	lua_pushvalue(L, 2);
	lua_pushvalue(L, 3);
	lua_rawset(L, -3);
	return 0;
}

/* A name that is unset; a parameter may be nil. */
static int
undeclared(lua_State *L)
{
	const struct models *ms = models_of(L);
	const char *name = lua_tostring(L, 2);
	size_t i = 0;

	if (name == NULL || name[0] == '_')
		return 0;
	while (i < ms->norder && strcmp(ms->order_names[i], name) != 0)
		i++;
	return i < ms->norder ? 0 : luaL_error(L, "%s is not declared", name);
}

/*
 * A global set by an entry is a parameter, in the order of first setting; one
 * that begins with _ is private. Each evaluation keeps them in its own table,
 * so that Lua calls this only for new ones.
 */
static int
entry_set(lua_State *L)
{
	param_add(L, 1, lua_upvalueindex(1));
	return 0;
}

static int
make_ref(lua_State *L)
{
	return luaL_ref(L, LUA_REGISTRYINDEX);
}

/* What exists before any file; all of it read-only. */
static int
open_state(lua_State *L)
{
	struct models *ms = models_of(L);

	lua_newtable(L); /* 1: for entries and files to call */
	lua_createtable(L, 0, 1);
	lua_pushcfunction(L, undeclared);
	lua_setfield(L, -2, "__index");
	lua_setmetatable(L, 1);
	sandbox_libs(L, 1);
	access_open(L, 1);
	tree_open(L, 1);
	lua_newtable(L); /* 2: makes it read-only */
	for (lua_pushnil(L); lua_next(L, 1) != 0;) {
		lua_pushvalue(L, -2);
		lua_pushboolean(L, 1);
		lua_rawset(L, 2);
		lua_pop(L, 1);
	}
	lua_newtable(L); /* 3: declarations, for files only */
	declare_open(L, 3);
	lua_newtable(L);
	lua_pushvalue(L, 1);
	lua_setfield(L, -2, "__index");
	lua_setmetatable(L, 3);
	lua_newtable(L); /* 4: a file's environment */
	lua_newtable(L);
	lua_pushvalue(L, 3);
	lua_setfield(L, -2, "__index");
	lua_pushcfunction(L, file_set);
	lua_setfield(L, -2, "__newindex");
	lua_setmetatable(L, 4);
	lua_createtable(L, MODEL_PARAMS, 0); /* 5: names of parameters */
	lua_newtable(L); /* 6: metatable of an entry's environments */
	lua_pushvalue(L, 1);
	lua_setfield(L, 6, "__index");
	lua_pushvalue(L, 5);
	lua_pushcclosure(L, entry_set, 1);
	lua_setfield(L, 6, "__newindex");
	ms->env_meta = make_ref(L);
	ms->order = make_ref(L);
	ms->file_env = make_ref(L);
	lua_pop(L, 1);
	ms->reserved = make_ref(L);
	ms->api = make_ref(L);
	return 0;
}

/* ---- files ---- */

static bool
is_sheet(const struct models *ms, struct str name)
{
	for (size_t i = 0; i < ms->sheets.n; i++)
		if (str_eq(ms->sheets.v[i].name, name))
			return true;
	return name.len == 0;
}

/* Sheets may be declared after the entries that name them. */
static void
check_sheets(lua_State *L)
{
	struct models *ms = models_of(L);

	for (size_t i = ms->entries.n; i-- > 0;) {
		const struct model *m = ms->entries.v[i];

		if (m->file + 1 < ms->files.n)
			return;
		if (is_sheet(ms, m->sheet))
			continue;
		ms->text.len = 0;
		buf_printf(&ms->text, "%.*s: sheet %.*s is not declared",
		    (int)m->where.len, m->where.p, (int)m->sheet.len,
		    m->sheet.p);
		push_str(L, buf_str(&ms->text));
		lua_error(L);
	}
}

static int
run_chunk(lua_State *L)
{
	const struct model_file *f = lua_touserdata(L, 1);
	struct models *ms = models_of(L);
	int status = LUA_ERRSYNTAX;

	ms->text.len = 0;
	buf_puts(&ms->text, "@");
	buf_puts(&ms->text, f->name);
	buf_putc(&ms->text, '\0');
	/* the header of its code makes any other build of Lua refuse it */
	if (f->code.len > 0)
		status = luaL_loadbufferx(
		    L, f->code.p, f->code.len, ms->text.p, "b");
	if (status != LUA_OK)
		status = luaL_loadbufferx(
		    L, f->text.p, f->text.len, ms->text.p, "t");
	if (status != LUA_OK)
		return lua_error(L);
	lua_rawgeti(L, LUA_REGISTRYINDEX, ms->file_env);
	lua_setupvalue(L, -2, 1);
	lua_call(L, 0, 0);
	check_sheets(L);
	return 0;
}

static bool
load(struct models *ms, struct model_file f, struct buf *why)
{
	bool good;

	vec_push(&ms->files, f);
	ms->loading = true;
	sandbox_begin(ms, MODEL_LOAD_STEPS, MODEL_LOAD_WORK, MODEL_LOAD_CHURN);
	lua_pushcfunction(ms->L, run_chunk);
	lua_pushlightuserdata(ms->L, &f);
	good = lua_pcall(ms->L, 1, 0, 0) == LUA_OK;
	if (!good)
		sandbox_message(ms->L, why);
	ms->loading = false;
	return good;
}

/* Loads those for XLA's instructions, or all others. */
static void
load_builtin(struct models *ms, bool of_hlo)
{
	struct buf why = { 0 };

	ms->builtin = true;
	lua_gc(ms->L, LUA_GCSTOP); /* little of it is garbage */
	for (size_t i = 0; i < model_ndata; i++) {
		const struct embedded *e = &model_data[i];
		struct model_file f = { e->name,
			{ (const char *)e->bytes, e->len },
			{ (const char *)e->code, e->ncode } };

		if (strchr(e->name, '/') == NULL &&
		    (strncmp(e->name, "hlo", 3) == 0) == of_hlo &&
		    !load(ms, f, &why))
			die("built-in op models: %.*s", (int)why.len, why.p);
	}
	lua_gc(ms->L, LUA_GCRESTART);
	ms->builtin = false;
}

void
models_need_hlo(struct models *ms)
{
	if (ms->has_hlo)
		return;
	ms->has_hlo = true;
	load_builtin(ms, true);
}

bool
models_load_text(
    struct models *ms, const char *chunk, struct str text, struct buf *why)
{
	struct model_file f = { arena_str(ms->mem, str_of(chunk)).p,
		arena_str(ms->mem, text), { NULL, 0 } };

	models_need_hlo(ms); /* it may use their names */
	return load(ms, f, why);
}

/* Some editors start files with a byte order mark. */
static struct str
without_mark(struct str text)
{
	if (str_starts(text, STR("\xef\xbb\xbf")))
		return (struct str){ text.p + 3, text.len - 3 };
	return text;
}

static void
load_file(struct models *ms, const char *path)
{
	const char *base = strrchr(path, '/');
	struct in *in = in_open(path);
	struct buf why = { 0 };

	/* Lua shortens long names: pass the last part of the path. */
	base = base != NULL ? base + 1 : path;
	while (in_more(in))
		if ((size_t)(in->end - in->p) > MODEL_FILE_MAX)
			die("%s: too long for a file of op models", path);
	if (!models_load_text(ms, base,
		without_mark((struct str){
		    (const char *)in->p, (size_t)(in->end - in->p) }),
		&why)) {
		/* Lua names the file if it knows the line */
		if (!str_starts(buf_str(&why), str_of(base)))
			die("%s: %.*s", path, (int)why.len, why.p);
		die("%.*s%.*s", (int)(base - path), path, (int)why.len, why.p);
	}
	in_close(in);
	buf_free(&why);
}

void
models_load(struct models *ms, const char *path)
{
	load_file(ms, path);
	stream_pseudo_models(path);
}

/* tl-graft finds these itself, if run. */
static void
load_of_path(void *ctx, const char *path)
{
	load_file(ctx, path);
}

struct models *
models_create(void)
{
	struct models *ms = xcalloc(1, sizeof *ms);
	struct buf why = { 0 };

	ms->mem = arena_create();
	ms->action_mem = arena_create();
	ms->words = intern_create();
	ms->names = intern_create();
	ms->dtype_names = intern_create();
	ms->generation = 1;
	sandbox_open(ms);
	lua_pushcfunction(ms->L, open_state);
	if (lua_pcall(ms->L, 0, 0, 0) != LUA_OK) {
		sandbox_message(ms->L, &why);
		die("op models: %.*s", (int)why.len, why.p);
	}
	load_builtin(ms, false);
	path_files("TL_MODELS", ".lua", load_of_path, ms);
	return ms;
}

void
models_destroy(struct models *ms)
{
	if (ms == NULL)
		return;
	sandbox_close(ms);
	for (size_t i = 0; i < ms->entries.n; i++)
		vec_free(&ms->entries.v[i]->args);
	for (int i = 0; i < 2; i++)
		view_free(&ms->views[i]);
	vec_free(&ms->by_name);
	vec_free(&ms->entries);
	vec_free(&ms->list);
	vec_free(&ms->listed);
	vec_free(&ms->model_globs);
	vec_free(&ms->globs);
	vec_free(&ms->kernels);
	vec_free(&ms->sheets);
	vec_free(&ms->dtypes);
	vec_free(&ms->files);
	vec_free(&ms->note_forms);
	pseudos_free(ms);
	archs_free(ms);
	buf_free(&ms->text);
	map_free(&ms->memo);
	map_free(&ms->proofs);
	map_free(&ms->hlo_names);
	vec_free(&ms->results);
	intern_destroy(ms->words);
	intern_destroy(ms->names);
	intern_destroy(ms->dtype_names);
	arena_destroy(ms->mem);
	vec_release(ms);
}

/* ---- names ---- */

/* What a name resolves to without an entry of its own. */
static void
resolve(struct models *ms, struct op_name *n, struct str name)
{
	n->model = n->exact;
	n->resolved = n->category;
	n->generation = ms->generation;
	/* Last declared first, so that a user's file precedes ours. */
	for (size_t i = ms->model_globs.n; n->model == NULL && i-- > 0;)
		if (str_glob(ms->model_globs.v[i].glob, name))
			n->model = ms->entries.v[ms->model_globs.v[i].entry];
	for (size_t i = ms->globs.n; n->resolved.len == 0 && i-- > 0;)
		if (str_glob(ms->globs.v[i].text, name))
			n->resolved = ms->globs.v[i].category;
}

static const struct op_name *
lookup(struct models *ms, struct str name)
{
	struct op_name *n = op_name(ms, name);

	if (n->generation != ms->generation)
		resolve(ms, n, name);
	return n;
}

const struct model *
model_find(struct models *ms, struct str name)
{
	return lookup(ms, name)->model;
}

struct str
model_category(struct models *ms, struct str name, struct str first_kernel)
{
	struct str s = lookup(ms, name)->resolved;

	if (s.len > 0)
		return s;
	if (str_starts(first_kernel, STR("void at::native")))
		for (size_t i = 0; i < ms->kernels.n; i++)
			if (str_find(first_kernel, ms->kernels.v[i].text,
				false) >= 0)
				return ms->kernels.v[i].category;
	return STR("other");
}

struct str
model_source(const struct models *ms, const struct model *m)
{
	struct str text = ms->files.v[m->file].text;
	size_t at = 0, start = 0;

	for (int line = 1; line <= m->last_line && at < text.len; line++) {
		const char *nl = memchr(text.p + at, '\n', text.len - at);

		if (line == m->first_line)
			start = at;
		at = nl != NULL ? (size_t)(nl - text.p) + 1 : text.len;
	}
	return (struct str){ text.p + start, at - start };
}

/* Patterns follow the names, as "triton_poi_*". */
size_t
models_count(struct models *ms)
{
	models_need_hlo(ms);
	return ms->listed.n + ms->model_globs.n;
}

bool
models_know_type(struct models *ms, struct str name)
{
	return dtype_find(ms, name) != NULL;
}

const struct model *
models_name(const struct models *ms, size_t i, struct str *name)
{
	uint32_t id;

	if (i >= ms->listed.n) {
		const struct glob_rule *rule =
		    &ms->model_globs.v[i - ms->listed.n];

		*name = rule->glob;
		return ms->entries.v[rule->entry];
	}
	id = ms->listed.v[i];
	*name = intern_get(ms->names, id);
	return ms->by_name.v[id].exact;
}

size_t
models_sheets(const struct models *ms, const struct model_sheet **sheets)
{
	*sheets = ms->sheets.v;
	return ms->sheets.n;
}

struct model_stats
models_stats(const struct models *ms)
{
	return ms->stats;
}
