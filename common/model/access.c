/* SPDX-License-Identifier: MIT */
/*
 * What an entry may call about the op's lists. Arguments and dimensions are
 * numbered from 0, as in PyTorch's documentation, negative dimensions from the
 * end. Lists passed to Lua start at 1, as usual there.
 */
#include "model/priv.h"

/* ---- shapes ---- */

int
lacks(lua_State *L, const char *fmt, ...)
{
	va_list ap;

	models_of(L)->lacks = true;
	luaL_where(L, 1);
	va_start(ap, fmt);
	lua_pushvfstring(L, fmt, ap);
	va_end(ap);
	lua_concat(L, 2);
	return lua_error(L);
}

static struct op_view *
need(lua_State *L, enum view_list list)
{
	struct models *ms = models_of(L);
	const char *error;

	if (ms->view == NULL || ms->view->op == NULL)
		luaL_error(L, "there is no op here: call this from an entry");
	error = view_need(ms->view, list);
	if (error != NULL)
		lacks(L, "%s", error);
	return ms->view;
}

void
push_size(lua_State *L, int64_t i)
{
	if (models_of(L)->as_float)
		lua_pushnumber(L, (lua_Number)i);
	else
		lua_pushinteger(L, i);
}

/* Argument i of the dims or strides, or NULL. */
static const struct view_arg *
arg_of(lua_State *L, enum view_list list, int i)
{
	struct shapes *s = &need(L, list)->shapes[list];
	lua_Integer n = luaL_checkinteger(L, i);

	return n >= 0 && (lua_Unsigned)n < s->args.n ? &s->args.v[n] : NULL;
}

static const struct view_arg *
must_arg(lua_State *L, int i)
{
	const struct view_arg *a = arg_of(L, VIEW_DIMS, i);

	if (a == NULL)
		lacks(L, "no argument %d", (int)luaL_checkinteger(L, i));
	return a;
}

/* The shape of an argument that is not a list of tensors. */
static const struct view_leaf *
must_leaf(lua_State *L, int i)
{
	const struct view_arg *a = must_arg(L, i);

	if (a->is_list)
		lacks(L, "argument %d is a list of tensors",
		    (int)luaL_checkinteger(L, i));
	return &models_of(L)->view->shapes[VIEW_DIMS].leaves.v[a->first];
}

static void
push_leaf(lua_State *L, const struct shapes *s, const struct view_leaf *leaf)
{
	lua_createtable(L, (int)leaf->n, 0);
	for (uint32_t k = 0; k < leaf->n; k++) {
		push_size(L, s->ints.v[leaf->first + k]);
		lua_rawseti(L, -2, k + 1);
	}
}

/* A shape; for a list of tensors, the list of their shapes. */
static void
push_arg(lua_State *L, const struct shapes *s, const struct view_arg *a)
{
	if (!a->is_list) {
		push_leaf(L, s, &s->leaves.v[a->first]);
		return;
	}
	lua_createtable(L, (int)a->n, 0);
	for (uint32_t i = 0; i < a->n; i++) {
		push_leaf(L, s, &s->leaves.v[a->first + i]);
		lua_rawseti(L, -2, i + 1);
	}
}

static int
a_nargs(lua_State *L)
{
	struct op_view *v = need(L, VIEW_DIMS);

	lua_pushinteger(L, (lua_Integer)v->shapes[VIEW_DIMS].args.n);
	return 1;
}

static int
a_dim(lua_State *L)
{
	const struct view_leaf *leaf = must_leaf(L, 1);
	lua_Integer j = luaL_checkinteger(L, 2);
	lua_Integer k = j < 0 ? j + (lua_Integer)leaf->n : j;

	if (k < 0 || k >= (lua_Integer)leaf->n)
		return lacks(L, "argument %d has no dimension %d",
		    (int)luaL_checkinteger(L, 1), (int)j);
	push_size(L,
	    models_of(L)->view->shapes[VIEW_DIMS].ints.v[leaf->first +
		(size_t)k]);
	return 1;
}

static int
a_rank(lua_State *L)
{
	lua_pushinteger(L, (lua_Integer)must_leaf(L, 1)->n);
	return 1;
}

static int
a_shape(lua_State *L)
{
	const struct view_arg *a = must_arg(L, 1);

	push_arg(L, &models_of(L)->view->shapes[VIEW_DIMS], a);
	return 1;
}

