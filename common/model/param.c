/* SPDX-License-Identifier: MIT */
/* Parameters: from Lua to lasting results, and out of them. */
#include "model/priv.h"
#include "json/json.h"

#define JSON_DEPTH 8

/* The length of a list: its n (from tuple()), or its number of elements. */
static lua_Integer
list_len(lua_State *L, int i)
{
	lua_Integer n = (lua_Integer)lua_rawlen(L, i);

	lua_pushliteral(L, "n");
	if (lua_rawget(L, i) == LUA_TNUMBER)
		n = lua_tointeger(L, -1);
	lua_pop(L, 1);
	return n < 0 || n > 100000 ? 0 : n;
}

static void
put_number(lua_State *L, int i, struct buf *b)
{
	char text[NUM_DOUBLE_MAX];
	double d = lua_tonumber(L, i);

	if (lua_isinteger(L, i))
		json_put_i64(b, lua_tointeger(L, i));
	else if (isfinite(d))
		buf_put(b, text, num_put_double(text, d));
	else
		buf_puts(b, "null");
}

bool
lua_json(lua_State *L, int i, int depth, struct buf *b)
{
	lua_Integer n;

	i = lua_absindex(L, i);
	switch (lua_type(L, i)) {
	case LUA_TNIL: buf_puts(b, "null"); return true;
	case LUA_TBOOLEAN:
		buf_puts(b, lua_toboolean(L, i) ? "true" : "false");
		return true;
	case LUA_TNUMBER: put_number(L, i, b); return true;
	case LUA_TSTRING: json_put_string(b, to_str(L, i)); return true;
	case LUA_TTABLE: break;
	default: return false;
	}
	if (depth == JSON_DEPTH || !lua_checkstack(L, 4))
		return false;
	buf_putc(b, '[');
	n = list_len(L, i);
	for (lua_Integer k = 1; k <= n; k++) {
		bool good;

		if (k > 1)
			buf_putc(b, ',');
		lua_rawgeti(L, i, k);
		good = lua_json(L, -1, depth + 1, b);
		lua_pop(L, 1);
		if (!good || b->len > MODEL_TEXT_MAX)
			return false;
	}
	buf_putc(b, ']');
	return true;
}

/* A parameter as stored: the bits of a number, or a text's number. */
struct packed {
	uint64_t bits;
	uint8_t type; /* enum model_type */
};

static struct packed
pack(lua_State *L, int i, const char *name)
{
	struct models *ms = models_of(L);
	struct packed v = { 0, MODEL_NULL };

	switch (lua_type(L, i)) {
	case LUA_TNIL: return v;
	case LUA_TBOOLEAN:
		return (
		    struct packed){ (uint64_t)lua_toboolean(L, i), MODEL_BOOL };
	case LUA_TNUMBER:
		v.type = lua_isinteger(L, i) ? MODEL_INT : MODEL_REAL;
		if (v.type == MODEL_INT)
			v.bits = (uint64_t)lua_tointeger(L, i);
		else
			memcpy(&v.bits, &(double){ lua_tonumber(L, i) },
			    sizeof v.bits);
		return v;
	case LUA_TSTRING:
		return (struct packed){ intern_put(ms->words, to_str(L, i)),
			MODEL_TEXT };
	default: break;
	}
	ms->text.len = 0;
	if (!lua_json(L, i, 0, &ms->text))
		luaL_error(L,
		    "parameter %s must be a number, a text, a truth value or "
		    "a short list of them",
		    name);
	return (struct packed){ intern_put(ms->words, buf_str(&ms->text)),
		MODEL_LIST };
}

struct model_value
model_param_at(const struct model_result *r, size_t i)
{
	const uint8_t *types = (const uint8_t *)(r->params + r->nparams);
	struct model_value v = { .type = types[i] };
	uint64_t bits = r->params[i];

	switch (v.type) {
	case MODEL_NULL: break;
	case MODEL_BOOL: v.yes = bits != 0; break;
	case MODEL_INT: v.i = (int64_t)bits; break;
	case MODEL_REAL: memcpy(&v.real, &bits, sizeof v.real); break;
	case MODEL_TEXT:
	case MODEL_LIST:
		v.text = intern_get(r->model->words, (uint32_t)bits);
		break;
	}
	return v;
}

