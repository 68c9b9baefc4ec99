/* SPDX-License-Identifier: MIT */
/*
 * annotation{}: user-defined forms of annotations that say what a step does,
 * besides those of iterations (trace/phase.h). A form applies to annotations
 * with one of its prefixes; read() returns the sums over the step's requests as
 * a table, or nil.
 */
#include "model/priv.h"
#include "trace/phase.h"

int
d_annotation(lua_State *L)
{
	static const char *const fields[] = { "prefix", "read", NULL };
	struct models *ms = models_of(L);
	struct note_form form = { 0 };
	size_t n;

	if (lua_gettop(L) == 0)
		return a_annotation(L);
	known_fields(L, 1, fields);
	if (!field(L, 1, "read", LUA_TFUNCTION, "a function (text)"))
		return luaL_error(L, "an annotation without read");
	form.ref = luaL_ref(L, LUA_REGISTRYINDEX);
	n = list_field(L, 1, "prefix");
	if (n == 0)
		return luaL_error(L, "an annotation without prefix");
	for (size_t i = 0; i < n; i++) {
		form.prefix = word(ms, ms->list.v[i]);
		vec_push(&ms->note_forms, form);
	}
	return 0;
}

/* Pushes the sums of an iteration's annotation over its requests. */
static void
push_sums(lua_State *L, const struct iteration *it)
{
	const struct {
		const char *name;
		int64_t n;
	} sums[] = {
		{ "c_sq", it->c_sq },
		{ "c_sk", it->c_sk },
		{ "c_sqsq", it->c_sqsq },
		{ "c_sqsk", it->c_sqsk },
		{ "g_sq", it->g_sq },
		{ "g_sk", it->g_sk },
		{ "g_sqsq", it->g_sqsq },
		{ "g_sqsk", it->g_sqsk },
	};

	lua_createtable(L, 0, sizeof sums / sizeof *sums);
	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
		lua_pushinteger(L, sums[i].n);
		lua_setfield(L, -2, sums[i].name);
	}
}

/*
 * Pushes the sums in a text, or nil; the last declared form is tried first.
 * Returns whether it is a step's at all.
 */
static bool
push_requests(lua_State *L, struct str text)
{
	struct models *ms = models_of(L);
	struct iteration it;
	bool any;

	any = iteration_of_name(text, &it);
	for (size_t i = ms->note_forms.n; i-- > 0;) {
		const struct note_form *f = &ms->note_forms.v[i];

		if (!str_starts(text, f->prefix))
			continue;
		any = true;
		lua_rawgeti(L, LUA_REGISTRYINDEX, f->ref);
		push_str(L, text);
		sandbox_call(ms, 1, 1); /* our own entries may call it */
		if (lua_istable(L, -1))
			return true;
		lua_pop(L, 1);
	}
	if (it.has_sqsk)
		push_sums(L, &it);
	else
		lua_pushnil(L);
	return any;
}

/* requests(text): the counts in an annotation, or nil. */
int
a_requests(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TSTRING);
	push_requests(L, to_str(L, 1));
	return 1;
}

struct rank_call {
	struct str text;
	enum note_rank rank;
};

static int
find_rank(lua_State *L)
{
	struct rank_call *c = lua_touserdata(L, 1);

	if (push_requests(L, c->text))
		c->rank = lua_istable(L, -1) ? NOTE_COUNTS : NOTE_STEP;
	return 0;
}

enum note_rank
model_annotation(struct models *ms, struct str text)
{
	struct rank_call c = { text, NOTE_OTHER };
	struct iteration it;
	bool is_own = false;

	if (iteration_of_name(text, &it))
		c.rank = it.has_sqsk ? NOTE_COUNTS : NOTE_STEP;
	for (size_t i = 0; i < ms->note_forms.n; i++)
		is_own |= str_starts(text, ms->note_forms.v[i].prefix);
	if (!is_own)
		return c.rank;
	c.rank = c.rank == NOTE_OTHER ? NOTE_STEP : c.rank;
	sandbox_begin(ms, MODEL_STEPS, MODEL_WORK, MODEL_CHURN);
	lua_pushcfunction(ms->L, find_rank);
	lua_pushlightuserdata(ms->L, &c);
	/* an unreadable one still is a step's */
	if (lua_pcall(ms->L, 1, 0, 0) != LUA_OK)
		lua_pop(ms->L, 1);
	return c.rank;
}
