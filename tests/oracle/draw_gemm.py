# SPDX-License-Identifier: MIT
"""Matrix products with drawn arguments (op-models-1)."""
import draw
from draw import BYTES, COMMON, Drawn, ceil_div, prod, size, spec

BF16 = "c10::BFloat16"
FP4 = "c10::Float4_e2m1fn_x2"
FLOATS = COMMON + ["double", "c10::Float8_e4m3fn", "what is this"]


def product(d, B, M, N, K, bias, sizes, precision, params, unit_spec=None, more=0):
    """sizes: of A, B, the bias and the result"""
    a, b, c, out = sizes
    F = B * (2 * M * N * K + (M * N if bias else 0))
    Y = B * (M * K * a + K * N * b + M * N * out + (N * c if bias else 0)) + more
    if "B" not in params:
        params["B"] = B
    params.update(d.transpose())
    return d.gives(F, Y, unit_spec or spec("matrix", precision), params)


def sizes3(M, N, K, bias, sa, sb, ta, tb):
    return {"M": M, "N": N, "K": K, "bias": bias, "stride_A": sa, "stride_B": sb,
            "dtype_A_B": [ta, tb]}


def strided(s, name, dims, types, values=(), expands=()):
    return draw.strided(s, name, dims, types, values, expands, kernels=s.kernels())


def two(s, name, batch):
    """mm and bmm, sometimes with an output argument"""
    B, M, N, K = s.n(0, 16) if batch else 1, s.n(0), s.n(0), s.n(0)
    t, u, o = s.type(), s.type(), s.type()
    lead = [B] if batch else []
    dims = [lead + [M, K], lead + [K, N]]
    out = s.some(0.3)
    if out:
        dims.append(lead + [M, N])
    d = strided(s, name, dims, [t, u, o][:len(dims)], (), (0, 1))
    p = sizes3(M, N, K, False, d.stride(0), d.stride(1), t, u)
    if batch:
        p = dict({"B": B}, **p)
    written = o if out and prod(dims[2]) >= 0 and dims[2] else t
    return product(d, B, M, N, K, False, (size(t), size(u), 0, size(written)), t, p)


def mm(s):
    return two(s, "aten::mm", False)


def bmm(s):
    return two(s, "aten::bmm", True)


def three(s, name, batch):
    B, M, N, K = s.n(0, 16) if batch else 1, s.n(0), s.n(0), s.n(0)
    c, t, u = s.type(), s.type(), s.type()
    lead, beta = [B] if batch else [], s.of(["", "1", "0.5", "0", "0."])
    bias = beta not in ("0", "0.")
    d = strided(s, name, [s.of([[N], lead + [M, N]]), lead + [M, K], lead + [K, N], [], []],
                [c, t, u, "Scalar", "Scalar"], ["", "", "", beta, "1"], (0, 1, 2) if bias else (1, 2))
    p = sizes3(M, N, K, bias, d.stride(1), d.stride(2), t, u)
    if batch:
        p = dict({"B": B}, **p)
    return product(d, B, M, N, K, bias, (size(t), size(u), 0, size(t)), t, p,
                   more=prod(d.dims[0]) * size(c) if bias else 0)


def addmm(s):
    return three(s, "aten::addmm", False)


def baddbmm(s):
    return three(s, "aten::baddbmm", True)


SCALARS = {0: 1, 1: 1, 2: 2, 3: 4, 4: 8, 5: 2, 6: 4, 7: 8, 11: 1, 15: 2, 23: 1, 24: 1, 25: 1, 26: 1}


def scaled_mm(s):
    M, N, K = s.n(), s.n(), s.n()
    t, u = s.type(["c10::Float8_e4m3fn", "c10::Float8_e5m2", "c10::Half", "float", FP4, "odd"]), \
        s.type(["c10::Float8_e4m3fn", "c10::Float8_e4m3fnuz"])
    bias = s.some(0.3)
    rows = s.of([[], [1], [M, 1]])
    dims = [[M, K], [K, N], rows, s.of([[], [1], [1, N]]), [N] if bias else [], [], [], []]
    out = s.of(["", "None", "15", "5", "6", "24", "11", "77"])
    d = strided(s, "aten::_scaled_mm", dims,
                [t, u, "float", "float", BF16 if bias else "", "", "Scalar", "Scalar"],
                ["", "", "", "", "", "", out, "True"])
    p = sizes3(M, N, K * (2 if t == FP4 else 1), bias, d.stride(0), d.stride(1), t, u)
    a = size(t)
    o = SCALARS.get(int(out) if out.isdigit() else -1, 2 if a == 1 else a)
    more = 4 * (prod(dims[2]) + prod(dims[3]))
    pack = 0.5 if t == FP4 else 1
    kk = p["K"]
    return product(d, 1, M, N, kk, bias, (a * pack, size(u) * pack, 2, o), t, p, more=more)


