# SPDX-License-Identifier: MIT
"""More of PyTorch's ops with drawn arguments: spectra, recurrent layers, linear algebra,
padding, pictures, statistics."""
import math

from draw import COMMON, Drawn, prod, size, spec
from draw_engines import draw

FLOATS = COMMON + ["double"]
# by roles, as draw_engines.SIGNATURES; and the argument whose shape the result has, or None
ONE_PASS = [
    ("glu_backward", "r:x:MC r:x:MD .", 8, 0, 1),
    ("fake_quantize_per_tensor_affine_cachemask", "r:x:MC r:f:1 r:i:1 . .", 4, 0, 0),
    ("_weight_norm_interface", "r:x:MC r:x:M .", 3, 0, 0),
    ("_weight_norm_interface_backward", "r:x:MC r:x:MC r:x:M r:f:M .", 5, 0, 1),
    ("split_with_sizes_copy", "r:x:MC . .", 0, 0, 0),
    ("masked_scatter_", "r:x:MC r:o:MC r:x:MC", 0, 0, 0), ("cumsum_ logcumsumexp", "r:x:MC .", 1, 0, 0),
    ("batch_norm_stats", "r:x:MCk .", 3, 0, None), ("batch_norm_elemt", "r:x:MCk r:f:C r:f:C r:f:C r:f:C .", 2, 0, 0),
    ("batch_norm_backward_reduce", "r:x:MCk r:x:MCk r:f:C r:f:C r:f:C . . .", 4, 0, None),
    ("batch_norm_backward_elemt", "r:x:MCk r:x:MCk r:f:C r:f:C r:f:C r:f:C r:f:C r:i:G", 5, 0, 0),
    ("reflection_pad1d_backward replication_pad3d_backward", "r:x:MD -:x:MC .", 1, 0, 1)]


def one_pass(s):
    names, text, per, of, like = s.of(ONE_PASS)
    t = s.type(FLOATS)
    dims, types, moved, _ = draw(s, t, text.replace("-:x:MC", "r:x:MC"))
    n = prod(dims[of])
    if "pad" in names:  # the input gives only a shape
        moved -= prod(dims[1]) * size(t)
    if like is not None:
        moved += prod(dims[like]) * size(types[like])
    return Drawn("aten::" + s.of(names.split()), dims, types).gives(
        per * n, moved, spec("vector", types[of]) if "batch_norm_stats" not in names else spec("vector", t),
        {"num_elems": n, "dtype_in": types[of]})


