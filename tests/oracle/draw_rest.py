# SPDX-License-Identifier: MIT
"""Small ops that only we model, one per row: roles of arguments, and the resulting figures.

Letters in a signature are sizes as in draw_engines (M rows, C columns, D = 6 C, ...); "-" is an
argument that is moved in part. Functions get the sizes n and the bytes e of the drawn type."""
import itertools
import math

from draw import COMMON, Drawn, prod, size, spec
from draw_engines import TYPES, draw

FLOATS = COMMON + ["double"]


def mc(n):
    return n["M"] * n["C"]


def about(n, letters, t):
    return {"num_elems": prod(n[c] for c in letters), "dtype_in": t}


def operands(n, a, b, t, **sizes):
    return dict(sizes, bias=False, stride_A=None, stride_B=None, dtype_A_B=[t, t], B=1)


# names; signature; values; FLOPs; bytes besides those of the roles; parameters; argument that
# determines the precision (None: no spec)
ROWS = [
    ("aten::_embedding_bag aten::_embedding_bag_forward_only", "-:x:EC r:l:H r:l:G", [],
     lambda n: n["H"] * n["C"], lambda n, e: (n["H"] + n["G"]) * n["C"] * e,
     lambda n, t: {"num_indices": n["H"], "num_bags": n["G"], "row": n["C"]}, 0),
    ("fbgemm::permute_2D_sparse_data", "r:i:G r:i:MC r:l:k . .", [], lambda n: 0,
     lambda n, e: 4 * n["G"] * n["C"] + 8 * n["k"], lambda n, t: {"num_values": n["k"]}, 2),
    ("fbgemm::asynchronous_complete_cumsum", "r:l:M", [], lambda n: n["M"], lambda n, e: 8 * n["M"],
     lambda n, t: {"num_values": n["M"]}, 0),
    ("fbgemm::bounds_check_indices", "r:l:G r:l:M r:l:C", [], lambda n: n["M"], lambda n, e: 0,
     lambda n, t: {"num_values": n["M"]}, 1),
    ("fbgemm::permute_pooled_embs", "r:x:MC", [], lambda n: 0, lambda n, e: mc(n) * e,
     lambda n, t: {"num_values": mc(n)}, 0),
    ("fbgemm::FloatToFP8RowwiseQuantized", "r:x:MC", [], lambda n: 2 * mc(n), lambda n, e: mc(n) + 8 * n["M"],
     lambda n, t: {"num_values": mc(n)}, 0),
    ("fbgemm::HFP8QuantizedToFloat", "r:q:MC", [], lambda n: 2 * mc(n), lambda n, e: 4 * mc(n),
     lambda n, t: {"num_values": mc(n)}, 0),
    ("_C_cache_ops::gather_cache", "-:q:MCd w:x:Hd", [], lambda n: 0, lambda n, e: n["H"] * n["d"],
     lambda n, t: {"nelems": n["H"] * n["d"], "dtype_KV": TYPES["q"]}, 1),
    ("_C_cache_ops::reshape_and_cache_flash", "r:x:MHd r:x:MHd -:q:GCHd -:q:GCHd r:l:M", [], lambda n: 0,
     lambda n, e: 2 * n["M"] * n["H"] * n["d"],
     lambda n, t: {"nelems": 2 * n["M"] * n["H"] * n["d"], "dtype_Q": t, "dtype_KV": TYPES["q"]}, 0),
    ("_C_cache_ops::concat_and_cache_mla", "r:x:MC r:x:Md -:q:GHk r:l:M", [], lambda n: 0,
     lambda n, e: n["M"] * (n["C"] + n["d"]),
     lambda n, t: {"nelems": n["M"] * (n["C"] + n["d"]), "dtype_Q": t, "dtype_KV": TYPES["q"]}, 0),
    ("flashinfer::apply_rope_pos_ids_cos_sin_cache", "r:x:MHd r:x:MGd w:x:MHd w:x:MGd -:f:EC -:l:M", [],
     lambda n: 3 * n["M"] * (n["H"] + n["G"]) * n["d"], lambda n, e: 0,
     lambda n, t: {"num_elements": n["M"] * (n["H"] + n["G"]) * n["d"]}, 0),
    ("_C::awq_dequantize", "r:i:MC r:x:GD r:i:GC . . .", [], lambda n: 2 * n["M"] * n["D"],
     lambda n, e: n["M"] * n["D"] * e, lambda n, t: about(n, "MD", t), 1),
    ("MatMul4Bit", "-:x:MC r:u:Z1", [], lambda n: 4 * n["Z"], lambda n, e: 2 * n["Z"] * e,
     lambda n, t: {"num_elems": 2 * n["Z"], "dtype_in": "unsigned char"}, 0),
    ("aten::native_dropout", "r:x:MC . .", [], mc, lambda n, e: mc(n) * (e + 1), lambda n, t: about(n, "MC", t), 0),
    ("aten::glu", "r:x:MD .", [], lambda n: 15 * mc(n), lambda n, e: 3 * mc(n) * e,
     lambda n, t: {"num_elems": 3 * mc(n), "dtype_in": t}, 0),
    ("aten::nll_loss_forward", "-:x:MC r:l:M . . .", [], lambda n: n["M"], lambda n, e: n["M"] * e,
     lambda n, t: about(n, "M", t), 0),
    ("aten::nll_loss_backward", "r:x:M w:x:MC r:l:M . .", [], lambda n: n["M"], lambda n, e: 0,
     lambda n, t: about(n, "MC", t), 1),
    ("aten::mse_loss", "r:x:MC r:x:MC .", [], lambda n: 2 * mc(n), lambda n, e: mc(n) * e,
     lambda n, t: about(n, "MC", t), 0),
    ("aten::smooth_l1_loss aten::huber_loss", "r:x:MC r:x:MC .", [], lambda n: 4 * mc(n),
     lambda n, e: mc(n) * e, lambda n, t: about(n, "MC", t), 0),
    ("aten::mse_loss_backward", "r:x:MC r:x:MC r:x:MC .", [], lambda n: 3 * mc(n), lambda n, e: mc(n) * e,
     lambda n, t: about(n, "MC", t), 1),
    ("aten::_local_scalar_dense", "r:x:1", [], lambda n: 0, lambda n, e: e, lambda n, t: about(n, "1", t), None),
    ("aten::_transform_bias_rescale_qkv", "b:x:MCD r:x:D .", [], lambda n: n["M"] * n["C"] * n["D"] * 4 // 3,
     lambda n, e: 0, lambda n, t: about(n, "MCD", t), 0),
    ("aten::_amp_update_scale_", "b:f:1 b:i:1 r:f:1", [], lambda n: 2, lambda n, e: 0, lambda n, t: {}, 0),
    ("TopK", "r:x:ME .", ["", "k"], lambda n: n["M"] * n["E"],
     lambda n, e: n["M"] * n["k"] * (e + 2) + n["M"] * -(-n["E"] // 8),
     lambda n, t: {"M": n["M"], "E": n["E"], "topk": n["k"]}, 0),
    ("SortTokens", "b:x:Mk r:i:Mk .", [], lambda n: n["M"] * n["k"], lambda n, e: 8 * n["M"] * n["k"],
     lambda n, t: {"M": n["M"], "topk": n["k"]}, 0),
    ("aten::argsort", "r:x:MC . .", ["", "1", "False"], lambda n: mc(n) * math.ceil(math.log2(n["C"])),
     lambda n, e: 8 * mc(n), lambda n, t: about(n, "MC", t), 0),
    ("aten::nonzero aten::_unique2 aten::bincount", "r:x:MC .", [], mc, lambda n, e: 0,
     lambda n, t: about(n, "MC", t), 0),
    ("aten::searchsorted", "r:x:C r:x:M . . .", [], lambda n: n["M"] * math.ceil(math.log2(n["C"] + 1)),
     lambda n, e: 8 * n["M"], lambda n, t: about(n, "M", t), 0),
    ("aten::tril aten::triu_", "r:x:MC .", [], lambda n: 0, lambda n, e: mc(n) * e,
     lambda n, t: about(n, "MC", t), 0),
    ("aten::embedding_dense_backward", "r:x:MC r:l:M . . .", ["", "", "E", "-1", "False"], mc,
     lambda n, e: (n["M"] + n["E"]) * n["C"] * e, lambda n, t: about(n, "MC", t), 0),
    ("aten::repeat_interleave", "r:l:M .", ["", "C"], lambda n: 0, lambda n, e: 8 * n["C"],
     lambda n, t: {"num_elems": n["C"], "dtype_in": "long int"}, None),
    ("aten::max_pool2d_with_indices_backward", "r:x:MkCd w:x:MkDd . . . . . r:l:MkCd", [],
     lambda n: n["M"] * n["k"] * n["C"] * n["d"], lambda n, e: 0,
     lambda n, t: {"num_elems": n["M"] * n["k"] * n["D"] * n["d"]}, 0),
    ("aten::avg_pool2d_backward aten::_adaptive_avg_pool3d_backward", "r:x:MkCd w:x:MkDd . . .", [],
     lambda n: n["M"] * n["k"] * n["C"] * n["d"], lambda n, e: 0,
     lambda n, t: {"num_elems": n["M"] * n["k"] * n["D"] * n["d"]}, 0),
    ("LigerFusedLinearCrossEntropyFunction", "b:x:MC b:x:EC r:l:M", [],
     lambda n: n["M"] * n["E"] * 6 * n["C"], lambda n, e: 0,
     lambda n, t: {"rows": n["M"], "vocab_size": n["E"], "hidden": n["C"]}, "matrix"),
    ("bitsandbytes::gemv_4bit", "r:x:1C r:u:Z1 . r:f:G r:f:k .", [], lambda n: 2 * n["Z"] * 2,
     lambda n, e: n["Z"] * 2 // n["C"] * e,
     lambda n, t: {"M": 1, "N": n["Z"] * 2 // n["C"], "K": n["C"], "bias": False,
                   "dtype_A_B": [t, "unsigned char"], "B": 1}, "matrix"),
    ("triton_tem_fused_mm_0 triton_tem_fused_addmm_relu_3", "r:x:MC r:x:CE r:x:E w:x:ME .", [],
     lambda n: 2 * mc(n) * n["E"], lambda n, e: 0,
     lambda n, t: {"M": n["M"], "N": n["E"], "B": 1, "K": n["C"]}, "matrix"),
    ("aten::mv", "r:x:MC r:x:C", [], lambda n: 2 * mc(n), lambda n, e: n["M"] * e,
     lambda n, t: operands(n, 0, 1, t, M=n["M"], N=1, K=n["C"]), "matrix"),
    ("aten::dot", "r:x:C r:x:C", [], lambda n: 2 * n["C"], lambda n, e: e,
     lambda n, t: operands(n, 0, 1, t, M=1, N=1, K=n["C"]), "matrix"),
    ("_LayerNormMLP", "r:x:MC r:x:C r:x:C r:x:DC . r:x:CE .", [],
     lambda n: 2 * n["M"] * n["C"] * (n["D"] + n["E"]),
     lambda n, e: (mc(n) + n["M"] * (n["D"] + n["E"]) - 2 * n["C"]) * e,
     lambda n, t: {"rows": n["M"], "hidden": n["C"], "intermediate": n["E"]}, "matrix"),
    ("_GroupedLinear", "r:x:MC . r:x:EC r:x:EC r:x:EC", [], lambda n: 2 * mc(n) * n["E"],
     lambda n, e: n["M"] * n["E"] * e,
     lambda n, t: {"M": n["M"], "K": n["C"], "N": n["E"], "G": 3}, "matrix")]
TYPES["u"] = "unsigned char"
each = itertools.cycle(ROWS)


def small(s):
    names, text, values, flops, more, params, of = next(each)
    t = s.type(FLOATS)
    roles = [a.split(":") for a in text.split() if a != "."]
    # draw() knows read, written and both: what is moved in part is drawn as read, and subtracted
    dims, types, moved, n = draw(s, t, text.replace("-:", "r:"), least=3)
    at = [i for i, a in enumerate(text.split()) if a != "."]
    moved -= sum(prod(dims[i]) * size(types[i]) for i, r in zip(at, roles) if r[0] == "-")
    d = Drawn(s.of(names.split()), dims, types, [str(n[v]) if len(v) == 1 and v in n and v.isalpha() else v
                                                 for v in values])
    unit, arg = ("matrix", types[0]) if of == "matrix" else ("vector", types[of] if of is not None else "")
    return d.gives(flops(n), moved + more(n, size(t)), spec(unit, arg), params(n, t))


def added(s):
    """a matrix, one per batch, or the sum over the batch, that is added to"""
    M, N, K, B, t = s.n(), s.n(), s.n(), s.n(1, 8), s.type(FLOATS)
    kind, e = s.of(["addmm_", "_addmm_activation", "baddbmm_", "addbmm"]), size(t)
    front = [B] if "bmm" in kind else []
    out = ([] if kind == "addbmm" else front) + [M, N]
    self_ = [N] if kind == "_addmm_activation" else out
    B = prod(front)
    d = Drawn("aten::" + kind, [self_, front + [M, K], front + [K, N]], [t] * 3)
    return d.gives(2 * B * M * N * K + prod(out),
                   (B * (M * K + K * N) + prod(self_) + prod(out)) * e, spec("matrix", t),
                   {"B": B, "M": M, "N": N, "K": K, "bias": True, "stride_A": None, "stride_B": None,
                    "dtype_A_B": [t, t]})


def sparse(s):
    """2:4: half of K of one operand is kept, with its places"""
    M, N, K, t, kind = s.n(1, 64), s.n(1, 64), 16 * s.n(1, 8), s.type(["c10::BFloat16", "c10::Half"]), s.some()
    e, out = size(t), M * N
    if kind:  # (a, where, b)
        d = Drawn("aten::_sparse_semi_structured_mm", [[M, K // 2], [M, K // 16], [K, N]], [t, "short int", t])
        moved = (M * K // 2 + K * N + out) * e + M * K // 8
    else:
        d = Drawn("aten::_sparse_semi_structured_linear", [[M, K], [N, K // 2], [N, K // 16], []],
                  [t, t, "short int", ""])
        moved = (M * K + N * K // 2 + out) * e + N * K // 8
    return d.gives(2 * M * N * K, moved, spec("matrix", t) + "_sparse",
                   {"M": M, "N": N, "K": K, "bias": False, "stride_A": None, "stride_B": None,
                    "dtype_A_B": d.types[:2], "B": 1})


def library_conv(s):
    """cuDNN's and MIOpen's: (x, w, [bias,] padding, stride, dilation, groups)"""
    n, t, amd, groups = s.n(1, 3), s.type(FLOATS), s.some(), s.of([1, 1, 2])
    k, step, pad = s.n(1, 3), s.n(1, 2), s.n(0, 1)
    C, O = groups * s.n(1, 8), groups * s.n(1, 8)
    x = [s.n(1, 4), C] + [s.n(4, 16) for _ in range(n)]
    w, e = [O, C // groups] + [k] * n, size(t)
    o = [x[0], O] + [(v + 2 * pad - k) // step + 1 for v in x[2:]]
    F, Y = 2 * (C // groups) * k ** n * prod(o), (prod(x) + prod(w) + prod(o)) * e
    if s.some(0.3):  # (x, grad, w, ..., mask): which gradients are asked for
        mask = s.of([[True, True], [True, False], [False, True]])
        return Drawn("aten::%s_convolution_backward" % ("miopen" if amd else "cudnn"), [x, o, w, []],
                     [t] * 3, ["", "", "", str(mask)]).gives(
            sum(mask) * F, sum(mask) * Y, spec("matrix", t),
            {"input_shape": x, "filter_shape": w, "output_shape": o, "dtype_input_weight": [t, t]})
    values = ["", ""] + [""] * amd + [str([pad] * n), str([step]), "[1]", str(groups)]
    p = {"convNd": "conv%dd" % n, "input_shape": x, "filter_shape": w, "dtype_input_weight": [t, t],
         "input_stride": None, "weight_stride": None, "bias": False, "stride": [step] * n,
         "padding": [pad] * n, "dilation": [1] * n, "transposed_conv": False, "output_padding": [0] * n,
         "groups": groups}
    return Drawn("aten::miopen_convolution" if amd else "aten::cudnn_convolution", [x, w] + [[]] * (4 + amd),
                 [t, t], values).gives(F, Y, spec("matrix", t), p)


def lookup(s):
    """FBGEMM's tables: rows of indices are summed for each bag; the backward updates them"""
    tables, bags, row, indices, rows = s.n(1, 4), s.n(1, 16), s.n(1, 32), s.n(1, 200), s.n(1, 100)
    t, g = s.of(["float", "c10::Half"]), s.of(["float", "c10::Half"])
    weights, bags = tables * rows * row, bags * tables
    D = tables * row
    dims = [[0], [weights], [0], [0, 0], [tables], [tables], [tables + 1], [], [], [tables + 1], [],
            [indices], [bags + 1]]
    types = [t, t, t, t, "int", "long", "int", "Scalar", "Scalar", "long", "Scalar", "long", "long"]
    kind = s.of(["adagrad", "rowwise_adagrad"])
    name, e = "fbgemm::split_embedding_codegen_lookup_%s_function" % kind, size(t)
    places = 8 * (indices + bags + 1)
    p = {"num_tables": tables, "num_indices": indices, "num_bags": bags, "is_weighted": False, "total_D": D}
    if s.some():
        return Drawn(name, dims, types, [""] * 7 + [str(D)]).gives(
            indices * row, indices * row * e + bags * row * 4 + places, spec("vector", t), p)
    d = Drawn("torch::autograd::CppNode<SplitLookupFunction_%s_Op>" % kind, [[bags // tables, D]], [g])
    d.forward = Drawn(name, dims, types)
    touched = min(indices * row, weights)  # no number more than once, with one of the optimizer
    state = touched if kind == "adagrad" else min(indices, touched / row)
    return d.gives(indices * row + 3 * touched,
                   bags * row * size(g) + 2 * touched * e + 8 * state + 8 * indices, spec("vector", t), p)


def two_results(s):
    x, t = s.shape(2), s.type(FLOATS)
    name, at = s.of([("var_mean", "[1]"), ("std_mean", "[1]"), ("aminmax", "1")])
    return Drawn("aten::" + name, [x, [], [], []], [t], ["", at, "False", "False"]).gives(
        prod(x), (prod(x) + 2 * x[0]) * size(t), spec("vector", t),
        {"num_input_elems": prod(x), "num_output_elems": x[0], "dtype_in_out": [t, None],
         "reduce_type": "mean" if "_mean" in name else "max"})


def lists(s):
    """over all tensors of a model at once"""
    x = [s.shape(s.n(1, 3)) for _ in range(s.n(2, 5))]
    n = sum(map(prod, x))
    name, flops, passes = s.of([("_fused_adam_", 12, 7), ("_fused_adamw_", 12, 7),
                                ("_amp_foreach_non_finite_check_and_unscale_", 2, 2)])
    return Drawn("aten::" + name, [x, [], []], ["TensorList", "float", "float"]).gives(
        flops * n, passes * n * 4, "vector_fp32", {"num_elems": n})


def tables(s):
    """a recommender's lookups, gathers and padding"""
    n, bags, row, t = s.n(1, 200), s.n(1, 16), s.n(1, 32), s.type(["float", "c10::Half"])
    kind, e = s.of(["pad", "bag", "nbit", "unfold", "int4"]), size(t)
    if kind == "pad":
        return Drawn(s.of(["fbgemm::jagged_to_padded_dense", "fbgemm::dense_to_jagged"]), [[n, row], [[bags]]],
                     [t, "TensorList"]).gives(0, 2 * n * row * e, spec("vector", t), {"num_values": n * row})
    if kind == "bag":
        rows = s.n(1, 99)
        return Drawn("aten::_embedding_bag_dense_backward", [[bags, row], [n], [n], [bags], [], []],
                     [t, "long int", "long int", "long int", "", "Scalar"], [""] * 5 + [str(rows)]).gives(
            n * row, (n + rows) * row * e + 16 * n, spec("vector", t), {"num_indices": n})
    if kind == "unfold":
        a, k, b = s.n(1, 9), s.n(1, 9), s.n(1, 9)
        return Drawn("aten::unfold_backward", [[a, b, k], [], [], [], []], [t],
                     ["", "[%d, %d]" % (a, b * k), "1", str(k), str(k)]).gives(
            a * b * k, 2 * a * b * k * e, spec("vector", t), {"num_elems": a * b * k})
    if kind == "int4":  # the weights are half a byte each
        M, N, K, g = s.n(1, 64), 8 * s.n(1, 8), 128 * s.n(1, 4), s.n(1, 4)
        return Drawn("aten::_weight_int4pack_mm", [[M, K], [N // 8, K // 128, 32, 4], [], [g, N, 2]],
                     [t, "int", "Scalar", t]).gives(
            2 * M * N * K, (M * K + M * N + 2 * g * N) * e + N * K // 2, spec("matrix", t),
            {"M": M, "N": N, "K": K, "bias": False, "dtype_A_B": [t, "int"], "B": 1})
    count, (at, per) = s.n(1, 4), s.of([(7, .25), (8, .5), (9, 1), (10, 2), (11, 4)])
    values = [""] * 6 + [str(count * row)] + ["0"] * 5
    values[at] = str(row)
    weighted = s.some()
    dims = [[99], [0], [count], [count], [count], [count + 1]] + [[]] * 6 + \
        [[n], [bags * count + 1], [], [n] if weighted else []]
    types = ["unsigned char"] * 2 + ["int"] * 4 + ["Scalar"] * 6 + ["int", "int", "Scalar", "float" * weighted]
    return Drawn("fbgemm::int_nbit_split_embedding_codegen_lookup_function", dims, types, values).gives(
        n * row * (1 + weighted),
        n * (row * per + (4 if per < 2 else 0)) + 2 * bags * count * row + 4 * (n + bags * count + 1) +
        4 * n * weighted, "vector_fp16",
        {"num_tables": count, "num_indices": n, "num_bags": bags * count, "total_D": count * row})


def few(s):
    """ops defined by values, further arguments or names"""
    t, T, H = s.type(FLOATS), s.n(1, 64), s.n(1, 16)
    e, kind = size(t), s.of(["arange", "rope", "norm rope", "scatter", "4bit", "bn"])
    if kind == "arange":
        a, n, step = s.n(0, 50), s.n(0, 50), s.n(1, 5)
        return Drawn("aten::arange", [[], [], [], [0]], ["Scalar"] * 3 + [t],
                     [str(a), str(a + n), str(step), ""]).gives(
            0, -(-n // step) * e, "", {"num_elems": -(-n // step)})
    if kind == "rope":
        d, rotated, K = s.of([32, 64]), s.of([16, 32]), s.n(1, 4)
        n = T * (H + K) * rotated
        return Drawn("_C::rotary_embedding", [[T], [T, H * d], [T, K * d], [], [99, rotated], []],
                     ["long int", t, t, "Scalar", t, "Scalar"], ["", "", "", str(d), "", "True"]).gives(
            3 * n, 2 * n * e, spec("vector", t), {"num_elements": n})
    if kind == "norm rope":
        d, K = s.n(1, 64), s.n(1, 4)
        n = T * (H + K) * d
        return Drawn("_C::fused_qk_norm_rope", [[T, (H + 2 * K) * d]], [t],
                     ["", str(H), str(K), str(K), str(d)]).gives(
            7 * n, 2 * n * e, spec("vector", t), {"num_elements": n})
    if kind == "scatter":
        C, k = s.n(1, 64), s.n(1, 8)
        return Drawn("pseudo_op::moe_triton_unfused_finalize_matmul_scatter", [[T, C], [T, H]], [t, t],
                     args={"MoE topk": str(k)}).gives(
            T * C * k, T * C * (k + 1) * e, spec("vector", t), {"num_tokens": T, "hidden_dim": C, "topk": k})
    if kind == "4bit":
        name, pack = s.of([("dequantize_4bit", 2), ("dequantize_blockwise", 1)])
        n = T * H * pack
        return Drawn("bitsandbytes::" + name, [[T * H, 1], [T]], ["unsigned char", "float"]).gives(
            2 * n, T * H + 4 * T + 2 * n, "", {"num_elems": n, "dtype_in": "unsigned char"})
    x, training = [T, H, s.n(1, 8)], s.some()
    n = prod(x)
    d = Drawn("aten::_batch_norm_with_update" if training else "aten::_native_batch_norm_legit_no_training",
              [x] + [[H]] * 4, [t] * 5)
    # six operations a channel; scale and shift of each value, in training its statistics, too
    return d.gives(6 * H + (5 if training else 2) * n, (2 * n + (6 if training else 4) * H) * e,
                   spec("vector", t),
                   {"op_shape": x, "dtype_in_out": [t, None], "stride_input": None, "stride_output": None,
                    "num_channels": H, "has_bias": True, "is_affine": True, "is_training": training})


FAMILIES = [lists, tables, few, small, added, sparse, library_conv, lookup, two_results]
