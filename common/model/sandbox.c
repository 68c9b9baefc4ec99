/* SPDX-License-Identifier: MIT */
/*
 * A Lua state that can only compute. Missing: io, os, load, require, debug,
 * package, coroutines, pcall (it would catch a limit), metatables, and anything
 * that depends on addresses or a seed (pairs, random, tostring of a table).
 * Limited: instructions, memory held, memory allocated by one piece of work, a
 * single text or list, the steps of a pattern, and what library functions
 * examine, as instructions do not count that.
 */
#include <stdlib.h>

#include "model/priv.h"

/*
 * Small objects, nearly all, come from blocks with a free list for each
 * multiple of 16 bytes. That is twice as fast as malloc().
 */
static void *
small_alloc(struct models *ms, size_t class)
{
	struct free_object *f = ms->free_list[class];
	size_t size = class * SMALL_STEP;

	if (f != NULL) {
		ms->free_list[class] = f->next;
		return f;
	}
	if (ms->block_left < size) {
		ms->block = arena_alloc(ms->lua_mem, SMALL_BLOCK);
		ms->block_left = SMALL_BLOCK;
	}
	ms->block += size;
	ms->block_left -= size;
	return ms->block - size;
}

static void
small_free(struct models *ms, void *p, size_t class)
{
	struct free_object *f = p;

	f->next = ms->free_list[class];
	ms->free_list[class] = f;
}

static size_t
class_of(size_t size)
{
	return (size + SMALL_STEP - 1) / SMALL_STEP;
}

/* Large ones are in a list, to be freed with the state. */
struct large_object {
	_Alignas(max_align_t) struct large_object *prev, *next;
};

static void *
large_resize(struct models *ms, void *p, size_t size)
{
	struct large_object *old = p, *l;

	l = realloc(old != NULL ? old - 1 : NULL, sizeof *l + size);
	if (l == NULL)
		return NULL;
	if (old == NULL) {
		l->prev = NULL;
		l->next = ms->large;
	}
	if (l->next != NULL)
		l->next->prev = l;
	*(l->prev != NULL ? &l->prev->next : &ms->large) = l;
	return l + 1;
}

static void
large_free(struct models *ms, void *p)
{
	struct large_object *l = (struct large_object *)p - 1;

	if (l->next != NULL)
		l->next->prev = l->prev;
	*(l->prev != NULL ? &l->prev->next : &ms->large) = l->next;
	free(l);
}

/* Resizes osize bytes at p to nsize; one of the two may be 0. */
static void *
resize(struct models *ms, void *p, size_t osize, size_t nsize)
{
	bool was_small = osize <= SMALL_MAX, is_small = nsize <= SMALL_MAX;
	void *q;

	if (!was_small && !is_small)
		return large_resize(ms, p, nsize);
	if (was_small && is_small && class_of(osize) == class_of(nsize))
		return p;
	if (nsize == 0)
		q = NULL;
	else if ((q = is_small ? small_alloc(ms, class_of(nsize))
			       : large_resize(ms, NULL, nsize)) == NULL)
		return NULL;
	if (osize > 0 && nsize > 0)
		memcpy(q, p, osize < nsize ? osize : nsize);
	if (osize > 0 && was_small)
		small_free(ms, p, class_of(osize));
	else if (osize > 0)
		large_free(ms, p);
	return q;
}

static void *
allocate(void *ud, void *p, size_t osize, size_t nsize)
{
	struct models *ms = ud;

	if (p == NULL)
		osize = 0; /* for a new object it is a type */
	if (nsize > osize) {
		size_t more = nsize - osize;

		/* Lua collects garbage and retries before it fails. */
		if (nsize > MODEL_BLOCK || more > ms->max - ms->used ||
		    more > ms->churn_max - ms->churn)
			return NULL;
		ms->churn += more;
	}
	p = resize(ms, p, osize, nsize);
	if (p != NULL || nsize == 0)
		ms->used += nsize - osize;
	return p;
}

static void
too_many_steps(lua_State *L, lua_Debug *ar)
{
	(void)ar;
	/* the place: level 0, as a hook has no frame of its own */
	luaL_where(L, 0);
	lua_pushliteral(L, "too many steps: an endless loop?");
	lua_concat(L, 2);
	lua_error(L);
}

void
sandbox_work(lua_State *L, size_t n)
{
	struct models *ms = models_of(L);

	ms->work = n < (size_t)ms->work ? ms->work - (int64_t)n : 0;
	if (ms->work == 0)
		luaL_error(L, "too much work in a library function");
}

void
sandbox_call(struct models *ms, int nargs, int nresults)
{
	bool is_counted = lua_gethookmask(ms->L) != 0, was_own = ms->in_own;

	if (!is_counted)
		lua_sethook(ms->L, too_many_steps, LUA_MASKCOUNT, MODEL_STEPS);
	ms->in_own = true;
	lua_call(ms->L, nargs, nresults);
	ms->in_own = was_own;
	if (!is_counted)
		lua_sethook(ms->L, too_many_steps, 0, 0);
}

