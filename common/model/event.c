/* SPDX-License-Identifier: MIT */
/*
 * Events of a tree as rules for pseudo-ops see them: fields, events below and
 * above, arguments, and actions. Actions run only after the rule succeeds.
 */
#include "model/facts.h"
#include "model/priv.h"
#include "trace/launcher.h"

#define EVENT "event"
#define ARGS_MAX 32 /* further arguments of a pseudo-op */

/* The event is of an earlier tree if the generation differs. */
struct event_ref {
	uint32_t event, generation;
};

static const struct event_ref *
ref_of(lua_State *L, int i)
{
	return luaL_checkudata(L, i, EVENT);
}

static uint32_t
check_event(lua_State *L, int i)
{
	const struct event_ref *r = ref_of(L, i);
	struct models *ms = models_of(L);

	if (ms->tree == NULL || r->generation != ms->tree_generation)
		luaL_error(L, "an event of another trace");
	return r->event;
}

void
push_event(lua_State *L, uint32_t event)
{
	struct event_ref *r;

	if (event == FOREST_NONE) {
		lua_pushnil(L);
		return;
	}
	r = lua_newuserdatauv(L, sizeof *r, 0);
	*r = (struct event_ref){ event, models_of(L)->tree_generation };
	luaL_setmetatable(L, EVENT);
}

static int
e_eq(lua_State *L)
{
	const struct event_ref *a = ref_of(L, 1), *b = ref_of(L, 2);

	lua_pushboolean(
	    L, a->event == b->event && a->generation == b->generation);
	return 1;
}

/* ---- fields ---- */

/* The linked forward op. */
static uint32_t
forward_of(struct forest *f, uint32_t e)
{
	struct event ev;

	forest_event(f, e, &ev);
	return (ev.shape->has & HAS_FWD) != 0 ? forest_find(f, ev.fwd)
					      : FOREST_NONE;
}

static int
e_index(lua_State *L)
{
	uint32_t e = check_event(L, 1);
	struct forest *f = models_of(L)->tree;
	const struct forest_node *n = &f->nodes.v[e];
	struct str key = to_str(L, 2);

	if (str_eq(key, STR("name"))) {
		push_str(L, forest_name(f, e));
	} else if (str_eq(key, STR("kind"))) {
		lua_pushstring(L, kind_words[n->kind]);
	} else if (str_eq(key, STR("start"))) {
		lua_pushinteger(L, n->ts_ns);
	} else if (str_eq(key, STR("id"))) {
		lua_pushinteger(L, (lua_Integer)n->id);
	} else if (str_eq(key, STR("parent"))) {
		push_event(L, n->up);
	} else if (str_eq(key, STR("forward"))) {
		push_event(L, forward_of(f, e));
	} else {
		lua_pushvalue(L, 2);
		lua_rawget(L, lua_upvalueindex(1));
	}
	return 1;
}

/* ---- below and above ---- */

/* The kinds in an argument; none: all. */
static uint32_t
kinds_arg(lua_State *L, int i)
{
	struct str s = to_str(L, i);

	if (lua_isnoneornil(L, i))
		return UINT32_MAX;
	if (str_eq(s, STR("gpu")))
		return KINDS_GPU;
	if (str_eq(s, STR("launch")))
		return KINDS_LAUNCH;
	for (unsigned k = 0; k < KIND_COUNT; k++)
		if (str_eq(s, str_of(kind_words[k])))
			return KIND_BIT(k);
	luaL_error(L, "there is no kind %s", luaL_checkstring(L, i));
	return 0;
}

static uint32_t
next_like(lua_State *L, uint32_t e, uint32_t top, uint32_t kinds)
{
	const struct forest *f = models_of(L)->tree;
	struct str name = to_str(L, 3);

	while ((e = forest_next(f, e, top)) != FOREST_NONE)
		if (node_is(&f->nodes.v[e], kinds) &&
		    (name.len == 0 || str_eq(name, forest_name(f, e))))
			break;
	return e;
}

