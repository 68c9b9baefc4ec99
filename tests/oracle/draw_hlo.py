# SPDX-License-Identifier: MIT
"""XLA's instructions with drawn shapes (jax-xplane 5.4, 6, 8.2): the model must find what is
planted in an instruction."""
import json

from draw import NAN, Drawn, prod

TYPES = {"f64": (8, "fp64"), "f32": (4, "fp32"), "f16": (2, "fp16"), "bf16": (2, "bf16"),
         "f8e4m3fn": (1, "fp8"), "f8e5m2fnuz": (1, "fp8"), "s8": (1, "int8"), "s4": (0.5, ""),
         "u2": (0.25, ""), "pred": (1, ""), "s32": (4, ""), "u64": (8, ""), "c64": (8, "fp32"),
         "f4e2m1fn": (0.5, "fp4"), "x9": (NAN, "")}
FLOATS = ["f64", "f32", "f16", "bf16", "f8e4m3fn", "f8e5m2fnuz"]


def text(t, dims, order=None):
    order = order if order is not None else list(range(len(dims)))[::-1]
    layout = "{%s}" % ",".join(map(str, order)) if dims else ""
    return "%s[%s]%s" % (t, ",".join(map(str, dims)), layout)


def size(t, dims):
    return TYPES[t][0] * prod(dims)


def spec(unit, t):
    return "%s_%s" % (unit, TYPES[t][1]) if TYPES[t][1] else ""


def array(name, t, dims):
    return {"name": name, "shape": text(t, dims)}


def op(hlo, name="x.1"):
    return Drawn(name, [], [], hlo=json.dumps(hlo))


def shuffled(s, items):
    items = list(items)
    s.r.shuffle(items)
    return items


def sides(s):
    """dimensions of a product's operands: batch, contracting, rest, each at drawn places"""
    batch, inside, p, q = ([s.n(1, 9) for _ in range(s.r.randint(least, 2))]
                           for least in (0, 1, 1, 1))
    a = shuffled(s, [("b", k) for k in range(len(batch))] + [("k", k) for k in range(len(inside))]
                 + [("p", k) for k in range(len(p))])
    b = shuffled(s, [("b", k) for k in range(len(batch))] + [("k", k) for k in range(len(inside))]
                 + [("q", k) for k in range(len(q))])
    have = {"b": batch, "k": inside, "p": p, "q": q}
    # the rest is in the operand's own order in the result
    p = [have["p"][k] for c, k in a if c == "p"]
    q = [have["q"][k] for c, k in b if c == "q"]
    return batch, inside, p, q, [have[c][k] for c, k in a], [have[c][k] for c, k in b], {
        "lhs_batch": [a.index(("b", k)) for k in range(len(batch))],
        "rhs_batch": [b.index(("b", k)) for k in range(len(batch))],
        "lhs_contracting": [a.index(("k", k)) for k in range(len(inside))],
        "rhs_contracting": [b.index(("k", k)) for k in range(len(inside))]}


def gemm_params(batch, inside, p, q, minor, types, bias=False):
    """M is the side along which the result is contiguous"""
    by_columns = len(batch) <= minor < len(batch) + len(p)
    m, n = (p, q) if by_columns else (q, p)
    return {"B": prod(batch), "M": prod(m), "N": prod(n), "K": prod(inside), "bias": bias,
            "dtype_A_B": list(types)}


def wider(t, u):
    return u if TYPES[u][0] > TYPES[t][0] else t


def dot(s):
    batch, inside, p, q, a, b, numbers = sides(s)
    t, u, v = s.of(FLOATS), s.of(FLOATS), s.of(FLOATS)
    out = batch + p + q
    order = shuffled(s, range(len(out)))
    hlo = {"opcode": "dot", "shape": text(v, out, order), "dot": numbers,
           "operands": [array("a", t, a), array("b", u, b)]}
    if s.some():  # the same in a fusion, with an epilogue
        hlo = {"opcode": "fusion", "shape": hlo["shape"], "operands": hlo["operands"], "body": [
            {"opcode": "parameter", "parameter": 0, "shape": text(t, a)},
            {"opcode": "parameter", "parameter": 1, "shape": text(u, b)},
            dict(hlo, operands=[0, 1]),
            {"opcode": "tanh", "shape": hlo["shape"], "operands": [2], "root": True}]}
    return op(hlo).gives(2 * prod(out) * prod(inside), size(t, a) + size(u, b) + size(v, out),
                         spec("matrix", wider(t, u)),
                         gemm_params(batch, inside, p, q, order[0], (t, u)))