void
sandbox_begin(struct models *ms, int steps, int64_t work, size_t churn)
{
	ms->churn = 0;
	ms->churn_max = churn;
	ms->work = work;
	/* Built-in entries terminate (all their loops are over lists); counting
	 * takes time. */
	lua_sethook(
	    ms->L, too_many_steps, ms->builtin ? 0 : LUA_MASKCOUNT, steps);
}

void
sandbox_message(lua_State *L, struct buf *why)
{
	struct str s = to_str(L, -1);

	if (lua_type(L, -1) == LUA_TSTRING)
		buf_put(why, s.p, s.len);
	else
		buf_puts(why, "an error that is no text");
	lua_pop(L, 1);
}

/* An error outside a protected call is our own bug. */
static int
panic(lua_State *L)
{
	die("op models: %s", lua_tostring(L, -1));
}

/* ---- strings ---- */

static struct str
check_str(lua_State *L, int i)
{
	struct str s;

	s.p = luaL_checklstring(L, i, &s.len);
	return s;
}

static int
push_captures(lua_State *L, struct str text, const struct pattern_match *m)
{
	if (m->ncaptures == 0) {
		lua_pushlstring(L, text.p + m->start, m->end - m->start);
		return 1;
	}
	luaL_checkstack(L, m->ncaptures, NULL);
	for (int i = 0; i < m->ncaptures; i++)
		lua_pushlstring(
		    L, text.p + m->captures[i].start, m->captures[i].len);
	return m->ncaptures;
}

static bool
find(lua_State *L, struct str text, struct str pattern, size_t init,
    struct pattern_match *m)
{
	const char *error = NULL;
	int r = pattern_find(text, pattern, init, m, &error);

	if (r < 0)
		luaL_error(L, "%s", error);
	sandbox_work(L, (size_t)m->nsteps);
	return r > 0;
}

/* Byte index init (from 1, negative: from the end) as an offset. */
static size_t
init_of(lua_State *L, int i, size_t len)
{
	lua_Integer n = luaL_optinteger(L, i, 1);

	if (n < 0)
		n = n < -(lua_Integer)len ? 1 : (lua_Integer)len + n + 1;
	if (n < 1)
		n = 1;
	return n > (lua_Integer)len ? len : (size_t)n - 1;
}

static int
s_match(lua_State *L)
{
	struct str text = check_str(L, 1), pattern = check_str(L, 2);
	struct pattern_match m;

	if (!find(L, text, pattern, init_of(L, 3, text.len), &m)) {
		lua_pushnil(L);
		return 1;
	}
	return push_captures(L, text, &m);
}

static int
s_find(lua_State *L)
{
	struct str text = check_str(L, 1), pattern = check_str(L, 2);
	size_t init = init_of(L, 3, text.len);
	struct pattern_match m = { 0 };

	if (lua_toboolean(L, 4)) {
		ptrdiff_t at;

		sandbox_work(L, text.len);
		at = str_find((struct str){ text.p + init, text.len - init },
		    pattern, false);

		if (at < 0)
			return 0;
		m.start = init + (size_t)at;
		m.end = m.start + pattern.len;
	} else if (!find(L, text, pattern, init, &m)) {
		return 0;
	}
	lua_pushinteger(L, (lua_Integer)m.start + 1);
	lua_pushinteger(L, (lua_Integer)m.end);
	return m.ncaptures == 0 ? 2 : 2 + push_captures(L, text, &m);
}

static int
gmatch_next(lua_State *L)
{
	struct str text = to_str(L, lua_upvalueindex(1));
	struct str pattern = to_str(L, lua_upvalueindex(2));
	size_t at = (size_t)lua_tointeger(L, lua_upvalueindex(3));
	struct pattern_match m;

	if (at > text.len || !find(L, text, pattern, at, &m))
		return 0;
	/* Past an empty match by one. */
	lua_pushinteger(L, (lua_Integer)(m.end > m.start ? m.end : m.end + 1));
	lua_replace(L, lua_upvalueindex(3));
	return push_captures(L, text, &m);
}

static int
s_gmatch(lua_State *L)
{
	check_str(L, 1);
	check_str(L, 2);
	lua_settop(L, 2);
	lua_pushinteger(L, 0);
	lua_pushcclosure(L, gmatch_next, 3);
	return 1;
}

static int
safe_tostring(lua_State *L)
{
	luaL_argexpected(L,
	    lua_type(L, 1) == LUA_TNUMBER || lua_type(L, 1) == LUA_TSTRING ||
		lua_type(L, 1) == LUA_TBOOLEAN || lua_type(L, 1) == LUA_TNIL,
	    1, "number, text or boolean");
	luaL_tolstring(L, 1, NULL);
	return 1;
}

/* With our patterns: Lua's take unbounded time. */
static const luaL_Reg pattern_functions[] = {
	{ "find", s_find },
	{ "gmatch", s_gmatch },
	{ "match", s_match },
	{ NULL, NULL },
};

