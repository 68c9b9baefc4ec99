/* SPDX-License-Identifier: MIT */
/* What the tensors of an op are filled with. */
#include "cmd/tl-replay/role.h"
#include "tests/unit/tap.h"

/*
 * The role of argument i of a schema whose arguments were recorded as, say,
 * "float[3,4]|Scalar=1".
 */
static void
role_is(const char *line, const char *recorded, size_t i, const char *json)
{
	struct arena *mem = arena_create();
	struct recorded list[16];
	int64_t dims[64];
	size_t n = 0, ndims = 0;
	struct schema s;
	struct buf out = { 0 };
	const char *error;
	struct str word;

	while (str_next(&recorded, '|', &word)) {
		char *p = arena_alloc(mem, word.len + 1);
		char *size, *value;

		memcpy(p, word.p, word.len);
		p[word.len] = '\0';
		list[n] = (struct recorded){ .dims = dims + ndims };
		if ((value = strchr(p, '=')) != NULL) {
			*value++ = '\0';
			list[n].value = str_of(value);
		}
		size = strchr(p, '[');
		if (size != NULL)
			*size++ = '\0';
		while (size != NULL && *size != ']' && *size != '\0') {
			dims[ndims++] = strtoll(size, &size, 10);
			list[n].ndims++;
			size += *size == ',';
		}
		list[n++].type = str_of(p);
	}
	struct arguments args = { list, n };
	if (schema_parse(mem, str_of(line), &s, &error) && s.nargs == n) {
		struct filling r = role_of(s.name, &s, &args, i, list[i].type);

		role_json(&out, &r);
	}
	buf_putc(&out, '\0');
	is_str(out.p, json, "%s: %.*s", line, (int)s.args[i].name.len,
	    s.args[i].name.p);
	buf_free(&out);
	arena_destroy(mem);
}

#define RANGE(fill, high) "\"init\":\"" fill "\",\"low\":0,\"high\":" #high

int
main(void)
{
	static const char select[] =
	    "aten::index_select(Tensor self, int dim, Tensor index)";
	static const char embedding[] =
	    "aten::embedding(Tensor weight, Tensor indices)";
	static const char paged[] =
	    "m::paged(Tensor q, Tensor seq_lens, int max_seq_len)";
	static const char flash[] =
	    "vllm::flash(Tensor q, Tensor k, Tensor(a!) out, Tensor "
	    "cu_seqlens_q, "
	    "Tensor cu_seqlens_k, Tensor block_table, Tensor seen)";
	static const char was[] =
	    "c10::Half[7,8,64]|c10::Half[90,16,2,64]|c10::Half[7,8,64]|int[3]|"
	    "int[3]|int[2,4]|bool[2]";

	role_is(select, "float[10,20]|Scalar=1|long int[5]", 2,
	    RANGE("randint", 20));
	role_is(select, "float[10,20]|Scalar=-2|long int[5]", 2,
	    RANGE("randint", 10));
	role_is(
	    select, "float[30,20]|Int|long int[5]", 2, RANGE("randint", 20));
	role_is(select, "float[10,20]|Scalar=7|long int[5]", 2,
	    RANGE("randint", 1));
	role_is(select, "float[10,20]|Scalar=1|long int[5]", 0,
	    "\"init\":\"normal\"");
	role_is(embedding, "c10::Half[512,64]|long int[9]", 1,
	    RANGE("randint", 512));
	role_is(embedding, "c10::Half[512,64]|signed char[9]", 1,
	    RANGE("randint", 127));
	role_is(flash, was, 2, "\"init\":\"none\"");
	role_is(flash, was, 3, RANGE("offsets", 7));
	role_is(flash, was, 4, RANGE("offsets", 90));
	role_is(flash, was, 5, RANGE("arange", 90));
	role_is(flash, was, 6, "\"init\":\"bernoulli\"");
	role_is("aten::embedding_dense_backward(Tensor grad_output, Tensor "
		"indices, int num_weights)",
	    "float[4,8]|long int[4]|Scalar=100", 1, RANGE("randint", 100));
	role_is("aten::nll_loss_forward(Tensor self, Tensor target)",
	    "float[64,10]|long int[64]", 1, RANGE("randint", 10));
	role_is("aten::max_pool2d_with_indices_backward(Tensor self, Tensor "
		"indices)",
	    "float[2,3,8,9]|long int[2,3,4,4]", 1, RANGE("randint", 72));
	role_is("m::moe(Tensor x, Tensor w1, Tensor topk_ids)",
	    "c10::Half[5,64]|c10::Half[8,64,128]|int[5,2]", 2,
	    RANGE("routing", 8));
	role_is("m::topk(Tensor topk_ids, int num_experts)",
	    "int[5,2]|Scalar=60", 0, RANGE("routing", 60));
	role_is("aten::log(Tensor self)", "float[3]", 0, RANGE("uniform", 1));
	role_is("m::own(Tensor x, Tensor my_index)", "float[11,2]|int[3]", 1,
	    RANGE("randint", 11));
	role_is("m::store(Tensor k, Tensor k_cache, Tensor indices)",
	    "c10::Half[5,8]|c10::Half[70,8]|long[5]", 2, RANGE("arange", 70));
	role_is(paged, "c10::Half[9,8]|int[3]|Scalar=512", 1,
	    "\"init\":\"randint\",\"low\":512,\"high\":513");
	role_is(paged, "c10::Half[9,8]|signed char[3]|Scalar=512", 1,
	    "\"init\":\"randint\",\"low\":126,\"high\":127");
	role_is(paged, "c10::Half[9,8]|int[3]|Scalar", 1,
	    "\"init\":\"randint\",\"low\":1,\"high\":2");
	role_is("m::own(Tensor my_index)", "int[3]", 0, RANGE("randint", 2));
	role_is("m::own(Tensor x)", "int[3]", 0, "\"init\":\"zeros\"");
	role_is("m::own(Tensor x)", "signed char[3]", 0,
	    "\"init\":\"randint\",\"low\":-128,\"high\":128");
	role_is("aten::exp.out(Tensor self, *, Tensor(a!) out)",
	    "float[3]|float[3]", 1, "\"init\":\"none\"");
	role_is(embedding, "c10::Half[9223372036854775807,64]|int[9]", 1,
	    RANGE("randint", 2147483647));
	done_testing();
}
