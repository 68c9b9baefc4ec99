/* SPDX-License-Identifier: MIT */
/* model: names, categories, sheets, memory of results, odd arguments. */
#include "model/model.h"
#include "tests/unit/tap.h"

static struct models *ms;

static void
category(const char *name, const char *kernel, const char *want)
{
	struct str got = model_category(ms, str_of(name), str_of(kernel));

	ok(str_eq(got, str_of(want)), "%s is %s", name, want);
	if (!str_eq(got, str_of(want)))
		diag("got %.*s", (int)got.len, got.p);
}

static void
categories(void)
{
	static const char *const catch = "void at::native::(anonymous "
					 "namespace)::CatArrayBatchedCopy<1>";

	category("aten::mm", "", "GEMM");
	category("aten::copy_", "", "elementwise");
	category("aten::cat", catch, "other");
	category("aten::fill_",
	    "void at::native::vectorized_elementwise_kernel<4>", "elementwise");
	category(
	    "aten::argmax", "void at::native::reduce_kernel<512>", "reduce");
	category("aten::_foreach_add_",
	    "void at::native::(anonymous)::multi_tensor_apply_kernel<>",
	    "multi_tensor_apply");
	category("hipLaunchKernel", "void at::native::elementwise_kernel<>",
	    "elementwise");
	category("hipLaunchKernel", "elementwise_kernel", "other");
	category("triton_whatever", "void at::native::reduce_kernel", "triton");
	category("triton_poi_fused_add_0", "", "triton");
	category("record_param_comms", "", "record_param_comms");
	category("aten::miopen_convolution", "", "CONV_fwd");
	category(
	    "aiter::fused_dynamic_mxfp4_quant_moe_sort_hip", "", "MoE_aux");
	category("aiter::v4_attention_with_output->qk_norm_rope_H96_D512_RD64_"
		 "flydsl (Synthetic Op)",
	    "", "FusedRoPE");
	category("aiter::allgather_lastdim<std::bfloat16_t, 8>"
		 "(aiter::RankData*, int) (Synthetic Op)",
	    "", "CustomCollective");
	category("", "", "other");
}

/* The sizes of an op's tensors, in a row. */
static void
sizes(
    const char *dims, const char *types, const char *strides, const char *want)
{
	struct model_op op = { .name = STR_INIT("x"),
		.dims = str_of(dims),
		.types = str_of(types),
		.strides = str_of(strides) };
	model_tensor_vec list = { 0 };
	struct buf b = { 0 };

	if (!model_tensors(ms, &op, &list))
		buf_puts(&b, "none");
	for (size_t i = 0; i < list.n; i++)
		if (isnan(list.v[i].bytes))
			buf_puts(&b, "? ");
		else
			buf_printf(&b, "%.0f ", list.v[i].bytes);
	ok(str_eq(buf_str(&b), str_of(want)), "tensors of %s: %s", dims, want);
	vec_free(&list);
	buf_free(&b);
}

static void
tensors(void)
{
	sizes("[[8,4],[],[4],[]]", "[\"float\",\"Scalar\",\"c10::Half\",\"\"]",
	    "", "128 8 ");
	sizes("[[8,4],[]]", "[\"float\",\"double\"]", "[[0,1],[]]", "16 8 ");
	sizes("[[8,4]]", "[\"float\"]", "[[1,1]]", "44 ");
	sizes("[[8,4]]", "[\"float\"]", "[[1]]", "128 ");
	sizes("[[8,4]]", "[\"float\"]", "{", "128 ");
	sizes("[[[8,4],[2]],[3]]", "[\"TensorList\",\"?\"]", "", "? ? ? ");
	sizes("[[[8,4],[2]]]", "[\"float\"]", "[[[4,1],[0]]]", "128 4 ");
	sizes("[[8,4],[2]]", "[\"float\"]", "", "128 ? ");
	sizes("[[4398046511104,4]]", "[\"float\"]", "", "inf ");
	sizes("[[8796093022207]]", "[\"bool\"]", "", "8796093022207 ");
	sizes("[[],[]]", "[\"\",\"float\"]", "", "4 ");
	sizes("[]", "[]", "", "");
	sizes("null", "[\"float\"]", "", "none");
	sizes("", "[]", "", "none");
	sizes("[[8]", "[\"float\"]", "", "none");
	sizes("[[8]]", "", "", "none");
}