static const char *const base_names[] = { "assert", "error", "ipairs", "select",
	"tonumber", "type", NULL };
static const char *const math_names[] = { "abs", "ceil", "exp", "floor", "fmod",
	"huge", "log", "max", "min", "sqrt", "tointeger", "type", NULL };
static const char *const string_names[] = { "byte", "len", "lower", "sub",
	"upper", NULL };
static const char *const table_names[] = { "concat", "insert", "remove", "sort",
	"unpack", NULL };

/* What a function that walks a list examines: elements, bytes of texts. */
static size_t
list_work(lua_State *L, int i)
{
	size_t n = lua_rawlen(L, i), work = n;

	for (size_t k = 1; k <= n; k++) {
		if (lua_rawgeti(L, i, (lua_Integer)k) == LUA_TSTRING)
			work += lua_rawlen(L, -1);
		lua_pop(L, 1);
	}
	return work;
}

/* Functions called with this many arguments walk no list. */
static const struct {
	const char *name;
	int nargs;
} at_end[] = { { "insert", 2 }, { "remove", 1 }, { NULL, -1 } };
#define SORT_WORK 32 /* comparisons per element */

/* A library function, upvalue 1, with its work counted. */
static int
counted(lua_State *L)
{
	int n = lua_gettop(L);
	bool walks = n != (int)lua_tointeger(L, lua_upvalueindex(2));
	size_t per = (size_t)lua_tointeger(L, lua_upvalueindex(3)), work = 1;

	for (int i = 1; i <= n; i++)
		if (lua_type(L, i) == LUA_TSTRING)
			work += lua_rawlen(L, i);
		else if (lua_type(L, i) == LUA_TTABLE && walks)
			work += list_work(L, i) * per;
	sandbox_work(L, work);
	n = lua_tocfunction(L, lua_upvalueindex(1))(L);
	sandbox_work(L, (size_t)n + 1);
	return n;
}

/* Replaces the function on top of the stack by one that counts. */
static void
count_work(lua_State *L, const char *name)
{
	int i = 0;

	while (at_end[i].name != NULL && strcmp(at_end[i].name, name) != 0)
		i++;
	lua_pushinteger(L, at_end[i].nargs);
	lua_pushinteger(L, strcmp(name, "sort") == 0 ? SORT_WORK : 1);
	lua_pushcclosure(L, counted, 3);
}

static int
read_only(lua_State *L)
{
	return luaL_error(L, "the library's %s can't be replaced",
	    luaL_tolstring(L, 2, NULL));
}

/*
 * api.NAME = the functions of this name from a library, which stays on the
 * stack. Named libraries are wrapped read-only: a file could change all others.
 */
static void
take(lua_State *L, int api, const char *as, lua_CFunction open,
    const char *const names[])
{
	luaL_requiref(L, as != NULL ? as : "_G", open, 0);
	lua_newtable(L);
	for (; *names != NULL; names++) {
		lua_getfield(L, -2, *names);
		if (as != NULL && lua_isfunction(L, -1))
			count_work(L, *names);
		lua_setfield(L, as != NULL ? -2 : api, *names);
	}
	lua_remove(L, -2);
	if (as == NULL)
		return;
	lua_newtable(L);
	lua_createtable(L, 0, 2);
	lua_pushvalue(L, -3);
	lua_setfield(L, -2, "__index");
	lua_pushcfunction(L, read_only);
	lua_setfield(L, -2, "__newindex");
	lua_setmetatable(L, -2);
	lua_setfield(L, api, as);
}

void
sandbox_libs(lua_State *L, int api)
{
	take(L, api, NULL, luaopen_base, base_names);
	take(L, api, "math", luaopen_math, math_names);
	take(L, api, "table", luaopen_table, table_names);
	lua_pushcfunction(L, safe_tostring);
	lua_setfield(L, api, "tostring");
	take(L, api, "string", luaopen_string, string_names);
	luaL_setfuncs(L, pattern_functions, 0);
	/* methods of strings: name:match("..."), but no arithmetic */
	lua_createtable(L, 0, 1);
	lua_insert(L, -2);
	lua_setfield(L, -2, "__index");
	lua_pushliteral(L, "");
	lua_pushvalue(L, -2);
	lua_setmetatable(L, -2);
	lua_settop(L, api);
}

void
sandbox_open(struct models *ms)
{
	ms->max = MODEL_MEM;
	ms->churn_max = SIZE_MAX;
	ms->lua_mem = arena_create();
	ms->L = lua_newstate(allocate, ms);
	if (ms->L == NULL)
		die("out of memory");
	lua_atpanic(ms->L, panic);
	memcpy(lua_getextraspace(ms->L), &ms, sizeof ms);
}

/* Lua's objects own only memory, so none needs finalizing. */
void
sandbox_close(struct models *ms)
{
	while (ms->large != NULL)
		large_free(ms, ms->large + 1);
	arena_destroy(ms->lua_mem);
}