def int8_linear(s):
    M, N, K = s.n(), s.n(), s.n()
    lead = s.of([[M], [2, M]])
    d = strided(s, "bitsandbytes::int8_linear_matmul", [lead + [K], [N, K]],
                ["signed char", "signed char"])
    p = sizes3(prod(lead), N, K, False, d.stride(0), d.stride(1), "signed char", "signed char")
    return product(d, 1, prod(lead), N, K, False, (1, 1, 0, 4), "signed char", p)


def dynamic_quant(s):
    M, N, K = s.n(), s.n(), s.n()
    W = [N, s.of([K, ceil_div(K, 2)])]
    front = s.some(0.3)
    dims = ([[7]] if front else []) + [[M, K], W] + ([[N]] if s.some() else [])
    types = (["int"] if front else []) + [BF16, "unsigned char", "float"][:len(dims) - front]
    d = strided(s, "vllm::gemm_with_dynamic_quant", dims, types)
    p = sizes3(M, N, K, False, d.stride(0), d.stride(1), types[0], types[1])
    p["B"] = 1
    p.update(d.transpose())
    return d.gives(2 * M * N * K, M * K * 2 + prod(W) + M * N * 2, spec("matrix", types[0]), p)


def te_ts(s):
    M, N, K = s.n(), s.n(), s.n()
    ta, tb, bias = s.some(), s.some(), s.some()
    dims = [[]] * 19
    dims[0] = [M, K] if ta else [K, M]
    dims[5] = [K, N] if tb else [N, K]
    types = [""] * 19
    types[0], types[5], types[10], types[18] = (s.type() for _ in range(4))
    values = [""] * 19
    values[4], values[9], values[14] = "1" if ta else "0", "1" if tb else "0", "1" if bias else ""
    d = strided(s, "tex_ts::te_gemm_ts", dims, types, values)
    p = sizes3(M, N, K, bias, d.stride(0), d.stride(5), types[0], types[5])
    p["dtype_A_B"] = [types[0], types[5], types[10], types[18]]
    return product(d, 1, M, N, K, bias, (size(types[0]), size(types[5]), size(types[18]),
                                         size(types[10])), types[0], p)


def te_v2(s):
    M, N, K = s.n(), s.n(), s.n()
    t = s.type(["fp8", BF16])
    d = strided(s, s.of(["_Linear_yfwd_mm", "_LinearBackward_xgrad_mm", "_LinearBackward_wgrad_mm",
                         "_LayerNormLinear_yfwd_mm", "_LayerNormLinearBackward_xgrad_mm",
                         "_LayerNormLinearBackward_wgrad_mm"]), [[M, K], [K, N]], [t, t])
    p = sizes3(M, N, K, False, d.stride(0), d.stride(1), t, t)
    return product(d, 1, M, N, K, False, (size(t), size(t), 0, 2), t, p)


def primus(s):
    four = s.some(0.4)
    rows, cols, inner = s.n(), s.n(), s.n()
    ta, tb, tc = s.some(), s.some(), s.some()
    A, W = ([inner, rows] if ta else [rows, inner]), ([cols, inner] if tb else [inner, cols])
    # swapped, the product is op(W)' by op(A)'
    M, N = (cols, rows) if tc else (rows, cols)
    words = {True: s.of(["True", "true", "1"]), False: s.of(["False", "false", "0", ""])}
    t = FP4 if four else s.type(["c10::Float8_e4m3fn", "c10::Half", "odd"])
    scales = s.of(["float", "c10::Float8_e8m0fnu", "", "odd"])
    d = strided(s, s.of(["primus_turbo", "primus_turbo_cpp_extension"]) +
                "::hipblaslt_gemm_fp" + ("4" if four else "8"),
                [A, [1], W, [1], [], [], [], []], [t, scales, t, "float"],
                ["", "", "", "", ""] + [words[f] for f in (ta, tb, tc)])
    K = inner * (2 if four else 1)
    p = sizes3(M, N, K, False, d.stride(0), d.stride(2), t, t)
    p.update({"dtype_scaleA": scales, "dtype_scaleB": "float"})
    if not four:
        a = size(t)
        return product(d, 1, M, N, K, False, (a, a, 0, 2 if a == 1 else a), t, p)
    return fp4(d, M, N, K, (1, 1), (scales, "float"), p, t)


