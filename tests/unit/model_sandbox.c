/* SPDX-License-Identifier: MIT */
/* model: what a file of entries may not do, and the errors. */
#include "model/model.h"
#include "tests/tools/model-check.h"
#include "tests/unit/tap.h"

static struct models *ms;

/* The file is refused, and the message has this in it. */
static void
refused(const char *text, const char *why)
{
	struct buf b = { 0 };
	bool good = models_load_text(ms, "my.lua", str_of(text), &b);

	buf_putc(&b, '\0');
	if (!ok(!good && strstr(b.p, why) != NULL, "refused: %s", why))
		diag("got '%s' of: %s", b.p, text);
	buf_free(&b);
}

/* An op whose eval does this fails with this reason. */
static void
op_fails(const char *body, const char *why)
{
	struct buf text = { 0 }, b = { 0 };
	struct model_op op = { .name = STR("my::op"),
		.dims = STR("[[2,3],[]]") };
	const struct model_result *r;

	buf_printf(&text,
	    "op { names = { 'my::op' },\n eval = function (_ENV)\n%s\nend }",
	    body);
	if (!models_load_text(ms, "my.lua", buf_str(&text), &b))
		diag("not loaded: %.*s", (int)b.len, b.p);
	r = model_eval(ms, model_find(ms, op.name), &op, MODEL_FWD);
	ok(r->status == MODEL_FAILED &&
		str_find(r->reason, str_of(why), false) >= 0,
	    "fails: %s", why);
	if (r->status != MODEL_FAILED ||
	    str_find(r->reason, str_of(why), false) < 0)
		diag("%s: %.*s", model_status_words[r->status],
		    (int)r->reason.len, r->reason.p);
	buf_free(&text);
	buf_free(&b);
}

static void
files(void)
{
	refused("op {", "my.lua:1: ");
	refused("\n\nx = = 1", "my.lua:3: unexpected symbol near '='");
	refused("\nop { }", "my.lua:2: an op without eval");
	refused("op { names = 'x' }", "an op without eval");
	refused("op { names = 'x', eval = function () end }",
	    "my.lua:1: names must be a list of texts");
	refused("op { names = { 1 }, eval = function () end }",
	    "names must be a list of texts");
	refused(
	    "op { eval = function () end }", "an op without names or globs");
	refused("op { nams = { 'x' } }", "there is no field nams");
	refused("op { 'x' }", "a field without a name");
	refused("op { names = { 'x' }, eval = 'M = 1' }",
	    "eval must be a function (_ENV)");
	refused(
	    "op { names = { 'x' }, eval = function () end, unit = 'cubic' }",
	    "unit must be matrix or vector");
	refused("op { names = { 'x' }, eval = function () end, prec = 'bf16' }",
	    "prec must be an argument's number");
	refused("op { names = { 'x' }, eval = function () end, extra = 1 }",
	    "extra must be true or false");
	refused("op { like = 'aten::mm', names = { 'x' } }",
	    "like must be another entry");
	refused("category { names = { 'x' } }", "a category without name");
	refused("datatype { bytes = 1 }", "a datatype without names");
	refused("sheets { orders = { } }", "there is no field orders");
	refused(
	    "\nop { names = { 'x' }, eval = function () end, sheet = 'No' }",
	    "my.lua:2: sheet No is not declared");
	refused("dim = 1", "my.lua:1: dim is there already");
	refused("string.find = 1",
	    "my.lua:1: the library's find can't be replaced");
	refused("\nop { names = { 'x' }, backward = bakward }",
	    "my.lua:2: bakward is not declared");
	refused("dim(0, 0)", "there is no op here");
	refused("error { }", "an error that is no text");
	refused("while true do end", "too many steps");
	refused("local t = { } for i = 1, 1e9 do t[i] = i end",
	    "not enough memory");
}

static void
absent(void)
{
	static const char *const names[] = { "io", "os", "load", "loadstring",
		"dofile", "loadfile", "require", "package", "debug", "pcall",
		"xpcall", "coroutine", "setmetatable", "getmetatable", "rawset",
		"rawget", "next", "pairs", "print", "collectgarbage", "_G",
		"utf8", "string.rep", "string.format", "string.dump",
		"string.gsub", "table.move", "math.random" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct buf text = { 0 }, why = { 0 };

		buf_printf(
		    &text, "if %s == nil then error('is not') end", names[i]);
		ok(!models_load_text(ms, "my.lua", buf_str(&text), &why) &&
			str_find(buf_str(&why), STR("is not"), false) >= 0,
		    "there is no %s", names[i]);
		buf_free(&text);
		buf_free(&why);
	}
}

