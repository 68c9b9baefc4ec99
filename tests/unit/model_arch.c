/* SPDX-License-Identifier: MIT */
/* model: GPUs, rooflines, and what kernels of GEMMs are named. */
#include "model/arch.h"
#include "model/gemm.h"
#include "tests/unit/tap.h"

static struct models *ms;

static void
is_close(double got, double want, const char *what)
{
	ok(fabs(got - want) <= 1e-9 * fabs(want), "%s is %.15g", what, want);
	if (!(fabs(got - want) <= 1e-9 * fabs(want)))
		diag("got %.17g", got);
}

static void
device(const char *json, const char *want)
{
	const struct arch *a = arch_load(ms, "auto", str_of(json));

	ok(a == NULL ? want == NULL
		     : want != NULL && str_eq(a->name, str_of(want)),
	    "%s: %s", json, want != NULL ? want : "unknown");
}

static void
devices(void)
{
	device("[{\"id\":0,\"name\":\"AMD Instinct MI300X\"}]", "MI300X");
	device("[{\"name\":\"AMD Instinct MI300X VF\"}]", "MI300X");
	device("[{\"name\":\"\",\"totalGlobalMem\":206141652992}]", "MI300X");
	device("[{\"name\":\"\",\"totalGlobalMem\":85899345920}]", NULL);
	device("[{\"name\":\"NVIDIA H100 80GB HBM3\"}]", "H100-SXM");
	device("[{\"name\":\"NVIDIA H100 PCIe\"}]", "H100-PCIe");
	device("[{\"name\":\"NVIDIA H200\"}]", "H200");
	device("[{\"name\":\"NVIDIA GH200 480GB\"}]", NULL);
	device("[{\"name\":\"NVIDIA B200\"}]", "B200");
	device("[{\"name\":\"NVIDIA A100-SXM4-80GB\"}]", "A100");
	device("[{\"name\":\"NVIDIA A100-SXM4-40GB\"}]", "A100-40GB");
	device("[{\"name\":\"NVIDIA A100-PCIE-40GB\"}]", "A100-40GB");
	device("[{\"name\":\"NVIDIA A100-PG509-200\",\"numSms\":108}]",
	    "A100-40GB");
	device("[{\"name\":\"NVIDIA A100 80GB PCIe\"}]", "A100-PCIe");
	device("[{\"name\":\"AMD Instinct MI325X\"}]", "MI325X");
	device("[{\"name\":\"AMD Instinct MI250X\"}]", "MI250X");
	device("[{\"name\":\"AMD Instinct MI210\"}]", NULL);
	device("[{\"name\":\"NVIDIA H200 NVL\"}]", NULL);
	device("[{\"name\":\"NVIDIA H100 NVL\"}]", NULL);
	device("[{\"name\":\"NVIDIA GB200\"}]", NULL);
	device("[{\"name\":\"NVIDIA H100\"}]", NULL);
	/* names that don't tell: memory and compute units do */
	device("[{\"name\":\"gfx942\",\"totalGlobalMem\":206141652992,"
	       "\"numSms\":304}]",
	    "MI300X");
	device("[{\"name\":\"gfx942\"}]", NULL);
	device("[{\"name\":\"AMD Radeon Graphics\",\"totalGlobalMem\":"
	       "68702699520,\"numSms\":110}]",
	    "MI250X");
	device("[{\"name\":\"AMD Radeon Graphics\",\"totalGlobalMem\":"
	       "68702699520,\"numSms\":104}]",
	    NULL);
	/* parts of a GPU have not its figures */
	device("[{\"name\":\"NVIDIA H100 80GB HBM3\",\"numSms\":132}]",
	    "H100-SXM");
	device("[{\"name\":\"NVIDIA H100 80GB HBM3 MIG 1g.10gb\","
	       "\"numSms\":16}]",
	    NULL);
	device("[{\"name\":\"NVIDIA A100-SXM4-80GB MIG 3g.40gb\"}]", NULL);
	device("[{\"name\":\"AMD Instinct MI300X\",\"numSms\":38}]", NULL);
	device("[{\"name\":\"Tesla V100-SXM2-32GB\"}]", NULL);
	device(
	    "[{\"name\":\"?\"},{\"name\":\"AMD Instinct MI355X\"}]", "MI355X");
	device("[{\"name\":\"TPU v6 Lite\"}]", "TPU-v6e");
	device("[{\"name\":\"TPU v5 lite\"}]", "TPU-v5e");
	device("[{\"name\":\"TPU v5\"}]", "TPU-v5p");
	device("[{\"name\":\"TPU v3\"}]", NULL);
	device("[{\"name\":\"gfx1030\",\"totalGlobalMem\":17163091968}]", NULL);
	device("[{\"name\":1", NULL);
	device("", NULL);
}