/* The shapes of an argument: one tensor's, or those of a list. */
static int
a_tensors(lua_State *L)
{
	const struct view_arg *a = must_arg(L, 1);
	const struct shapes *s = &models_of(L)->view->shapes[VIEW_DIMS];

	lua_createtable(L, (int)a->n, 0);
	for (uint32_t i = 0; i < a->n; i++) {
		push_leaf(L, s, &s->leaves.v[a->first + i]);
		lua_rawseti(L, -2, i + 1);
	}
	return 1;
}

static int
a_has(lua_State *L)
{
	const struct view_arg *a = arg_of(L, VIEW_DIMS, 1);
	const struct shapes *s = &models_of(L)->view->shapes[VIEW_DIMS];

	lua_pushboolean(L,
	    a != NULL && (a->is_list ? a->n > 0 : s->leaves.v[a->first].n > 0));
	return 1;
}

/* A product; becomes a double if it exceeds 64 bits. */
struct product {
	int64_t i;
	double d;
	bool is_real;
};

static void
times(struct product *p, int64_t i)
{
	if (!p->is_real && __builtin_mul_overflow(p->i, i, &p->i))
		p->is_real = true;
	p->d *= (double)i;
}

static int
push_product(lua_State *L, const struct product *p)
{
	if (p->is_real)
		lua_pushnumber(L, p->d);
	else
		push_size(L, p->i);
	return 1;
}

/* The number of elements; for a list of tensors the sum. */
static int
a_elems(lua_State *L)
{
	const struct view_arg *a = must_arg(L, 1);
	const struct shapes *s = &models_of(L)->view->shapes[VIEW_DIMS];
	struct product p = { 1, 1, false };
	double sum = 0;

	for (uint32_t i = 0; i < a->n; i++) {
		const struct view_leaf *leaf = &s->leaves.v[a->first + i];

		p = (struct product){ 1, 1, false };
		for (uint32_t k = 0; k < leaf->n; k++)
			times(&p, s->ints.v[leaf->first + k]);
		sum += p.d;
	}
	if (!a->is_list)
		return push_product(L, &p);
	if (fabs(sum) < 9e15)
		push_size(L, (int64_t)sum);
	else
		lua_pushnumber(L, sum);
	return 1;
}

static int
a_prod(lua_State *L)
{
	struct product p = { 1, 1, false };
	lua_Integer n, first = luaL_optinteger(L, 2, 1);

	luaL_checktype(L, 1, LUA_TTABLE);
	n = (lua_Integer)lua_rawlen(L, 1);
	for (lua_Integer k = first; k <= n; k++) {
		lua_rawgeti(L, 1, k);
		if (luaL_checknumber(L, -1) < 0)
			return lacks(L, "a negative size");
		if (lua_isinteger(L, -1)) {
			times(&p, lua_tointeger(L, -1));
		} else {
			p.is_real = true;
			p.d *= lua_tonumber(L, -1);
		}
		lua_pop(L, 1);
	}
	return push_product(L, &p);
}

static int
a_strides(lua_State *L)
{
	const struct view_arg *a = arg_of(L, VIEW_STRIDES, 1);

	if (a == NULL)
		lua_pushnil(L);
	else
		push_arg(L, &models_of(L)->view->shapes[VIEW_STRIDES], a);
	return 1;
}

/* ---- types and values ---- */

static struct str
text_of(lua_State *L, enum view_list list, int i)
{
	struct texts *x = &need(L, list)->texts[list - VIEW_TYPES];
	lua_Integer n = luaL_checkinteger(L, i);

	if (n < 0 || (lua_Unsigned)n >= x->list.n)
		return (struct str){ "", 0 };
	return (
	    struct str){ x->bytes.p + x->list.v[n].start, x->list.v[n].len };
}

static int
a_dtype(lua_State *L)
{
	push_str(L, text_of(L, VIEW_TYPES, 1));
	return 1;
}

static int
a_value(lua_State *L)
{
	push_str(L, text_of(L, VIEW_CONCRETE, 1));
	return 1;
}

/* Whether the trace has concrete inputs. */
static int
a_has_values(lua_State *L)
{
	struct op_view *v = need(L, VIEW_CONCRETE);

	lua_pushboolean(L, !(v->absent & 1u << VIEW_CONCRETE));
	return 1;
}