static void
evaluations(void)
{
	op_fails("while true do end", "too many steps");
	op_fails("local function f() return f() + 1 end return f()", "");
	op_fails(
	    "local s = 'x' while true do s = s .. s end", "not enough memory");
	op_fails("local t = { } for i = 1, 1e5 do t[i] = { i } end "
		 "for i = 1, 1e5 do t[i] = { t, t, t } end",
	    "too many steps");
	op_fails("local s = ('a'):sub(1, 1) for i = 1, 12 do s = s .. s end "
		 "return s:find('.-b.-b.-b')",
	    "the pattern needs too many steps");
	op_fails("return 1 // 0", "my.lua:3: attempt to");
	op_fails("return dim(7, 0)", "my.lua:3: no argument 7");
	op_fails("return dim(0, 2)", "argument 0 has no dimension 2");
	op_fails("return dim(0, -3)", "argument 0 has no dimension -3");
	op_fails("return nil + 1", "attempt to perform arithmetic on a nil");
	op_fails("fail('so it is')", "so it is");
	op_fails("M = 1", "no FLOPs were returned");
	op_fails("return -1, 0", "the FLOPs are no count");
	op_fails("return 0 / 0, 0", "the FLOPs are no count");
	op_fails("return 1 / 0, 0", "the FLOPs are no count");
	op_fails("return 1, -1", "the bytes are no count");
	op_fails("return 1, 'x'", "the bytes are no number");
	op_fails("f = function () end return 1", "must be a number, a text");
	op_fails("t = { } t[1] = t return 1", "must be a number, a text");
	op_fails("return #kernels()", "reads = { \"kernels\" }");
	op_fails("return annotation()", "reads = { \"annotation\" }");
	op_fails("return argument('k')", "reads = { \"k\" }");
	op_fails("in_forward(function () end)", "reads = { \"forward\" }");
	op_fails("return tostring({ })", "number, text or boolean expected");
	op_fails("return int('x')", "'x' is no whole number");
	op_fails("return num('')", "'' is no number");
	op_fails("return bool('maybe')", "'maybe' is neither True nor False");
	op_fails("op { names = { 'y' } }", "my.lua:3: op is not declared");
	op_fails("return elemz(0)", "my.lua:3: elemz is not declared");
	op_fails("string.find = nil", "the library's find can't be replaced");
	op_fails("table.insert(math, 1)", "the library's 1 can't be replaced");
}

/* The limit of instructions does not count work inside library functions. */
static void
work(void)
{
	static const char why[] = "too much work in a library function";

	op_fails(
	    "local t = { } for i = 1, 1e4 do table.insert(t, 1, i) end", why);
	op_fails("local s = 'x' for i = 1, 20 do s = s .. s end "
		 "for i = 1, 100 do s:find('y', 1, true) end",
	    why);
	op_fails("local s = 'x' for i = 1, 20 do s = s .. s end "
		 "for i = 1, 100 do s:byte(-1) end",
	    why);
	op_fails("local s = 'x' for i = 1, 16 do s = s .. s end "
		 "return contains(s, s:sub(1, 30000) .. 'y')",
	    why);
	op_fails("local s, t = 'x', { } for i = 1, 17 do s = s .. s end "
		 "for i = 1, 50 do t[i] = s .. i end table.sort(t)",
	    why);
	op_fails("for i = 1, 2000 do table.unpack({ }, 1, 1e4) end", why);
	op_fails("local s = 'x' for i = 1, 16 do s = s .. s end "
		 "for i = 1, 400 do s:sub(1, 40000):match('^.-y') end",
	    why);
	op_fails("local s = 'x' for i = 1, 22 do s = s .. s end return #s",
	    "not enough memory");
}

/* A bad op affects only itself: files load and ops run after it. */
static void
goes_on(void)
{
	struct buf why = { 0 };
	struct model_op op = { .name = STR("my::op"), .dims = STR("[[2,3]]") };
	const struct model_result *r;

	ok(models_load_text(ms, "my.lua",
	       STR("op { names = { 'my::op' }, eval = function () M = 1 "
		   "return 1 end }"),
	       &why),
	    "a function without _ENV is loaded");
	r = model_eval(ms, model_find(ms, op.name), &op, MODEL_FWD);
	ok(r->status == MODEL_FAILED &&
		str_find(r->reason, STR("function without _ENV"), false) >= 0,
	    "and fails on its op: %.*s", (int)r->reason.len, r->reason.p);
	ok(models_load_text(ms, "my.lua",
	       STR("op { names = { 'my::op' }, eval = function (_ENV) M = "
		   "dim(0, 1) return M, unknown end }"),
	       &why),
	    "it is replaced");
	r = model_eval(ms, model_find(ms, op.name), &op, MODEL_FWD);
	ok(r->status == MODEL_OK && r->flops == 3 && isnan(r->bytes) &&
		r->nparams == 1,
	    "and works");
	ok(models_check(ms, NULL, NULL, NULL, NULL) == 0,
	    "all built-in examples still hold");
	buf_free(&why);
}

int
main(void)
{
	ms = models_create();
	files();
	absent();
	evaluations();
	work();
	goes_on();
	models_destroy(ms);
	done_testing();
}