/* The worked examples of the specification. */
static void
rooflines(void)
{
	const struct arch *a = arch_load(ms, "mi300x", STR(""));
	struct model_result r = {
		.flops = 930167808, .bytes = 3601920, .spec = STR("matrix_bf16")
	};
	struct roofline rf = roofline_of(a, ROOF_ACHIEVABLE, &r);

	is_close(rf.compute_us, 1.313796338983051, "addmm: compute");
	is_close(rf.memory_us, 0.679607547169811, "addmm: memory");
	ok(rf.bound == BOUND_COMPUTE && rf.time_us == rf.compute_us, "bound");
	is_close(roofline_of(a, ROOF_PEAK, &r).compute_us,
	    930167808 / 1307.4e12 * 1e6, "addmm against the peak");
	r = (struct model_result){
		.flops = 605184, .bytes = 3631104, .spec = STR("vector_bf16")
	};
	rf = roofline_of(a, ROOF_ACHIEVABLE, &r);
	is_close(rf.time_us, 0.685113962264151, "add: memory");
	ok(rf.bound == BOUND_MEMORY, "bound");
	r.spec = STR("");
	rf = roofline_of(a, ROOF_ACHIEVABLE, &r);
	ok(isnan(rf.compute_us) && rf.bound == BOUND_MEMORY,
	    "without a rate the memory decides");
	r.flops = 0;
	ok(roofline_of(a, ROOF_ACHIEVABLE, &r).bound == BOUND_MEMORY,
	    "without FLOPs too");
	r.bytes = NAN;
	rf = roofline_of(a, ROOF_ACHIEVABLE, &r);
	ok(rf.bound == BOUND_NONE && isnan(rf.time_us),
	    "without bytes nothing does");
	ok(roofline_of(NULL, ROOF_PEAK, &r).bound == BOUND_NONE, "no GPU");
	a = arch_load(ms, "H100-SXM", STR(""));
	ok(isnan(arch_tflops(a, ROOF_ACHIEVABLE, STR("matrix_int8"))) &&
		arch_tflops(a, ROOF_PEAK, STR("matrix_int8")) == 1978.9 &&
		!arch_has_gbps(a, ROOF_ACHIEVABLE) &&
		arch_gbps(a, ROOF_ACHIEVABLE) == 3352,
	    "null is no figure");
	r = (struct model_result){
		.flops = 1e12, .bytes = 8, .spec = STR("matrix_int8")
	};
	rf = roofline_of(a, ROOF_ACHIEVABLE, &r);
	is_close(rf.compute_us, 1e6 / 1978.9, "the peak stands in");
	ok(rf.roof == ROOF_PEAK, "and it says so");
	r.spec = STR("matrix_bf16");
	rf = roofline_of(a, ROOF_ACHIEVABLE, &r);
	is_close(rf.compute_us, 1e6 / 794.5, "a measured rate");
	ok(rf.roof == ROOF_ACHIEVABLE, "and that");
}

/* ---- the built-in files ---- */

