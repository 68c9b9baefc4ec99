/* SPDX-License-Identifier: MIT */
/* Lines of GEMM benchmarks, from the recorded arguments of an op. */
#include "cmd/tl-replay/bench.h"
#include "tests/unit/tap.h"

#define ADDMM                                                           \
	"aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar " \
	"beta=1, Scalar alpha=1)"
#define SCALED                                                                \
	"aten::_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor "  \
	"scale_b, Tensor? bias=None, Tensor? scale_result=None, ScalarType? " \
	"out_dtype=None, bool use_fast_accum=False)"

enum { HIPBLASLT, ROCBLAS, CUBLASLT, CUTLASS };

static const struct schema *
schema(struct arena *mem, const char *line)
{
	struct schema *s = arena_alloc(mem, sizeof *s);
	const char *error;

	if (!schema_parse(mem, str_of(line), s, &error))
		return NULL;
	return s;
}

/* The line, or the reason in brackets. */
static void
line_is(size_t tool, const char *of, const struct recorded *v, size_t n,
    const char *expected)
{
	struct arena *mem = arena_create();
	const struct schema *s = schema(mem, of);
	const struct arguments args = { v, n };
	struct buf out = { 0 }, why = { 0 };

	if (!bench_line(&out, tool, s->name, s, &args, &why)) {
		out.len = 0;
		buf_printf(&out, "(%.*s)", (int)why.len, why.p);
	}
	buf_putc(&out, '\0');
	is_str(out.p, expected, "%s of %.*s", bench_tools[tool],
	    (int)s->name.len, s->name.p);
	buf_free(&out);
	buf_free(&why);
	arena_destroy(mem);
}

#define SIZES(...)          \
	(const int64_t[])   \
	{                   \
		__VA_ARGS__ \
	}
#define MATRIX(t, rows, cols, st0, st1)                                     \
	{                                                                   \
		.type = STR_INIT(t), .dims = SIZES(rows, cols), .ndims = 2, \
		.strides = SIZES(st0, st1), .nstrides = 2                   \
	}
#define BATCH(t, n, rows, cols, st0, st1, st2)                                 \
	{                                                                      \
		.type = STR_INIT(t), .dims = SIZES(n, rows, cols), .ndims = 3, \
		.strides = SIZES(st0, st1, st2), .nstrides = 3                 \
	}
#define VECTOR(t, n)                                               \
	{                                                          \
		.type = STR_INIT(t), .dims = SIZES(n), .ndims = 1, \
		.strides = SIZES(1), .nstrides = 1                 \
	}
#define NUMBER(text)                                                \
	{                                                           \
		.type = STR_INIT("Scalar"), .value = STR_INIT(text) \
	}
#define HALF "c10::Half"
#define BF16 "c10::BFloat16"
#define FP8 "c10::Float8_e4m3fn"

/*
 * A linear layer of 141 tokens, as MI300X ran it with Cijk_Alik_Bljk: A is
 * transposed, and B not.
 */
static void
test_linear(void)
{
	const struct recorded v[] = { VECTOR(BF16, 512),
		MATRIX(BF16, 141, 512, 512, 1), MATRIX(BF16, 512, 512, 1, 512),
		NUMBER("1"), NUMBER("1") };

	line_is(HIPBLASLT, ADDMM, v, 5,
	    "hipblaslt-bench --api_method c -m 512 -n 141 -k 512 --lda 512 "
	    "--ldb 512 --ldc 512 --ldd 512 --stride_a 0 --stride_b 0 "
	    "--stride_c 0 --stride_d 0 --alpha 1 --beta 0 --transA T "
	    "--transB N --batch_count 1 --scaleA 0 --scaleB 0 --a_type "
	    "bf16_r --b_type bf16_r --c_type bf16_r --d_type bf16_r "
	    "--scale_type f32_r --compute_type f32_r --bias_vector "
	    "--bias_type bf16_r --algo_method heuristic "
	    "--requested_solution 200 --cold_iters 5 --iters 30");
	line_is(ROCBLAS, ADDMM, v, 5,
	    "rocblas-bench -f gemm_ex --transposeA T --transposeB N -m 512 "
	    "-n 141 -k 512 --alpha 1 --a_type bf16_r --lda 512 --b_type "
	    "bf16_r --ldb 512 --beta 1 --c_type bf16_r --ldc 512 --d_type "
	    "bf16_r --ldd 512 --compute_type f32_r --cold_iters 5 --iters "
	    "30");
	line_is(CUBLASLT, ADDMM, v, 5,
	    "cublasMatmulBench -P=tst -m=512 -n=141 -k=512 -ta=1 -tb=0 "
	    "-lda=512 -ldb=512 -A=1 -B=0 -T=30");
	line_is(CUTLASS, ADDMM, v, 5,
	    "cutlass_profiler --operation=Gemm --m=141 --n=512 --k=512 "
	    "--A=bf16:row --B=bf16:column --C=bf16:row --D=bf16:row "
	    "--accumulator-type=f32 --alpha=1 --beta=0 --batch_count=1 "
	    "--warmup-iterations=5 --profiling-iterations=30 "
	    "--verification-enabled=false");
}

