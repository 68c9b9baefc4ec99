/* SPDX-License-Identifier: MIT */
/* Schemas of ops: their text, and which of them a recorded call fits. */
#include "cmd/tl-replay/schema.h"
#include "tests/unit/tap.h"

static struct arena *mem;

static struct schema
parsed(const char *line)
{
	struct schema s;
	const char *error = NULL;

	ok(schema_parse(mem, str_of(line), &s, &error), "read: %s", line);
	return s;
}

static void
test_text(void)
{
	struct schema s = parsed("aten::norm.dim(Tensor self, Scalar? p, "
				 "int[1] dim=[0, 1], bool keepdim=False, *, "
				 "ScalarType? dtype=None) -> Tensor");

	ok(str_eq(s.name, STR("aten::norm")) &&
		str_eq(s.overload, STR("dim")) && s.nargs == 5,
	    "name, overload and arguments");
	ok(str_eq(s.args[2].name, STR("dim")) &&
		str_eq(s.args[2].value, STR("[0, 1]")) && s.args[2].is_list &&
		s.args[2].kind == ARG_INT,
	    "a comma in a default parts no arguments");
	ok(!s.args[3].is_keyword && s.args[4].is_keyword &&
		s.args[4].kind == ARG_DTYPE && s.args[4].may_be_none,
	    "keywords stand behind the star");

	s = parsed("a::b(Tensor(a -> *) x, Tensor(b!)[] y, Tensor?[] z, "
		   "SymInt[2]? n, Dict(str, Tensor) d, "
		   "str m=\"a, (b='\\\"\") -> (Tensor, Tensor(b!)[])");
	ok(s.nargs == 6 && s.overload.len == 0, "brackets and quotes");
	ok(s.args[0].kind == ARG_TENSOR && !s.args[0].is_written,
	    "a view is a tensor");
	ok(s.args[1].kind == ARG_TENSOR && s.args[1].is_list &&
		s.args[1].is_written,
	    "a list that is written");
	ok(s.args[2].is_list && s.args[2].may_hold_none &&
		!s.args[2].may_be_none,
	    "a list of optional tensors");
	ok(s.args[3].kind == ARG_INT && s.args[3].is_list &&
		s.args[3].may_be_none,
	    "an optional list");
	ok(s.args[4].kind == ARG_OTHER && str_eq(s.args[4].name, STR("d")),
	    "a dict");
	ok(str_eq(s.args[5].value, STR("\"a, (b='\\\"\"")), "a quoted text");
	s = parsed("_C::q(Tensor! out, Tensor(a!)? azp, Tensor[](b!) l, "
		   "int[][] i)");
	ok(s.args[0].kind == ARG_TENSOR && s.args[0].is_written,
	    "written, in short");
	ok(s.args[1].kind == ARG_TENSOR && s.args[1].is_written &&
		s.args[1].may_be_none,
	    "optional and written");
	ok(s.args[2].kind == ARG_TENSOR && s.args[2].is_written &&
		s.args[2].is_list,
	    "a list that is written, in its old form");
	ok(s.args[3].kind == ARG_OTHER, "a list of lists");
	ok(parsed("a::b() -> ()").nargs == 0, "no arguments");
	ok(parsed("aten::format(str self, ...) -> str").nargs == 2,
	    "any number of arguments");
}

static void
test_bad_text(void)
{
	static const char *const bad[] = { "", "aten::mm", "aten::mm(Tensor a",
		"(Tensor a)", "a::b(Tensor)", "a::b(Tensor a=)",
		"a::b(, int i)", "a::b(int i) Tensor", "a::b(int i='x)" };
	struct schema s;
	const char *error;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		error = NULL;
		ok(!schema_parse(mem, str_of(bad[i]), &s, &error) &&
			error != NULL,
		    "refused: %s", bad[i]);
	}
}