struct str
model_param_name(const struct model_result *r, size_t i)
{
	return r->names[i];
}

void
model_value_json(struct buf *b, const struct model_value *v)
{
	char text[NUM_DOUBLE_MAX];

	switch (v->type) {
	case MODEL_NULL: buf_puts(b, "null"); break;
	case MODEL_BOOL: buf_puts(b, v->yes ? "true" : "false"); break;
	case MODEL_INT: json_put_i64(b, v->i); break;
	case MODEL_REAL:
		if (isfinite(v->real))
			buf_put(b, text, num_put_double(text, v->real));
		else
			buf_puts(b, "null");
		break;
	case MODEL_TEXT: json_put_string(b, v->text); break;
	case MODEL_LIST: buf_put(b, v->text.p, v->text.len); break;
	}
}

void
model_params_json(struct buf *b, const struct model_result *r)
{
	buf_putc(b, '{');
	for (size_t i = 0; i < r->nparams; i++) {
		struct model_value v = model_param_at(r, i);

		if (i > 0)
			buf_putc(b, ',');
		json_put_string(b, r->names[i]);
		buf_putc(b, ':');
		model_value_json(b, &v);
	}
	buf_putc(b, '}');
}

bool
model_param(
    const struct model_result *r, struct str name, struct model_value *v)
{
	for (size_t i = 0; i < r->nparams; i++)
		if (str_eq(r->names[i], name)) {
			*v = model_param_at(r, i);
			return true;
		}
	return false;
}

/* ---- keeping them ---- */

/*
 * Compares names by address, as Lua interns short texts. The list keeps them
 * alive: a nil parameter is in no other table.
 */
void
param_add(lua_State *L, int env, int order)
{
	struct models *ms = models_of(L);
	const char *name = lua_tostring(L, -2);

	if (name != NULL && name[0] != '_') {
		size_t i = 0;

		while (i < ms->norder && ms->order_names[i] != name)
			i++;
		if (i == MODEL_PARAMS)
			luaL_error(L, "too many parameters");
		if (i == ms->norder) {
			lua_pushvalue(L, -2);
			lua_rawseti(L, order, (lua_Integer)i + 1);
			ms->order_names[ms->norder++] = name;
		}
	}
	lua_rawset(L, env);
}

/* Our copy of the names, usually that of the entry's latest result. */
static const struct str *
param_names(struct models *ms, struct model *m, const struct str *names)
{
	size_t n = ms->norder, i = 0;
	struct str *copy;

	while (n == m->nnames && i < n && str_eq(names[i], m->names[i]))
		i++;
	if (n == m->nnames && i == n)
		return m->names;
	copy = arena_alloc(ms->mem, (n + 1) * sizeof *copy);
	for (i = 0; i < n; i++)
		copy[i] = word(ms, names[i]);
	m->names = copy;
	m->nnames = n;
	return copy;
}

void
params_keep(
    lua_State *L, int env, const struct model *m, struct model_result *r)
{
	struct models *ms = models_of(L);
	struct str names[MODEL_PARAMS];
	uint64_t bits[MODEL_PARAMS];
	uint8_t types[MODEL_PARAMS];
	size_t n = ms->norder;
	char *to;

	lua_rawgeti(L, LUA_REGISTRYINDEX, ms->order);
	for (size_t i = 0; i < n; i++) {
		struct packed v;

		lua_rawgeti(L, -1, (lua_Integer)i + 1);
		names[i] = to_str(L, -1);
		lua_rawget(L, env);
		v = pack(L, -1, ms->order_names[i]);
		bits[i] = v.bits;
		types[i] = v.type;
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	r->names = param_names(ms, ms->entries.v[m->number], names);
	to = arena_alloc(ms->mem, n * (sizeof *bits + sizeof *types));
	r->params = memcpy(to, bits, n * sizeof *bits);
	memcpy(to + n * sizeof *bits, types, n);
	r->nparams = (uint8_t)n;
}
