#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""models.py: op models against every row of the reference's roofline tables, as TAP.

    models.py [--only GLOB] [-v]

A row has the op's name and lists, and the reference's results: FLOPs, bytes,
compute spec, parameters. model-eval (in PATH) evaluates each from the name and the
lists alone. A row is

    equal   every figure and parameter is the same to the last digit, or
    named   it differs, and formulas repeated here give both: the reference's
            figures with its known errors (NAMES), and ours without.

Anything else fails. What a row lacks comes from its parameters: the annotation's
sums, top-k of the pseudo ops. In columns with several kinds of ops pandas prints
16.0 for 16 (D22), so numbers are compared by value there.
"""
import argparse
import ast
import collections
import csv
import fnmatch
import json
import math
import os
import re
import subprocess
import sys

NAMES = {
    "D1": "types without a size in the reference (bool, short, complex, ...)",
    "D3": "Triton: float, int, ... tensors count nothing in the reference",
    "D4": "Triton: bfloat16 and half in the compute spec are bf16 and fp16",
    "D7": "Triton: grids of several sizes, unknown words in the name",
    "D8": "a convolution's bias is never seen by the reference",
    "D12": "reductions over some dimensions, and max/min of two tensors",
    "D13": "weight, bias and training of a norm are seen where there are none",
    "D17": "a copy reads what its source has, a single number too",
    "D29": "a number by value counts 4 bytes in the reference",
    "addresses": "an expanded tensor has the addresses of what was expanded",
    "mask": "convolution_backward: gradients that weren't wanted are counted",
    "tf32": "a kernel's name proves tf32",
    "layout": "transpose is told by cutlass and xmma kernels too",
}
LISTS = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")
SUMS = ("c_sq", "c_sk", "c_sqsq", "c_sqsk", "g_sq", "g_sk", "g_sqsq", "g_sqsk")
NAN = float("nan")

# ---- types

REF_BYTES = {"double": 8, "float": 4, "c10::half": 2, "c10::bfloat16": 2,
             "c10::float8_e4m3fn": 1, "c10::float8_e4m3fnuz": 1, "c10::float8_e5m2": 1,
             "long int": 8, "int": 4, "unsigned char": 1, "signed char": 1, "scalar": 4}
OUR_BYTES = dict(REF_BYTES, bool=1, scalar=0)
OUR_BYTES.update({"short int": 2, "unsigned int": 4, "c10::complex<float>": 8,
                  "c10::complex<double>": 16, "c10::complex<c10::half>": 4})
PREC = {"double": "fp64", "float": "fp32", "c10::half": "fp16", "c10::bfloat16": "bf16",
        "c10::float8_e4m3fn": "fp8", "c10::float8_e4m3fnuz": "fp8", "unsigned char": "fp8"}
OUR_PREC = dict(PREC, **{"c10::complex<float>": "fp32", "c10::complex<double>": "fp64",
                         "signed char": "int8", "c10::float8_e5m2": "fp8"})
TRITON_BYTES = {"c10::BFloat16": 2, "c10::Half": 2, "c10::Float": 4, "c10::Double": 8,
                "c10::Byte": 1, "c10::Char": 1, "c10::Int": 4, "c10::Long": 8}


class Op:
    """one row's op; ours chooses between our formulas and the reference's"""

    def __init__(self, name, lists, kernels, ours):
        self.name = name
        self.d, self.t, self.s, self.v = lists
        self.kernels = kernels
        self.ours = ours

    def size(self, i):
        return (OUR_BYTES if self.ours else REF_BYTES).get(self.t[i].lower(), NAN)

    def spec(self, unit, i):
        p = (OUR_PREC if self.ours else PREC).get(self.t[i].lower())
        return "%s_%s" % (unit, p) if p else ""

    def has(self, i):
        return i < len(self.d) and len(self.d[i]) > 0

    def stride(self, i):
        return self.s[i] if self.s is not None else None

    def is_expanded(self):
        return self.s is not None and any(
            n > 1 and step == 0 for d, steps in zip(self.d, self.s)
            if len(d) == len(steps) for n, step in zip(d, steps) if isinstance(n, int))

    def moved(self, i):
        """bytes of an argument; the reference counts expanded ones in full"""
        steps = self.stride(i)
        return self.size(i) * prod(
            n for k, n in enumerate(self.d[i]) if not self.ours or not steps or steps[k] != 0 or n == 0)

    def ints(self, i):
        return [int(x) for x in re.findall(r"-?\d+", self.v[i])]


def prod(shape):
    return math.prod(shape)


# ---- families that differ: (FLOPs, bytes, spec, parameters)

def binary(op):
    a, b = op.d[0], op.d[1]
    n = max(len(a), len(b))
    out = [max(x, y) for x, y in zip([1] * (n - len(a)) + a, [1] * (n - len(b)) + b)]
    third = op.has(2)
    sa, sb = op.size(0), op.size(1)
    if third:
        so = op.size(2)
    elif a and b:
        so = max(sa, sb) if sa == sa and sb == sb else NAN
    else:
        so = sa if a or not op.ours else sb
        if not op.ours and not sb == sb:
            so = NAN
    p = {"shape_in1": a, "shape_in2": b,
         "dtype_in1_in2_out": [op.t[0], op.t[1], op.t[2] if third else None],
         "stride_input1": op.stride(0), "stride_input2": op.stride(1),
         "stride_output": op.stride(2) if third else None}
    return prod(out), op.moved(0) + op.moved(1) + prod(out) * so, op.spec("vector", 0), p


def copy(op):
    n = prod(op.d[0])
    source = op.has(1)
    number = op.ours and len(op.d) > 1 and op.t[1] != ""  # a source without dimensions
    moved = op.moved(1) if source or number else n * op.size(0)
    if source and not op.ours:
        moved = n * op.size(1)
    p = {"op_shape": op.d[0], "dtype_in_out": [op.t[0], op.t[1] if source else None],
         "stride_input": op.stride(0), "stride_output": op.stride(1) if source else None}
    return n, n * op.size(0) + moved, op.spec("vector", 0), p


def reduction(op):
    kind = next((k for k in ("mean", "max", "min", "norm") if k in op.name), "sum")
    n, out, more, flops = prod(op.d[0]), 1, 0, None
    if kind in ("max", "min") and op.ours and op.has(1):
        out = max(n, prod(op.d[1]))
        moved = n * op.size(0) + prod(op.d[1]) * op.size(1) + out * op.size(0)
        n, flops = n + prod(op.d[1]), out
    else:
        dims = op.ints(1) if op.ours and op.v is not None and len(op.v) > 1 else []
        if dims:
            rank = len(op.d[0])
            gone = {x % rank for x in dims}
            out = prod(x for i, x in enumerate(op.d[0]) if i not in gone)
            more = 8 * out if kind in ("max", "min") else 0
        moved = (n + out) * op.size(0) + more
    p = {"num_input_elems": n, "num_output_elems": out, "dtype_in_out": [op.t[0], None],
         "reduce_type": kind}
    return n if flops is None else flops, moved, op.spec("vector", 0), p


def conv_shape(op, x, w, at):
    n = len(x) - 2

    def each(i, default):
        v = op.ints(i) or [default]
        return v * n if len(v) == 1 else v
    stride, pad, dil = each(at, 1), each(at + 1, 0), each(at + 2, 1)
    transposed, extra, groups = op.v[at + 3] == "True", each(at + 4, 0), int(op.v[at + 5])
    out = [x[0], w[1] * groups if transposed else w[0]]
    for i in range(n):
        k = dil[i] * (w[i + 2] - 1)
        out.append((x[i + 2] - 1) * stride[i] - 2 * pad[i] + k + extra[i] + 1 if transposed
                   else (x[i + 2] + 2 * pad[i] - k - 1) // stride[i] + 1)
    p = {"stride": stride, "padding": pad, "dilation": dil, "transposed_conv": transposed,
         "output_padding": extra, "groups": groups}
    return out, 2 * prod(w[1:]) * prod(x if transposed else out), p


def conv_params(op, x, w, bias, rest):
    p = {"convNd": "conv%dd" % (len(op.d[x]) - 2), "input_shape": op.d[x],
         "filter_shape": op.d[w], "dtype_input_weight": [op.t[x], op.t[w]],
         "input_stride": op.stride(x), "weight_stride": op.stride(w), "bias": bias}
    p.update(rest)
    return p


def conv(op):
    x, w = op.d[0], op.d[1]
    out, mac, rest = conv_shape(op, x, w, 3)
    bias = op.has(2) if op.ours else len(op.d) == 3
    return (mac + bias * prod(out), (prod(x) + prod(w) + prod(out) + bias * out[1]) * op.size(0),
            op.spec("matrix", 0), conv_params(op, 0, 1, bias, rest))


def conv_backward(op):
    x, w = op.d[1], op.d[2]
    out, mac, rest = conv_shape(op, x, w, 4)
    parts, bias = 2, []
    if op.ours:
        mask = [m == "True" for m in re.findall(r"True|False", op.v[10])]
        parts, bias = mask[0] + mask[1], mask[2]
    b = 1 if bias else 0
    return (parts * mac + b * prod(out),
            (parts * (prod(x) + prod(w) + prod(out)) + b * (prod(out) + out[1])) * op.size(1),
            op.spec("matrix", 1), conv_params(op, 1, 2, bias, rest))


# name: (x, channels, weight, bias, training), channels: an argument or "1" for dim 1
NORMS = {
    "batch_norm": (0, None, 1, 2, 5), "native_batch_norm": (0, None, 1, 2, 5),
    "miopen_batch_norm": (0, None, 1, 2, 5), "instance_norm": (0, None, 1, 2, 5),
    "layer_norm": (0, 1, 2, 3, True), "native_layer_norm": (0, 1, 2, 3, True),
    "group_norm": (0, None, 2, 3, True), "native_group_norm": (0, None, 1, 2, True),
    "_groupnorm_run": (0, None, 2, 3, True),
}


def norm_params(op, x, channels, bias, affine, training, mask=None):
    p = {"op_shape": op.d[x], "dtype_in_out": [op.t[x], None], "stride_input": op.stride(x),
         "stride_output": None, "num_channels": channels, "has_bias": bias, "is_affine": affine,
         "is_training": training}
    if mask is not None:
        p["output_mask"] = mask
    return p


def norm(op):
    x, at, weight, bias_at, train = NORMS[op.name.split("::")[1]]
    n, e = prod(op.d[x]), op.size(x)
    c = op.d[x][1] if at is None else prod(op.ints(at))
    affine, bias = (op.has(weight), op.has(bias_at)) if op.ours else (True, True)
    training = train if train is True else (
        op.v[train] == "True" if op.ours else op.v[train] != "")
    w = 2 + (1 + bias if affine else 0) + (2 if training else 0)
    return (6 * c + 2 * n + (3 * n if training else 0), (2 * n + w * c) * e,
            op.spec("vector", x), norm_params(op, x, c, bias, affine, training))


def norm_backward(op):
    kind = op.name.split("::")[1]
    mask = [m == "True" for m in re.findall(r"True|False", op.v[-1])] or [True]
    x, training = 1, True
    if "batch" in kind:
        bias = True
        if kind.startswith(("miopen", "cudnn")):
            x, training = 0, op.ours
        elif op.ours:
            training = op.v[7] == "True"
        c, affine = op.d[x][1], op.has(2) or not op.ours
        mask = [mask[0] if op.ours else True]
    elif "layer" in kind:
        c = prod(op.ints(2))
        bias, affine = mask[2], mask[1]
        if op.ours:
            bias, affine = bias and op.has(6), affine and op.has(5)
    else:
        c = op.d[1][1] if op.ours else op.d[1][1] / int(op.v[8])
        affine = op.has(4) or not op.ours
        bias = affine and mask[2] if op.ours else True
    n, e = prod(op.d[x]), op.size(x)
    if op.ours:
        q = (5 if training else 2) * n / c if mask[0] else 0
    else:
        q = (5 * n / c if training else 0) if mask[0] else 2 * n / c
    flops = c * ((0 if training else 3) + 4 * (n / c) + q)
    moved = (n + n * (2 if mask[0] and training else 1) + (c if training else 0) +
             ((c + (c * (1 + bias) if training else 0)) if affine else 0)) * e
    return flops, moved, op.spec("vector", x), norm_params(op, x, c, bias, affine, training, mask)


def rms(op):
    n, c, e = prod(op.d[0]), prod(op.ints(1)), op.size(0)
    affine = op.has(2) or not op.ours
    return (n / c * (2 * c + 2) + n * (2 if affine else 1), (2 * n + affine * c) * e,
            op.spec("vector", 0), norm_params(op, 0, c, False, affine, False))


def rms_backward(op):
    n, c, e = prod(op.d[1]), prod(op.ints(2)), op.size(1)
    affine = op.has(4) or not op.ours
    mask = [m == "True" for m in re.findall(r"True|False", op.v[5])]
    per = affine + 1 + (6 if mask[0] else 0)
    if mask[1] and affine:
        per += 2 if n / c > 1 else 1
    return (n * per, (3 * n + affine * 2 * c) * e, op.spec("vector", 1),
            norm_params(op, 1, c, False, affine, False, mask))


COST = {w: n for n, ws in ((1, "add sub mul div mean sum relu abs neg ne eq lt gt"),
                           (2, "pow sqrt rsqrt var reciprocal"),
                           (4, "exp log sigmoid tanh silu"), (8, "gelu")) for w in ws.split()}


def triton(op, fused):
    """fused: the names, as in the row or, for ours, in the program"""
    ints = [int(v) for v in op.v if re.fullmatch(r"-?\d+", v)]
    pointwise = op.name.startswith("triton_poi_")
    rnum = ints[-1] if not pointwise and len(ints) >= 2 else 1
    total = ints[-2] * rnum if rnum > 1 else ints[-1]
    table = TRITON_BYTES if not op.ours else None
    sizes, first, begin, most, n = [], None, 0, 0, 0
    for i, d in enumerate(op.d):
        if not d or op.t[i] == "Scalar":
            continue
        e = table.get(op.t[i], 0) if table else OUR_BYTES.get(op.t[i].lower(), 0)
        sizes.append((prod(d), e))
        begin = begin if n else e
        first = first or (e > 0 and (op.t[i], e)) or None
        most, n = max(most, prod(d)), n + 1
    if op.ours:
        grids = [prod(ints[-k:]) for k in (1, 2, 3) if k <= len(ints)]
        total = max([total] + [x for x in grids if x <= most])
        moved = sum(min(x, total) * e for x, e in sizes)
        # if it is read, it is written only if it has as many elements
        if pointwise and n > 1 and first and next(x for x, e in sizes if e) == total:
            moved += first[1] * total
    else:
        moved = sum(x * e for x, e in sizes) + (begin * total if pointwise else 0)
    spec = ""
    if first:
        spec = "vector_" + (OUR_PREC.get(first[0].lower(), "") if op.ours
                            else first[0].split("::")[-1].lower())
    flops = total * sum(COST.get(w[5:], 0) for w in fused.split(", "))
    return flops, moved, spec if spec != "vector_" else "", {
        "fused_ops": fused, "xnumel": total // rnum, "rnumel": rnum}


FAMILY = {}
for names, function, ids in (
        ("add add_ mul mul_ div div_ threshold_backward sigmoid_backward", binary, "D29 D1"),
        ("copy_ copy", copy, "D17 D1"),
        ("sum mean max min std var amax amin", reduction, "D12"),
        ("convolution", conv, "D8"), ("convolution_backward", conv_backward, "D8 mask"),
        (" ".join(NORMS), norm, "D13"),
        ("native_batch_norm_backward batch_norm_backward miopen_batch_norm_backward "
         "cudnn_batch_norm_backward native_layer_norm_backward native_group_norm_backward",
         norm_backward, "D13"),
        ("_fused_rms_norm", rms, "D13"), ("_fused_rms_norm_backward", rms_backward, "D13")):
    for name in names.split():
        FAMILY["aten::" + name] = FAMILY["aiter::" + name] = (function, ids.split())


# ---- rows

def literal(text):
    if text in ("", "nan"):
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text if "nan" not in text else ast.literal_eval(re.sub(r"\bnan\b", "None", text))


def lists(value):
    """tuples are lists in JSON"""
    return [lists(x) for x in value] if isinstance(value, (tuple, list)) else value


class Row:
    def __init__(self, path, unified, cells):
        self.path = path
        self.unified = unified
        self.name = cells["name"]
        end = "" if unified else "_first"
        self.gflops = cells["GFLOPS" + end]
        self.moved = cells["Data Moved (MB)" + end]
        self.spec = cells["Compute Spec"]
        self.category = cells.get("op category")
        self.modelled = cells.get("has_perf_model") != "False"
        self.lists = [lists(literal(cells.get(k + end, ""))) for k in LISTS]
        if unified:
            self.params = lists_of(literal(cells.get("perf_params", "")) or {})
        else:
            self.params = lists_of({k[7:]: literal(v) for k, v in cells.items()
                                    if k.startswith("param: ")})
        details = literal(cells.get("kernel_details__summarize_kernel_stats") or
                          cells.get("kernel_details_summary") or "")
        self.kernels = [k["name"] for k in details] if isinstance(details, list) else []
        sheet = os.path.basename(path)
        self.way = "bwd" if "_bwd" in sheet and not self.name.endswith("_backward") else "fwd"

    def line(self):
        p, note, more = self.params, "", ""
        if p.get("c_sqsk") is not None:
            note = "step[MIXED %s]" % " ".join("%s=%d" % (k, p[k]) for k in SUMS)
        if "topk" in p:
            more = "MoE topk=%s;MoE GEMM gated=%s" % (p["topk"], p.get("gated"))
        return "\t".join([self.way, self.name] +
                         ["" if x is None else json.dumps(x) for x in self.lists] +
                         [json.dumps(self.kernels), note, more])


def lists_of(params):
    return {k: lists(v) for k, v in params.items()}


def same(a, b, strict):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y, strict) for x, y in zip(a, b))
    if isinstance(a, bool) != isinstance(b, bool):
        return False
    if strict and isinstance(a, float) != isinstance(b, float):
        return False
    return a == b


def differences(row, flops, moved, spec, params, ordered):
    """where a row differs from these figures"""
    bad = []
    if float(row.gflops) != flops / 1e9:
        bad.append("GFLOPS %s" % (flops / 1e9))
    unknown = moved is None or moved != moved
    if (row.moved == "") != unknown or not unknown and float(row.moved) != moved / 1048576:
        bad.append("Data Moved %s" % (None if unknown else moved / 1048576))
    if row.spec != spec:
        bad.append("Compute Spec %s" % spec)
    for k in sorted(set(params) | set(row.params)):
        if not same(row.params.get(k), params.get(k), row.unified and k in row.params):
            bad.append("param %s %s" % (k, params.get(k)))
    if ordered and row.unified and [k for k in params if k in row.params] != list(row.params):
        bad.append("the order of the parameters")
    return bad


def explained(row, out):
    """the names of a row's differences, or None"""
    p = out["params"]
    if row.name.startswith("triton_"):
        function, names = None, ["D4", "D3", "D7"]
    elif row.name in FAMILY:
        function, names = FAMILY[row.name]
    else:
        return by_kernels(row, out)
    theirs, ours = (Op(row.name, row.lists, row.kernels, o) for o in (False, True))
    if function is None:
        a, b = triton(theirs, row.params["fused_ops"]), triton(ours, p["fused_ops"])
    else:
        a, b = function(theirs), function(ours)
    if differences(row, *a, False):
        return None
    moved = None if b[1] != b[1] else b[1]
    if (out["flops"], out["bytes"], out["spec"]) != (b[0], moved, b[2]) or set(p) != set(b[3]) or \
            not all(same(p[k], b[3][k], False) for k in p):
        return None
    if theirs.is_expanded() and a[:1] + a[2:] == b[:1] + b[2:]:
        return ["addresses"]
    return which(row, names, a, b)


