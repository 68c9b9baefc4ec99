/* SPDX-License-Identifier: MIT */
/*
 * XLA's instructions: the name to look up such an op by, and its object for
 * entries (see METADATA in tl-stream(5)).
 */
#include "model/facts.h"
#include "model/priv.h"
#include "json/json.h"

#define HLO_DEPTH 64 /* nesting in the text */

/* ---- the name to look up ---- */

/* The instruction that names a fusion: the first of these that it holds. */
static const struct str heavy[] = {
	STR_INIT("custom-call"),
	STR_INIT("dot"),
	STR_INIT("ragged-dot"),
	STR_INIT("convolution"),
	STR_INIT("sort"),
	STR_INIT("scatter"),
	STR_INIT("reduce"),
};
#define NHEAVY (sizeof heavy / sizeof *heavy)

/* A TPU has products as convolutions without spatial dimensions. */
static bool
is_product(struct arena *mem, const json_items *of)
{
	json_items conv = { 0 };
	bool is;

	is = json_split(&conv, mem, json_member_text(of, STR("conv"))) &&
	    str_eq(json_member_text(&conv, STR("kernel_spatial")), STR("[]"));
	vec_free(&conv);
	return is;
}

/* Whether a fusion without a body is a product, by XLA's choice of the kernel:
 * "__triton_gemm". */
static bool
is_gemm(struct arena *mem, const json_items *of)
{
	json_items config = { 0 }, fusion = { 0 };
	struct str text = json_member_text(of, STR("config"));
	bool is = json_split(&config, mem, text) &&
	    json_split(&fusion, mem,
		json_member_text(&config, STR("fusion_backend_config"))) &&
	    str_find(json_member_text(&fusion, STR("kind")), STR("gemm"),
		false) >= 0;

	vec_free(&config);
	vec_free(&fusion);
	return is;
}

/* The opcode of a body's first root: what an async-start starts. */
static struct str
wrapped(struct arena *mem, const json_items *body)
{
	json_items in = { 0 };
	struct str opcode = STR("");

	for (size_t i = 0; i < body->n && opcode.len == 0; i++)
		if (json_split(&in, mem, body->v[i].text) &&
		    json_member_text(&in, STR("root")).len > 0)
			opcode = json_member_text(&in, STR("opcode"));
	vec_free(&in);
	return opcode;
}

/*
 * "dot", "custom-call:__cublas$gemm", "async-start:reduce-scatter"; for a
 * fusion, what is in its body.
 */
static void
put_kind(struct arena *mem, const json_items *of, struct buf *b)
{
	struct str opcode = json_member_text(of, STR("opcode"));
	struct str target = json_member_text(of, STR("target"));
	json_items body = { 0 }, in = { 0 };
	bool is_dot = is_product(mem, of);
	size_t found = NHEAVY;

	if (!json_split(&body, mem, json_member_text(of, STR("body"))))
		body.n = 0;
	/* what a start starts runs beside the event shown */
	if (str_eq(opcode, STR("async-start")))
		target = wrapped(mem, &body);
	if (!str_eq(opcode, STR("fusion")))
		body.n = 0;
	else if (body.n == 0)
		is_dot |= is_gemm(mem, of);
	for (size_t i = 0; i < body.n && found > 0; i++) {
		struct str inner;

		if (!json_split(&in, mem, body.v[i].text))
			continue;
		inner = json_member_text(&in, STR("opcode"));
		for (size_t k = 0; k < found; k++)
			if (str_eq(inner, heavy[k])) {
				opcode = inner;
				target = json_member_text(&in, STR("target"));
				is_dot = is_product(mem, &in);
				found = k;
			}
	}
	if (is_dot)
		opcode = STR("dot");
	buf_put(b, opcode.p, opcode.len);
	if (target.len > 0)
		buf_printf(b, ":%.*s", (int)target.len, target.p);
	vec_free(&body);
	vec_free(&in);
}

struct str
model_name(struct models *ms, struct str name, struct str hlo)
{
	struct arena *mem;
	json_items of = { 0 };
	struct buf b = { 0 };

	if (hlo.len == 0 || model_find(ms, name) != NULL)
		return name;
	models_need_hlo(ms);
	mem = arena_create();
	if (json_split(&of, mem, hlo) && of.n > 0) {
		buf_puts(&b, "hlo::");
		put_kind(mem, &of, &b);
		name = word(ms, buf_str(&b));
	}
	vec_free(&of);
	buf_free(&b);
	arena_destroy(mem);
	return name;
}

uint32_t
model_number_of_hlo(
    struct models *ms, struct dict *st, uint32_t name, uint32_t hlo)
{
	bool is_new;
	uint64_t *slot;

	if (ms->hlo_of != st)
		map_free(&ms->hlo_names);
	ms->hlo_of = st;
	slot = map_put(&ms->hlo_names, (uint64_t)name << 32 | hlo, &is_new);
	if (is_new)
		*slot = intern_put(st->text,
		    model_name(ms, dict_get(st, name), dict_get(st, hlo)));
	return (uint32_t)*slot;
}

/* ---- its object in Lua ---- */

static void
bad_text(lua_State *L)
{
	lacks(L, "the argument hlo is no JSON");
}

static void
push_text(lua_State *L, struct json *j)
{
	struct buf *b = &models_of(L)->text;
	const char *error;
	size_t at;

	b->len = 0;
	if (!json_unescape(j->raw, b, &error, &at))
		bad_text(L);
	push_str(L, buf_str(b));
}

/* The value whose first token was just read; null becomes false. */
static void
push_value(lua_State *L, struct json *j, enum json_token t, int depth)
{
	lua_Integer n = 0;
	double d;

	switch (t) {
	case JSON_T_STRING: push_text(L, j); return;
	case JSON_T_NUMBER:
		if (j->num.type == JSON_INT)
			push_size(L, j->num.i);
		else if (num_double(j->raw, &d))
			lua_pushnumber(L, d);
		else
			bad_text(L);
		return;
	case JSON_T_TRUE: lua_pushboolean(L, 1); return;
	case JSON_T_FALSE:
	case JSON_T_NULL: lua_pushboolean(L, 0); return;
	case JSON_T_ARRAY:
	case JSON_T_OBJECT: break;
	default: bad_text(L);
	}
	if (depth == HLO_DEPTH || !lua_checkstack(L, 4))
		bad_text(L);
	lua_newtable(L);
	while (
	    (t = json_next(j)) != JSON_T_ARRAY_END && t != JSON_T_OBJECT_END) {
		bool is_member = t == JSON_T_KEY;

		if (is_member)
			push_text(L, j);
		push_value(L, j, is_member ? json_next(j) : t, depth + 1);
		if (is_member)
			lua_rawset(L, -3);
		else
			lua_rawseti(L, -2, ++n);
	}
}

/* hlo(): the instruction as a table. */
int
a_hlo(lua_State *L)
{
	const struct model_op *op = current_op(L);
	struct str s = op->hlo;
	struct json j;
	char *padded;

	if (s.len == 0)
		return lacks(L, "the trace has no HLO of it");
	padded = lua_newuserdatauv(L, s.len + IN_PAD, 0);
	memcpy(padded, s.p, s.len);
	memset(padded + s.len, 0, IN_PAD);
	json_start(&j, padded, s.len);
	if (json_next(&j) != JSON_T_OBJECT)
		bad_text(L);
	push_value(L, &j, JSON_T_OBJECT, 0);
	return 1;
}
