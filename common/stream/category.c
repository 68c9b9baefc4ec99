/* SPDX-License-Identifier: MIT */
/*
 * Maps categories and Chrome's phases to kinds: the categories of Kineto,
 * today's and those of 2021, and of rocprofv3's buffers. Several formats use
 * them.
 */
#include "stream/category.h"

struct cat_kind {
	struct str cat;
	enum kind kind;
};

static const struct cat_kind cats[] = {
	{ STR_INIT("cpu_op"), KIND_OP },
	{ STR_INIT("cuda_runtime"), KIND_RUNTIME },
	{ STR_INIT("python_function"), KIND_PYTHON },
	{ STR_INIT("kernel"), KIND_KERNEL },
	{ STR_INIT("cuda_driver"), KIND_DRIVER },
	{ STR_INIT("gpu_memcpy"), KIND_MEMCPY },
	{ STR_INIT("gpu_memset"), KIND_MEMSET },
	{ STR_INIT("user_annotation"), KIND_ANNOTATION },
	{ STR_INIT("gpu_user_annotation"), KIND_GPU_ANNOTATION },
	{ STR_INIT("cpu_instant_event"), KIND_MEMORY },
	{ STR_INIT("overhead"), KIND_OVERHEAD },
	{ STR_INIT("Trace"), KIND_SPAN },
	{ STR_INIT("cuda_sync"), KIND_SYNC },
	{ STR_INIT("cuda_event"), KIND_GPU_EVENT },
	/* other back ends */
	{ STR_INIT("xpu_runtime"), KIND_RUNTIME },
	{ STR_INIT("xpu_driver"), KIND_DRIVER },
	{ STR_INIT("xpu_sync"), KIND_SYNC },
	{ STR_INIT("privateuse1_runtime"), KIND_RUNTIME },
	{ STR_INIT("privateuse1_driver"), KIND_DRIVER },
	{ STR_INIT("mtia_runtime"), KIND_RUNTIME },
	{ STR_INIT("glow_runtime"), KIND_RUNTIME },
	{ STR_INIT("hpu_op"), KIND_RUNTIME },
	{ STR_INIT("mtia_ccp_events"), KIND_KERNEL },
	/* Kineto of 2021 */
	{ STR_INIT("Operator"), KIND_OP },
	{ STR_INIT("Runtime"), KIND_RUNTIME },
	{ STR_INIT("Kernel"), KIND_KERNEL },
	{ STR_INIT("Memcpy"), KIND_MEMCPY },
	{ STR_INIT("Memset"), KIND_MEMSET },
	/* rocprofv3's buffers */
	{ STR_INIT("kernel_dispatch"), KIND_KERNEL },
	{ STR_INIT("memory_copy"), KIND_MEMCPY },
	{ STR_INIT("hip_api"), KIND_RUNTIME },
	{ STR_INIT("hsa_api"), KIND_DRIVER },
	{ STR_INIT("marker_api"), KIND_ANNOTATION },
	{ STR_INIT("rccl_api"), KIND_OP },
	{ STR_INIT("rocdecode_api"), KIND_OP },
	{ STR_INIT("rocjpeg_api"), KIND_OP },
	{ STR_INIT("memory_allocation"), KIND_MEMORY },
	{ STR_INIT("scratch_memory"), KIND_MEMORY },
	/* PyTorch's flight recorder */
	{ STR_INIT("flight_recorder"), KIND_ASYNC },
};

static bool
find(struct str cat, enum kind *kind)
{
	for (size_t i = 0; i < sizeof cats / sizeof *cats; i++)
		if (str_eq(cat, cats[i].cat)) {
			*kind = cats[i].kind;
			return true;
		}
	return false;
}

bool
category_kind(struct str cat, enum kind *kind)
{
	while (!find(cat, kind)) {
		const char *comma = memchr(cat.p, ',', cat.len);

		if (comma == NULL)
			return false;
		if (find((struct str){ cat.p, (size_t)(comma - cat.p) }, kind))
			return true;
		cat.len -= (size_t)(comma + 1 - cat.p);
		cat.p = comma + 1;
	}
	return true;
}

/* A phase other than a slice decides, whatever the category. */
static enum kind
kind_of_phase(unsigned char ph)
{
	static const struct {
		const char *phases;
		enum kind kind;
	} kinds[] = {
		{ "XB", KIND_SLICE },
		{ "stf", KIND_FLOW },
		{ "M", KIND_META },
		{ "C", KIND_COUNTER },
		{ "iIR", KIND_INSTANT },
		{ "bneSTpF", KIND_ASYNC },
		{ "NOD", KIND_OBJECT },
		{ "P", KIND_SAMPLE },
		{ "Vv", KIND_DUMP },
		{ "c()", KIND_MARK },
		{ "E", KIND_END },
	};

	for (size_t i = 0; ph != 0 && i < sizeof kinds / sizeof *kinds; i++)
		if (strchr(kinds[i].phases, ph) != NULL)
			return kinds[i].kind;
	return KIND_OTHER;
}

enum kind
kind_of_chrome(struct str cat, bool has_cat, unsigned char ph)
{
	enum kind by_phase = kind_of_phase(ph), kind;

	if (!has_cat || (by_phase != KIND_SLICE && by_phase != KIND_INSTANT) ||
	    !category_kind(cat, &kind))
		return by_phase;
	return (by_phase == KIND_INSTANT) == (kind == KIND_MEMORY) ? kind
								   : by_phase;
}
