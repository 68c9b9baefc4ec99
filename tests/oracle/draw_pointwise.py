# SPDX-License-Identifier: MIT
"""Pointwise ops, reductions and norms with drawn arguments (op-models-3)."""
import math

from draw import COMMON, NAN, Drawn, ceil_div, prod, size, spec, strided

FLOATS = COMMON + ["double", "c10::Float8_e4m3fn", "what is this"]


# ---- pointwise ----

def unary_params(d, x, out=None):
    return {"op_shape": d.dims[x], "dtype_in_out": [d.types[x], d.types[out] if out else None],
            "stride_input": d.stride(x), "stride_output": d.stride(out) if out else None}


def unary(s):
    x, t, u = s.shape(s.n(0, 4), 0), s.type(), s.type()
    name = s.of("sigmoid rsqrt silu neg copy copy_ clamp_min clamp_max clamp_min_ clamp_max_ pow".split())
    is_copy, tensor = name.startswith("copy"), s.some()
    if is_copy:
        y = s.of([x, x, [], x[-1:]])
        d = strided(s, "aten::" + name, [x, y, []], [t, u, "Scalar"], (), (1,))
        moved = prod(x) * size(t) + prod(y) * size(u)
        return d.gives(prod(x), moved, spec("vector", t), unary_params(d, 0, 1 if y else None))
    if name in ("sigmoid", "rsqrt", "silu", "neg"):
        out = s.some(0.2) and x
        d = strided(s, "aten::" + name, [x, x] if out else [x], [t, u][:1 + bool(out)],
                    (), (0,))
        return d.gives(prod(x), prod(x) * (size(t) + size(u if out else t)), spec("vector", t),
                       unary_params(d, 0, 1 if out else None))
    if tensor and x:
        return binary_of(s, "aten::" + name, x, s.of([x, x[-1:]]), t, u, None)
    d = strided(s, "aten::" + name, [x, []], [t, "Scalar"])
    return d.gives(prod(x), 2 * prod(x) * size(t), spec("vector", t), unary_params(d, 0))


def broadcast(a, b):
    n = max(len(a), len(b))
    a, b = [1] * (n - len(a)) + a, [1] * (n - len(b)) + b
    return [y if x == 1 else x for x, y in zip(a, b)]


def binary_of(s, name, a, b, t, u, out):
    """out: None or the type of an output argument"""
    o = broadcast(a, b)
    third = out is not None and len(o) > 0
    dims, types = [a, b, o if third else []], [t, u, out if third else "Scalar"]
    d = strided(s, name, dims, types, (), (0, 1))
    if third:
        w = size(out)
    elif a and b:
        w = max(size(t), size(u)) if size(t) == size(t) and size(u) == size(u) else NAN
    else:
        w = size(u) if b else size(t)
    p = {"shape_in1": a, "shape_in2": b, "dtype_in1_in2_out": [t, u, out if third else None],
         "stride_input1": d.stride(0), "stride_input2": d.stride(1),
         "stride_output": d.stride(2) if third else None}
    return d.gives(prod(o), prod(a) * size(t) + prod(b) * size(u) + prod(o) * w, spec("vector", t), p)


def binary(s):
    name = s.of("div div_ mul mul_ add add_ sigmoid_backward threshold_backward".split())
    a, t, u = s.shape(s.n(0, 4), 0), s.type(), s.type()
    b = s.of([a, a[-1:], [1 if s.some() else x for x in a], []])
    if s.some(0.2):
        a, b = b, a
    u = "Scalar" if not b and s.some() else u
    return binary_of(s, "aten::" + name, a, b, t, u, s.type() if s.some(0.2) else None)


def unlike(s):
    """shapes that don't broadcast"""
    n = s.n(2, 50)
    return strided(s, s.of(["aten::add", "aten::mul_", "LigerSiLUMulFunction"]), [[3, n], [n + 1]],
                   ["float", "float"]).fails()