# cuBLAS' kernel of floats on tensor cores is not named so, Hopper's and xmma's are
TF32 = re.compile("tf32|_tensorop_s1688gemm_")


def by_kernels(row, out):
    """what names of kernels tell us, but not the reference"""
    params, spec, found = dict(out["params"]), out["spec"], []
    if "transpose" not in row.params and any("cutlass" in k or "xmma" in k for k in row.kernels):
        found += ["layout"] if params.pop("transpose", None) else []
    if spec == "matrix_tf32" and any(TF32.search(k) for k in row.kernels):
        found, spec = found + ["tf32"], "matrix_fp32"
    return None if differences(row, out["flops"], out["bytes"], spec, params, True) else found


def which(row, names, a, b):
    if names[0] == "D4":
        found = [] if a[2] == b[2] else ["D4" if a[1] == b[1] else "D3"]
        if a[3] != b[3] or a[0] != b[0] or not found:
            found.append("D7")
        return found
    if names[0] == "D17":
        return ["D17" if a[1] == a[1] else "D1"]
    if names[0] == "D29":
        return ["D29" if a[1] == a[1] else "D1"]
    if "mask" in names and a[0] != b[0] and not b[3]["bias"]:
        return ["mask", "D8"]
    return names[:1]


def tables(data, only):
    for folder in sorted(os.listdir(data)):
        top = os.path.join(data, folder, "reference")
        if not os.path.isdir(top) or not fnmatch.fnmatch(folder, only) or folder.startswith("jax"):
            continue
        rows = []
        for variant in sorted(os.listdir(top)):
            for name in sorted(os.listdir(os.path.join(top, variant))):
                if name.endswith(".csv"):
                    rows += read(os.path.join(top, variant, name))
        if rows:
            yield folder, rows


