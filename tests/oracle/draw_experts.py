# SPDX-License-Identifier: MIT
"""Quantisation, rotary embeddings, experts and the like with drawn arguments (op-models-3)."""
from draw import (BYTES, COMMON, MOE_BYTES, NAN, PRECISION, Drawn, ceil_div, prod, size, spec, strided)

BF16 = "c10::BFloat16"
FLOATS = COMMON + ["double", "c10::Float8_e4m3fn", "what is this"]


# ---- quantisation, rotary embeddings ----

def quantise(s):
    x, t, u, w = s.shape(2), s.type(FLOATS), s.type(FLOATS), s.type(FLOATS)
    y = x[:1] + [1]
    d = strided(s, "aiter::dynamic_per_" + s.of(["token_scaled", "group_scaled", "tensor"]) + "_quant",
                [x, x, y], [u, t, w])
    return d.gives(2.59375 * prod(x), prod(x) * (size(u) + size(t)) + prod(y) * size(w),
                   spec("vector", t),
                   {"shape_in1": x, "shape_in2": y, "shape_out": x, "dtype_in1_in2_out": [t, w, u],
                    "stride_input1": d.stride(1), "stride_input2": d.stride(2),
                    "stride_output": d.stride(0)})


def group_quantise(s):
    x, t, g = s.shape(s.n(1, 2)), s.type(FLOATS), s.of(["", "64", "128"])
    M, N = ([1] + x)[-2:]
    groups = max(1, ceil_div(N, int(g or 128)))
    return Drawn("vllm::triton_per_token_group_quant_fp8", [x, []], [t, "Scalar"], ["", g]).gives(
        6 * M * N, M * N * size(t) + M * N + 4 * M * groups, spec("vector", t),
        {"M": M, "N": N, "group_size": int(g or 128), "num_groups": groups, "shape_x": x,
         "dtype_x": t, "shape_in1": x, "shape_in2": [], "shape_out": x,
         "dtype_in1_in2_out": [t, None, "c10::float8_e4m3fn"], "stride_input1": [],
         "stride_input2": [], "stride_output": []})


def mxfp4(s):
    name, i, shown = s.of([("sglang_profiler::fused_mxfp4_quant_fused_flatten_mxfp4_quant", 0, True),
                           ("aiter::fused_dynamic_mx_quant_moe_sort_hip", 2, True),
                           ("sglang_profiler::quant_dynamic_mxfp4_quant", 0, False),
                           ("aiter::fused_dynamic_mxfp4_quant_moe_sort_hip", 2, False),
                           ("aiter::dynamic_per_group_scaled_quant_fp4", 1, False)])
    x, t = s.shape(s.n(1, 3)), s.type(FLOATS)
    d = strided(s, name, [x[:1]] * i + [x], ["unsigned char"] * i + [t])
    n = prod(x)
    return d.gives(2 * n, n * size(t) + 0.5 * n + n // 32, spec("vector", t),
                   {"op_shape": x, "dtype_in_out": [t, t], "stride_input": d.stride(i) if shown else None,
                    "stride_output": None})


def rope(s):
    t = s.type(FLOATS)
    kind = s.of(["te", "cached", "sgl", "cat", "concat"])
    if kind == "te":
        x = s.shape(4)
        n = prod(x)
        return Drawn("FusedRoPEFunc", [x], [t]).gives(
            3 * n, 2 * n * BYTES.get(t.lower(), 2), spec("vector", t),
            dict(zip(("seq_len", "batch", "heads", "head_dim"), x), num_elements=n))
    if kind == "cached":
        x, y = s.shape(3), s.shape(3)
        n = prod(x) + prod(y)
        return Drawn("aiter::rope_cached_positions_2c_fwd_impl", [x, y, x, y], [t] * 4).gives(
            3 * n, 2 * n * BYTES.get(t.lower(), 2), spec("vector", t),
            {"x_shape": x, "y_shape": y, "num_elements": n})
    if kind == "sgl":
        T, hq, hk, hs = s.shape(4)
        told, table = s.some(), s.some()
        rd = hs // 2 or 1
        d = Drawn("sgl_kernel::rotary_embedding",
                  [[T], [T, hq * hs], [T, hk * hs], [], [999, rd] if table else []],
                  ["long int", t, t, "Scalar", "float"], ["", "", "", str(hs) if told else "", ""])
        if not told:
            hs = hq * hs
            hk = d.dims[2][1] // hs
            hq = 1
        n = T * (hq + hk) * (rd if table else hs)
        return d.gives(3 * n, 2 * n * BYTES.get(t.lower(), 2), spec("vector", t), {"num_elements": n})
    T, QH, DL, DP, KH = s.n(1, 64), s.n(1, 16), s.n(1, 512), s.n(1, 64), s.n(1, 4)
    kv, out = s.of(["", "c10::Float8_e4m3fnuz", "odd"]), s.of(["", "float", "odd"])
    e = size(t)
    ekv = BYTES.get((kv or t).lower(), e)
    p = {"T": T, "QH": QH, "KH": KH if kind == "cat" else 1, "D_lora": DL, "D_pe": DP, "dtype_in": t,
         "dtype_kv": kv or t}
    dims = [[T, QH, DL], [T, QH, DP], [T, KH, DL], [T, KH, DP], [9, 9], [T, QH, DL + DP]]
    name = "aiter::fused_qk_rope_%s_and_cache_mla" % kind
    d = Drawn(name, dims, [t, t, t, t, kv, out])
    if kind == "cat":
        return d.gives(3 * T * (QH + KH) * DP, T * (DL + DP) * (2 * QH * e + KH * (e + ekv)),
                       spec("vector", t), p)
    p["dtype_out"] = out or t
    eo = BYTES.get((out or t).lower(), e)
    return d.gives(3 * T * (QH + 1) * DP, T * (DL + DP) * (QH * (e + eo) + e + ekv), spec("vector", t), p)


