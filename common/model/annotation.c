/* SPDX-License-Identifier: MIT */
/*
 * annotation{}: the forms in which serving frameworks say what a step is of.
 * A form is for annotations that begin with one of its prefixes; read() gives
 * the sums over the step's requests as a table, or nil.
 */
#include "model/priv.h"

int
d_annotation(lua_State *L)
{
	static const char *const fields[] = { "prefix", "read", NULL };
	struct models *ms = models_of(L);
	struct note_form form = { .is_builtin = ms->builtin };
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

/*
 * The sums that the forms read in a text, or nil, on the stack; the last
 * declared form first. Whether the text begins as any.
 */
static bool
push_requests(lua_State *L, struct str text)
{
	struct models *ms = models_of(L);
	bool any = false;

	for (size_t i = ms->note_forms.n; i-- > 0;) {
		const struct note_form *f = &ms->note_forms.v[i];

		if (!str_starts(text, f->prefix))
			continue;
		any = true;
		lua_rawgeti(L, LUA_REGISTRYINDEX, f->ref);
		push_str(L, text);
		if (f->is_builtin)
			lua_call(L, 1, 1);
		else /* an entry of ours may ask */
			sandbox_call(ms, 1, 1);
		if (lua_istable(L, -1))
			return true;
		lua_pop(L, 1);
	}
	lua_pushnil(L);
	return any;
}

/* requests(text): what an annotation counts, or nil. */
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

	for (size_t i = 0; i < ms->note_forms.n; i++)
		if (str_starts(text, ms->note_forms.v[i].prefix))
			c.rank = NOTE_STEP;
	if (c.rank == NOTE_OTHER)
		return c.rank;
	sandbox_begin(ms, MODEL_STEPS, MODEL_CHURN);
	lua_pushcfunction(ms->L, find_rank);
	lua_pushlightuserdata(ms->L, &c);
	/* one that can't be read still is a step's */
	if (lua_pcall(ms->L, 1, 0, 0) != LUA_OK)
		lua_pop(ms->L, 1);
	return c.rank;
}