static const char *const specs[] = { "matrix_fp4", "matrix_fp6", "matrix_fp8",
	"matrix_int8", "matrix_fp16", "matrix_bf16", "matrix_tf32",
	"matrix_fp32", "matrix_fp64", "vector_fp16", "vector_bf16",
	"vector_fp32", "vector_fp64", NULL };

/* Is the peak of one times so much of another, within the sheets' rounding? */
static bool
is_times(
    const struct arch *a, const char *more, double factor, const char *less)
{
	double x = arch_tflops(a, ROOF_PEAK, str_of(more));
	double y = arch_tflops(a, ROOF_PEAK, str_of(less)) * factor;

	return (isnan(x) && factor > 1) || fabs(x - y) <= 0.01 * y;
}

/*
 * Every spec is named, null or not; what both makers have had for all their
 * chips here is there; no measured rate is above the peak.
 */
static bool
is_complete(const struct arch *a)
{
	bool good = a->nrates == sizeof specs / sizeof *specs - 1;

	for (size_t i = 0; specs[i] != NULL; i++) {
		double peak = arch_tflops(a, ROOF_PEAK, str_of(specs[i]));
		double got = arch_tflops(a, ROOF_ACHIEVABLE, str_of(specs[i]));
		bool found = false;

		for (size_t k = 0; k < a->nrates; k++)
			found |= str_eq(a->rates[k].spec, str_of(specs[i]));
		if (!found || got > peak || (!isnan(got) && isnan(peak)))
			diag("%s: peak %g, achievable %g", specs[i], peak, got);
		good &= found && !(got > peak) && (isnan(got) || !isnan(peak));
		good &= !isnan(peak) || i < 3 ||
		    strcmp(specs[i], "matrix_tf32") == 0;
	}
	return good &&
	    !isnan(arch_tflops(a, ROOF_ACHIEVABLE, STR("matrix_bf16"))) &&
	    !(a->mem_gbps[ROOF_ACHIEVABLE] > a->mem_gbps[ROOF_PEAK]);
}

/* A rate with sparsity among dense ones would break these. */
static bool
is_dense(const struct arch *a)
{
	bool is_amd = str_starts(a->name, STR("MI"));
	bool is_cdna2 = str_eq(a->name, STR("MI250X"));

	return is_times(a, "matrix_bf16", 1, "matrix_fp16") &&
	    is_times(a, "matrix_int8", is_cdna2 ? 1 : 2, "matrix_fp16") &&
	    is_times(a, "matrix_fp8", 2, "matrix_fp16") &&
	    is_times(a, "matrix_fp6", is_amd ? 4 : 2, "matrix_fp16") &&
	    is_times(a, "matrix_fp4", 4, "matrix_fp16") &&
	    (isnan(arch_tflops(a, ROOF_PEAK, STR("matrix_tf32"))) ||
		is_times(a, "matrix_fp16", 2, "matrix_tf32")) &&
	    (is_amd || is_times(a, "matrix_fp32", 1, "vector_fp32")) &&
	    arch_tflops(a, ROOF_PEAK, STR("vector_fp64")) <=
	    arch_tflops(a, ROOF_PEAK, STR("vector_fp32"));
}

static void
every_arch(void)
{
	const struct arch *const *list;
	size_t n = arch_list(ms, &list);

	is_uint(n, 15, "GPUs and TPUs");
	for (size_t i = 0; i < n; i++) {
		const struct arch *a = list[i];

		if (str_starts(a->name, STR("TPU"))) {
			/* memory would make GPUs without a name TPUs */
			ok(isnan(a->memory_gb) &&
				a->mem_gbps[ROOF_PEAK] > 800 &&
				arch_tflops(a, ROOF_PEAK, STR("matrix_bf16")) >
				    0,
			    "a TPU has a bandwidth and a rate");
			continue;
		}
		ok(is_complete(a), "%.*s has all rates, none above its peak",
		    (int)a->name.len, a->name.p);
		ok(is_dense(a), "whose peaks are dense");
		ok(a->mem_gbps[ROOF_PEAK] > 1000 &&
			a->mem_gbps[ROOF_PEAK] < 10000 && a->memory_gb >= 40 &&
			a->num_cus >= 100,
		    "and the other figures");
	}
}

