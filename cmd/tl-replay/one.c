/* SPDX-License-Identifier: MIT */
/*
 * One op as plain code, for a bug report. Its arguments come from the IR, whose
 * strings become string literals.
 */
#include "cmd/tl-replay/replay.h"
#include "json/json.h"

/* PyTorch's names for types that C++ names otherwise. */
static const char *const types[][2] = {
	{ "unsigned char", "uint8" },
	{ "signed char", "int8" },
	{ "short int", "int16" },
	{ "short", "int16" },
	{ "int", "int32" },
	{ "long int", "int64" },
	{ "long", "int64" },
	{ "float", "float32" },
	{ "double", "float64" },
	{ "bool", "bool" },
	{ "c10::Half", "float16" },
	{ "c10::BFloat16", "bfloat16" },
	{ "c10::complex<float>", "complex64" },
	{ "c10::complex<double>", "complex128" },
	{ "c10::Float8_e4m3fn", "float8_e4m3fn" },
	{ "c10::Float8_e4m3fnuz", "float8_e4m3fnuz" },
	{ "c10::Float8_e5m2", "float8_e5m2" },
	{ "c10::Float8_e5m2fnuz", "float8_e5m2fnuz" },
};

static void
put_type(struct buf *out, struct str type)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (str_eq(type, str_of(types[i][0]))) {
			buf_printf(out, "torch.%s", types[i][1]);
			return;
		}
	buf_puts(out, "getattr(torch, ");
	json_put_string(out, type);
	buf_putc(out, ')');
}

/* Lists of numbers are valid Python. */
static void
put_tensor(struct buf *out, const json_items *of)
{
	static const char *const bounds[] = { "low", "high" };

	buf_puts(out, "tensor(");
	for (size_t i = 0; i < 3; i++) {
		static const char *const keys[] = { "shape", "strides",
			"storage_elems" };
		struct str s = json_member_text(of, str_of(keys[i]));

		buf_put(out, s.p, s.len);
		buf_puts(out, ", ");
	}
	put_type(out, json_member_text(of, STR("dtype")));
	buf_puts(out, ", ");
	json_put_string(out, json_member_text(of, STR("init")));
	for (size_t i = 0; i < 2; i++) {
		struct str s = json_member_text(of, str_of(bounds[i]));

		if (s.len > 0)
			buf_printf(
			    out, ", %s=%.*s", bounds[i], (int)s.len, s.p);
	}
	buf_putc(out, ')');
}

static void put_value(
    struct buf *out, struct arena *mem, const struct json_item *v);

static void
put_list(struct buf *out, struct arena *mem, struct str text)
{
	json_items items = { 0 };

	(void)!json_split(&items, mem, text);
	buf_putc(out, '[');
	for (size_t i = 0; i < items.n; i++) {
		buf_puts(out, i > 0 ? ", " : "");
		put_value(out, mem, &items.v[i]);
	}
	buf_putc(out, ']');
	vec_free(&items);
}

/* An object with one member: a word of PyTorch, or a list of tensors. */
static void
put_object(struct buf *out, struct arena *mem, const json_items *of)
{
	struct str key = of->v[0].text, s = of->v[1].text;

	if (json_member(of, STR("shape")) != NULL)
		put_tensor(out, of);
	else if (str_eq(key, STR("list")))
		put_list(out, mem, s);
	else if (str_eq(key, STR("device")))
		buf_puts(out, "device");
	else if (str_eq(key, STR("generator")))
		buf_puts(out, "torch.Generator(device)");
	else if (str_eq(key, STR("float")))
		buf_printf(out, "float(\"%.*s\")", (int)s.len, s.p);
	else if (str_eq(key, STR("str")))
		json_put_string(out, s);
	else if (str_eq(key, STR("assumed")))
		buf_put(out, s.p, s.len);
	else /* dtype, layout, memory_format: our own words */
		buf_printf(out, "torch.%.*s", (int)s.len, s.p);
}

