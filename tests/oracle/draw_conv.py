# SPDX-License-Identifier: MIT
"""Convolutions with drawn arguments (op-models-1)."""
import math

from draw import COMMON, Drawn, prod, size, spec

FLOATS = COMMON + ["double", "c10::Float8_e4m3fn", "what is this"]


def conv(s, backward=False):
    n, groups = s.n(1, 3), s.of([1, 1, 2, 4])
    transposed = s.some(0.3)
    C, O = groups * s.n(1, 16), groups * s.n(1, 16)
    k = [s.n(1, 5) for _ in range(n)]
    x = [s.n(1, 8), C] + [s.n(12, 32) for _ in range(n)]
    w = ([C, O // groups] if transposed else [O, C // groups]) + k
    t = s.type(FLOATS)

    def each(least, most):
        v = [s.n(least, most) for _ in range(n)]
        return s.of([v, v[:1]])
    stride, pad, dil, extra = each(1, 3), each(0, 2), each(1, 2), each(0, 1)

    def full(v):
        return v * n if len(v) == 1 else v
    S, P, D, X = full(stride), full(pad), full(dil), full(extra)
    o = [x[0], O]
    for i in range(n):
        reach = D[i] * (k[i] - 1)
        o.append((x[i + 2] - 1) * S[i] - 2 * P[i] + reach + X[i] + 1 if transposed
                 else math.trunc((x[i + 2] + 2 * P[i] - reach - 1) / S[i]) + 1)
    texts = [str(stride), str(pad), str(dil), str(transposed), str(extra), str(groups)]
    bias = s.some(0.4)
    e = size(t)
    mac = 2 * prod(w[1:]) * prod(x if transposed else o)
    io = prod(x) + prod(w) + prod(o)
    if backward:
        mask = [s.some(0.8), s.some(0.8), bias]
        d = Drawn("aten::convolution_backward", [o, x, w, [], [], [], [], [], [], [], []], [t] * 3,
                  ["", "", "", "[0]"] + texts + [str(mask)])
        first, parts = 1, mask[0] + mask[1]
    else:
        way = s.some(0.3)
        d = Drawn("aten::convolution", [x, w, [O] if bias else []] + [[]] * 6, [t, t, t if bias else ""],
                  ["", "", ""] + texts, backward=way)
        first, parts = 0, 2 if way else 0
    d.expands = () if backward or parts else (0, 1)
    d.strides = s.strides(d.dims, d.expands)
    p = {"convNd": "conv%dd" % n, "input_shape": x, "filter_shape": w, "dtype_input_weight": [t, t],
         "input_stride": d.stride(first), "weight_stride": d.stride(first + 1), "bias": bias,
         "stride": S, "padding": P, "dilation": D, "transposed_conv": transposed,
         "output_padding": X, "groups": groups}
    b = 1 if bias else 0
    if d.backward or backward:
        return d.gives(parts * mac + b * prod(o), (parts * io + b * (prod(o) + O)) * e,
                       spec("matrix", t), p)
    return d.gives(mac + b * prod(o), (io + b * O) * e, spec("matrix", t), p)


def conv_backward(s):
    return conv(s, True)


def conv_bias(s):
    x, O, k = [s.n(1, 4), s.n(1, 8)] + s.shape(2, 8, 16), s.n(1, 8), s.n(1, 3)
    w = [O, x[1], k, k]
    stride, pad = s.of(["", "1", "2"]), s.of(["", "0", "1"])
    values = ["", "", "", stride, pad]
    S, P = int(stride or 1), int(pad or 0)
    o = [x[0], O] + [(n + 2 * P - k) // S + 1 for n in x[2:]]
    name = s.of(["ConvBias_", "ConvBiasReLU_"])
    back = s.some()
    t = s.type(COMMON)
    e = size(t)
    mac, io = 2 * prod(w[1:]) * prod(o), prod(x) + prod(w) + prod(o)
    d = Drawn(name, [x, w, [O]], [t] * 3, values)
    if back:
        d = Drawn(name + "Backward" if name[-1] == "_" else "", [o], [t], [], forward=d)
    p = {"convNd": "conv2d", "input_shape": x, "filter_shape": w, "dtype_input_weight": [t, t],
         "input_stride": None, "weight_stride": None, "bias": True, "stride": [S, S],
         "padding": [P, P], "dilation": [1, 1], "transposed_conv": False, "output_padding": [0, 0],
         "groups": 1}
    if back:
        return d.gives(2 * mac + prod(o), (2 * io + prod(o) + O) * e, spec("matrix", t), p)
    return d.gives(mac + prod(o), (io + O) * e, spec("matrix", t), p)


FAMILIES = [conv, conv_backward, conv_bias]
