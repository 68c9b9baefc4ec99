/* SPDX-License-Identifier: MIT */
/*
 * GEMM benchmarks. BLAS libraries are column-major, tensors row-major: D = A B
 * is computed as D' = B' A', so a library's m is the columns of D, and its
 * first matrix B. A matrix with dense rows is then not transposed.
 */
#include "bench.h"

struct matrix {
	int64_t rows, cols;
	bool is_transposed; /* its columns are dense */
	int64_t ld, batch_stride;
};

struct gemm {
	struct matrix a, b; /* D = A B */
	int64_t batch;      /* 0: matrices without a batch */
	struct str type, out_type;
	struct str alpha, beta;
	bool has_bias; /* a vector, added to each row of D */
	const char *activation;
	int scale_a, scale_b; /* 0: none, 1: a number, 2: one per row */
};

/* ---- ops ---- */

static const struct product {
	struct str op;
	int a, b, added; /* arguments; -1: none */
	bool is_batched, has_scales;
} products[] = {
	{ STR_INIT("aten::mm"), 0, 1, -1, false, false },
	{ STR_INIT("aten::addmm"), 1, 2, 0, false, false },
	{ STR_INIT("aten::addmm_"), 1, 2, 0, false, false },
	{ STR_INIT("aten::_addmm_activation"), 1, 2, 0, false, false },
	{ STR_INIT("aten::bmm"), 0, 1, -1, true, false },
	{ STR_INIT("aten::baddbmm"), 1, 2, 0, true, false },
	{ STR_INIT("aten::baddbmm_"), 1, 2, 0, true, false },
	{ STR_INIT("aten::_scaled_mm"), 0, 1, -1, false, true },
	{ STR_INIT("aten::_int_mm"), 0, 1, -1, false, false },
};

static const struct type {
	struct str type;
	const char *rocm, *compute, *cutlass, *accumulator, *cublaslt;
} types[] = {
	{ STR_INIT("float"), "f32_r", "f32_r", "f32", "f32", "sss" },
	{ STR_INIT("double"), "f64_r", "f64_r", "f64", "f64", "ddd" },
	{ STR_INIT("c10::Half"), "f16_r", "f32_r", "f16", "f32", "hsh" },
	{ STR_INIT("c10::BFloat16"), "bf16_r", "f32_r", "bf16", "f32", "tst" },
	{ STR_INIT("c10::complex<float>"), "f32_c", "f32_c", "cf32", "cf32",
	    NULL },
	{ STR_INIT("c10::complex<double>"), "f64_c", "f64_c", "cf64", "cf64",
	    NULL },
	{ STR_INIT("signed char"), "i8_r", "i32_r", "s8", "s32", NULL },
	{ STR_INIT("int"), "i32_r", "i32_r", "s32", "s32", NULL },
	{ STR_INIT("c10::Float8_e4m3fn"), "f8_r", "f32_r", "fe4m3", "f32",
	    NULL },
	{ STR_INIT("c10::Float8_e5m2"), "bf8_r", "f32_r", "fe5m2", "f32",
	    NULL },
	{ STR_INIT("c10::Float8_e4m3fnuz"), "f8_fnuz_r", "f32_r", NULL, NULL,
	    NULL },
	{ STR_INIT("c10::Float8_e5m2fnuz"), "bf8_fnuz_r", "f32_r", NULL, NULL,
	    NULL },
};

static const struct type *
type_of(struct str type)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (str_eq(type, types[i].type))
			return &types[i];
	}
	return NULL;
}

static const struct recorded *
argument(const struct schema *s, const struct arguments *args, const char *name)
{
	for (size_t i = 0; s != NULL && i < s->nargs; i++) {
		if (str_eq(s->args[i].name, str_of(name)))
			return &args->v[i];
	}
	return NULL;
}

/*
 * PyTorch's default is 1. Only numbers pass: a name or command in their place
 * would reach a shell.
 */
static bool
factor(const struct schema *s, const struct arguments *args, const char *name,
    struct str *out, struct buf *why)
{
	const struct recorded *r = argument(s, args, name);
	double value;

