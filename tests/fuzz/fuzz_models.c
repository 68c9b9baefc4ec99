/* SPDX-License-Identifier: MIT */
/*
 * A user's file of op models: taken whole, or not and with a reason. Accepted
 * entries are evaluated on ops of several shapes, in both ways: they end, and
 * their results are counts or unknown.
 */
#include <stdlib.h>

#include "model/model.h"

#define CHECK(x)                 \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
find_arg(void *ctx, struct str key, struct str *text)
{
	(void)ctx;
	*text = STR("[7,\"x\"]");
	return key.len % 2 == 0;
}

static void
evaluate(struct models *ms, const struct model *m, struct str name)
{
	static const struct str lists[][4] = {
		/* dims, types, strides, concrete */
		{ STR_INIT(""), STR_INIT(""), STR_INIT(""), STR_INIT("") },
		{ STR_INIT("[[8,4],[4,2],[]]"),
		    STR_INIT("[\"float\",\"c10::BFloat16\",\"Scalar\"]"),
		    STR_INIT("[[4,1],[2,1],[]]"),
		    STR_INIT("[\"\",\"\",\"1\"]") },
		{ STR_INIT("[[9223372036854775807,-1],[[0]],\"x\",[1e300]]"),
		    STR_INIT("[\"?\",\"float\"]"), STR_INIT("[[0]]"),
		    STR_INIT("[\"[1, 2]\",\"False\",\"nan\"]") },
	};
	static const struct str kernels[] = { STR_INIT("gemm_128x64"),
		STR_INIT("\xff") };

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		struct model_op other = { .name = STR("aten::mm"),
			.dims = lists[1][0],
			.types = lists[1][1] };
		struct model_op op = { name, lists[i][0], lists[i][1],
			lists[i][2], lists[i][3], STR(""), kernels, 2,
			STR("execute_context_1(4)_generation_2(2)"), &other,
			&other, find_arg, NULL };

		for (int way = MODEL_FWD; way <= MODEL_BWD; way++) {
			const struct model_result *r =
			    model_eval(ms, m, &op, (enum model_way)way);
			struct buf b = { 0 };

			CHECK(r->status != MODEL_OK || r->flops >= 0);
			CHECK(r->status != MODEL_OK || isnan(r->bytes) ||
			    r->bytes >= 0);
			CHECK(r->status != MODEL_FAILED || r->reason.len > 0);
			if (r->status == MODEL_OK)
				model_params_json(&b, r);
			buf_free(&b);
		}
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct models *ms = models_create();
	struct buf why = { 0 };
	struct str name;

	if (models_load_text(ms, "fuzz.lua",
		(struct str){ (const char *)data, size }, &why)) {
		for (size_t i = 0, n = models_count(ms); i < n; i++) {
			const struct model *m = models_name(ms, i, &name);

			if (m != NULL && !m->is_builtin)
				evaluate(ms, m, name);
		}
	} else {
		CHECK(why.len > 0);
	}
	buf_free(&why);
	models_destroy(ms);
	return 0;
}
