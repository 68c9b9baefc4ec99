# SPDX-License-Identifier: MIT
"""Ops that only we model, with drawn arguments (op-models, section 15)."""
import math

from draw import COMMON, Drawn, prod, size, spec, strided

FLOATS = COMMON + ["double", "what is this"]


def broadcast(*shapes):
    n = max(map(len, shapes))
    out = []
    for at in range(n):
        sizes = {([1] * (n - len(x)) + x)[at] for x in shapes}
        out.append((sizes - {1} or {1}).pop())
    return out


def pointwise(s):
    """an operation for each element of the result"""
    names, operands, told = s.of([
        ("exp tanh gelu relu sqrt abs sin cos log reciprocal erf elu leaky_relu hardtanh", 1, False),
        ("sub rsub maximum bitwise_and bitwise_left_shift atan2 masked_fill tanh_backward", 2, False),
        ("lt le gt ge eq ne logical_and", 2, True), ("isnan logical_not", 1, True),
        ("addcmul addcdiv lerp where clamp", 3, False)])
    name = s.of(names.split())
    if s.some(0.3) and name not in ("isnan", "where", "tanh_backward"):
        name += "_"
    x = s.shape(s.n(1, 4), 0)
    shapes = [[1 if s.some(0.3) else n for n in x][s.n(0, len(x) - 1):] for _ in range(operands)]
    types = [s.type(FLOATS) for _ in shapes]
    first = types[0]
    if name == "where":
        types[0], first = "bool", types[1]
    n = prod(broadcast(*shapes))
    given = s.some(0.3) and not name.startswith("masked")  # where to write: out=
    d = strided(s, "aten::" + name, shapes + [broadcast(*shapes) if given else []],
                types + [s.type(FLOATS) if given else "Scalar"], (), range(operands))
    # a type without a size gives none for its result either, but known ones count
    widest = max([size(t) for t in types if size(t) == size(t)], default=0)
    each = size(d.types[-1]) if given else 1 if told else widest
    moved = sum(prod(v) * size(t) for v, t in zip(shapes, types)) + n * each
    return d.gives(n, moved, spec("vector", first), {"num_elems": n, "dtype_in": first})


def written(s):
    x, t = s.shape(s.n(1, 4), 0), s.type(FLOATS)
    return Drawn("aten::" + s.of(["fill_", "zero_", "normal_"]), [x, []], [t, "Scalar"]).gives(
        0, prod(x) * size(t), spec("vector", t), {"num_elems": prod(x), "dtype_in": t})


def softmax(s):
    x, t = s.shape(s.n(1, 4)), s.type(FLOATS)
    p = {"op_shape": x, "dtype_in": t}
    n, e = prod(x), size(t)
    if s.some():
        return strided(s, "aten::" + s.of(["_softmax_backward_data", "_log_softmax_backward_data"]), [x, x],
                       [t, t], (), (0, 1)).gives(4 * n, 3 * n * e, spec("vector", t), p)
    wide = s.some(0.3)
    return strided(s, "aten::" + s.of(["_softmax", "_log_softmax"]), [x, [], []], [t, "Scalar", "Scalar"],
                   ["", "-1", str(wide)], (0,)).gives(5 * n, n * (e + (4 if wide else e)), spec("vector", t), p)


def reductions(s):
    x, t = s.shape(s.n(1, 4)), s.type(FLOATS)
    name, e = s.of([("any", 1), ("all", 1), ("argmax", 8), ("argmin", 8), ("prod", size(t)),
                    ("linalg_vector_norm", size(t))])
    at = s.n(0, len(x) - 1)
    out = prod(v for i, v in enumerate(x) if i != at)
    values = ["", "2", "[%d]" % at, "False", ""] if "norm" in name else ["", str(at), "False"]
    kind = "norm" if "norm" in name else "max" if name == "argmax" else "min" if name == "argmin" else "sum"
    return Drawn("aten::" + name, [x] + [[]] * (len(values) - 1), [t], values).gives(
        prod(x), prod(x) * size(t) + out * e, spec("vector", t),
        {"num_input_elems": prod(x), "num_output_elems": out, "dtype_in_out": [t, None],
         "reduce_type": kind})