def liger(s):
    x, t = s.shape(2), s.type(FLOATS)
    d = strided(s, "LigerSiLUMulFunction", [x, x, x], [t, t, t], (), (0, 1))
    return d.gives(prod(x), 3 * prod(x) * size(t), spec("vector", t), {
        "shape_in1": x, "shape_in2": x, "dtype_in1_in2_out": [t, t, None],
        "stride_input1": d.stride(0), "stride_input2": d.stride(1), "stride_output": None})


def resized(s):
    n, t = s.n(1, 3), s.type(FLOATS)
    x = s.shape(n + 2)
    if s.some():
        pad = [s.n(0, 3) for _ in range(2 * n)]
        o = list(x)
        for i in range(n):
            o[-1 - i] += pad[2 * i] + pad[2 * i + 1]
        d = strided(s, "aten::replication_pad%dd" % n, [x, []], [t, "ScalarList"], ["", str(pad)], (0,))
        p = {"input_shape": x, "output_shape": o, "padding": pad}
    else:
        f = s.of([1.5, 2.0, 3.0])
        o = x[:2] + [math.floor(v * f) for v in x[2:]]
        by = s.some()
        d = strided(s, "aten::upsample_nearest%dd" % n, [x, [], []], [t, "ScalarList", "ScalarList"],
                    ["", "" if by else str(o[2:]), str([f] * n).replace(".0", ".") if by else ""], (0,))
        p = {"input_shape": x, "output_shape": o}
    p.update({"op_shape": o, "dtype_in_out": [t, t], "stride_input": d.stride(0),
              "stride_output": None})
    return d.gives(prod(o), (prod(x) + prod(o)) * size(t), spec("vector", t), p)