def library(s):
    """a call of cuBLAS: numbers as texts, an epilogue, a workspace"""
    batch, inside, p, q, a, b, numbers = sides(s)
    t = s.of(FLOATS)
    out = batch + p + q
    beta, bias = s.of([0, 0, 1, 0.5]), s.some()
    operands = [array("a", t, a), array("b", t, b)]
    moved = size(t, a) + size(t, b) + size(t, out)
    if beta:
        operands.append(array("c", t, out))
        moved += size(t, out)
    if bias:
        operands.append(array("bias", t, q))
        moved += size(t, q)
    hlo = {"opcode": "custom-call", "target": s.of(["__cublas$gemm", "__cublas$lt$matmul"]),
           "shape": "(%s,%s)" % (text(t, out), text("s8", [s.n()])), "operands": operands,
           "config": {"gemm_backend_config": {
               "beta": beta, "epilogue": "BIAS_RELU" if bias else "DEFAULT",
               "dot_dimension_numbers": {k + "_dimensions": [str(x) for x in v]
                                         for k, v in numbers.items()}}}}
    more = bool(beta) or bias
    return op(hlo).gives(2 * prod(out) * prod(inside) + (prod(out) if more else 0), moved,
                         spec("matrix", t),
                         gemm_params(batch, inside, p, q, len(out) - 1, (t, t), more))


def convolution(s):
    n, groups = s.r.randint(1, 3), s.of([1, 1, 2, 4])
    per_group, features = s.n(1, 16), groups * s.n(1, 16)
    k, i, o = ([s.n(1, 9) for _ in range(n)] for _ in range(3))
    t = s.of(FLOATS)

    def arranged(first, second, spatial):
        """dimensions in a drawn order, and where each is"""
        places = shuffled(s, range(n + 2))
        dims = [0] * (n + 2)
        for place, d in zip(places, [first, second] + spatial):
            dims[place] = d
        return dims, places[0], places[1], places[2:]
    count = s.n(1, 8)
    x, xb, xf, xs = arranged(count, groups * per_group, i)
    w, wo, wi, ws = arranged(features, per_group, k)
    y, yb, yf, ys = arranged(count, features, o)
    target, operands, result = s.of([
        ("__cudnn$convForward", (x, w), y), ("__cudnn$convBackwardInput", (y, w), x),
        ("__cudnn$convBackwardFilter", (x, y), w), (None, (x, w), y)])
    window = [{"size": k[j], "stride": s.n(1, 3), "padding_low": s.n(0, 2), "padding_high": s.n(0, 2),
               "window_dilation": s.n(1, 2), "base_dilation": 1} for j in range(n)]
    hlo = {"opcode": "custom-call" if target else "convolution", "window": window,
           "shape": "(%s,u8[77]{0})" % text(t, result) if target else text(t, result),
           "operands": [array("a", t, operands[0]), array("b", t, operands[1])],
           "conv": {"input_batch": xb, "input_feature": xf, "input_spatial": xs,
                    "kernel_output_feature": wo, "kernel_input_feature": wi, "kernel_spatial": ws,
                    "output_batch": yb, "output_feature": yf, "output_spatial": ys}}
    if target:
        hlo["target"] = target
    if groups > 1:
        hlo["feature_groups"] = groups
    pads = [v["padding_low"] if v["padding_low"] == v["padding_high"]
            else [v["padding_low"], v["padding_high"]] for v in window]
    return op(hlo).gives(
        2 * count * prod(o) * features * per_group * prod(k), size(t, x) + size(t, w) + size(t, y),
        spec("matrix", t),
        {"convNd": "conv%dd" % n, "input_shape": x, "filter_shape": w, "output_shape": y,
         "bias": False, "bytes_per_element": TYPES[t][0], "transposed_conv": False,
         "stride": [v["stride"] for v in window], "padding": pads,
         "dilation": [v["window_dilation"] for v in window], "groups": groups})


LAYOUTS = ["SB3HD", "SBH3D", "SBHD_SB2HD", "SBHD_SBH2D", "SBHD_SBHD_SBHD", "BS3HD", "BSH3D",
           "BSHD_BS2HD", "BSHD_BSH2D", "BSHD_BSHD_BSHD"]