def movement(s):
    x, t, n = s.shape(2), s.type(FLOATS), s.n()
    e = size(t)
    kind = s.of(["cat", "index_select", "gather", "embedding", "index", "scatter", "flip", "add"])
    read = prod(x) * e  # at most all of it
    if kind == "cat":
        both = [x, [s.n(), x[1]]]
        m = prod(both[0]) + prod(both[1])
        d = Drawn("aten::cat", [both, []], ["TensorList", "Scalar"], ["", "0"],
                  kernels=["void at::native::CatArrayBatchedCopy<float, unsigned int, 2>()"])
        return d.gives(0, 2 * m * 4, "", {"num_elems": m, "dtype_in": "float"})
    if kind == "index_select":
        d, m = Drawn("aten::index_select", [x, [], [n]], [t, "Scalar", "long int"], ["", "0", ""]), x[1] * n
    elif kind == "gather":
        y = s.shape(2)
        d = strided(s, "aten::gather", [x, [], y, []], [t, "Scalar", "long int", "Scalar"],
                    ["", "1", "", "False"], (2,))
        m = prod(y)
        return d.gives(0, min(m * e, read) + m * e + 8 * m, spec("vector", t),
                       {"num_elems": m, "dtype_in": t})
    elif kind == "embedding":
        d, m = Drawn("aten::embedding", [x, [n]], [t, "long int"]), n * x[1]
    elif kind == "index":
        at, m = s.of([([[n]], n * x[1]), ([[], [n]], n * x[0]), ([[n, 1], [3]], n * 3)])
        return Drawn("aten::index", [x, at], [t, "TensorList"]).gives(
            0, min(m * e, read) + m * e + 8 * sum(prod(i) for i in at if i), spec("vector", t),
            {"num_elems": m, "dtype_in": t})
    elif kind == "scatter":
        d, m = Drawn("aten::" + s.of(["scatter_", "scatter_add", "scatter_reduce_"]),
                     [x, [], [n], [n]], [t, "Scalar", "long int", t]), n
    elif kind == "flip":
        d, m, n = Drawn("aten::" + s.of(["flip", "roll", "_to_copy"]), [x], [t]), prod(x), 0
    else:
        m = n * x[1]
        return Drawn("aten::index_add_", [x, [], [n], [n, x[1]], []], [t, "Scalar", "long int", t, "Scalar"]
                     ).gives(m, 3 * m * e + 8 * n, spec("vector", t), {"num_elems": m, "dtype_in": t})
    return d.gives(0, min(m * e, read) + m * e + 8 * n, spec("vector", t), {"num_elems": m, "dtype_in": t})


def pool(s):
    x, t = s.shape(2) + [s.n(8, 64), s.n(8, 64)], s.type(FLOATS)
    k, p, up = s.n(2, 4), s.n(0, 1), s.some(0.3)
    stride = s.of([k, s.n(1, 3)])
    name = s.of(["max_pool2d", "max_pool2d_with_indices", "avg_pool2d"])
    r = math.ceil if up else math.floor
    o = x[:2] + [r((v + 2 * p - k) / stride) + 1 for v in x[2:]]
    values = ["", str([k, k]), "[]" if stride == k else str([stride]), str([p, p])]
    values += ["[1, 1]", str(up)] if "max" in name else [str(up), "True"]
    n = prod(o)
    return strided(s, "aten::" + name, [x] + [[]] * 5, [t], values, (0,)).gives(
        n * k * k, (prod(x) + n) * size(t) + (8 * n if "indices" in name else 0), spec("vector", t),
        {"input_shape": x, "output_shape": o, "kernel_size": [k, k]})


def resample(s):
    x, t, by = s.shape(4), s.type(FLOATS), s.some()
    o = x[:2] + [2 * v for v in x[2:]]
    name, per, at = s.of([("_upsample_nearest_exact2d", 1, 2), ("upsample_bilinear2d", 7, 3),
                          ("_upsample_bicubic2d_aa", 35, 3)])
    values = ["", "" if by else str(o[2:]), "", ""]
    if by:
        values[at] = "[2., 2.]"
    if s.some(0.3):
        name, back = name + "_backward", True
        values = ["", str(o[2:]), str(x), ""]
    else:
        back = False
    return strided(s, "aten::" + name, [o if back else x, [], [], []], [t], values, (0,)).gives(
        per * prod(o), (prod(x) + prod(o)) * size(t), spec("vector", t),
        {"input_shape": x, "output_shape": o})