	*out = r != NULL && r->value.len > 0 ? r->value : STR("1");
	return num_double(*out, &value) ||
	    buf_fail(why, "%s is no real number", name);
}

/* By the number in PyTorch's enum; empty: none of these. */
static struct str
out_dtype(const struct recorded *r)
{
	static const struct str of[] = { [5] = STR_INIT("c10::Half"),
		STR_INIT("float"),
		STR_INIT("double"),
		[15] = STR_INIT("c10::BFloat16"),
		[24] = STR_INIT("c10::Float8_e4m3fn") };
	int64_t i;

	if (r == NULL || !num_i64(r->value, &i) || i < 0 ||
	    i >= (int64_t)(sizeof of / sizeof *of))
		return STR("");
	return of[i];
}

/* ---- matrices ---- */

/*
 * As PyTorch passes it: unchanged if its rows are dense, transposed if its
 * columns are, else copied.
 */
static bool
read_matrix(const struct recorded *r, bool is_batched, struct matrix *m,
    struct buf *why)
{
	size_t first = is_batched;
	const int64_t *d, *st;
	int64_t all;

	if (!recorded_tensor(r) || r->ndims != first + 2)
		return buf_fail(why, "its sizes are not recorded");
	if (r->nstrides != r->ndims)
		return buf_fail(why, "its strides are not recorded");
	d = r->dims + first;
	st = r->strides + first;
	if (d[0] <= 0 || d[1] <= 0 || r->dims[0] <= 0 ||
	    __builtin_mul_overflow(d[0], d[1], &all))
		return buf_fail(why, "a matrix is empty or too large");
	*m = (struct matrix){ .rows = d[0], .cols = d[1] };
	m->batch_stride = is_batched ? r->strides[0] : 0;
	if (st[1] == 1 && st[0] >= d[1]) {
		m->ld = st[0];
	} else if (st[0] == 1 && st[1] >= d[0]) {
		m->ld = st[1];
		m->is_transposed = true;
	} else {
		m->ld = d[1];
		m->batch_stride = is_batched ? all : 0;
	}
	return true;
}

static int
scaling(const struct schema *s, const struct arguments *args, const char *name)
{
	const struct recorded *r = argument(s, args, name);

	if (r == NULL || !recorded_tensor(r))
		return 0;
	for (size_t i = 0; i < r->ndims; i++) {
		if (r->dims[i] > 1)
			return 2;
	}
	return 1;
}

/* A vector that the epilogue adds unchanged. */
static bool
is_bias(const struct recorded *added, const struct gemm *g)
{
	double beta;

	return added->ndims == 1 && added->dims[0] == g->b.cols &&
	    num_double(g->beta, &beta) && beta == 1;
}

static bool
read_gemm(const struct product *p, const struct schema *s,
    const struct arguments *args, struct gemm *g, struct buf *why)
{
	const struct recorded *a = &args->v[p->a], *gelu, *bias;
	struct str type;

	*g = (struct gemm){ .type = a->type, .out_type = a->type };
	if (!read_matrix(a, p->is_batched, &g->a, why) ||
	    !read_matrix(&args->v[p->b], p->is_batched, &g->b, why))
		return false;
	if (g->a.cols != g->b.rows)
		return buf_fail(why, "the sizes of its matrices do not match");
	if (!str_eq(a->type, args->v[p->b].type))
		return buf_fail(why, "its matrices differ in type");
	g->batch = p->is_batched ? a->dims[0] : 0;
	if (!factor(s, args, "alpha", &g->alpha, why) ||
	    !factor(s, args, "beta", &g->beta, why))
		return false;
	if (p->added < 0)
		g->beta = STR("0");
	else
		g->has_bias = is_bias(&args->v[p->added], g);
	if ((bias = argument(s, args, "bias")) != NULL)
		g->has_bias = recorded_tensor(bias);
	if (p->has_scales) {
		g->scale_a = scaling(s, args, "scale_a");
		g->scale_b = scaling(s, args, "scale_b");
	}
	if ((gelu = argument(s, args, "use_gelu")) != NULL)
		g->activation =
		    str_eq(gelu->value, STR("True")) ? "gelu" : "relu";
	type = out_dtype(argument(s, args, "out_dtype"));
	if (type.len > 0)
		g->out_type = type;
	else if (str_eq(a->type, STR("signed char")))
		g->out_type = STR("int");
	return true;
}

