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

/* As traces of that GPU have it; NULL: no figures. */
static void
device(const char *json, const char *want)
{
	const struct arch *a = arch_load(ms, "auto", str_of(json));

	ok(a == NULL ? want == NULL
		     : want != NULL && str_eq(a->name, str_of(want)),
	    "%s: %s", json, want != NULL ? want : "unknown");
}

/* As deviceProperties, CUDA, nsys and rocprofv3 spell them. */
static void
names(void)
{
	static const char *const names[][2] = {
		{ "Tesla V100-SXM2-16GB", "V100-SXM2" },
		{ "Tesla V100-SXM2-32GB", "V100-SXM2" },
		{ "Tesla V100-PCIE-32GB", "V100-PCIe" },
		{ "Tesla V100-DGXS-32GB", "V100-DGXS" },
		{ "NVIDIA GeForce RTX 2080 Ti", "RTX-2080-Ti" },
		{ "Tesla T4", "T4" },
		{ "NVIDIA A10", "A10" },
		{ "NVIDIA A10G", "A10G" },
		{ "NVIDIA A30", "A30" },
		{ "NVIDIA A40", "A40" },
		{ "NVIDIA A100-SXM4-80GB", "A100" },
		{ "NVIDIA A100-SXM4-40GB", "A100-40GB" },
		{ "NVIDIA A100-PCIE-40GB", "A100-40GB" },
		{ "NVIDIA A100 80GB PCIe", "A100-PCIe" },
		{ "NVIDIA L4", "L4" },
		{ "NVIDIA L40", "L40" },
		{ "NVIDIA L40S", "L40S" },
		{ "NVIDIA H20", "H20" },
		{ "NVIDIA H20-3e", NULL },
		{ "NVIDIA H100", NULL },
		{ "NVIDIA H100 80GB HBM3", "H100-SXM" },
		{ "NVIDIA H100 PCIe", "H100-PCIe" },
		{ "NVIDIA H100 NVL", "H100-NVL" },
		{ "NVIDIA H200", "H200" },
		{ "NVIDIA H200 NVL", "H200-NVL" },
		{ "NVIDIA GH200 480GB", "GH200-96GB" },
		{ "NVIDIA GH200 144G HBM3e", "GH200-144GB" },
		{ "NVIDIA B100", "B100" },
		{ "NVIDIA B200", "B200" },
		{ "NVIDIA B300 SXM6 AC", "B300" },
		{ "NVIDIA GB200", "GB200" },
		{ "NVIDIA GB300", "GB300" },
		{ "NVIDIA GeForce RTX 3090", "RTX-3090" },
		{ "NVIDIA GeForce RTX 3090 Ti", NULL },
		{ "NVIDIA GeForce RTX 4090", "RTX-4090" },
		{ "NVIDIA GeForce RTX 4090 D", NULL },
		{ "NVIDIA GeForce RTX 5090", "RTX-5090" },
		{ "NVIDIA RTX 6000 Ada Generation", "RTX-6000-Ada" },
		{ "NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
		    "RTX-PRO-6000" },
		{ "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
		    NULL },
		{ "NVIDIA RTX PRO 6000 Blackwell Server Edition",
		    "RTX-PRO-6000-Server" },
		{ "AMD Instinct MI100", "MI100" },
		{ "AMD Instinct MI210", "MI210" },
		{ "AMD Instinct MI250X", "MI250X" },
		{ "AMD Instinct MI300A", "MI300A" },
		{ "AMD Instinct MI300X", "MI300X" },
		{ "AMD Instinct MI300X VF", "MI300X" },
		{ "AMD Instinct MI300X_HF", "MI300X" },
		{ "AMD Instinct MI308X", "MI308X" },
		{ "AMD Instinct MI325X", "MI325X" },
		{ "AMD Instinct MI350X", "MI350X" },
		{ "AMD Instinct MI355X", "MI355X" },
		{ "AMD Radeon Pro W7900", "W7900" },
		{ "AMD Radeon PRO W7900", "W7900" },
		{ "HL-225", "Gaudi-2" },
		{ "HL-325L", "Gaudi-3" },
		{ "Intel(R) Data Center GPU Max 1550", "Max-1550" },
		{ "TPU v4", "TPU-v4" },
		{ "TPU v5 lite", "TPU-v5e" },
		{ "TPU v5", "TPU-v5p" },
		{ "TPU v6 Lite", "TPU-v6e" },
		{ "TPU v3", NULL },
		{ "Quadro GP100", NULL },
	};
	char json[128];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		(void)snprintf(
		    json, sizeof json, "[{\"name\":\"%s\"}]", names[i][0]);
		device(json, names[i][1]);
	}
}