/* "float|Scalar=1|" is a tensor, the number 1 and nothing. */
static struct arguments
call(const char *text)
{
	static struct recorded list[32];
	size_t n = 0;
	struct str word;

	while (str_next(&text, '|', &word)) {
		const char *eq = memchr(word.p, '=', word.len);
		size_t type = eq != NULL ? (size_t)(eq - word.p) : word.len;

		list[n++] = (struct recorded){
			.type = { word.p, type },
			.value = { word.p + type + (eq != NULL),
			    word.len - type - (eq != NULL) },
		};
	}
	return (struct arguments){ list, n };
}

static void
test_match(void)
{
	static const struct {
		const char *op, *call, *overload; /* NULL: none */
	} cases[] = {
		{ "aten::mm", "c10::Half|c10::Half", "" },
		{ "aten::mm", "c10::Half|c10::Half|c10::Half", "out" },
		{ "aten::mm", "c10::Half|c10::Half|Scalar=6", "dtype" },
		{ "aten::add", "float|double|Scalar=1", "Tensor" },
		{ "aten::add", "float|Scalar=2.|Scalar=1", "Scalar" },
		{ "aten::sum", "float|ScalarList=[0]|Scalar=True|",
		    "dim_IntList" },
		{ "aten::sum", "float|ScalarList=[]|Scalar=False|",
		    "dim_IntList" },
		{ "aten::sum", "float|ScalarList=[1.5]|Scalar=True|", NULL },
		{ "aten::sum", "float|GenericList|Bool|", "dim_IntList" },
		{ "aten::sum", "float|", "" },
		{ "aten::argmax", "float|Scalar=-1|Scalar=False", "" },
		{ "aten::argmax", "float||Scalar=False", "" },
		{ "aten::argmax", "float|Scalar=-1|Scalar=0", NULL },
		{ "aten::cat", "TensorList|Scalar=1", "" },
		{ "aten::index_select", "float|Scalar=0|long int", "" },
		{ "aten::index", "c10::BFloat16|", "Tensor" },
		{ "aten::div", "float|float|", "Tensor_mode" },
		{ "aten::div", "float|float|float", "out" },
		{ "aten::max", "float", "" },
		{ "aten::max", "float|Scalar=1|Scalar=True", "dim" },
		{ "aten::max", "float|float", "other" },
		{ "aten::_softmax", "float|Scalar=-1|Scalar=False", "" },
		{ "aten::clamp", "float|Scalar=-inf|Scalar=0.", "" },
		{ "aten::clamp", "float||float", "Tensor" },
		{ "aten::_foreach_add_", "TensorList|TensorList|Scalar=-0.001",
		    "List" },
		{ "aten::_foreach_add_", "TensorList|Scalar=1e-08", "Scalar" },
		{ "aten::_flash_attention_backward",
		    "float|float|float|float|float|float|||Scalar=5|Scalar=5|"
		    "Scalar=0.|Scalar=True|long|long|Scalar=0.1",
		    "" },
		{ "aten::mm", "float", NULL },
		{ "aten::mm", "float|Scalar=1", NULL },
	};
	struct schemas *set = schemas_create(NULL, 0);
	struct buf why = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arguments args = call(cases[i].call);
		const struct schema *s =
		    schema_match(set, str_of(cases[i].op), &args, &why);

		ok(cases[i].overload == NULL ? s == NULL && why.len > 0
					     : s != NULL &&
			    str_eq(s->overload, str_of(cases[i].overload)),
		    "%s of %s: %s", cases[i].op, cases[i].call,
		    cases[i].overload != NULL ? cases[i].overload : "none");
	}
	struct arguments none = { NULL, 0 };
	ok(schema_match(set, STR("my::op"), &none, &why) == NULL &&
		why.len == 0,
	    "an op of which no schema is known");
	buf_free(&why);
	schemas_destroy(set);
}

int
main(void)
{
	mem = arena_create();
	test_text();
	test_bad_text();
	test_match();
	arena_destroy(mem);
	done_testing();
}