static const struct model_result *
eval(const char *name, const char *dims, const char *types)
{
	struct model_op op = { .name = str_of(name),
		.dims = str_of(dims),
		.types = str_of(types) };

	return model_eval(ms, model_find(ms, op.name), &op, MODEL_FWD);
}

static void
params_are(const struct model_result *r, const char *want)
{
	struct buf b = { 0 };

	model_params_json(&b, r);
	buf_putc(&b, '\0');
	is_str(b.p, want, "parameters");
	buf_free(&b);
}

static void
results(void)
{
	const char *mm = "[[128,64],[64,96]]", *types = "[\"float\",\"float\"]";
	const struct model_result *a = eval("aten::mm", mm, types), *b;
	struct model_value v;
	struct model_stats s = models_stats(ms);

	b = eval("aten::mm", mm, types);
	ok(a == b, "equal keys have one result");
	is_uint(models_stats(ms).hits, s.hits + 1, "which is remembered");
	is_uint(models_stats(ms).evaluated, s.evaluated, "not evaluated");
	b = eval("aten::mm", mm, "[\"float\",\"double\"]");
	ok(a != b && b->bytes == 4 * 128 * 64 + 8 * 64 * 96 + 4 * 128 * 96,
	    "other types, another result");
	is_uint(b->number, a->number + 1, "results are numbered");
	params_are(a,
	    "{\"M\":128,\"N\":96,\"K\":64,\"bias\":false,\"stride_A\":null,"
	    "\"stride_B\":null,\"dtype_A_B\":[\"float\",\"float\"],\"B\":1}");
	ok(model_param(a, STR("K"), &v) && v.i == 64 &&
		!model_param(a, STR("k"), &v),
	    "a parameter by name");
}

static void
kernels_count(void)
{
	const struct str one[] = { STR("Cijk_Ailk_Bjlk_SB_MT64x64x8") };
	const struct str none[] = { STR("something") };
	struct model_op op = { .name = STR("aten::mm"),
		.dims = STR("[[8,4],[4,2]]"),
		.types = STR("[\"float\",\"float\"]"),
		.kernels = one,
		.nkernels = 1 };
	const struct model *m = model_find(ms, op.name);
	const struct model_result *a = model_eval(ms, m, &op, MODEL_FWD);
	const struct model_result *b;
	struct model_value v;

	ok(model_param(a, STR("transpose"), &v) &&
		str_eq(v.text, STR("[false,true]")),
	    "a kernel's name tells the transposition");
	op.kernels = none;
	b = model_eval(ms, m, &op, MODEL_FWD);
	ok(a != b && !model_param(b, STR("transpose"), &v),
	    "other kernels, another key");
	op.name = STR("aten::add");
	op.kernels = one;
	m = model_find(ms, op.name);
	op.dims = STR("[[8,4],[8,4]]");
	a = model_eval(ms, m, &op, MODEL_FWD);
	op.kernels = none;
	ok(a == model_eval(ms, m, &op, MODEL_FWD),
	    "unless the entry doesn't read them");
	ok(model_eval(ms, m, &op, MODEL_BWD)->status == MODEL_SKIPPED,
	    "no backward is defined");
}

/* Products beyond 64 bits become doubles and do not wrap. */
static void
large(void)
{
	const struct model_result *r;

	r = eval("aten::mm",
	    "[[3000000000,3000000000],[3000000000,3000000000]]",
	    "[\"float\",\"float\"]");
	ok(r->status == MODEL_OK && r->flops == 2 * 3e9 * 3e9 * 3e9,
	    "mm of 3e9 cubed: %.17g", r->flops);
	r = eval(
	    "aten::mm", "[[268435456,16],[16,16]]", "[\"float\",\"float\"]");
	ok(r->flops == 2.0 * 268435456 * 256, "an exact one stays exact");
	r = eval(
	    "aten::neg", "[[3037000500,3037000500,3037000500]]", "[\"float\"]");
	ok(str_eq(r->reason,
	       STR("Input Dims has a tensor of more than 2^63 elements")),
	    "elements beyond 64 bits");
	r = eval("aten::neg", "[[-3,-4]]", "[\"float\"]");
	ok(str_eq(r->reason, STR("Input Dims has a negative size")),
	    "negative sizes, whose product is none");
}

static void
odd(const char *dims, const char *types, enum model_status want)
{
	const struct model_result *r = eval("aten::add", dims, types);

	is_int(r->status, want, "add of %s, %s: %.*s", dims, types,
	    (int)r->reason.len, r->reason.p);
}

