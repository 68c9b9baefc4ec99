# SPDX-License-Identifier: MIT
"""Ops of inference engines and autograd functions with drawn arguments. Roles of arguments come
from the ops' signatures: read (r), written (w), both (b), not moved as a whole (-)."""
import itertools

from draw import COMMON, Drawn, prod, size, spec
from draw_experts import active, experts_spec, fused_cost

FP8 = "c10::Float8_e4m3fn"
FLOATS = COMMON

# Letters stand for drawn sizes: M rows, C columns, G groups, E experts, k of them, H heads, d.
# x is the drawn type, q of one byte, f float, i int, l long int, o bool, '.' no tensor.
SIGNATURES = [
    ("_C::gelu_new _C::gelu_fast _C::gelu_quick", "w:x:MC r:x:MC", 8, "MC", 1),
    ("_C::mul_and_silu _C::fatrelu_and_mul _C::swigluoai_and_mul flashinfer::silu_and_mul",
     "w:x:MC r:x:MD", 5, "MC", 0),
    ("_C::gelu_and_mul sgl_kernel::gelu_and_mul", "w:x:MC r:x:MD", 8, "MC", 0),
    ("_C::gelu_tanh_and_mul sgl_kernel::gelu_tanh_and_mul", "w:x:MC r:x:MD", 10, "MC", 0),
    ("_C::static_scaled_fp8_quant _C::dynamic_scaled_fp8_quant", "w:q:MC r:x:MC b:f:1", 2, "MC", 1),
    ("_C::dynamic_per_token_scaled_fp8_quant", "w:q:MC r:x:MC w:f:M .", 2, "MC", 1),
    ("sgl_kernel::sgl_per_token_group_quant_fp8 _C::per_token_group_fp8_quant",
     "r:x:MC w:q:MC w:f:MG . . .", 2, "MC", 0),
    ("_C::silu_and_mul_quant", "w:q:MC r:x:MD r:f:1", 7, "MC", 0),
    ("flashinfer::sampling_from_probs sgl_kernel::top_p_sampling_from_probs", "r:f:MC . r:f:M .", 1,
     "MC", 0),
    ("_C::apply_repetition_penalties_", "b:f:MC r:o:MC r:o:MC r:f:M", 2, "MC", 0),
    ("_moe_C::topk_softmax", "w:f:Mk w:i:Mk w:i:Mk r:x:ME", 5, "ME", 3),
    ("sgl_kernel::topk_softmax", "w:f:Mk w:i:Mk r:x:ME .", 5, "ME", 2),
    ("_moe_C::moe_sum sgl_kernel::moe_sum", "r:x:MkC w:x:MC", 1, "MkC", 0),
    ("_moe_C::moe_align_block_size", "r:i:Mk . . w:i:C w:i:G w:i:1", 1, "Mk", 0),
    ("sgl_kernel::shuffle_rows", "r:x:MC r:i:M w:x:MC", 0, "MC", 0),
    ("_C::merge_attn_states", "w:x:MHd w:f:HM r:x:MHd r:f:HM r:x:MHd r:f:HM", 4, "MHd", 0),
]
# the result is like the first argument
LAYERS = [
    ("FusedLayerNormAffineFunction FastLayerNormFN LigerLayerNormFunction", "r:x:MC r:x:C r:x:C .", 5),
    ("FusedRMSNormAffineFunction LigerRMSNormFunction", "r:x:MC r:x:C .", 4),
    ("ScaledUpperTriangMaskedSoftmax ScaledSoftmax", "r:x:HMM .", 5),
    ("ScaledMaskedSoftmax", "r:x:HMM r:o:MM .", 5),
    ("ApplyRotaryEmb", "r:x:MHd r:x:Md r:x:Md .", 3),
    ("LigerGELUMulFunction", "r:x:MC r:x:MC", 8), ("SwiGLUFunction", "r:x:MC .", 5),
    ("LigerCrossEntropyFunction", "r:x:MC r:l:M .", 5),
    ("flashinfer::softmax flashinfer::top_k_renorm_probs", "r:x:MC . .", 2)]
TYPES = {"q": FP8, "f": "float", "i": "int", "l": "long int", "o": "bool"}