static void
put_value(struct buf *out, struct arena *mem, const struct json_item *v)
{
	json_items of = { 0 };

	switch (v->type) {
	case JSON_T_NULL: buf_puts(out, "None"); break;
	case JSON_T_TRUE: buf_puts(out, "True"); break;
	case JSON_T_FALSE: buf_puts(out, "False"); break;
	case JSON_T_ARRAY: put_list(out, mem, v->text); break;
	case JSON_T_OBJECT:
		if (json_split(&of, mem, v->text) && of.n > 1)
			put_object(out, mem, &of);
		break;
	default: buf_put(out, v->text.p, v->text.len); break;
	}
	vec_free(&of);
}

/*
 * An argument that was not recorded keeps its default, so that those after it
 * are passed by name.
 */
static bool
is_unknown(struct arena *mem, const struct json_item *v)
{
	json_items of = { 0 };
	bool is = v->type == JSON_T_OBJECT && json_split(&of, mem, v->text) &&
	    json_member(&of, STR("unknown")) != NULL;

	vec_free(&of);
	return is;
}

/*
 * Passes arguments by position up to the first one not recorded, and by name
 * after it; *is_named: it was in an earlier list.
 */
static void
put_args(const struct replay *g, struct str list, bool *is_named, bool names,
    struct buf *out)
{
	json_items items = { 0 }, arg = { 0 };

	(void)!json_split(&items, g->mem, list);
	for (size_t i = 0; i < items.n; i++) {
		const struct json_item *v;
		struct str name;

		(void)!json_split(&arg, g->mem, items.v[i].text);
		v = json_member(&arg, STR("value"));
		name = json_member_text(&arg, STR("arg_name"));
		if (v == NULL || is_unknown(g->mem, v)) {
			*is_named = true;
			continue;
		}
		if (*is_named != names)
			continue;
		buf_puts(out, "    ");
		if (names) {
			json_put_string(out, name);
			buf_puts(out, ": ");
		}
		put_value(out, g->mem, v);
		buf_puts(out, ",");
		if (!names)
			buf_printf(out, "  # %.*s", (int)name.len, name.p);
		buf_putc(out, '\n');
	}
	vec_free(&items);
	vec_free(&arg);
}

static void
put_both(const struct replay *g, struct str ir, bool names, struct buf *out)
{
	json_items lists = { 0 };
	bool is_named = false;

	(void)!json_split(&lists, g->mem, ir);
	put_args(g, json_member_text(&lists, STR("list_pos_args")), &is_named,
	    names, out);
	is_named = true;
	put_args(g, json_member_text(&lists, STR("list_kwargs")), &is_named,
	    names, out);
	vec_free(&lists);
}

static void
put_called(const struct op *op, struct buf *out)
{
	const struct schema *s = op->form.schema;
	struct str name = op->form.name;
	ptrdiff_t colons = str_find(name, STR("::"), false);
	struct str parts[2] = { { name.p, (size_t)colons },
		{ name.p + colons + 2, name.len - (size_t)colons - 2 } };

	buf_puts(out, "getattr(getattr(torch.ops, ");
	json_put_string(out, parts[0]);
	buf_puts(out, "), ");
	json_put_string(out, parts[1]);
	buf_putc(out, ')');
	if (s != NULL)
		buf_printf(out, ".%.*s",
		    s->overload.len > 0 ? (int)s->overload.len : 7,
		    s->overload.len > 0 ? s->overload.p : "default");
}

void
one_put(const struct replay *g, struct buf *out)
{
	const struct op *op = g->ops.v;
	struct buf uid = { 0 };

	if (op->ir.len == 0 || op->triton != NULL)
		die("%.*s: %s", (int)op->form.name.len, op->form.name.p,
		    op->missing.len > 0
			? op->missing.p
			: "a Triton kernel: --script FILE can run it, --one "
			  "cannot");
	uid_text(g, op->first, &uid);
	buf_printf(out, "\n\n# uid %.*s: %zu call%s, ", (int)uid.len, uid.p,
	    op->nruns, op->nruns == 1 ? "" : "s");
	put_real(out, (double)op->gpu_ns / (double)op->nruns / 1e3);
	buf_puts(out, " us of GPU time each\nargs = [\n");
	put_both(g, op->ir, false, out);
	buf_puts(out, "]\nkwargs = {\n");
	put_both(g, op->ir, true, out);
	buf_puts(out, "}\nrun(");
	put_called(op, out);
	buf_puts(out, ", args, kwargs)\n");
	buf_free(&uid);
}