/* Rows with gaps, a transposed first matrix, an added matrix. */
static void
test_strides(void)
{
	const struct recorded v[] = { MATRIX("float", 5, 7, 7, 1),
		MATRIX("float", 5, 3, 1, 5), MATRIX("float", 3, 7, 16, 1),
		NUMBER("0.5"), NUMBER("2") };

	line_is(ROCBLAS, ADDMM, v, 5,
	    "rocblas-bench -f gemm_ex --transposeA N --transposeB T -m 7 -n "
	    "5 -k 3 --alpha 2 --a_type f32_r --lda 16 --b_type f32_r --ldb "
	    "5 --beta 0.5 --c_type f32_r --ldc 7 --d_type f32_r --ldd 7 "
	    "--compute_type f32_r --cold_iters 5 --iters 30");
}

static void
test_batches(void)
{
	static const char bmm[] = "aten::bmm(Tensor self, Tensor mat2)";
	/* the keys' columns are dense, the queries are shared by all */
	const struct recorded v[] = { BATCH(HALF, 8, 12, 64, 0, 64, 1),
		BATCH(HALF, 8, 64, 20, 1280, 1, 64) };

	line_is(ROCBLAS, bmm, v, 2,
	    "rocblas-bench -f gemm_strided_batched_ex --transposeA T "
	    "--transposeB N -m 20 -n 12 -k 64 --alpha 1 --a_type f16_r "
	    "--lda 64 --b_type f16_r --ldb 64 --beta 0 --c_type f16_r --ldc "
	    "20 --d_type f16_r --ldd 20 --stride_a 1280 --stride_b 0 "
	    "--stride_c 240 --stride_d 240 --batch_count 8 --compute_type "
	    "f32_r --cold_iters 5 --iters 30");
	line_is(CUBLASLT, bmm, v, 2, "(cublasMatmulBench takes no batches)");

	const struct recorded none[] = { BATCH(HALF, 0, 12, 64, 768, 64, 1),
		BATCH(HALF, 0, 64, 20, 1280, 1, 64) };

	line_is(ROCBLAS, bmm, none, 2, "(a matrix is empty or too large)");
}

static void
test_scaled(void)
{
	const struct recorded v[] = { MATRIX(FP8, 16, 4096, 4096, 1),
		MATRIX(FP8, 4096, 6144, 1, 4096), MATRIX("float", 16, 1, 1, 1),
		VECTOR("float", 1), { STR_INIT(""), .dims = NULL },
		{ STR_INIT(""), .dims = NULL }, NUMBER("15"), NUMBER("True") };

	line_is(HIPBLASLT, SCALED, v, 8,
	    "hipblaslt-bench --api_method c -m 6144 -n 16 -k 4096 --lda 4096 "
	    "--ldb 4096 --ldc 6144 --ldd 6144 --stride_a 0 --stride_b 0 "
	    "--stride_c 0 --stride_d 0 --alpha 1 --beta 0 --transA T "
	    "--transB N --batch_count 1 --scaleA 1 --scaleB 2 --a_type f8_r "
	    "--b_type f8_r --c_type bf16_r --d_type bf16_r --scale_type "
	    "f32_r --compute_type f32_r --algo_method heuristic "
	    "--requested_solution 200 --cold_iters 5 --iters 30");
	line_is(ROCBLAS, SCALED, v, 8, "(rocBLAS has no such epilogue)");
	line_is(CUBLASLT, SCALED, v, 8, "(cublasMatmulBench has no such type)");
}

static void
test_none(void)
{
	static const char mm[] = "aten::mm(Tensor self, Tensor mat2)";
	struct recorded v[] = { MATRIX(HALF, 2, 3, 3, 1),
		MATRIX(HALF, 3, 4, 4, 1) };
	struct recorded added[] = { MATRIX(HALF, 2, 4, 4, 1), v[0], v[1],
		NUMBER("1;reboot"), NUMBER("1") };
	const int64_t huge[] = { INT64_MAX, INT64_MAX };

	line_is(ROCBLAS, "aten::relu(Tensor self)", v, 1, "()");
	line_is(ROCBLAS, mm, v, 1, "(it is not a product of two matrices)");
	line_is(ROCBLAS, ADDMM, added, 5, "(beta is no real number)");
	v[1].type = STR("float");
	line_is(ROCBLAS, mm, v, 2, "(its matrices differ in type)");
	v[1].nstrides = 0;
	line_is(ROCBLAS, mm, v, 2, "(its strides are not recorded)");
	v[0].dims = huge;
	line_is(ROCBLAS, mm, v, 2, "(a matrix is empty or too large)");
}

int
main(void)
{
	test_linear();
	test_strides();
	test_batches();
	test_scaled();
	test_none();
	done_testing();
}