/* ---- tools ---- */

static char
trans(const struct matrix *m)
{
	return m->is_transposed ? 'T' : 'N';
}

/* Beta of a matrix C; the epilogue adds a vector. */
static struct str
beta_of_matrix(const struct gemm *g)
{
	return g->has_bias ? STR("0") : g->beta;
}

/* With one batch the stride is irrelevant. */
static int64_t
batch_stride(const struct gemm *g, int64_t stride)
{
	return g->batch > 0 ? stride : 0;
}

static int64_t
batches(const struct gemm *g)
{
	return g->batch > 0 ? g->batch : 1;
}

#define STR_ARGS(s) (int)(s).len, (s).p

/*
 * As in hipBLASLt's log of calls, but trying 200 solutions of the heuristic,
 * and measuring less.
 */
static bool
hipblaslt(struct buf *out, const struct gemm *g, const struct type *t,
    const struct type *d, struct buf *why)
{
	int64_t n = g->a.rows, m = g->b.cols;

	(void)why;
	buf_printf(out,
	    "hipblaslt-bench --api_method c -m %" PRId64 " -n %" PRId64
	    " -k %" PRId64 " --lda %" PRId64 " --ldb %" PRId64 " --ldc %" PRId64
	    " --ldd %" PRId64,
	    m, n, g->a.cols, g->b.ld, g->a.ld, m, m);
	buf_printf(out,
	    " --stride_a %" PRId64 " --stride_b %" PRId64 " --stride_c %" PRId64
	    " --stride_d %" PRId64,
	    batch_stride(g, g->b.batch_stride),
	    batch_stride(g, g->a.batch_stride), batch_stride(g, m * n),
	    batch_stride(g, m * n));
	buf_printf(out,
	    " --alpha %.*s --beta %.*s --transA %c --transB %c"
	    " --batch_count %" PRId64 " --scaleA %d --scaleB %d",
	    STR_ARGS(g->alpha), STR_ARGS(beta_of_matrix(g)), trans(&g->b),
	    trans(&g->a), batches(g), g->scale_b, g->scale_a);
	buf_printf(out,
	    " --a_type %s --b_type %s --c_type %s --d_type %s"
	    " --scale_type %s --compute_type %s",
	    t->rocm, t->rocm, d->rocm, d->rocm, t->compute, t->compute);
	if (g->has_bias)
		buf_printf(out, " --bias_vector --bias_type %s", d->rocm);
	if (g->activation != NULL)
		buf_printf(out, " --activation_type %s", g->activation);
	buf_puts(out,
	    " --algo_method heuristic --requested_solution 200"
	    " --cold_iters 5 --iters 30");
	return true;
}

static bool
rocblas(struct buf *out, const struct gemm *g, const struct type *t,
    const struct type *d, struct buf *why)
{
	int64_t n = g->a.rows, m = g->b.cols;

	if (g->scale_a > 0 || g->activation != NULL)
		return buf_fail(why, "rocBLAS has no such epilogue");
	buf_printf(out,
	    "rocblas-bench -f %s --transposeA %c --transposeB %c"
	    " -m %" PRId64 " -n %" PRId64 " -k %" PRId64 " --alpha %.*s",
	    g->batch > 0 ? "gemm_strided_batched_ex" : "gemm_ex", trans(&g->b),
	    trans(&g->a), m, n, g->a.cols, STR_ARGS(g->alpha));
	buf_printf(out,
	    " --a_type %s --lda %" PRId64 " --b_type %s --ldb %" PRId64
	    " --beta %.*s --c_type %s --ldc %" PRId64
	    " --d_type %s --ldd %" PRId64,
	    t->rocm, g->b.ld, t->rocm, g->a.ld,
	    /* the vector was copied there */ STR_ARGS(g->beta), d->rocm, m,
	    d->rocm, m);
	if (g->batch > 0)
		buf_printf(out,
		    " --stride_a %" PRId64 " --stride_b %" PRId64
		    " --stride_c %" PRId64 " --stride_d %" PRId64
		    " --batch_count %" PRId64,
		    g->b.batch_stride, g->a.batch_stride, m * n, m * n,
		    g->batch);
	buf_printf(
	    out, " --compute_type %s --cold_iters 5 --iters 30", t->compute);
	return true;
}