def engine(s):
    """Transformer Engine: sizes in the configuration, or those of the shapes by their layout"""
    number = s.r.randrange(len(LAYOUTS))
    parts = LAYOUTS[number].split("_")
    B, D, H = s.n(1, 8), 8 * s.n(1, 16), s.of([1, 2, 4])
    HQ = H if len(parts) == 1 else H * s.of([1, 2, 8])
    NQ = s.n(1, 512)
    NK = NQ if len(parts) == 1 or s.some() else s.n(1, 512)
    DV = 8 * s.n(1, 16) if len(parts) == 3 and s.some(0.3) else D
    t, mask, back = s.of(["bf16", "f16"]), s.r.randint(0, 5), s.some()
    shapes = []
    for k, part in enumerate(parts):
        have = {"B": B, "S": NK if k else NQ, "H": H if k else HQ, "D": DV if k == 2 else D,
                "3": 3, "2": 2}
        shapes.append([have[c] for c in part])
    shapes += [[0]] * (3 - len(shapes))
    config = {"qkv_layout": number, "mask_type": mask}
    if s.some():
        config.update({"input_batch": B, "attn_heads": HQ, "num_gqa_groups": H, "q_max_seqlen": NQ,
                       "kv_max_seqlen": NK, "qk_head_dim": D, "v_head_dim": DV})
    if s.some():
        config["dropout_probability"] = 0.25
    as_text = "{%s}" % ", ".join("%s = %s" % (k, "2.500000e-01 : f64" if isinstance(v, float)
                                              else "%d : i64" % v) for k, v in sorted(config.items()))
    hlo = {"opcode": "custom-call", "shape": text(t, shapes[0]),
           "target": "te_fused_attn_%s_ffi" % ("backward" if back else "forward"),
           "operands": [array(n, t, d) for n, d in zip("qkv", shapes)],
           "config": as_text if s.some() else config}
    causal, at_end = mask >= 2, mask >= 4
    area = NQ * NK
    if causal:  # half of a pair on the diagonal counts
        area = (NQ * NK - NQ * NQ / 2 if NQ <= NK else NK * NK / 2) if at_end else \
            (NQ * NQ / 2 if NQ <= NK else NK * NK / 2 + (NQ - NK) * NK)

    def flops(pairs, shared):
        if not back:
            return 2 * B * HQ * pairs * (D + DV)
        return 2 * B * HQ * pairs * (3 * D + 2 * DV) + shared * B * NK * (HQ // H - 1) * (D + DV)
    e = TYPES[t][0]
    moved = e * B * (NQ * HQ * (2 * D + DV) + 2 * NK * H * (D + DV)) if back else \
        e * B * (NQ * HQ + NK * H) * (D + DV)
    return op(hlo).gives(
        flops(area, 0.5 if causal else 1), moved, spec("matrix", t),
        {"B": B, "N_Q": NQ, "H_Q": HQ, "N_KV": NK, "H_KV": H, "d_h_qk": D, "d_h_v": DV,
         "dropout": 0.25 if "dropout_probability" in config else 0.0, "causal": causal,
         "flash_impl": True, "flops_unmasked": float(flops(NQ * NK, 1))})


def fusion(s):
    """operands that are read whole, in slices, by an index, twice or in place"""
    body, operands, read, work = [], [], 0, {}
    t, dims = s.of(["f32", "bf16", "s4", "u64", "pred", "x9"]), s.shape(2, 2, 40)
    out = "f32" if t == "pred" else t

    def add(opcode, kind, shape, *places, **more):
        body.append(dict({"opcode": opcode, "shape": text(kind, shape), "operands": list(places)},
                         **more))
        return len(body) - 1

    def operand(kind, shape):
        operands.append(array("p%d" % len(operands), kind, shape))
        body.append({"opcode": "parameter", "parameter": len(operands) - 1,
                     "shape": text(kind, shape)})
        return len(body) - 1

    def count(kind, shape):
        work[kind] = work.get(kind, 0) + prod(shape)
    values = []
    for way in [s.of(["whole", "slice", "slices", "gather", "both", "bitcast"])
                for _ in range(s.r.randint(1, 4))]:
        big = [4 * dims[0], dims[1]]
        if way == "whole":
            p = operand(out, [dims[1]])
            read += size(out, [dims[1]])
            values.append(add("broadcast", out, dims, p, dimensions=[1]))
            continue
        p = operand(out, big)
        q = add("bitcast", out, big[::-1], p) if way == "bitcast" else p
        v = add("dynamic-slice" if way == "gather" else "slice", out, dims, q)
        if way == "gather":
            v = add("gather", out, dims, q)
        read += size(out, dims) * (2 if way == "gather" else 1)
        if way == "slices":
            for _ in range(5):  # more than all of it
                v = add("slice", out, dims, p)
            read += size(out, big) - size(out, dims)
        if way == "both":
            add("abs", out, big, p)
            count(out, big)
            read += size(out, big) - size(out, dims)
        values.append(v)
    at = values[0]
    for v in values:
        at = add(s.of(["add", "multiply", "maximum"]), out, dims, at, v)
        count(out, dims)
    result, written = text(out, dims), size(out, dims)
    if s.some():
        cache = [16 * dims[0], dims[1]]
        p, k = operand(out, cache), operand("s32", [])
        read += 4
        at = add("dynamic-update-slice", out, cache, p, at, k, k)
        result = text(out, cache)
    if s.some():
        at = add("tuple", out, [], at, at)
        body[at]["shape"] = result = "(%s,%s)" % (result, result)
        written *= 2
    body[at]["root"] = True
    hlo = {"opcode": "fusion", "fusion": "kLoop", "shape": result, "operands": operands,
           "body": body}
    first = operands[0]["shape"].split("[")[0]
    elements = prod([int(x) for x in result.strip("(").split("[")[1].split("]")[0].split(",")])
    return op(hlo).gives(sum(work.values()), read + written, spec("vector", out),
                         {"num_elems": elements, "dtype_in": first})


FAMILIES = [dot, library, convolution, engine, fusion]
