/* SPDX-License-Identifier: MIT */
/* Categories of kernels by words in their names: no op is known there. */
#include "cmd/tl-kernels/kernels.h"

/* The first rule that fits. Collectives come first: their names have "reduce"
 * and "sum" in them. */
static const struct rule {
	struct str word, class;
} rules_in_order[] = {
	{ STR_INIT("gemm"), STR_INIT("GEMM") },
	{ STR_INIT("matmul"), STR_INIT("GEMM") },
	{ STR_INIT("cijk"), STR_INIT("GEMM") },
	{ STR_INIT("elementwise"), STR_INIT("Elementwise") },
	{ STR_INIT("reduce"), STR_INIT("Reduction") },
	{ STR_INIT("sum"), STR_INIT("Reduction") },
	{ STR_INIT("conv"), STR_INIT("Convolution") },
	{ STR_INIT("norm"), STR_INIT("Normalization") },
	{ STR_INIT("flash"), STR_INIT("Attention") },
	{ STR_INIT("attn"), STR_INIT("Attention") },
	{ STR_INIT("fmha"), STR_INIT("Attention") },
	{ STR_INIT("copy"), STR_INIT("Memory") },
};

struct str
class_of(const struct bucket_rules *rules, struct str name)
{
	if (bucket_of(rules, KIND_KERNEL, name) == BUCKET_COMM)
		return STR("COMM");
	for (size_t i = 0; i < sizeof rules_in_order / sizeof *rules_in_order;
	     i++)
		if (str_find(name, rules_in_order[i].word, true) >= 0)
			return rules_in_order[i].class;
	return STR("Other");
}