def draw(s, t, signature, least=1):
    """shapes, types, bytes moved, and sizes"""
    n = {c: s.n(least, 48) for c in "MCGHdk"}
    n.update({"E": n["k"] * s.n(1, 8), "D": 6 * n["C"], "1": 1})
    n["Z"] = n["C"] * n["G"] * 3
    dims, types, moved = [], [], 0
    for arg in signature.split():
        if arg == ".":
            dims.append([])
            types.append(s.of(["", "Scalar"]))
            continue
        role, kind, letters = arg.split(":")
        dims.append([n[c] for c in letters])
        types.append(TYPES.get(kind, t))
        moved += {"r": 1, "w": 1, "b": 2}[role] * prod(dims[-1]) * size(types[-1])
    return dims, types, moved, n


each = itertools.cycle(SIGNATURES)


def signature(s):
    names, text, per, letters, of = next(each)
    t = s.type(FLOATS)
    if "b:f:1" in text:  # a scale is one number, which is written or read
        text = text.replace("b:", "r:")
    dims, types, moved, n = draw(s, t, text)
    count = prod(n[c] for c in letters)
    return Drawn(s.of(names.split()), dims, types).gives(
        per * count, moved, spec("vector", types[of]),
        {"num_elems": prod(dims[of]), "dtype_in": types[of]}) if prod(dims[of]) == count else signature(s)


def layer(s):
    names, text, per = s.of(LAYERS)
    t = s.type(FLOATS)
    dims, types, moved, _ = draw(s, t, text)
    n = prod(dims[0])
    return Drawn(s.of(names.split()), dims, types).gives(
        per * n, moved + n * size(t), spec("vector", t), {"num_elems": n, "dtype_in": t})


def engine_norm(s):
    M, C, t, f = s.n(1, 64), s.n(1, 64), s.type(FLOATS), size(FP8)
    e, n = size(t), M * C
    kind = s.of(["plain", "add", "quant", "quant add", "static"])
    base, x, W = 4 * n + 2 * M, [M, C], C * e
    p = {"op_shape": x, "dtype_in": t, "num_channels": C}
    if kind == "plain":  # x is read, the result written
        d = Drawn(s.of(["_C::rms_norm", "sgl_kernel::gemma_rmsnorm"]), [x, x, [C]], [t] * 3)
        return d.gives(base, 2 * n * e + W, spec("vector", t), p)
    if kind == "add":  # both are read and written
        d = Drawn(s.of(["_C::fused_add_rms_norm", "sgl_kernel::fused_add_rmsnorm"]), [x, x, [C]], [t] * 3)
        return d.gives(base + n, 4 * n * e + W, spec("vector", t), p)
    if kind == "static":
        d = Drawn("_C::fused_add_rms_norm_static_fp8_quant", [x, x, x, [C], [1]], [FP8, t, t, t, "float"])
        return d.gives(base + 3 * n, n * f + 3 * n * e + W + 4, spec("vector", t), p)
    more = kind == "quant add"
    d = Drawn("_C::rms_norm_dynamic_per_token_quant", [x, x, [C], [M, 1], [], [], x if more else []],
              [FP8, t, t, "float", "Scalar", "", t if more else ""])
    return d.gives(base + 2 * n, n * f + n * e + W + 4 * M + (2 * n * e if more else 0),
                   spec("vector", t), p)


