/* SPDX-License-Identifier: MIT */
/* What an entry may call to read texts, mostly numbers and lists. */
#include "model/priv.h"

#define MAX_LIST 4096 /* elements of a list made from a text */

static struct str
trim(struct str s)
{
	while (s.len > 0 && s.p[0] == ' ')
		s.p++, s.len--;
	while (s.len > 0 && s.p[s.len - 1] == ' ')
		s.len--;
	return s;
}

static bool
word_is(struct str s, const char *w)
{
	return s.len == strlen(w) && strncasecmp(s.p, w, s.len) == 0;
}

/* Results computed from a large number may exceed 64 bits. */
static void
push_whole(lua_State *L, int64_t i)
{
	if (i != 0)
		models_of(L)->values *= fabs((double)i);
	push_size(L, i);
}

/* An integer, a decimal ("1.", "0.5") or a boolean. */
static bool
push_scalar(lua_State *L, struct str s)
{
	int64_t i;
	double d;

	if (s.len > 0 && s.p[s.len - 1] == '.')
		s.len--; /* Kineto writes "1." */
	else if (num_i64(s, &i)) {
		push_whole(L, i);
		return true;
	}
	if (num_double(s, &d))
		lua_pushnumber(L, d);
	else if (word_is(s, "true") || word_is(s, "false"))
		lua_pushboolean(L, s.len == 4);
	else
		return false;
	return true;
}

/*
 * int(text[, default]): without a default, text that is no integer is an error.
 */
static int
a_int(lua_State *L)
{
	struct str s = trim(to_str(L, 1));
	int64_t i;

	if (lua_isinteger(L, 1))
		lua_pushvalue(L, 1);
	else if (num_i64(s, &i))
		push_whole(L, i);
	else if (!lua_isnone(L, 2))
		lua_pushvalue(L, 2);
	else
		return lacks(
		    L, "'%s' is no whole number", luaL_tolstring(L, 1, NULL));
	return 1;
}

/* count(text[, default]): a size; negative is an error. */
static int
a_count(lua_State *L)
{
	(void)a_int(L);
	if (lua_type(L, -1) == LUA_TNUMBER && lua_tonumber(L, -1) < 0)
		return lacks(L, "'%s' is no size", luaL_tolstring(L, 1, NULL));
	return 1;
}

static int
a_num(lua_State *L)
{
	struct str s = trim(to_str(L, 1));
	double d;

	if (s.len > 1 && s.p[s.len - 1] == '.')
		s.len--;
	if (lua_type(L, 1) == LUA_TNUMBER)
		lua_pushnumber(L, lua_tonumber(L, 1));
	else if (num_double(s, &d))
		lua_pushnumber(L, d);
	else if (!lua_isnone(L, 2))
		lua_pushvalue(L, 2);
	else
		return lacks(
		    L, "'%s' is no number", luaL_tolstring(L, 1, NULL));
	return 1;
}

/* bool(text[, default]): True, true, 1; False, false, 0. */
static int
a_bool(lua_State *L)
{
	struct str s = trim(to_str(L, 1));

	if (lua_isboolean(L, 1))
		lua_pushvalue(L, 1);
	else if (word_is(s, "true") || word_is(s, "1"))
		lua_pushboolean(L, 1);
	else if (word_is(s, "false") || word_is(s, "0"))
		lua_pushboolean(L, 0);
	else if (!lua_isnone(L, 2))
		lua_pushvalue(L, 2);
	else
		return lacks(L, "'%s' is neither True nor False",
		    luaL_tolstring(L, 1, NULL));
	return 1;
}

/* list("[1, 2]"): its scalars; a scalar without brackets is a list of one, None
 * is an empty list. */
static int
a_list(lua_State *L)
{
	struct str s = trim(to_str(L, 1)), item;
	int n = 0;

	lua_newtable(L);
	if (s.len >= 2 && (s.p[0] == '[' || s.p[0] == '('))
		s = trim((struct str){ s.p + 1, s.len - 2 });
	else if (word_is(s, "none"))
		s.len = 0;
	while (s.len > 0) {
		const char *comma = memchr(s.p, ',', s.len);
		size_t len = comma != NULL ? (size_t)(comma - s.p) : s.len;

		item = trim((struct str){ s.p, len });
		if (++n > MAX_LIST)
			return luaL_error(L, "too long a list");
		if (!push_scalar(L, item))
			push_str(L, item);
		lua_rawseti(L, -2, n);
		s.p += len + (comma != NULL);
		s.len -= len + (comma != NULL);
	}
	return 1;
}

/* counts(text): the list, which may hold only sizes. */
static int
a_counts(lua_State *L)
{
	lua_Integer n;

	(void)a_list(L);
	n = (lua_Integer)lua_rawlen(L, -1);
	for (lua_Integer i = 1; i <= n; i++) {
		double size = lua_rawgeti(L, -1, i) == LUA_TNUMBER
		    ? lua_tonumber(L, -1)
		    : -1;

		if (size < 0 || size != floor(size))
			return lacks(L, "'%s' is no list of sizes",
			    luaL_tolstring(L, 1, NULL));
		lua_pop(L, 1);
	}
	return 1;
}

static int
a_starts(lua_State *L)
{
	lua_pushboolean(L, str_starts(to_str(L, 1), to_str(L, 2)));
	return 1;
}

static int
a_contains(lua_State *L)
{
	struct str text = to_str(L, 1), part = to_str(L, 2);

	sandbox_work(L, text.len * part.len);
	lua_pushboolean(L, str_find(text, part, true) >= 0);
	return 1;
}

const luaL_Reg access_text_functions[] = {
	{ "bool", a_bool },
	{ "contains", a_contains },
	{ "count", a_count },
	{ "counts", a_counts },
	{ "int", a_int },
	{ "list", a_list },
	{ "num", a_num },
	{ "starts", a_starts },
	{ NULL, NULL },
};