static void
devices(void)
{
	device("[{\"name\":\"NVIDIA A100-PG509-200\",\"numSms\":108}]",
	    "A100-40GB");
	/* one name, two GPUs: the number of units tells */
	device("[{\"name\":\"AMD Instinct MI250X / MI250\",\"numSms\":104}]",
	    "MI250");
	device("[{\"name\":\"AMD Instinct MI250X / MI250\",\"numSms\":110}]",
	    "MI250X");
	/* names that don't tell: memory and compute units do */
	device("[{\"name\":\"\",\"totalGlobalMem\":206141652992,"
	       "\"numSms\":304}]",
	    "MI300X");
	device("[{\"name\":\"\",\"totalGlobalMem\":206141652992,"
	       "\"numSms\":80}]",
	    "MI308X");
	device("[{\"name\":\"\",\"totalGlobalMem\":206141652992}]", NULL);
	device("[{\"name\":\"\",\"totalGlobalMem\":85899345920}]", NULL);
	device("[{\"name\":\"gfx942\",\"totalGlobalMem\":206141652992,"
	       "\"numSms\":304}]",
	    "MI300X");
	device("[{\"name\":\"gfx942\"}]", NULL);
	device("[{\"name\":\"AMD Radeon Graphics\",\"totalGlobalMem\":"
	       "68702699520,\"numSms\":110}]",
	    "MI250X");
	/* MI210 and a die of an MI250 are alike */
	device("[{\"name\":\"AMD Radeon Graphics\",\"totalGlobalMem\":"
	       "68702699520,\"numSms\":104}]",
	    NULL);
	/* figures of a GPU are not those of its parts */
	device("[{\"name\":\"NVIDIA H100 80GB HBM3\",\"numSms\":132}]",
	    "H100-SXM");
	device("[{\"name\":\"NVIDIA H100 80GB HBM3 MIG 1g.10gb\","
	       "\"numSms\":16}]",
	    NULL);
	device("[{\"name\":\"NVIDIA A100-SXM4-80GB MIG 3g.40gb\"}]", NULL);
	device("[{\"name\":\"AMD Instinct MI300X\",\"numSms\":38}]", NULL);
	device(
	    "[{\"name\":\"?\"},{\"name\":\"AMD Instinct MI355X\"}]", "MI355X");
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
	is_close(rf.memory_us, 3601920 / 4269e3, "addmm: memory");
	ok(rf.bound == BOUND_COMPUTE && rf.time_us == rf.compute_us, "bound");
	is_close(roofline_of(a, ROOF_PEAK, &r).compute_us,
	    930167808 / 1307.4e12 * 1e6, "addmm against the peak");
	r = (struct model_result){
		.flops = 605184, .bytes = 3631104, .spec = STR("vector_bf16")
	};
	rf = roofline_of(a, ROOF_ACHIEVABLE, &r);
	is_close(rf.time_us, 3631104 / 4269e3, "add: memory");
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
		arch_tflops(a, ROOF_PEAK, STR("matrix_int8")) == 1978.9,
	    "what is not there is no figure");
	ok(arch_has_gbps(a, ROOF_ACHIEVABLE) &&
		arch_gbps(a, ROOF_ACHIEVABLE) == 3056,
	    "a measured bandwidth");
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

