/* SPDX-License-Identifier: MIT */
/*
 * pseudo{}: rules that add ops to a tree, where one op hides several steps with
 * models of their own. A rule is called for each event of a name.
 */
#include <stdlib.h>

#include "model/priv.h"

/* ---- declaration ---- */

static void
add_patterns(lua_State *L, const char *key, uint8_t kind, struct pseudo_rule *r)
{
	struct models *ms = models_of(L);

	for (size_t i = 0, n = list_field(L, 1, key); i < n; i++)
		vec_push(&r->patterns,
		    ((struct pseudo_pattern){ word(ms, ms->list.v[i]), kind }));
}

int
d_pseudo(lua_State *L)
{
	static const char *const fields[] = { "frames", "make", "ops", "unless",
		NULL };
	struct models *ms = models_of(L);
	struct pseudo_rule r = { .is_builtin = ms->builtin };

	known_fields(L, 1, fields);
	if (ms->pseudos.n == PSEUDO_RULES_MAX)
		return luaL_error(L, "more than %d rules", PSEUDO_RULES_MAX);
	if (!field(L, 1, "make", LUA_TFUNCTION, "a function (event)"))
		return luaL_error(L, "a pseudo without make");
	r.ref = luaL_ref(L, LUA_REGISTRYINDEX);
	add_patterns(L, "ops", KIND_OP, &r);
	add_patterns(L, "frames", KIND_PYTHON, &r);
	if (r.patterns.n == 0)
		return luaL_error(L, "a pseudo without ops or frames");
	for (size_t i = 0, n = list_field(L, 1, "unless"); i < n; i++)
		vec_push(&r.unless, word(ms, ms->list.v[i]));
	vec_push(&ms->pseudos, r);
	return 0;
}

void
pseudos_free(struct models *ms)
{
	for (size_t i = 0; i < ms->pseudos.n; i++) {
		vec_free(&ms->pseudos.v[i].patterns);
		vec_free(&ms->pseudos.v[i].unless);
	}
	vec_free(&ms->pseudos);
	vec_free(&ms->actions);
	arena_destroy(ms->action_mem);
}

/* ---- the rules for an event ---- */

static bool
is_for(const struct pseudo_rule *r, unsigned kind, struct str name)
{
	for (size_t i = 0; i < r->patterns.n; i++)
		if (r->patterns.v[i].kind == kind &&
		    str_glob(r->patterns.v[i].glob, name))
			return true;
	return false;
}

uint64_t
pseudo_rules(const struct models *ms, unsigned kind, struct str name)
{
	uint64_t rules = 0;

	for (size_t i = 0; i < ms->pseudos.n; i++)
		if (is_for(&ms->pseudos.v[i], kind, name))
			rules |= UINT64_C(1) << i;
	return rules;
}

static bool
has_op(const struct forest *tree, struct str name)
{
	uint32_t id =
	    intern_find(tree->st->text, name, hash_bytes(name.p, name.len));

	for (uint32_t i = 0; id != INTERN_NONE && i < tree->nodes.n; i++)
		if (tree->nodes.v[i].kind == KIND_OP &&
		    tree->nodes.v[i].name == id)
			return true;
	return false;
}

void
pseudo_start(struct models *ms, struct forest *tree)
{
	ms->tree = tree;
	ms->tree_generation++;
	for (size_t i = 0; i < ms->pseudos.n; i++) {
		struct pseudo_rule *r = &ms->pseudos.v[i];

		r->nmade = 0;
		r->is_off = false;
		for (size_t k = 0; k < r->unless.n; k++)
			r->is_off |= has_op(tree, r->unless.v[k]);
	}
}

/* ---- running ---- */

struct pseudo_call {
	const struct pseudo_rule *rule;
	uint32_t event;
};

static int
call_rule(lua_State *L)
{
	const struct pseudo_call *c = lua_touserdata(L, 1);

	lua_rawgeti(L, LUA_REGISTRYINDEX, c->rule->ref);
	push_event(L, c->event);
	lua_pushinteger(L, c->rule->nmade);
	lua_call(L, 2, 0);
	return 0;
}

static bool
run_rule(struct models *ms, struct pseudo_call *c)
{
	struct buf why = { 0 };
	bool good;

	ms->actions.n = 0;
	ms->view = NULL;
	ms->entry = NULL;
	ms->builtin = c->rule->is_builtin;
	sandbox_begin(ms, MODEL_STEPS, MODEL_WORK, MODEL_CHURN);
	ms->builtin = false;
	lua_pushcfunction(ms->L, call_rule);
	lua_pushlightuserdata(ms->L, c);
	good = lua_pcall(ms->L, 1, 0, 0) == LUA_OK;
	ms->view = NULL;
	if (good)
		return true;
	sandbox_message(ms->L, &why);
	ms->pseudo_stats.nown_failed += !c->rule->is_builtin;
	if (ms->pseudo_stats.nfailed++ == 0)
		ms->pseudo_stats.reason = word(ms, buf_str(&why));
	buf_free(&why);
	return false;
}

void
pseudo_run(struct models *ms, uint64_t rules, uint32_t event, tree_act_fn *act,
    void *arg)
{
	for (size_t i = 0; i < ms->pseudos.n && rules >> i != 0; i++) {
		struct pseudo_rule *r = &ms->pseudos.v[i];
		bool any = false;

		if ((rules >> i & 1) == 0 || r->is_off ||
		    !run_rule(ms, &(struct pseudo_call){ r, event }))
			continue;
		for (size_t k = 0; k < ms->actions.n; k++)
			any |= act(arg, &ms->actions.v[k]);
		r->nmade += any;
		arena_reset(ms->action_mem, 0);
	}
}

struct pseudo_stats
pseudo_stats(const struct models *ms)
{
	return ms->pseudo_stats;
}

/* variable(name): an environment variable, "TL_...", or nil. */
int
a_variable(lua_State *L)
{
	const char *name = luaL_checkstring(L, 1), *value;

	if (strncmp(name, "TL_", 3) != 0)
		return luaL_error(L, "only variables TL_... can be read");
	value = getenv(name);
	if (value == NULL)
		lua_pushnil(L);
	else
		lua_pushstring(L, value);
	return 1;
}