/* below(kind, name): a list, in tree order. */
static int
e_below(lua_State *L)
{
	uint32_t top = check_event(L, 1), kinds = kinds_arg(L, 2);
	lua_Integer n = 0;

	lua_settop(L, 3);
	lua_newtable(L);
	for (uint32_t e = next_like(L, top, top, kinds); e != FOREST_NONE;
	     e = next_like(L, e, top, kinds)) {
		push_event(L, e);
		lua_rawseti(L, 4, ++n);
	}
	return 1;
}

/* first(kind, name): the first of them, or nil. */
static int
e_first(lua_State *L)
{
	uint32_t top = check_event(L, 1);

	push_event(L, next_like(L, top, top, kinds_arg(L, 2)));
	return 1;
}

/* inside(name): the nearest op of this name, from the event upwards, or nil. */
static int
e_inside(lua_State *L)
{
	uint32_t e = check_event(L, 1);
	struct str name = { luaL_checkstring(L, 2), 0 };
	const struct forest *f = models_of(L)->tree;

	name = to_str(L, 2);
	while (e != FOREST_NONE &&
	    (f->nodes.v[e].kind != KIND_OP || !str_eq(forest_name(f, e), name)))
		e = f->nodes.v[e].up;
	push_event(L, e);
	return 1;
}

/* ---- its arguments: dim(), shape(), ... with this event as the op ---- */

struct looked_at {
	struct dict *st;
	struct event ev;
};

static bool
find_arg(void *ctx, struct str key, struct str *text)
{
	const struct looked_at *at = ctx;
	struct value v;
	uint32_t id;

	if (!event_arg(at->st, &at->ev, key, &v))
		return false;
	id = extra_text(at->st, &v);
	*text = dict_get(at->st, id);
	return id != INTERN_NONE;
}

static int
e_argument_of(lua_State *L)
{
	struct models *ms = models_of(L);
	uint32_t e = check_event(L, 1);
	struct looked_at at = { .st = ms->tree->st };
	struct op_args args;
	struct model_op op;

	forest_event(ms->tree, e, &at.ev);
	args = args_of_event(at.st, &at.ev);
	op = (struct model_op){ .name = forest_name(ms->tree, e),
		.dims = dict_get(at.st, args.dims),
		.types = dict_get(at.st, args.types),
		.strides = dict_get(at.st, args.strides),
		.concrete = dict_get(at.st, args.concrete),
		.hlo = dict_get(at.st, args.hlo),
		.arg = find_arg,
		.ctx = &at };
	view_set(&ms->views[0], &op);
	ms->view = &ms->views[0];
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_replace(L, 1);
	lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
	ms->view = NULL;
	return lua_gettop(L);
}

static const char *const argument_functions[] = { "argument", "dim", "dtype",
	"elems", "has", "nargs", "nvalues", "rank", "shape", "size", "strides",
	"tensors", "value", NULL };

/* ---- actions ---- */

static struct tree_action *
act(lua_State *L, enum tree_what what)
{
	struct models *ms = models_of(L);
	struct tree_action *a;
	uint32_t e = check_event(L, 1);

	a = vec_add(&ms->actions);
	*a = (struct tree_action){ .what = what, .event = e, .from = e };
	return a;
}

static struct str
keep(lua_State *L, struct str s)
{
	return arena_str(models_of(L)->action_mem, s);
}

/* A text, integer or boolean on top of the stack; pops it. */
static struct model_value
arg_value(lua_State *L)
{
	struct model_value v = { .type = MODEL_TEXT };

	switch (lua_type(L, -1)) {
	case LUA_TBOOLEAN:
		v.type = MODEL_BOOL;
		v.yes = lua_toboolean(L, -1);
		break;
	case LUA_TNUMBER:
		if (!lua_isinteger(L, -1))
			luaL_error(L, "an argument must be a whole number");
		v.type = MODEL_INT;
		v.i = lua_tointeger(L, -1);
		break;
	case LUA_TSTRING: v.text = keep(L, to_str(L, -1)); break;
	default:
		luaL_error(L,
		    "an argument must be a text, a whole number or a truth "
		    "value");
	}
	lua_pop(L, 1);
	return v;
}