/* A clock lower than that of the data sheet. */
static void
clocks(void)
{
	const struct arch *a = arch_load(ms, "h100-sxm:clock=1410", STR(""));
	const struct arch *found = arch_load(ms, "auto:clock=1410",
	    STR("[{\"name\":\"NVIDIA H100 80GB HBM3\"}]"));

	ok(str_eq(a->name, STR("H100-SXM at 1410 MHz")), "says so");
	is_close(arch_tflops(a, ROOF_PEAK, STR("matrix_bf16")),
	    989.4 * 1410 / 1830, "tensor cores");
	is_close(arch_tflops(a, ROOF_PEAK, STR("matrix_fp8_sparse")),
	    3957.8 * 1410 / 1830, "with sparsity");
	is_close(arch_tflops(a, ROOF_PEAK, STR("vector_fp32")),
	    66.9 * 1410 / 1980, "vector units");
	is_close(arch_tflops(a, ROOF_PEAK, STR("matrix_fp64")),
	    66.9 * 1410 / 1980, "whose printed clock fp64 has");
	ok(isnan(arch_tflops(a, ROOF_ACHIEVABLE, STR("matrix_bf16"))),
	    "what was measured at other clocks goes");
	ok(a->mem_gbps[ROOF_PEAK] == 3352 && a->num_cus == 132,
	    "the memory has its own");
	ok(found != NULL &&
		arch_tflops(found, ROOF_PEAK, STR("matrix_tf32")) ==
		    arch_tflops(a, ROOF_PEAK, STR("matrix_tf32")),
	    "of the trace's device");
	ok(arch_load(ms, "auto:clock=1410", STR("")) == NULL,
	    "which may be unknown");
	ok(arch_load(ms, "H100-SXM", STR(""))->rates != a->rates,
	    "the GPU itself stays");
	a = arch_load(ms, "V100-SXM2", STR(""));
	ok(arch_tflops(a, ROOF_PEAK, STR("matrix_tf32")) == 15.7,
	    "without TF32: fp32");
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
proves(const char *name, const char *of, const char *is)
{
	struct buf b = { 0 };

	buf_puts(&b, of);
	gemm_prove(gemm_proofs(str_of(name)), &b);
	ok(str_eq(buf_str(&b), str_of(is)), "%s, of %s: %s", name, of, is);
	buf_free(&b);
}

static void
precisions(void)
{
	const char *xmma = "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize64";

	proves(xmma, "fp32", "tf32");
	proves(xmma, "fp64", "fp64");
	proves(
	    "cutlass_80_tensorop_s1688tf32gemm_128x64_16x3_tn", "fp32", "tf32");
	proves("cutlass_80_tensorop_s1688gemm_128x64_16x6_nn_align4", "fp32",
	    "tf32");
	proves("cutlass_75_tensorop_s1688gemm_fp16_128x64_nn", "fp16", "fp16");
	proves("cutlass_80_simt_sgemm_128x64_8x5_nn", "fp32", "fp32");
	proves("Cijk_Ailk_Bljk_S_MX_B_Bias_MT64x64x32", "fp32", "tf32");
	proves("Cijk_Ailk_Bljk_S_B_Bias_MT64x64x32", "fp32", "fp32");
	proves("ampere_sgemm_128x64_tn", "fp32", "fp32");
	proves("cutlass_80_tensorop_i16832gemm_s8_256x128", "fp8", "int8");
	proves("sm80_xmma_gemm_i8i32_i8i32_i32_tn_n", "fp8", "int8");
	proves("sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n", "fp8", "fp8");
	proves("cutlass_80_tensorop_s16832spgemm_f16_64x64", "fp16",
	    "fp16_sparse");
	proves("aten::_sparse_semi_structured_mm", "bf16", "bf16_sparse");
	proves("sm80_xmma_gemm_f16f16_f16f16_f16_tn_n", "fp16", "fp16_acc16");
	proves("sm80_xmma_gemm_f16f16_f16f32_f32_tn_n", "fp16", "fp16");
	proves("cutlass_80_tensorop_h16816gemm_256x128", "fp16", "fp16_acc16");
	proves("cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_void_f16",
	    "fp16", "fp16");
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
	names();
	devices();
	rooflines();
	clocks();
	kernels();
	precisions();
	fits();
	models_destroy(ms);
	done_testing();
}