def primus_quantise(s):
    x, t = s.shape(2, 1, 200), s.type(FLOATS)
    n, (m, k) = prod(x), x
    if s.some():
        name, out, moved = "::quantize_fp8_tensorwise", "c10::Float8_e4m3fnuz", n * (size(t) + 1)
        space = s.of(["primus_turbo", "primus_turbo_cpp_extension"])
    else:
        name, out = "::quantize_mxfp4_dual", "c10::Float4_e2m1fn_x2"
        space = s.of(["primus_turbo", "primus_turbo_cpp_extension", "primus"])
        moved = n * size(t) + 2 * ((n + 1) // 2) + m * ceil_div(k, 32) + k * ceil_div(m, 32)
    d = strided(s, space + name, [x], [t])
    p = unary_params(d, 0)
    p["dtype_in_out"] = [t, out]
    return d.gives(n, moved, spec("vector", t), p)


def gated(s):
    names, per = s.of([("aiter::silu_and_mul _C::silu_and_mul sgl_kernel::silu_and_mul", 5),
                       ("aiter::gelu_and_mul", 8), ("aiter::gelu_tanh_and_mul", 10)])
    x, t, u = s.shape(2), s.type(FLOATS), s.type(FLOATS)
    d = strided(s, s.of(names.split()), [x, x[:1] + [2 * x[1]]], [u, t])
    p = {"op_shape": x, "dtype_in_out": [t, u], "stride_input": d.stride(1),
         "stride_output": d.stride(0)}
    n = prod(x)
    return d.gives(per * n, 2 * n * size(t) + n * size(u), spec("vector", t), p)


def sampler(s):
    T, V, t, u = s.n(), s.n(), s.type(FLOATS), s.of(["float", ""])
    d = Drawn("aiter::mixed_sample_outer_exponential", [[T], [T, V], [T, V]], ["int", t, u])
    return d.gives(2 * T * V, T * V * (size(t) + size(u or "float")) + 4 * T, spec("vector", t),
                   {"T": T, "V": V, "dtype_logits": t, "dtype_noise": u or "float"})


# ---- reductions ----

def reduction(s):
    name = s.of("sum mean max min norm linalg_norm std var logsumexp cumsum cumprod amin amax".split())
    x, t = s.shape(s.n(1, 4)), s.type()
    way = s.some(0.3)
    kind = next((k for k in ("mean", "max", "min", "norm") if k in name), "sum")
    gone = s.r.sample(range(len(x)), s.n(1, len(x)))
    if name in ("max", "min"):
        gone = gone[:1]
    written = [s.of([i, i - len(x)]) for i in gone]
    out = prod(n for i, n in enumerate(x) if i not in gone)
    more, values, e_out = 0, [""], size(t)
    if name.startswith("cum"):
        values, out = ["", str(written[0]), ""], prod(x)
    elif s.some(0.3):  # all of it
        out = 1
        if name not in ("max", "min"):
            lead = ["", "2"] if "norm" in name else [""]
            values = lead + [s.of(["", "[]", "None"])] + ["False", ""]
    elif name in ("max", "min"):
        values, more = ["", str(written[0]), "False"], 8 * out
    else:
        lead = ["", "2"] if "norm" in name else [""]
        values = lead + [str(written), "True"]
        if name in ("sum", "mean", "norm", "linalg_norm") and s.some(0.3):
            values, e_out = values + ["6"], 4
        else:
            values += [""]
    d = strided(s, "aten::" + name, [x] + [[]] * (len(values) - 1), [t], values, (0,), backward=way)
    moved = prod(x) * size(t) + out * e_out + (0 if way else more)
    return d.gives(prod(x), moved, spec("vector", t),
                   {"num_input_elems": prod(x), "num_output_elems": out, "dtype_in_out": [t, None],
                    "reduce_type": kind})


def larger(s):
    """max and min of two tensors"""
    x, t, u = s.shape(3), s.type(), s.type()
    y = s.of([x, x[-1:], [1, x[1], 1]])
    x = [1, 1, x[2]] if s.some(0.2) else x
    o = broadcast(x, y)
    name = s.of(["max", "min"])
    known = size(t) == size(t) and size(u) == size(u)
    w = max(size(t), size(u)) if known else NAN
    return Drawn("aten::" + name, [x, y], [t, u]).gives(
        prod(o), prod(x) * size(t) + prod(y) * size(u) + prod(o) * w, spec("vector", t),
        {"num_input_elems": prod(x) + prod(y), "num_output_elems": prod(o),
         "dtype_in_out": [t, None], "reduce_type": name})


def shapeless(s):
    return Drawn("aten::" + s.of(["sum", "amax", "cumsum", "norm"]), [], []).gives(
        0, NAN, "", {"num_input_elems": 0, "num_output_elems": 0, "dtype_in_out": [None, None]})


# ---- norms ----

def norm_params(d, x, c, bias, affine, training, mask=None):
    p = {"op_shape": d.dims[x], "dtype_in_out": [d.types[x], None], "stride_input": d.stride(x),
         "stride_output": None, "num_channels": c, "has_bias": bias, "is_affine": affine,
         "is_training": training}
    if mask is not None:
        p["output_mask"] = mask
    return p


def norm(s):
    kind = s.of(["batch", "instance", "layer", "group"])
    x, t = s.shape(s.n(2, 5)), s.type(FLOATS)
    affine, bias, training = s.some(0.7), s.some(0.7), True
    lead = s.of(["", "native_", "miopen_", "cudnn_"])
    values = [""] * 9
    if kind in ("batch", "instance"):
        c, at, training = x[1], 1, s.some()
        values[5] = str(training)
    elif kind == "layer":
        tail = s.n(1, len(x))
        c, at = prod(x[-tail:]), 2
        values[1] = str(x[-tail:])
    else:
        c, at = x[1], 2 if not lead else 1
    dims = [x] + [[]] * 8
    dims[at], dims[at + 1] = [c] if affine else [], [c] if bias else []
    name = "aten::%s%s_norm" % (lead, kind)
    if kind == "group" and s.some(0.3):
        name, dims = "aiter::_groupnorm_run", [x, [], [c] if affine else [], [c] if bias else []]
    d = strided(s, name, dims, [t] * len(dims), values, (0,))
    E, e = prod(x), size(t)
    w = 2 + (1 + bias if affine else 0) + (2 if training else 0)
    return d.gives(6 * c + 2 * E + (3 * E if training else 0), (2 * E + w * c) * e, spec("vector", t),
                   norm_params(d, 0, c, bias, affine, training))


def norm_backward(s):
    kind = s.of(["batch", "miopen", "layer", "group"])
    x, t = s.shape(s.n(2, 5)), s.type(FLOATS)
    mask = [s.some(0.8), s.some(0.8), s.some(0.8)]
    affine, bias, training, at = s.some(0.7), True, True, 1
    dims, values = [x, x] + [[]] * 9, [""] * 11
    shown = mask
    if kind == "batch":
        name = s.of(["aten::batch_norm_backward", "aten::native_batch_norm_backward"])
        c, training = x[1], s.some()
        dims[2], values[7], values[9] = [c] if affine else [], str(training), str(mask)
        shown = mask[:1]
    elif kind == "miopen":
        name = s.of(["aten::miopen_batch_norm_backward", "aten::cudnn_batch_norm_backward"])
        c, at, mask = x[1], 0, [True]
        dims[2], shown = [c] if affine else [], [True]
    elif kind == "layer":
        name = "aten::%slayer_norm_backward" % s.of(["", "native_", "miopen_", "cudnn_"])
        tail = s.n(1, len(x))
        c, given = prod(x[-tail:]), s.some()
        dims[5], dims[6] = [c] if affine else [], [c] if given else []
        values[2], values[7] = str(x[-tail:]), str(mask)
        affine, bias = affine and mask[1], given and mask[2]
    else:
        name = "aten::%sgroup_norm_backward" % s.of(["", "native_", "miopen_", "cudnn_"])
        c = x[1]
        dims[4], values[8], values[9] = [c] if affine else [], "2", str(mask)
        bias = affine and mask[2]
    d = strided(s, name, dims, [t] * len(dims), values, (0, 1))
    E, e, p = prod(x), size(t), prod(x) / c
    q = (5 * p if training else 2 * p) if mask[0] else 0
    F = c * ((0 if training else 3) + 4 * p + q)
    Y = E * e + E * e * (2 if mask[0] and training else 1) + (c * e if training else 0)
    if affine:
        Y += c * e + (c * e * (1 + bias) if training else 0)
    return d.gives(F, Y, spec("vector", t), norm_params(d, at, c, bias, affine, training, shown))


def not_defined(s):
    x = s.shape(4)
    return Drawn("aten::%sinstance_norm_backward" % s.of(["", "native_", "miopen_", "cudnn_"]), [x, x],
                 ["float", "float"], []).fails("skipped")


def rms(s):
    x, t, affine = s.shape(s.n(1, 4)), s.type(FLOATS), s.some()
    tail = s.n(1, len(x))
    c, E, e = prod(x[-tail:]), prod(x), size(t)
    if s.some():
        d = strided(s, "aten::_fused_rms_norm", [x, [], [c] if affine else [], []], [t] * 3,
                    ["", str(x[-tail:]), "", ""])
        return d.gives(E / c * (2 * c + 2) + E * (2 if affine else 1),
                       2 * E * e + (c * e if affine else 0), spec("vector", t),
                       norm_params(d, 0, c, False, affine, False))
    mask = [s.some(), s.some()]
    d = strided(s, "aten::%srms_norm_backward" % s.of(["", "native_", "miopen_", "cudnn_", "_fused_"]),
                [x, x, [], x[:1], [c] if affine else [], []], [t] * 5,
                ["", "", str(x[-tail:]), "", "", str(mask)])
    per = affine + 1 + (6 if mask[0] else 0)
    if mask[1] and affine:
        per += 2 if E / c > 1 else 1
    return d.gives(E * per, 3 * E * e + (2 * c * e if affine else 0), spec("vector", t),
                   norm_params(d, 1, c, False, affine, False, mask))


def modulate(s):
    T, B, H = s.shape(3)
    t, back = s.type(FLOATS), s.some()
    d = strided(s, "primus::fused_ln_modulate" + ("_backward" if back else ""),
                [[T, B, H], [B, H], [B, H]], [t] * 3)
    E, e = T * B * H, size(t)
    return d.gives((15 if back else 12) * E,
                   (3 * E * e + 3 * B * H * e if back else 2 * E * e + 2 * B * H * e) + 2 * T * B * 4,
                   spec("vector", t),
                   norm_params(d, 0, H, True, True, True, [True] * 3 if back else None))


# names, x, weight, FLOPs beside R in E, bytes
def rms_inference(s):
    M, C, t = s.n(), s.n(), s.type(FLOATS)
    E, e = M * C, size(t)
    R = E / C * (2 * C + 2) + 2 * E
    g, pad = s.of([0, 32, 128]), s.of([0, 32, 256])
    P = ceil_div(C, pad) * pad if pad else C
    quant = (E + C) * e + E
    scales = 4 * M * ceil_div(C, g or C)
    names, x, w, F, Y, value = s.of([
        ("aiter::rms_norm aiter::rmsnorm2d_fwd_ck", 0, 1, R, (2 * E + C) * e, {}),
        ("aiter::rmsnorm", 1, 2, R, (2 * E + C) * e, {}),
        ("aiter::rmsnorm2d_fwd_with_add_ck aiter::add_rmsnorm", 1, 4, R + E, (4 * E + C) * e, {}),
        ("aiter::rmsnorm2d_fwd_with_dynamicquant_ck", 1, 3, R + 2 * E, quant + 4 * M, {}),
        ("aiter::rmsnorm_quant", 1, 3, R + 2 * E, quant + scales, {5: str(g) if g else ""}),
        ("vllm::rocm_aiter_rmsnorm_fp8_group_quant", 0, 1, R + 2 * E, quant + scales, {3: str(g)}),
        ("vllm::rocm_aiter_rmsnorm_with_add_fp8_group_quant", 0, 2, R + 3 * E,
         (3 * E + C) * e + E + scales, {4: str(g)}),
        ("vllm::rocm_aiter_triton_add_rmsnorm_pad aiter::fused_add_rmsnorm_pad_", 0, 1, R + E,
         (2 * E + C) * e + M * P * e + M * C * e, {4: str(pad)})])
    dims = [[M, C]] * (w + 1)
    dims[w] = [C]
    d = strided(s, s.of(names.split()), dims, [t] * len(dims), [value.get(i, "") for i in range(6)])
    return d.gives(F, Y, spec("vector", t), norm_params(d, x, C, False, True, False))


def rms_mxfp4(s):
    M, C, n2, t = s.n(), s.n(), s.n(), s.type(FLOATS)
    second, residual = s.some(), s.some()
    dims = [[M, C], [C], [], [M, n2] if second else [], [n2], [], [M, C] if residual else []]
    d = strided(s, s.of(["sglang_profiler::fused_mxfp4_quant_fused_rms_mxfp4_quant",
                         "aiter::_fuse_rmsnorm_fp4_quant"]), dims, [t] * 7)
    E, e = M * C, size(t)
    R = E / C * (2 * C + 2) + 2 * E
    F = R + (M * C if residual else 0) + (math.trunc(R * (M * n2) / max(E, 1)) if second else 0) + 2 * E
    Y = (E + C) * e + 0.5 * E + E // 32 + (2 * E * e if residual else 0)
    Y += (2 * M * n2 + n2) * e if second else 0
    return d.gives(F, Y, spec("vector", t), norm_params(d, 0, C, False, True, False))


FAMILIES = [unary, binary, unlike, liger, resized, primus_quantise, gated, sampler, reduction,
            larger, shapeless, norm, norm_backward, not_defined, rms, modulate, rms_inference,
            rms_mxfp4]