def read(path):
    with open(path, encoding="utf-8", newline="") as f:
        reader = csv.DictReader(f)
        head = reader.fieldnames or []
        unified = os.path.basename(path).startswith("unified_perf_summary")
        if not ({"GFLOPS", "perf_params"} <= set(head) if unified
                else {"GFLOPS_first", "Input Dims_first"} <= set(head)):
            return []
        return [Row(path, unified, cells) for cells in reader]


def check(rows, verbose):
    run = subprocess.run(["model-eval"], input="\n".join(r.line() for r in rows) + "\n",
                         stdout=subprocess.PIPE, text=True, check=True)
    counts, named, bad = collections.Counter(), collections.Counter(), []
    for row, text in zip(rows, run.stdout.splitlines()):
        out = json.loads(text)
        where = "%s: %s %s" % (row.path.split("reference/")[1], row.name, row.lists[0])
        if row.gflops == "":
            # The reference has no model, or it failed: ours may do better.
            counts["none"] += 1
            if not row.modelled and out["status"] != "none" and not out["extra"]:
                bad.append(where + ": has a model that isn't marked extra")
            continue
        counts["rows"] += 1
        if out["status"] != "ok":
            bad.append("%s: %s %s" % (where, out["status"], out["reason"]))
            continue
        if row.category is not None and row.category != out["category"]:
            bad.append("%s: category %s" % (where, out["category"]))
            continue
        diff = differences(row, out["flops"], out["bytes"], out["spec"], out["params"], True)
        if not diff:
            counts["equal"] += 1
            continue
        why = explained(row, out)
        if why is None:
            bad.append("%s: %s" % (where, "; ".join(diff)))
            continue
        counts["named"] += 1
        for name in why:
            named[name] += 1
        if verbose:
            print("# %s: %s: %s" % (" ".join(why), where, "; ".join(diff)))
    return counts, named, bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="*")
    parser.add_argument("-v", action="store_true")
    args = parser.parse_args()
    csv.field_size_limit(1 << 30)
    n, failed = 0, 0
    total, names = collections.Counter(), collections.Counter()
    for folder, rows in tables(os.environ["TL_DATA"], args.only):
        n += 1
        counts, named, bad = check(rows, args.v)
        total += counts
        names += named
        print("%sok %d - %s: %d rows, %d equal, %d named%s" % (
            "not " if bad else "", n, folder, counts["rows"], counts["equal"], counts["named"],
            "".join(", %s %d" % x for x in sorted(named.items()))))
        failed += len(bad) > 0
        for text in bad[:10]:
            print("#   " + text[:600])
    print("# all: %d rows compared, %d equal, %d named, %d without a model of the reference" % (
        total["rows"], total["equal"], total["named"], total["none"]))
    for name, count in sorted(names.items()):
        print("#   %-6s %4d  %s" % (name, count, NAMES[name]))
    print("1..%d" % n)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