def fp4(d, M, N, K, ab, scales, p, t):
    g = ceil_div(K, 32)
    sa, sb = (BYTES.get(x.lower(), 1) for x in scales)
    p["B"] = 1
    p.update(d.transpose())
    return d.gives(2 * M * N * K, M * (K // 2) * ab[0] + N * (K // 2) * ab[1] + M * g * sa +
                   N * g * sb + 2 * M * N, spec("matrix", t), p)


def a4w4(s):
    M, N, Kp = s.n(), s.n(), s.n()
    t = s.type([FP4, "unsigned char", "odd"])
    sa = s.of(["c10::Float8_e8m0fnu", "unsigned char", "odd", ""])
    d = strided(s, s.of(["aiter::gemm_a4w4", "aiter::_gemm_a4w4_asm"]),
                [[M, Kp], [N, Kp], [M, 4], [N, 4]], [t, t, sa, sa])
    p = sizes3(M, N, 2 * Kp, False, d.stride(0), d.stride(1), t, t)
    p.update({"dtype_scaleA": sa, "dtype_scaleB": sa})
    return fp4(d, M, N, 2 * Kp, (size(t), size(t)), (sa, sa), p, t)


A8W8 = """aiter::gemm_a8w8_blockscale_ck aiter::gemm_a8w8_blockscale_cktile
aiter::gemm_a8w8_blockscale_bpreshuffle_ck aiter::gemm_a8w8_blockscale_bpreshuffle_cktile
aiter::_gemm_a8w8_blockscale_bpreshuffle_asm aiter::flatmm_a8w8_blockscale_asm
aiter::gfx950_a8w8_blockscale_asm aiter::gemm_a8w8_ck aiter::gemm_a8w8_bpreshuffle_ck
aiter::gemm_a8w8_bpreshuffle vllm::_rocm_aiter_preshuffled_per_token_w8a8_gemm
vllm::rocm_aiter_triton_gemm_a8w8_blockscale sglang_profiler::fp8_utils_gemm_a8w8_blockscale
sglang_profiler::gemm_a8w8_blockscale_gemm_a8w8_blockscale""".split()


def weights_of(s, name, dims, types, p, sizes, bias=False, precision=None, B=1, unit_spec=None):
    d = strided(s, name, dims, types)
    return product(d, B, p["M"], p["N"], p["K"], bias, sizes, precision or types[0], p, unit_spec)


def a8w8(s):
    M, N, K = s.n(), s.n(), s.n()
    t, u, f = s.type(["c10::Float8_e4m3fnuz", "signed char", "odd"]), "c10::Float8_e4m3fnuz", \
        s.of(["float", ""])
    dims = [[M, K], [N, K]] + s.of([[], [[M, s.n()], [s.n(), 1]], [[], [s.n()]]])
    types = [t, u] + [f, "float"][:len(dims) - 2]
    p = {"B": 1, "M": M, "N": N, "K": K, "bias": False,
         "dtype_A_B": [t, u, "c10::bfloat16"]}
    if len(dims) > 3:
        p.update({"quant_scheme": "a8w8_blockscale", "quant_granularity": "per_block",
                  "block_k": ceil_div(K, dims[2][-1]) if dims[2] else None,
                  "block_n": ceil_div(N, dims[3][0]) if dims[3] else None,
                  "scale_dtype": f or "float32"})
    p.update({"output_shape": [M, N], "output_dtype": "c10::bfloat16"})
    return weights_of(s, s.of(A8W8), dims, types, p, (size(t), size(u), 0, 2))


def unquantized(s):
    M, N, K, bias = s.n(), s.n(), s.n(), s.some()
    t, u, c = s.type(FLOATS), s.type(FLOATS), s.type(FLOATS) if bias else ""
    p = {"M": M, "N": N, "K": K, "bias": bias, "dtype_A_B": [t, u, c]}
    o = size(c) if bias else size(u)
    return weights_of(s, "vllm::rocm_unquantized_gemm", [[M, K], [N, K], [N] if bias else []],
                      [t, u, c], p, (size(t), size(u), o, o), bias)


def a16w16(s):
    M, N, K = s.n(), s.n(), s.n()
    t, u, o = s.type(FLOATS), s.type(FLOATS), s.type(FLOATS)
    kind = s.of(["atomic", "plain", "asm", "fp4"])
    dims, types, bias, unit_spec = [[M, K], [N, K]], [t, u], False, None
    if kind == "atomic":
        name = s.of(["aiter::gemm_a16w16_atomic_", "sglang_profiler::gemm_kernels_flydsl_hgemm"])
        out = "c10::bfloat16"
        if s.some():
            dims, types, out = dims + [[M, N], [1]], types + [o, o], o
    elif kind == "plain":
        name, bias, out = "aiter::gemm_a16w16", s.some(), t
        dims, types = dims + [[N] if bias else []], types + [o if bias else ""]
    elif kind == "asm":
        name = "aiter::_gemm_a16w16_asm"
        dims, types, out = dims + [[M, N]], types + [o], o if size(o) == size(o) else t
    else:
        name, out, unit_spec = "aiter::gemm_afp4wfp4_", "c10::bfloat16", "matrix_fp4"
    p = {"B": 1, "M": M, "N": N, "K": K * (2 if kind == "fp4" else 1), "bias": bias,
         "dtype_A_B": [t, u, out]}
    a, b = (0.5, 0.5) if kind == "fp4" else (size(t), size(u))
    return weights_of(s, name, dims, types, p, (a, b, size(out), size(out)), bias, t, 1, unit_spec)


def batched(s):
    B, M, N, K = s.n(1, 16), s.n(), s.n(), s.n()
    t, u = s.type(FLOATS), s.type(FLOATS)
    p = {"B": B, "M": M, "N": N, "K": K, "bias": False, "dtype_A_B": [t, u, "c10::bfloat16"]}
    if s.some():
        return weights_of(s, "aiter::batched_gemm_a16wfp4_", [[B, M, K], [B, N, ceil_div(K, 2)]],
                          [t, u], p, (size(t), 0.5, 0, 2), False, t, B, "matrix_fp4")
    x = "a_per_token_group_prequant_w_per_batched_tensor_quant"
    first = s.of([[B, M, K], [M, B, K]])
    if first[0] == B:
        p["M"] = first[1]
    return weights_of(s, "sglang_profiler::batched_gemm_a8w8_%s_batched_gemm_a8w8_%s" % (x, x),
                      [first, [B, N, K]], [t, u], p, (size(t), size(u), 0, 2), False, u, B)


def grouped(s):
    G, M, N, K, t = s.n(1, 16), s.n(), s.n(), s.n(), s.type(FLOATS)
    rows = [s.n() for _ in range(G)]
    name = s.of(["primus_turbo::grouped_gemm", "primus_turbo::grouped_gemm_impl",
                 "primus_turbo_cpp_extension::grouped_gemm",
                 "primus_turbo_cpp_extension::ck_grouped_gemm"])
    e = size(t)
    o = 2 if e == 1 else e
    if s.some(0.3):
        M = sum(rows)
        d = Drawn(name, [[[m, K] for m in rows], [[K, N]] * G], [t, t])
    else:
        w = s.of([[G, K, N], [G, N, K]])
        if K == w[1]:
            N = w[2]
        d = Drawn(name, [[M, K], w, [G]], [t, t, "long int"])
    return d.gives(2 * M * K * N, (M * K + G * K * N) * e + M * N * o, spec("matrix", t),
                   {"M": M, "K": K, "N": N, "G": G, "bpe_in": e, "bpe_out": o})


def grouped_variable(s):
    M, N, K, t = s.n(), s.n(), s.n(), s.type(FLOATS)
    name = s.of(["primus_turbo::grouped_gemm_variable_k", "primus_turbo::grouped_gemm_variable_k_impl",
                 "primus_turbo_cpp_extension::grouped_gemm_variable_k",
                 "primus_turbo_cpp_extension::ck_grouped_gemm_variable_k"])
    e = size(t)
    o = 2 if e == 1 else e
    if s.some():  # the weights' gradient, one K x N a group
        G = s.n(1, 8)
        d = Drawn(name, [[M, K], [M, N]] + ([[G]] if s.some() else []), [t, t, "long int"])
        G = G if len(d.dims) > 2 else 1
        return d.gives(2 * M * K * N, (M * K + M * N) * e + G * K * N * o, spec("matrix", t),
                       {"M": M, "K": K, "N": N, "G": G, "bpe_in": e, "bpe_out": o,
                        "group_pairs": [[[M, K], [K, N]]]})
    each = [(s.n(), s.n(), s.n()) for _ in range(s.n(2, 6))]
    d = Drawn(name, [[[m, k] for m, k, _ in each], [[k, n] for _, k, n in each]], [t, t])
    return d.gives(sum(2 * m * k * n for m, k, n in each),
                   sum((m * k + k * n) * e + m * n * o for m, k, n in each), spec("matrix", t),
                   {"M": sum(m for m, _, _ in each), "K": each[0][1], "N": each[0][2],
                    "G": len(each), "bpe_in": e, "bpe_out": o,
                    "group_pairs": [[[m, k], [k, n]] for m, k, n in each]})


FAMILIES = [mm, bmm, addmm, baddbmm, scaled_mm, int8_linear, dynamic_quant, te_ts, te_v2,
            primus, a4w4, a8w8, unquantized, a16w16, batched, grouped, grouped_variable]