/* args = { { "key", value }, ... }: a list, to keep the order. */
static void
take_args(lua_State *L, struct tree_action *a)
{
	struct tree_arg *to;
	size_t n;

	if (!field(L, 2, "args", LUA_TTABLE, "a list of { key, value }"))
		return;
	n = lua_rawlen(L, -1);
	if (n > ARGS_MAX)
		luaL_error(L, "too many arguments");
	to = arena_alloc(
	    models_of(L)->action_mem, (n + 1) * sizeof(struct tree_arg));
	for (size_t i = 0; i < n; i++) {
		if (lua_rawgeti(L, -1, (lua_Integer)i + 1) != LUA_TTABLE ||
		    lua_rawgeti(L, -1, 1) != LUA_TSTRING)
			luaL_error(L, "args must be a list of { key, value }");
		to[i].key = keep(L, to_str(L, -1));
		lua_pop(L, 1);
		lua_rawgeti(L, -1, 2);
		to[i].val = arg_value(L);
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	a->args = to;
	a->nargs = n;
}

/* A list of lists as JSON, or empty. */
static struct str
json_field(lua_State *L, const char *key)
{
	struct buf *b = &models_of(L)->text;
	struct str s = { "", 0 };

	if (!field(L, 2, key, LUA_TTABLE, "a list"))
		return s;
	b->len = 0;
	if (!lua_json(L, -1, 0, b))
		luaL_error(L, "%s must be a list of numbers or texts", key);
	lua_pop(L, 1);
	return keep(L, buf_str(b));
}

/* wrap{}, wrap_children{}, wrap_launch{}: the upvalue says which. */
static int
e_wrap(lua_State *L)
{
	static const char *const fields[] = { "args", "dims", "from", "name",
		"types", NULL };
	struct tree_action *a =
	    act(L, (enum tree_what)lua_tointeger(L, lua_upvalueindex(1)));

	known_fields(L, 2, fields);
	if (lua_getfield(L, 2, "name") != LUA_TSTRING)
		return luaL_error(L, "a pseudo-op without a name");
	a->name = keep(L, to_str(L, -1));
	if (lua_getfield(L, 2, "from") != LUA_TNIL)
		a->from = check_event(L, lua_gettop(L));
	lua_settop(L, 2);
	a->dims = json_field(L, "dims");
	a->types = json_field(L, "types");
	take_args(L, a);
	return 0;
}

static int
e_rename(lua_State *L)
{
	luaL_checktype(L, 2, LUA_TSTRING);
	act(L, TREE_RENAME)->name = keep(L, to_str(L, 2));
	return 0;
}

/* set(key, value): sets an argument of the event. */
static int
e_set(lua_State *L)
{
	struct tree_action *a = act(L, TREE_SET);
	struct tree_arg *arg =
	    arena_alloc(models_of(L)->action_mem, sizeof *arg);

	luaL_checktype(L, 2, LUA_TSTRING);
	arg->key = keep(L, to_str(L, 2));
	lua_settop(L, 3);
	arg->val = arg_value(L);
	a->args = arg;
	a->nargs = 1;
	return 0;
}

/* ---- the metatable ---- */

static const struct {
	const char *name;
	enum tree_what what;
} wraps[] = {
	{ "wrap", TREE_WRAP },
	{ "wrap_children", TREE_WRAP_CHILDREN },
	{ "wrap_launch", TREE_WRAP_LAUNCH },
};
static const luaL_Reg methods[] = {
	{ "below", e_below },
	{ "first", e_first },
	{ "inside", e_inside },
	{ "rename", e_rename },
	{ "set", e_set },
	{ NULL, NULL },
};

void
tree_open(lua_State *L, int api)
{
	luaL_newmetatable(L, EVENT);
	luaL_newlib(L, methods);
	for (size_t i = 0; i < sizeof wraps / sizeof *wraps; i++) {
		lua_pushinteger(L, wraps[i].what);
		lua_pushcclosure(L, e_wrap, 1);
		lua_setfield(L, -2, wraps[i].name);
	}
	for (size_t i = 0; argument_functions[i] != NULL; i++) {
		lua_getfield(L, api, argument_functions[i]);
		lua_pushcclosure(L, e_argument_of, 1);
		lua_setfield(L, -2, argument_functions[i]);
	}
	lua_pushcclosure(L, e_index, 1);
	lua_setfield(L, -2, "__index");
	lua_pushcfunction(L, e_eq);
	lua_setfield(L, -2, "__eq");
	lua_pop(L, 1);
}
