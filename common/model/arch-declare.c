/* SPDX-License-Identifier: MIT */
/* arch{}: a GPU in a file of models, with the members of a GPU's own file. */
#include "model/priv.h"
#include "json/json.h"

/* A member of rates is an object, as in the file; the others are lists. */
static void
put_object(lua_State *L, int t, struct buf *b)
{
	bool is_first = true;

	buf_putc(b, '{');
	for (lua_pushnil(L); lua_next(L, t) != 0; lua_pop(L, 1)) {
		if (lua_type(L, -2) != LUA_TSTRING)
			luaL_error(L, "a field without a name");
		if (!is_first)
			buf_putc(b, ',');
		is_first = false;
		json_put_string(b, to_str(L, -2));
		buf_putc(b, ':');
		if (lua_istable(L, -1) && lua_rawlen(L, -1) == 0)
			put_object(L, lua_gettop(L), b);
		else if (!lua_json(L, -1, 0, b))
			luaL_error(L, "%s can't be read", lua_tostring(L, -2));
	}
	buf_putc(b, '}');
}

int
d_arch(lua_State *L)
{
	static const char *const fields[] = { "devices", "freq_mhz",
		"gemm_units_per_cu", "l1_bw_gbps", "max_achievable_mem_bw_gbps",
		"max_achievable_tflops", "mem_bw_gbps", "memory_gb", "name",
		"num_cus", "peak_tflops", "sources", NULL };
	static const char pad[IN_PAD];
	struct models *ms = models_of(L);
	struct buf *b = &ms->text;
	const char *error;
	size_t n;

	known_fields(L, 1, fields);
	b->len = 0;
	put_object(L, 1, b);
	n = b->len;
	buf_put(b, pad, sizeof pad);
	error = arch_declare(
	    ms, (struct str){ b->p, n }, ms->files.v[ms->files.n - 1].name);
	return error == NULL ? 0 : luaL_error(L, "%s", error);
}