# ---- experts ----

def active(E, k, T):
    return E * (1 - ((E - k) / E) ** T)


def fused_cost(T, K, N, k, g, A, bi, bw, bo):
    return (2 * T * K * N * k * (g + 1) + T * K * (2 * k - 1),
            T * K * bi + A * N * K * bw * (g + 1) + T * K * bo)


def up_cost(T, K, N, k, g, A, bi, bw, bo):
    return 2 * T * K * N * k * g, T * K * bi + A * g * K * N * bw + T * N * k * bo


def down_cost(T, K, N, k, g, A, bi, bw, bo):
    return 2 * T * N * K * k, T * N * k * bi + A * N * K * bw + T * K * bo


def experts_spec(t):
    p = PRECISION.get({"fp4": "fp4", "fp8": "fp8"}.get(t.lower(), t.lower()))
    return "matrix_" + p if p else ""


def moe(s):
    T, E = s.n(1, 300), s.n(1, 64)
    k, gated_ = s.n(1, E), s.some()
    pack = s.of([1, 1, 2])
    g = 2 if gated_ else 1
    N, K = pack * s.n(1, 128), pack * s.n(1, 128)
    t = s.type(["c10::BFloat16", "c10::Half", "c10::Float8_e4m3fnuz", "float"])
    w = "c10::Float4_e2m1fn_x2" if pack == 2 and s.some() else \
        "unsigned char" if pack == 2 else s.type(["c10::Float8_e4m3fnuz", "c10::BFloat16", "float"])
    W1, W2 = [E, g * N, K // pack], [E, K, N // pack]
    bw = 0.5 if pack == 2 else MOE_BYTES.get(w, 1)
    A = active(E, k, T)
    p = {"num_tokens": T, "hidden_dim": K, "inter_dim": N, "num_experts": E, "topk": k}
    told = dict(p, gated=gated_)
    kind = s.of(["1stage", "fmoe", "flydsl1", "flydsl2", "ck1", "ck2", "tile1", "tile2"])
    weight_spec = "matrix_fp4" if pack == 2 else experts_spec(w)
    if kind == "fmoe":
        out = s.type(["c10::BFloat16", "odd"])
        d = Drawn(s.of(["aiter::fmoe_fp8_blockscale_g1u1", "aiter::fmoe_g1u1"]),
                  [[T, K], [T, K], W1, W2], [out, t, w, w], [""] * 8 + [str(k)])
        F, Y = fused_cost(T, K, N, k, g, A, MOE_BYTES.get(t, 1), bw, MOE_BYTES.get(out, 2))
        return d.gives(F, Y, experts_spec(t),
                       dict(told, input_dtype=t, weight_dtype=w, output_dtype=out))
    bi = MOE_BYTES.get(t, 2)
    if kind in ("tile1", "tile2"):
        out = s.type(["c10::BFloat16", "float"])
        bo = MOE_BYTES.get(out, 2)
        if kind == "tile1":
            d = Drawn("aiter::moe_cktile2stages_gemm1_ck", [[T, K], W1, [T, k, N]], [t, w, out])
            F, Y = up_cost(T, K, N, k, g, A, bi, MOE_BYTES.get(w, 1) if pack == 1 else bw, bo)
        else:
            d = Drawn("aiter::moe_cktile2stages_gemm2_ck", [[T, k, N], W2, [T, K]], [t, w, out])
            told = p
            F, Y = down_cost(T, K, N, k, g, A, bi, MOE_BYTES.get(w, 1) if pack == 1 else bw, bo)
        return d.gives(F, Y, experts_spec(t),
                       dict(told, input_dtype=t, weight_dtype=w, output_dtype=out))
    told.update(input_dtype=t, weight_dtype=w)
    cost = {"1stage": fused_cost, "flydsl1": up_cost, "flydsl2": down_cost, "ck1": up_cost,
            "ck2": down_cost}[kind]
    F, Y = cost(T, K, N, k, g, A, bi, bw, bi)
    if kind == "ck2":
        d = Drawn("aiter::ck_moe_stage2", [[T, k, s.of([N, N // pack])], W1, W2], [t, w, w])
        return d.gives(F, Y, experts_spec(t), dict(p, input_dtype=t, weight_dtype=w))
    if kind == "ck1":
        d = Drawn("aiter::ck_moe_stage1", [[T, K], W1, W2, [1], [1], [1], [T, k, N]], [t, w, w])
        return d.gives(F, Y, experts_spec(t), told)
    name = {"1stage": "moe_aiter_fused_1stage", "flydsl1": "moe_flydsl_stage1",
            "flydsl2": "moe_flydsl_stage2"}[kind]
    d = Drawn("pseudo_op::" + name, [[T, K], W1, W2, [T, k]], [t, w, w, "float"])
    return d.gives(F, Y, experts_spec(t) if kind == "1stage" else weight_spec, told)


def moe_pseudo(s):
    T, E, K = s.n(1, 300), s.n(8, 64), s.n()
    k, t, gated_ = s.n(1, 8), s.type(["c10::BFloat16", "c10::Half", "float"]), s.some()
    g = 2 if gated_ else 1
    args = {"MoE topk": str(k), "MoE GEMM gated": s.of(["True", "true"] if gated_ else ["False", "false"])}
    A = active(E, k, T)
    p = {"num_tokens": T, "hidden_dim": K}
    if s.some():
        way = s.of(["up", "down"])
        kernel, w = s.of([("_matmul_ogs_NNT_bf16xbf16xmxfp4_128", "FP4"), ("_matmul_FP8_x", "FP8"),
                          ("matmul_e4m3", "FP8"), ("_matmul_ogs_bf16", None)])
        d = Drawn("pseudo_op::moe_triton_unfused_" + way, [[T, K], [T, E]], [t, t], kernels=[kernel],
                  args=args)
        bi = MOE_BYTES.get(t, NAN)
        F, Y = (up_cost if way == "up" else down_cost)(T, K, K, k, g, A, bi, MOE_BYTES.get(w, NAN), bi)
        p.update(inter_dim=K, num_experts=E, topk=k, gated=gated_, input_dtype=t, weight_dtype=w)
        return d.gives(F, Y, experts_spec(w) if w else "", p)
    N2, u = s.n(1, 99), s.of([t, ""])
    W1, W2 = [E, 2 * N2, K], [E, K, s.n(1, 99)]
    bi = MOE_BYTES.get(u or "BFloat16", 2)
    if s.some():
        N = N2 if gated_ else 2 * N2
        d = Drawn("pseudo_op::moe_gptq_awq_up", [[T, K], W1, W2], [u], args=args)
        F, Y = up_cost(T, K, N, k, g, A, bi, 0.5, bi)
        p.update(inter_dim=N, num_experts=E, topk=k, gated=gated_)
    else:
        d = Drawn("pseudo_op::moe_gptq_awq_down", [[T, K], W1, W2], [u], args=args)
        F, Y = down_cost(T, K, 2 * W2[2], k, 1, A, bi, 0.5, bi)
        p.update(inter_dim=2 * W2[2], num_experts=E, topk=k)
    p["input_dtype"] = u or "BFloat16"
    return d.gives(F, Y, experts_spec(u), p)


def moe_triton(s):
    T, E, N, K = s.n(1, 99), s.n(8, 64), s.n(), s.n()
    k, t, w, o = s.n(1, 8), s.type(COMMON), s.type(["c10::Float8_e4m3fn", "c10::BFloat16"]), \
        s.of(["", "float", "c10::Half"])
    dims = [[T, K], [E, N, K], [1], [T, k, N], [1], [1], [1], [1], [T, k]]
    d = Drawn("sglang_profiler::fused_moe_triton_kernels_invoke_fused_moe_kernel", dims,
              [t, w, "float", o])
    if s.some(0.1):
        d.dims = d.dims[:8]
        return d.fails()
    m, bo = T * k, MOE_BYTES.get(o or t, 2)
    return d.gives(2 * m * N * K,
                   m * K * MOE_BYTES.get(t, 2) + active(E, k, T) * N * K * MOE_BYTES.get(w, 1) + m * N * bo,
                   spec("matrix", w),
                   {"m_work": m, "num_tokens": T, "topk": k, "N": N, "K": K, "num_experts": E,
                    "input_dtype": t, "weight_dtype": w, "output_dtype": o or t})


def moe_aux(s):
    kind = s.of(["any", "append", "softplus"])
    if kind == "any":
        dims = [s.shape(s.n(0, 3)) for _ in range(s.n(1, 6))]
        types = [s.type(FLOATS + ["int", "Scalar"]) for _ in dims]
        some = [(x, t) for x, t in zip(dims, types) if x]
        sizes = [prod(x) for x, _ in some]
        moved = sum(n * size(t) for n, (_, t) in zip(sizes, some) if size(t) == size(t))
        first = some[sizes.index(max(sizes))][1] if some else ""
        return Drawn(s.of(["aiter::biased_grouped_topk_hip", "aiter::moe_sorting_fwd",
                           "aiter::mxfp4_moe_sort_hip"]), dims, types).gives(
            max(sizes, default=0), moved or NAN, spec("vector", first),
            {"operands": [[x, t] for x, t in some]})
    if kind == "append":
        x, y, t, u = s.shape(2), s.of([[], s.shape(2)]), s.of(["", "int", "odd"]), s.of(["", "float"])
        a, b = t or "int", u or "float"
        z = y or x
        return Drawn("sglang_profiler::fused_moe_triton_kernels_fused_append_shared_experts", [x, y],
                     [t, u]).gives(
            prod(x), 2 * (prod(x) * BYTES.get(a, 4) + prod(z) * BYTES.get(b, 4)), spec("vector", b),
            {"shape_in1": x, "shape_in2": z, "dtype_in1_in2_out": [a, b, b], "stride_input1": [],
             "stride_input2": [], "stride_output": []})
    M, E, k, t = s.n(), s.n(), s.n(1, 8), s.of(["", "float", "odd"])
    u = t or BF16
    return Drawn("aiter::topk_softplus", [[M, k], [M, k], [M, E]], ["float", "int", t]).gives(
        6 * M * E, M * E * size(u) + 4 * E + 8 * M * k, spec("vector", u),
        {"M": M, "n": 1, "C": E, "E": E, "topk": k, "dtype_in": u})


# ---- collectives, state space models, hyper-connections ----

def collective(s):
    kind = s.of(["norm", "norm_", "reduce", "scatter", "gather", "exchange"])
    t = s.type(FLOATS)
    x, y = s.shape(2), s.shape(2)
    E, e, C = prod(x), size(t), x[1]
    if kind.startswith("norm"):
        at, w = (0, 2) if kind == "norm_" else (2, 6)
        dims = [[]] * (w + 1)
        dims[at], dims[w] = x, [C]
        d = strided(s, "aiter::fused_allreduce_rms" + kind, dims, [t] * (w + 1))
        return d.gives(E + (E // C) * (2 * C + 2) + 2 * E, (4 * E + C) * e, "",
                       {"op_shape": x, "dtype_in": t, "stride_input": d.stride(at), "num_channels": C})
    if kind == "reduce":
        d = strided(s, s.of("""_C_custom_ar::all_reduce _C_custom_ar::qr_all_reduce
            sgl_kernel::all_reduce_reg sgl_kernel::qr_all_reduce""".split()), [[], x, x], ["", t, t])
        return d.gives(0, 2 * E * e, "", {"op_shape": x, "dtype_in": t, "stride_input": d.stride(1)})
    if kind == "scatter":
        d = strided(s, s.of(["aiter::reduce_scatter", "aiter::all_gather_reg"]), [[], x, y], ["", t, t])
        return d.gives(0, (E + prod(y)) * e, "", {"op_shape": x, "out_shape": y, "dtype_in": t,
                                                  "stride_input": d.stride(1)})
    if kind == "gather":
        return Drawn("sglang::reg_all_gather_into_tensor", [x, y], [t, t]).gives(
            0, (E + prod(y)) * e, "", {"out_shape": x, "op_shape": y, "dtype_in": t})
    return Drawn(s.of(["MoEDispatch", "MoECombine"]), [x], [t], backward=s.some()).gives(
        0, E * e, "", {"num_tokens": x[0], "hidden_dim": x[1], "bpe": e})


def mamba(s):
    t, bias = s.type(FLOATS), s.some()
    e = BYTES.get(t.lower(), 2)
    if s.some():
        b, c, n, k = s.shape(4)
        return Drawn("DaoAILab::_causal_conv1d_fwd_cpp", [[b, c, n], [c, k], [c] if bias else []],
                     [t] * 3).gives(
            2 * b * c * n * k, (2 * b * c * n + c * k + (c if bias else 0)) * e, spec("matrix", t),
            {"batch": b, "channels": c, "seq_len": n, "kernel_size": k, "has_bias": bias})
    B, T, H, P, G, N, C = (s.n(1, 32) for _ in range(7))
    told = s.some()
    if not told:
        P, G, C = 64, 1, 128
    conv, k, u = s.n(), s.n(1, 4), s.of(["float", "odd"])
    odd = s.some(0.1)
    width = 2 * H * P + 2 * G * N + H + (1 if odd else 0)
    values = [""] * 17
    if told:
        values[15], values[16], values[6] = str(P), str(G), str(C)
    d = Drawn("MambaSplitConv1dScanCombinedFn", [[B, T, width], [conv, k], [conv], [H], [H], [H]],
              [t, t, t, u, "float", u], values, backward=s.some())
    if odd:
        return d.fails()
    F = 2 * B * T * (conv * k + G * C * N + H * P * (C + 2 * N))
    Y = (B * T * (width + H * P) + conv * (k + 1)) * e + \
        H * (BYTES.get(u, 4) + 4 + BYTES.get(u, e))
    return d.gives(F, Y, spec("matrix", t),
                   {"B": B, "T": T, "H": H, "P": P, "G": G, "N": N, "C": C, "d_inner": H * P,
                    "d_conv": k, "conv_channels": conv, "combined_dim": width})


def cross_entropy(s):
    x, t = s.shape(s.n(2, 3)), s.type(FLOATS)
    return Drawn("CrossEntropyFunction", [x], [t]).gives(
        5 * x[0] * x[-1], prod(x) * BYTES.get(t.lower(), 2) + 12 * x[0], spec("vector", t),
        {"batch": x[0], "vocab_size": x[-1], "logits_shape": x})


def hyper(s):
    M, n, C, h, K, k = (s.n(1, 99) for _ in range(6))
    told = s.of(["", "c10::Half", "odd"])
    t = told or BF16
    e = size(t)
    kind = s.of(["post", "gemm", "big", "fused"])
    post, ends = M * C * (1 + 2 * n) * e + 4 * M * n * (1 + n), 4 * k * M * (h + 1)
    p = {"M": M, "n": n, "C": C, "hc3": h, "K": K, "split_k": k, "dtype_in": t}
    if kind == "post":
        d = Drawn("aiter::mhc_post", [[M, n, C], [M, C], [M, n, C]], ["float", told])
        return d.gives(2 * M * n * C * (n + 1), post, spec("vector", t),
                       {"M": M, "n": n, "C": C, "hc3": None, "dtype_in": t})
    if kind == "gemm":
        d = Drawn("aiter::mhc_pre_gemm_sqrsum", [[k, M, h], [k, M], [M, n, C], [h, K]],
                  ["float", "float", told])
        return d.gives(2 * M * h * K, M * n * C * e + 4 * h * K + ends, spec("matrix", t), p)
    if kind == "big":
        d = Drawn("aiter::mhc_pre_big_fuse_rmsnorm",
                  [[M, n], [M, n], [M, C], [k, M, h], [k], [h], [h], [M, n, C]], ["float"] * 7 + [told])
        del p["K"]
        return d.gives(2 * M * C * n + 5 * M * C,
                       M * n * C * e + 4 * k * M * h + C * e + M * C * e + 4 * M * n * (1 + n),
                       spec("vector", t), p)
    d = Drawn("aiter::mhc_fused_post_pre_gemm_sqrsum",
              [[k, M, h], [k, M], [M, n, C], [M, C], [M, n, C], [M], [M], [h, K]],
              ["float"] * 3 + [told])
    return d.gives(2 * M * n * C * (n + 1) + 2 * M * h * K,
                   M * C * (1 + 3 * n) * e + 4 * M * n * (1 + n) + 4 * h * K + ends,
                   spec("matrix", t), p)


FAMILIES = [quantise, group_quantise, mxfp4, rope, moe, moe_pseudo, moe_triton, moe_aux,
            collective, mamba, cross_entropy, hyper]