static void
kernel(const char *name, enum gemm_kind kind, int a, int b, int64_t m,
    int64_t n, int64_t depth)
{
	struct gemm_kernel k;
	bool found = gemm_kernel_parse(str_of(name), &k);

	ok(kind == GEMM_NONE
		? !found
		: found && k.kind == kind && k.trans_a == a && k.trans_b == b &&
		    k.tile_m == m && k.tile_n == n && k.depth == depth,
	    "%s", name);
	if (found)
		diag("kind %d, %d %d, %" PRId64 "x%" PRId64 "x%" PRId64, k.kind,
		    k.trans_a, k.trans_b, k.tile_m, k.tile_n, k.depth);
}

static void
kernels(void)
{
	kernel("Cijk_Ailk_Bljk_BBS_BH_Bias_MT64x16x64_MI16", GEMM_TENSILE, 0, 0,
	    64, 16, 64);
	kernel("Custom_Cijk_Alik_Bjlk_X", GEMM_TENSILE, 1, 1, 0, 0, 0);
	kernel("nvjet_tst_192x192_64x4_2x1_v_bz_coopA_TNT", GEMM_NVJET, 1, 0,
	    192, 192, 64);
	kernel("nvjet_hsh_x", GEMM_NONE, 0, 0, 0, 0, 0);
	kernel("Cijk_SB", GEMM_NONE, 0, 0, 0, 0, 0);
	kernel("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_"
	       "bf16_128x64_32x6_tn_align8>(Params)",
	    GEMM_CUTLASS, 1, 0, 128, 64, 32);
	kernel("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x64_stage3_"
	       "warpsize2x2x1_tensor16x8x8_kernel",
	    GEMM_CUTLASS, 1, 0, 64, 64, 64);
	kernel("void cutlass::device_kernel<cutlass3x_sm90_tensorop_"
	       "s64x128x16gemm_bf16_bf16_f32_void_bf16_128x256x64_2x1x1_0_"
	       "ntn_align8_warpspecialized>(Params)",
	    GEMM_CUTLASS, 0, 1, 128, 256, 64);
	kernel("cutlass_x_tt", GEMM_NONE, 0, 0, 0, 0, 0);
	kernel("RR_GEMM_x", GEMM_RR, -1, -1, 0, 0, 0);
	kernel("void at::native::vectorized_elementwise_kernel<4>", GEMM_NONE,
	    0, 0, 0, 0, 0);
	kernel("", GEMM_NONE, 0, 0, 0, 0, 0);
}

static void
fits(void)
{
	struct gemm_kernel k = { .tile_m = 256, .tile_n = 64 };
	struct gemm_fit f;

	/* BLAS 10240 x 2048: N along tile_m */
	ok(gemm_fit(&k, 1, 2048, 10240, 304, &f) && f.tiles == 1280, "tiles");
	is_close(f.tile_eff, 1, "tile efficiency");
	is_close(f.wave_eff, 1280.0 / 1520, "wave efficiency");
	k.tile_n = 144;
	ok(gemm_fit(&k, 1, 10240, 2048, 304, &f) && f.tiles == 576, "tiles");
	is_close(f.tile_eff, 10240.0 / (72 * 144), "tile efficiency");
	is_close(f.dim_eff, 10240.0 / (72 * 144) * 576 / 608, "efficiency");
	k.tile_m = 0;
	ok(!gemm_fit(&k, 1, 8, 8, 304, &f), "no tile, no answer");
}

int
main(void)
{
	ms = models_create();
	devices();
	rooflines();
	every_arch();
	kernels();
	fits();
	models_destroy(ms);
	done_testing();
}