static void
odd_arguments(void)
{
	odd("", "", MODEL_FAILED);
	odd("null", "", MODEL_FAILED);
	odd("[]", "[]", MODEL_FAILED);
	odd("[[2],[2]]", "", MODEL_OK); /* bytes unknown */
	odd("[[2],[3]]", "[\"float\",\"float\"]", MODEL_FAILED);
	odd("[[2],[2]", "[]", MODEL_FAILED);
	odd("[[2],[2]]x", "[]", MODEL_FAILED);
	odd("[[2.5],[2]]", "[]", MODEL_FAILED);
	odd("[[99999999999999999999],[2]]", "[]", MODEL_FAILED);
	odd("[[2],[[2],[3]]]", "[]", MODEL_FAILED);
	odd("[[2],[[2],3]]", "[]", MODEL_FAILED);
	odd("[[2],\"\"]", "[\"float\",\"Scalar\"]", MODEL_OK);
	odd("[[2],[2]]", "[\"fl\\u006fat\",\"float\"]", MODEL_OK);
	odd("[[2],[2]]", "[1,null]", MODEL_OK);
	odd("[[2],[2]]", "{}", MODEL_FAILED);
	odd("{}", "[]", MODEL_FAILED);
	odd("[[-2],[-2]]", "[\"float\",\"float\"]", MODEL_FAILED);
}

static bool
one_arg(void *ctx, struct str key, struct str *text)
{
	*text = str_of(ctx);
	return str_eq(key, STR("MoE topk"));
}

static void
further_arguments(void)
{
	char two[] = "2", four[] = "4", quoted[] = "\"2\"";
	struct model_op op = { .name = STR("pseudo_op::moe_gptq_awq_up"),
		.dims = STR("[[16,64],[8,32]]"),
		.types = STR("[\"c10::BFloat16\",\"int\"]"),
		.arg = one_arg,
		.ctx = two };
	const struct model *m = model_find(ms, op.name);
	double flops = model_eval(ms, m, &op, MODEL_FWD)->flops;

	ok(flops == 2.0 * 16 * 64 * 16 * 2 * 2, "topk of the callback");
	op.ctx = four;
	ok(model_eval(ms, m, &op, MODEL_FWD)->flops == flops * 2,
	    "is part of the key");
	op.ctx = quoted;
	ok(model_eval(ms, m, &op, MODEL_FWD)->flops == flops,
	    "and may be JSON");
	op.arg = NULL;
	ok(model_eval(ms, m, &op, MODEL_FWD)->status == MODEL_FAILED,
	    "without it the op fails");
	ok(models_stats(ms).nfailed > 0 &&
		models_stats(ms).failed_reason.len > 0,
	    "failures are counted, one is told");
}

static void
sheets(void)
{
	const struct model_sheet *list;
	size_t n = models_sheets(ms, &list);
	struct str name;
	const struct model *m = model_find(ms, STR("aten::mm"));

	ok(n >= 22 && str_eq(list[0].name, STR("GEMM")) && list[0].is_single &&
		str_eq(list[1].name, STR("SDPA")) && !list[1].is_single,
	    "sheets in order");
	ok(models_count(ms) > 300 && models_name(ms, 0, &name) != NULL &&
		name.len > 0,
	    "%zu names", models_count(ms));
	ok(str_starts(m->where, STR("gemm.lua:")) &&
		str_find(model_source(ms, m), STR("dim(1, 1)"), false) > 0,
	    "the formula's place and text");
	ok(model_find(ms, STR("no::such")) == NULL, "no model");
}

int
main(void)
{
	struct buf b = { 0 };

	ms = models_create();
	categories();
	tensors();
	results();
	kernels_count();
	large();
	odd_arguments();
	further_arguments();
	sheets();
	ok(models_load_text(ms, "my.lua",
	       STR("op { names = { 'aten::mm' }, category = 'mine', eval = "
		   "function (_ENV) X = 1 return 7, 8 end } category { name = "
		   "'yours', globs = { 'triton_po*' } } op { globs = { 'my_*' "
		   "}, eval = function () return 1 end }"),
	       &b),
	    "a file of the user");
	ok(eval("aten::mm", "[]", "[]")->flops == 7, "replaces a model");
	category("aten::mm", "", "mine");
	category("triton_poi_fused_add_0", "", "yours");
	ok(model_find(ms, STR("my_op")) != NULL, "adds a prefix");
	models_destroy(ms);
	buf_free(&b);
	done_testing();
}