static int
a_nvalues(lua_State *L)
{
	struct op_view *v = need(L, VIEW_CONCRETE);

	lua_pushinteger(L, (lua_Integer)v->texts[1].list.n);
	return 1;
}

struct str
dtype_lower(struct str name, char low[DTYPE_NAME_MAX])
{
	if (name.len > DTYPE_NAME_MAX)
		return (struct str){ low, 0 };
	for (size_t i = 0; i < name.len; i++)
		low[i] = name.p[i] >= 'A' && name.p[i] <= 'Z'
		    ? (char)(name.p[i] + 32)
		    : name.p[i];
	return (struct str){ low, name.len };
}

const struct dtype *
dtype_find(struct models *ms, struct str name)
{
	char low[DTYPE_NAME_MAX];
	struct str s = dtype_lower(name, low);
	uint32_t id = intern_find(ms->dtype_names, s, hash_bytes(s.p, s.len));

	return id == INTERN_NONE ? NULL : &ms->dtypes.v[id];
}

static int
push_bytes(lua_State *L, struct str name, int otherwise)
{
	const struct dtype *t = dtype_find(models_of(L), name);

	if (t != NULL && t->bytes == floor(t->bytes))
		push_size(L, (int64_t)t->bytes);
	else if (t != NULL && !isnan(t->bytes))
		lua_pushnumber(L, t->bytes);
	else if (!lua_isnoneornil(L, otherwise))
		lua_pushvalue(L, otherwise);
	else
		lua_pushnumber(L, (lua_Number)NAN);
	return 1;
}

/* size(i[, default]), bytes_of(dtype[, default]) */
static int
a_size(lua_State *L)
{
	return push_bytes(L, text_of(L, VIEW_TYPES, 1), 2);
}

/*
 * bytes(i[, default]): of its distinct addresses; for a list of tensors the
 * sum.
 */
static int
a_bytes(lua_State *L)
{
	const struct view_arg *a = must_arg(L, 1);
	const struct view_arg *steps = arg_of(L, VIEW_STRIDES, 1);
	const struct op_view *v = models_of(L)->view;
	double sum = 0;

	for (uint32_t i = 0; i < a->n; i++)
		sum += view_addresses(v,
		    &v->shapes[VIEW_DIMS].leaves.v[a->first + i],
		    steps != NULL && steps->n == a->n
			? &v->shapes[VIEW_STRIDES].leaves.v[steps->first + i]
			: NULL);
	(void)push_bytes(L, text_of(L, VIEW_TYPES, 1), 2);
	sum *= lua_tonumber(L, -1);
	if (fabs(sum) < 9e15 && sum == floor(sum))
		push_size(L, (int64_t)sum);
	else
		lua_pushnumber(L, sum);
	return 1;
}

static int
a_bytes_of(lua_State *L)
{
	return push_bytes(L, to_str(L, 1), 2);
}

static int
a_precision_of(lua_State *L)
{
	const struct dtype *t = dtype_find(models_of(L), to_str(L, 1));

	if (t == NULL || t->precision.len == 0)
		return 0;
	push_str(L, t->precision);
	return 1;
}

static const luaL_Reg functions[] = {
	{ "bytes", a_bytes },
	{ "bytes_of", a_bytes_of },
	{ "dim", a_dim },
	{ "dtype", a_dtype },
	{ "elems", a_elems },
	{ "has", a_has },
	{ "has_values", a_has_values },
	{ "nargs", a_nargs },
	{ "nvalues", a_nvalues },
	{ "precision_of", a_precision_of },
	{ "prod", a_prod },
	{ "rank", a_rank },
	{ "shape", a_shape },
	{ "size", a_size },
	{ "strides", a_strides },
	{ "tensors", a_tensors },
	{ "value", a_value },
	{ NULL, NULL },
};

void
access_open(lua_State *L, int api)
{
	lua_pushvalue(L, api);
	luaL_setfuncs(L, functions, 0);
	luaL_setfuncs(L, access_text_functions, 0);
	luaL_setfuncs(L, access_op_functions, 0);
	lua_pushnumber(L, (lua_Number)NAN);
	lua_setfield(L, -2, "unknown");
	lua_pop(L, 1);
}