/* NVIDIA's own benchmark, given on request. */
static bool
cublaslt(struct buf *out, const struct gemm *g, const struct type *t,
    const struct type *d, struct buf *why)
{
	if (g->batch > 0)
		return buf_fail(why, "cublasMatmulBench takes no batches");
	if (t->cublaslt == NULL || d != t)
		return buf_fail(why, "cublasMatmulBench has no such type");
	buf_printf(out,
	    "cublasMatmulBench -P=%s -m=%" PRId64 " -n=%" PRId64 " -k=%" PRId64
	    " -ta=%d -tb=%d -lda=%" PRId64 " -ldb=%" PRId64
	    " -A=%.*s -B=%.*s -T=30",
	    t->cublaslt, g->b.cols, g->a.rows, g->a.cols, g->b.is_transposed,
	    g->a.is_transposed, g->b.ld, g->a.ld, STR_ARGS(g->alpha),
	    STR_ARGS(beta_of_matrix(g)));
	return true;
}

/* It has row-major and column-major matrices without gaps. */
static bool
cutlass(struct buf *out, const struct gemm *g, const struct type *t,
    const struct type *d, struct buf *why)
{
	if (t->cutlass == NULL || d->cutlass == NULL)
		return buf_fail(why, "CUTLASS has no such type");
	buf_printf(out,
	    "cutlass_profiler --operation=Gemm --m=%" PRId64 " --n=%" PRId64
	    " --k=%" PRId64 " --A=%s:%s --B=%s:%s --C=%s:row --D=%s:row",
	    g->a.rows, g->b.cols, g->a.cols, t->cutlass,
	    g->a.is_transposed ? "column" : "row", t->cutlass,
	    g->b.is_transposed ? "column" : "row", d->cutlass, d->cutlass);
	buf_printf(out,
	    " --accumulator-type=%s --alpha=%.*s --beta=%.*s"
	    " --batch_count=%" PRId64
	    " --warmup-iterations=5 --profiling-iterations=30"
	    " --verification-enabled=false",
	    t->accumulator, STR_ARGS(g->alpha), STR_ARGS(beta_of_matrix(g)),
	    batches(g));
	return true;
}

const char *const bench_tools[] = { "hipblaslt", "rocblas", "cublaslt",
	"cutlass", NULL };
static bool (*const lines[])(struct buf *, const struct gemm *,
    const struct type *, const struct type *,
    struct buf *) = { hipblaslt, rocblas, cublaslt, cutlass };

static const struct product *
product_of(struct str op)
{
	for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
		if (str_eq(op, products[i].op))
			return &products[i];
	}
	return NULL;
}

bool
bench_is_product(struct str op)
{
	return product_of(op) != NULL;
}

bool
bench_line(struct buf *out, size_t tool, struct str op, const struct schema *s,
    const struct arguments *args, struct buf *why)
{
	const struct product *p = product_of(op);
	const struct type *t, *d;
	struct gemm g;
	int64_t all;

	why->len = 0;
	if (p == NULL)
		return false;
	if (args->n <= (size_t)p->b)
		return buf_fail(why, "it is not a product of two matrices");
	if (!read_gemm(p, s, args, &g, why))
		return false;
	t = type_of(g.type);
	d = type_of(g.out_type);
	if (t == NULL || d == NULL)
		return buf_fail(why, "no library supports its type");
	if (__builtin_mul_overflow(g.a.rows, g.b.cols, &all))
		return buf_fail(why, "a matrix is empty or too large");
	return lines[tool](out, &g, t, d, why);
}
