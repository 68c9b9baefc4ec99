# SPDX-License-Identifier: MIT
"""Kernels of torch.compile with drawn arguments (op-models-4)."""
from draw import COMMON, Drawn, prod, size, spec

COST = {w: n for n, ws in ((1, "add sub mul div mean sum relu abs neg ne eq lt gt"),
                           (2, "pow sqrt rsqrt var reciprocal"),
                           (4, "exp log sigmoid tanh silu"), (8, "gelu")) for w in ws.split()}
FREE = "_to_copy clone embedding cat view unsqueeze native_layer_norm _log_softmax where".split()


def triton(s):
    """names that can be split in only one way"""
    ops = [s.of(list(COST) + FREE) for _ in range(s.n(1, 5))]
    ops = [o for i, o in enumerate(ops) if i == 0 or o[0] != "_" and ops[i - 1][-1] != "_"]
    ops = [o for i, o in enumerate(ops) if ops[i - 1:i] != ["var"] or o != "mean"]  # var_mean is one
    lost = s.some(0.2)
    words = ops + (["foobar"] if lost else [])
    kind = s.of(["poi", "red", "per"])
    x, r = s.n(1, 4096), s.n(2, 1024) if kind != "poi" else 1
    tensors = [s.of([[x, r], [x], [r]]) if r > 1 else s.of([[x], [1, x]]) for _ in range(s.n(1, 4))]
    if r > 1:
        tensors[0] = [x, r]
    if s.some(0.2):  # only a slice of it is used
        tensors[-1] = [s.n(1, 4)] + tensors[-1]
    types = [s.type(COMMON + ["long int", "bool", "int", "odd"]) for _ in tensors]
    scalar = s.some(0.3)  # a number by value among the arguments
    values = [""] * len(tensors) + (["0.5"] if scalar else []) + [str(x)] + ([str(r)] if r > 1 else [])
    dims = tensors + [[]] * (len(values) - len(tensors))
    d = Drawn("triton_%s_fused_%s_%d" % (kind, "_".join(words), s.n(0, 99)), dims,
              types + ["Scalar"] * (len(values) - len(types)), values)
    known = [(min(prod(v), x * r) * size(t), t, prod(v)) for v, t in zip(tensors, types)
             if size(t) == size(t)]
    moved = sum(k[0] for k in known)
    first = known[0][1] if known else ""
    if kind == "poi" and len(tensors) > 1 and known and known[0][2] == x:
        moved += size(first) * x
    flops = x * r * sum(COST.get(o, 0) for o in ops)
    return d.gives(flops, moved, spec("vector", first),
                   {"fused_ops": ", ".join("aten." + o for o in ops), "xnumel": x, "rnumel": r})


FAMILIES = [triton]