def foreach(s):
    lists = [s.shape(s.n(1, 3)) for _ in range(s.n(2, 5))]
    n = sum(map(prod, lists))
    name, others, passes = s.of([("add_", 1, 3), ("mul", 0, 2), ("addcmul_", 2, 4), ("copy_", 1, 2),
                                 ("zero_", 0, 1), ("norm", 0, 1), ("sqrt", 0, 2), ("clamp_min_", 0, 2)])
    dims = [lists] * (1 + others) + [[]]
    return Drawn("aten::_foreach_" + name, dims, ["TensorList"] * (1 + others) + ["Scalar"]).gives(
        0 if name == "zero_" else n, (passes * n + len(lists) * (name == "norm")) * 4, "vector_fp32", {"num_elems": n})


def linear(s):
    M, N, K, t, bias = s.n(), s.n(), s.n(), s.type(FLOATS), s.some()
    kind = s.of(["linear", "matmul", "int", "grouped"])
    b = size(t)
    if kind == "int":
        d = strided(s, "aten::_int_mm", [[M, K], [K, N]], ["signed char"] * 2, (), (0, 1))
        return d.gives(2 * M * N * K, M * K + K * N + 4 * M * N, "matrix_int8",
                       {"M": M, "N": N, "K": K, "bias": False, "stride_A": d.stride(0),
                        "stride_B": d.stride(1), "dtype_A_B": ["signed char"] * 2, "B": 1})
    if kind == "grouped":
        G = s.n(1, 8)
        return Drawn("aten::_grouped_mm", [[M, K], [G, K, N], [G]], [t, t, "int"]).gives(
            2 * M * N * K, (M * K + G * K * N) * b + M * N * (2 if b == 1 else b), spec("matrix", t),
            {"K": K, "N": N, "M": M, "G": G, "bpe_in": b, "bpe_out": 2 if b == 1 else b})
    if kind == "linear":
        d = strided(s, "aten::linear", [[2, M, K], [N, K], [N] if bias else []], [t] * 3, (), (0, 1))
        M *= 2
        return d.gives(2 * M * N * K + (M * N if bias else 0),
                       (M * K + N * K + M * N + (N if bias else 0)) * b, spec("matrix", t),
                       {"M": M, "N": N, "K": K, "bias": bias, "stride_A": d.stride(0),
                        "stride_B": d.stride(1), "dtype_A_B": [t, t], "B": 1})
    lead, other = s.shape(2, 1, 4), s.of([[], [1], None])
    other = lead if other is None else other
    d = strided(s, "aten::matmul", [lead + [M, K], other + [K, N]], [t, t], (), (0, 1))
    B = prod(lead)
    return d.gives(2 * B * M * N * K, (B * M * K + prod(other) * K * N + B * M * N) * b,
                   spec("matrix", t), {"B": B, "M": M, "N": N, "K": K, "bias": False,
                                       "stride_A": d.stride(0), "stride_B": d.stride(1),
                                       "dtype_A_B": [t, t]})


def ordered(s):
    x, t, k = s.shape(2), s.type(FLOATS), s.n(1, 8)
    n = prod(x)
    if s.some():
        return Drawn("aten::topk", [x, [], []], [t, "Scalar", "Scalar"], ["", str(k), "-1"]).gives(
            n, n * size(t) + x[0] * k * (size(t) + 8), spec("vector", t),
            {"num_elems": n, "k": k, "dtype_in": t})
    at = s.of([0, 1])
    return Drawn("aten::sort", [x, [], []], [t, "Scalar", "Scalar"], ["", str(at), "False"]).gives(
        n * math.ceil(math.log2(x[at])), n * (2 * size(t) + 8), spec("vector", t),
        {"num_elems": n, "dtype_in": t})


FAMILIES = [pointwise, written, softmax, reductions, movement, pool, resample, foreach, linear, ordered]