def spectrum(s):
    x, kind = s.shape(3, 1), s.of(["r2c", "c2r", "c2c"])
    axes = s.of([[2], [1, 2], [-1]])
    real, t = ("float", "c10::complex<float>") if s.some() else ("double", "c10::complex<double>")
    full = list(x)
    half = x[:2] + [x[2] // 2 + 1]
    points = prod(x[i] for i in axes)
    stages = math.log2(points) if points > 1 else 0
    one_side, e = s.some(), size(real)
    if kind == "r2c":
        out = half if one_side else full
        d = Drawn("aten::_fft_r2c", [x, [], [], []], [real, "ScalarList", "Scalar", "Scalar"],
                  ["", str(axes), "0", str(one_side)])
        return d.gives(2.5 * prod(x) * stages, prod(x) * e + prod(out) * 2 * e, spec("vector", real),
                       {"input_shape": x, "output_shape": out})
    if kind == "c2r":
        d = Drawn("aten::_fft_c2r", [half, [], [], []], [t, "ScalarList", "Scalar", "Scalar"],
                  ["", str(axes), "0", str(x[2])])
        return d.gives(2.5 * prod(x) * stages, prod(half) * 2 * e + prod(x) * e, spec("vector", t),
                       {"input_shape": half, "output_shape": x})
    d = Drawn("aten::_fft_c2c", [x, [], [], []], [t, "ScalarList", "Scalar", "Scalar"],
              ["", str(axes), "0", "True"])
    return d.gives(5 * prod(x) * stages, 4 * prod(x) * e, spec("vector", t),
                   {"input_shape": x, "output_shape": x})


def recurrent(s):
    T, B, I, H, L, two = s.n(1, 32), s.n(1, 16), s.n(1, 64), s.n(1, 64), s.n(1, 3), s.some()
    mode, g = s.of([(0, 1), (1, 1), (2, 4), (3, 3)])
    name, at, layers, ways = s.of([("_cudnn_rnn", 6, 9, 13), ("miopen_rnn", 5, 7, 11),
                                   ("_cudnn_rnn_backward", 10, 13, 17), ("miopen_rnn_backward", 10, 12, 16)])
    values = [""] * 18
    values[at], values[at + 1], values[layers], values[ways] = str(mode), str(H), str(L), str(two)
    t, d = s.type(FLOATS), 2 if two else 1
    products = weights = 0
    for i in range(L):
        w = d * g * H * ((I if i == 0 else d * H) + H)
        weights += w
        products += 2 * T * B * w
    times = 2 if "backward" in name else 1
    return Drawn("aten::" + name, [[T, B, I]], [t], values).gives(
        times * products, times * (T * B * I + weights + T * B * d * H) * size(t), spec("matrix", t),
        {"hidden_size": H, "num_layers": L})


def algebra(s):
    b, n, r, t = s.n(1, 8), s.n(1, 40), s.n(1, 8), s.type(["float", "double"])
    m = s.n(n, 60)
    e, square, wide = size(t), [b, n, n], [b, m, n] if s.some() else [b, n, m]
    name, x, y, cost = s.of([
        ("linalg_cholesky_ex", square, None, n ** 3 / 3), ("linalg_inv_ex", square, None, 2 * n ** 3),
        ("linalg_lu_factor_ex", square, None, 2 * n ** 3 / 3), ("_linalg_eigh", square, None, 4 * n ** 3 / 3),
        ("linalg_qr", wide, None, 2 * n * n * (m - n / 3)), ("_linalg_svd", wide, None, 4 * n * n * (m - n / 3)),
        ("_linalg_solve_ex", square, [b, n, r], 2 * n ** 3 / 3 + 2 * n * n * r),
        ("linalg_solve_triangular", square, [b, n, r], n * n * r)])
    moved = prod(x) * e + (2 * prod(y) if y else prod(x)) * e
    return Drawn("aten::" + name, [x] + ([y] if y else []), [t] * (2 if y else 1)).gives(
        b * cost, moved, spec("vector", t),
        {"matrices": b, "rows": max(x[1:]), "columns": min(x[1:])})


def pictures(s):
    t, kind, nd = s.type(FLOATS), s.of(["grid", "pad", "cdist", "adaptive", "pool3", "linear", "unlinear"]), s.of([2, 3])
    x = s.shape(2, 1, 8) + [s.n(2, 16) for _ in range(nd)]
    e = size(t)
    if kind == "grid":
        o = [s.n(1, 8) for _ in range(nd)]
        grid, back, nearest = [x[0]] + o + [nd], s.some(), s.some()
        n = prod(x[:2] + o)
        flops = n * (1 if nearest else {2: 7, 3: 15}[nd])
        name = "aten::grid_sampler_%dd" % nd
        values = ["", "", str(int(nearest)), "0", "False"]
        p = {"input_shape": x, "num_elems": n}
        if back:
            d = Drawn(name + "_backward", [x[:2] + o, x, grid, [], []], [t] * 3 + ["Scalar"] * 2, [""] + values)
            return d.gives(2 * flops, (n + 2 * prod(x) + 2 * prod(grid)) * e, spec("vector", t), p)
        d = Drawn(name, [x, grid, [], [], []], [t] * 2 + ["Scalar"] * 3, values)
        return d.gives(flops, (prod(x) + prod(grid) + n) * e, spec("vector", t), p)
    if kind == "pad":
        pad = [s.n(0, 2) for _ in range(2 * nd)]
        o = x[:2] + [v + pad[2 * (nd - 1 - i)] + pad[2 * (nd - 1 - i) + 1] for i, v in enumerate(x[2:])]
        return Drawn("aten::reflection_pad%dd" % nd, [x, []], [t, "ScalarList"], ["", str(pad)]).gives(
            0, (prod(x) + prod(o)) * e, spec("vector", t), {"output_shape": o})
    if kind == "cdist":
        P, R, M, back = s.n(1, 30), s.n(1, 30), s.n(1, 30), s.some()
        if not back:
            return Drawn("aten::_cdist_forward", [[P, M], [R, M], [], []], [t, t, "Scalar", ""]).gives(
                3 * P * R * M, (P * M + R * M + P * R) * e, spec("vector", t), {"num_elems": P * R * M})
        # the gradient and the distances are read, and one gradient of the operands written
        return Drawn("aten::_cdist_backward", [[P, R], [P, M], [R, M], [], [P, R]], [t] * 3 + ["Scalar", t]
                     ).gives(4 * P * R * M, (2 * P * R + 2 * P * M + R * M) * e, spec("vector", t),
                             {"num_elems": P * R * M})
    if kind == "adaptive":
        o, best = x[:2] + [s.n(1, 4) for _ in range(nd)], s.some()
        name = "adaptive_max_pool%dd" % nd if best else "_adaptive_avg_pool%dd" % nd
        return Drawn("aten::" + name, [x, []], [t], ["", str(o[2:])]).gives(
            prod(x), (prod(x) + prod(o)) * e + (8 * prod(o) if best else 0), spec("vector", t),
            {"input_shape": x, "output_shape": o})
    if kind == "pool3":
        x = s.shape(2, 1, 8) + [s.n(4, 12) for _ in range(3)]
        k, best = s.n(1, 3), s.some()
        o = x[:2] + [v // k for v in x[2:]]
        values = ["", str([k]), "[]", "[0, 0, 0]"] + (["[1]", "False"] if best else ["False", "True"])
        return Drawn("aten::max_pool3d_with_indices" if best else "aten::avg_pool3d", [x] + [[]] * 5, [t],
                     values).gives(prod(o) * k ** 3, (prod(x) + prod(o)) * e + (8 * prod(o) if best else 0),
                                   spec("vector", t), {"input_shape": x, "output_shape": o, "kernel_size": [k] * 3})
    name, per, nd = s.of([("upsample_linear1d", 3, 1), ("upsample_trilinear3d", 15, 3)])
    x = s.shape(2, 1, 8) + [s.n(2, 16) for _ in range(nd)]
    o = x[:2] + [2 * v for v in x[2:]]
    back = kind == "unlinear"
    return Drawn("aten::" + name + ("_backward" if back else ""), [o if back else x, [], [], []], [t],
                 ["", str(o[2:]), str(x) if back else "", ""]).gives(
        per * prod(o), (prod(x) + prod(o)) * e, spec("vector", t), {"input_shape": x, "output_shape": o})


def counted(s):
    x, t = s.shape(2, 1), s.type(FLOATS)
    n, e, at = prod(x), size(t), s.of([0, 1, -1])
    kind = s.of(["chosen", "all", "running", "drawn"])
    p = {"num_elems": n, "dtype_in": t}
    if kind == "chosen":
        name, values = s.of([("median", ["", str(at), "False"]), ("mode", ["", str(at), "False"]),
                             ("kthvalue", ["", "1", str(at), "False"])])
        return Drawn("aten::" + name, [x] + [[]] * 3, [t], values).gives(
            n, n * e + n // x[at] * (e + 8), spec("vector", t), p)
    if kind == "all":
        return Drawn("aten::median", [x], [t], [""]).gives(n, n * e + e, spec("vector", t), p)
    if kind == "running":
        return Drawn(s.of(["aten::_cummax_helper", "aten::cummin"]), [x, []], [t, "Scalar"]).gives(
            n, n * (2 * e + 8), spec("vector", t), p)
    k = s.n(1, 4)
    return Drawn("aten::multinomial", [x, [], []], [t, "Scalar", "Scalar"], ["", str(k), "True"]).gives(
        n, n * e + x[0] * k * 8, spec("vector", t), p)


def fused_step(s):
    lists = [s.shape(s.n(1, 3)) for _ in range(s.n(2, 5))]
    n, kept = sum(map(prod, lists)), s.some()
    name, flops, passes = s.of([("_fused_sgd_", 4, 5), ("_fused_adagrad_", 6, 5)])
    return Drawn("aten::" + name, [lists, lists, lists if kept else []], ["TensorList"] * 3).gives(
        (flops if kept else 2) * n, (passes if kept else 3) * n * 4, "vector_fp32", {"num_elems": n})


FAMILIES = [one_pass, spectrum, recurrent, algebra, pictures, counted, fused_step]