def quantised_product(s):
    M, N, K, t, g = s.n(1, 64), 8 * s.n(1, 16), 64 * s.n(1, 4), s.of(["c10::BFloat16", "c10::Half"]), s.n(1, 4)
    kind = s.of(["awq", "gptq", "marlin", "fp8", "fp8 t", "fp4", "out", "bmm"])
    B, a, b, sp = 1, t, "int", spec("matrix", t)
    x, scales = M * K * 2, g * N * 2
    if kind == "awq":  # 8 values in an int
        d = Drawn("_C::awq_gemm", [[M, K], [K, N // 8], [g, N], [g, N // 8], []], [t, "int", t, "int", "Scalar"])
        moved = x + K * N // 2 + scales + g * N // 2 + M * N * 2
    elif kind == "gptq":
        d = Drawn(s.of(["_C::gptq_gemm", "sgl_kernel::gptq_gemm"]),
                  [[M, K], [K // 8, N], [g, N // 8], [g, N], [K]], [t, "int", "int", t, "int"])
        moved = x + K * N // 2 + g * N // 2 + scales + K * 4 + M * N * 2
    elif kind == "marlin":
        d = Drawn("_C::marlin_gemm", [[M, K], [], [K // 16, N * 2], [], [g, N]], [t, "", "int", "", t])
        moved = x + K * N // 2 + scales + M * N * 2
    elif kind in ("fp8", "fp8 t", "out"):
        w = [N, K] if kind == "fp8 t" else [K, N]
        name = {"fp8": "sgl_kernel::fp8_scaled_mm", "fp8 t": "fbgemm::f8f8bf16_rowwise",
                "out": "_C::cutlass_scaled_mm"}[kind]
        out = [[M, N]] if kind == "out" else []
        d = Drawn(name, out + [[M, K], w, [M], [N]], [t] * len(out) + [FP8, FP8, "float", "float"])
        a = b = FP8
        sp, moved = "matrix_fp8", M * K + K * N + 4 * (M + N) + M * N * 2
    elif kind == "fp4":  # two values in a byte
        d = Drawn("trtllm::nvfp4_gemm", [[M, K // 2], [N, K // 2], [M * K // 16], [N * K // 16], [1]],
                  ["unsigned char"] * 4 + ["float"])
        a = b = "unsigned char"
        sp, moved = "matrix_fp4", (M + N) * K // 2 + (M + N) * K // 16 + 4 + M * N * 2
    else:
        B = s.n(1, 8)
        d = Drawn("flashinfer::bmm_fp8", [[4096], [B, M, K], [B, K, N], [B, M, N], [1], [1]],
                  ["unsigned char", FP8, FP8, t, "float", "float"])
        a = b = FP8
        sp, moved = "matrix_fp8", B * (M * K + K * N + 2 * M * N) + 8
    return d.gives(2 * B * M * N * K, moved, sp,
                   {"B": B, "M": M, "N": N, "K": K, "bias": False, "dtype_A_B": [a, b]})


def fused_experts(s):
    T, E, pack, g = s.n(1, 300), s.n(1, 64), s.of([1, 1, 2]), s.of([1, 2])
    k, N, K = s.n(1, E), pack * s.n(3, 128), pack * s.n(1, 128)
    t, w = s.type(["c10::BFloat16", "c10::Half"]), "unsigned char" if pack == 2 else s.of([FP8, "c10::BFloat16"])
    bw = 0.5 if pack == 2 else size(w)
    name = s.of(["vllm::outplace_fused_experts", "sglang::inplace_fused_experts", "aiter::fused_moe_"])
    d = Drawn(name, [[T, K], [E, g * N, K // pack], [E, K, N // pack], [T, k], [T, k]],
              [t, w, w, "float", s.of(["int", "long int"])])
    F, Y = fused_cost(T, K, N, k, g, active(E, k, T), 2, bw, 2)
    return d.gives(F, Y, experts_spec(t if pack == 2 else w),
                   {"num_tokens": T, "hidden_dim": K, "inter_dim": N, "num_experts": E, "topk": k,
                    "gated": g == 2, "input_dtype": t, "weight_dtype": w})


def grouped(s):
    M, N, K, G, t = s.n(1, 300), s.n(1, 64), 2 * s.n(1, 64), s.n(1, 8), s.of(["c10::BFloat16", "c10::Half"])
    kind = s.of(["cutlass", "fp4", "ptrs", "stacked"])
    p = {"N": N, "M": M, "K": K, "G": G}
    F, out, w = 2 * M * N * K, M * N * 2, s.of([[G, K, N], [G, N, K]])
    if kind == "stacked":
        d = Drawn("fbgemm::bf16bf16bf16_grouped_stacked", [[M, K], [G, N, K], [G]], [t, t, "long int"])
        return d.gives(F, 2 * (M * K + G * N * K) + out, spec("matrix", t), p)
    if kind == "fp4":
        d = Drawn("_C::cutlass_fp4_group_mm", [[M, N], [M, K // 2], [G, N, K // 2]], [t] + ["unsigned char"] * 2)
        return d.gives(F, (M * K + G * N * K) // 2 + out, "matrix_fp4", p)
    front = [[G]] * 5 if kind == "ptrs" else []
    d = Drawn("sgl_kernel::fp8_blockwise_scaled_grouped_mm" if front else "_C::cutlass_moe_mm",
              [[M, N]] + front + [[M, K], w], [t] + ["long int"] * len(front) + [FP8, FP8])
    return d.gives(F, M * K + G * N * K + out, "matrix_fp8", p)


def lacking(s):
    """ops whose arguments lack what a model needs"""
    return Drawn(s.of(["trtllm::attn_custom_op_inplace", "vllm::mamba_mixer2", "vllm::moe_forward"]),
                 [s.shape(2)], [s.type(FLOATS)]).fails()


def te_linear(s):
    M, N, K, t, back = s.n(1, 300), s.n(3, 300), s.n(3, 300), s.type(FLOATS), s.some()
    e, norm = size(t), s.some()
    if norm:
        d = Drawn("_LayerNormLinear", [[M, K], [K], [K], [N, K], [N]], [t] * 5, backward=back)
    else:
        d = Drawn("_Linear", [[N, K], [M, K], [N]], [t] * 3, backward=back)
    moved = (M * K + N * K + M * N) * e
    p = {"M": M, "N": N, "K": K, "bias": False, "dtype_A_B": [t, t], "B": 1}
    # gradients of the input and of the weights: each a product of the same size
    return d.gives(4 * M * N * K, 2 * moved, spec("matrix", t), p) if back else \
        d.gives(2 * M * N * K, moved, spec("matrix", t), p)


def weight_gradient(s):
    M, N, K, t = s.n(1, 300), s.n(1, 64), s.n(1, 64), s.type(FLOATS)
    name = "LinearWithGradAccumulationAndAsyncCommunication"
    d = Drawn(name + "Backward", [[M, N]], [t])
    d.forward = Drawn(name, [[M, K], [N, K]], [t, t])
    # gradient and input are read, the sum of the weights' gradients read and written
    return d.gives(2 * M * N * K, (M * N + M * K + 2 * N * K) * size(t), spec("matrix", t),
                   {"M": N, "N": K, "K": M, "bias": False, "dtype_A_B": [t, t], "B": 1})


def scans(s):
    t, kind = s.type(FLOATS), s.of(["scan", "conv", "chunks"])
    b, d_, T, N, e = s.n(1, 8), s.n(1, 64), s.n(1, 128), s.n(1, 16), size(t)
    if kind == "scan":
        D, z = s.some(), s.some()
        n = b * d_ * T
        dims = [[b, d_, T], [b, d_, T], [d_, N], [b, N, T], [b, N, T], [d_] if D else [],
                [b, d_, T] if z else []]
        d = Drawn("SelectiveScanFn", dims, [t, t, "float", t, t, "float" if D else "", t if z else ""])
        return d.gives(9 * n * N + n * (D + z),
                       (3 + z) * n * e + 4 * d_ * N + 2 * b * N * T * e + (4 * d_ if D else 0),
                       spec("vector", t), {"channels": d_, "seq_len": T, "N": N})
    if kind == "conv":
        d = Drawn("_C::causal_conv1d_fwd", [[d_, T], [d_, N], [d_]], [t] * 3)
        return d.gives(2 * d_ * T * N, (2 * d_ * T + d_ * N + d_) * e, spec("vector", t),
                       {"channels": d_, "kernel_size": N})
    H, P, G, C = s.n(1, 8), s.n(1, 64), s.n(1, 4), s.n(1, 256)
    d = Drawn("MambaChunkScanCombinedFn", [[b, T, H, P], [b, T, H], [H], [b, T, G, N], [b, T, G, N], []],
              [t, t, "float", t, t, "Scalar"], ["", "", "", "", "", str(C)])
    return d.gives(2 * b * T * (G * C * N + H * P * (C + 2 * N)),
                   (2 * b * T * H * P + b * T * H + 2 * b * T * G * N) * e + 4 * H, spec("matrix", t),
                   {"H": H, "P": P, "G": G, "N": N, "C": C})


FAMILIES = [signature, layer, engine_norm, quantised_product, fused_experts, grouped, lacking, te_linear, weight_gradient, scans]
