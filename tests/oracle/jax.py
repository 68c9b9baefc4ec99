#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""jax.py: GPU times, categories and models of JAX profiles, for comparison.

usage: jax.py FOLDER...       folders with a *.xplane.pb and reference/jax_report
       jax.py --programs FILE compare tl-timeline, tl-kernels, tl-ops and tl-roofline with it

Each cell of the reference's tables is computed from the file, with the reference's
known faults added (`as_ref`): the wrong one of several modules with one name, no
root instructions, a convolution's input channels lost. Where all cells agree,
differences without the faults are counted; those figures are the right ones, and
tables() gives them.
"""
import ast
import csv
import glob
import json
import math
import os
import re
import statistics
import sys

from timeline import length, minus, union
from worked import table
from xplane import Space, nbytes

CATEGORIES = (("GEMM", "Cijk gemm nvjet cublasLt"),
              ("FA BWD", "FmhaBwd flash_bprop ck_fused_attn::dk_dv_reduce_thd fmha_bwd"),
              ("FA FWD", "FmhaFwd flash_fprop fmha_fwd"), ("FA V3", "kernel_func"),
              ("Conv", "conv_ conv. conv-"), ("TE", "transformer_engine te_fused_attn"),
              ("Communication rccl/nccl", "rccl nccl"))
NONE = "Uncategorized Events/XLA"
COPY = re.compile(r"(MEMORY_COPY_\w+|__amd_rocclr_copyBuffer\w*)(\.kd)?")


def name_class(name):
    return next((c for c, words in CATEGORIES if any(w in name for w in words.split())), None)


def category(event):
    c, o = name_class(event.name), name_class(event.stats.get("hlo_op", ""))
    return o if o and c not in ("FA BWD", "FA FWD", "FA V3") else c or NONE


# ---- models: FLOPs and bytes of an instruction

def gemm(i):
    """With any number of batch and contracting dimensions."""
    config = json.loads(i.config)["gemm_backend_config"]
    numbers = config["dot_dimension_numbers"]
    pick = {side: {k: [int(d) for d in numbers.get(f"{side}_{k}_dimensions", [])] for k in ("contracting", "batch")}
            for side in ("lhs", "rhs")}
    (a,), (b,) = i.operands[0].arrays, i.operands[1].arrays
    batch = math.prod(a[1][d] for d in pick["lhs"]["batch"])
    k = math.prod(a[1][d] for d in pick["lhs"]["contracting"])
    m, n = math.prod(a[1]) // batch // k, math.prod(b[1]) // batch // k
    has_beta = float(config.get("beta", 0)) != 0
    out = next(s for s in i.arrays if s[1] and re.match("b?f", s[0]))
    flops = batch * (2 * m * n * k + (m * n if has_beta else 0))
    moved = nbytes([a, b, out]) + (batch * n * nbytes([(out[0], [1])]) if has_beta else 0)
    return flops, moved, {"B": batch, "M": m, "N": n, "K": k, "bias": has_beta}


def conv(i, as_ref=False):
    x, w, out = i.operands[0].arrays[0], i.operands[1].arrays[0], i.arrays[0]
    if as_ref:
        filters = w[1][2:]
        flops = 2 * math.prod(filters[1:]) * math.prod(out[1])
        return flops, nbytes([x, out]) + math.prod(filters) * 2, {}
    if "BackwardInput" in i.target:
        x, out = out, x  # the gradient
    elif "BackwardFilter" in i.target:
        w, out = out, w
    numbers = i.message.message(16)
    features = w[1][numbers.one(3)]
    kernel = math.prod(w[1][d] for d in numbers.ints(6))
    bias = [a for o in i.operands[2:] for a in o.arrays]
    return 2 * math.prod(out[1]) * features * kernel, nbytes([x, w, out] + bias), {}


def attributes(config):
    return {k: v for k, v in re.findall(r"(\w+) = ([^,}]+?)(?: : \w+)?(?=[,}])", config)}


def attention(i, masked=True):
    a = {k: v for k, v in attributes(i.config).items()}
    b, h, d = int(a["input_batch"]), int(a["attn_heads"]), int(a.get("qk_head_dim", a.get("head_dim", 0)))
    dv, nq, nk = int(a.get("v_head_dim", d)), int(a["q_max_seqlen"]), int(a["kv_max_seqlen"])
    is_causal = 2 <= int(a["mask_type"]) <= 5 and nq == nk and masked
    return 2 * b * h * nq * nk * (d + dv) // (2 if is_causal else 1)


def dots(i):
    """The dots in the computations that an instruction calls."""
    for members in i.called:
        for m in members:
            if m.opcode == "dot":
                yield m
            yield from dots(m)


def triton(i):
    flops = 0
    for d in dots(i):
        a = d.operands[0].arrays[0][1]
        k = math.prod(a[n] for n in d.message.message(30).ints(1))
        flops += 2 * math.prod(d.arrays[0][1]) * k
    return flops, nbytes([s for o in i.operands for s in o.arrays] + i.arrays), {}


def model(i, as_ref=False):
    """(FLOPs, bytes, parameters) or None."""
    if i is None:
        return None
    if re.search("matmul|cublas", i.target) and i.config:
        return gemm(i)
    if "cudnn$conv" in i.target:
        return conv(i, as_ref)
    if not as_ref and i.opcode == "fusion" and "__triton" in i.config:
        return triton(i)
    return None


# ---- tables

def gpu_events(plane):
    """(line, event) in the reference's order of a GPU."""
    rows = [(l, e) for l in plane.lines for e in l.events]
    return sorted(rows, key=lambda r: (r[0].tid, r[1].ts, -r[1].dur))


def is_copy(name):
    return name.lower().startswith(("copy", "memcpy", "memset"))


def gpu_kind(e, as_ref):
    """A memset is computation, as in all formats; in the reference it is a copy."""
    if not as_ref and re.match(r"memset|__amd_rocclr_fillBuffer", e.name, re.I):
        return "comp"
    if is_copy(e.name) or (not as_ref and COPY.fullmatch(e.name)):
        return "memcpy"
    return "comm" if re.search("rccl|nccl|cross_device_reduce", e.name, re.I) else "comp"


def tpu_kind(e):
    kind = e.stats.get("hlo_category", "")
    if kind in ("copy-start", "copy-done"):
        return "memcpy"
    return "comm" if re.fullmatch(r"(all-(reduce|gather|to-all)|reduce-scatter|collective-permute)(-start|-done)?",
                                  kind) else "comp"


def timeline(plane, as_ref=False):
    """Eight rows in ns; for a TPU over its lines of ops."""
    kinds, is_tpu = {"comp": [], "comm": [], "memcpy": []}, "TPU" in plane.name
    for line, e in gpu_events(plane):
        if not is_tpu or line.name in ("XLA Ops", "Async XLA Ops"):
            kinds[tpu_kind(e) if is_tpu else gpu_kind(e, as_ref)].append((e.ts, e.end))
    comp, comm, memcpy = (union(kinds[k]) for k in ("comp", "comm", "memcpy"))
    busy = union(sum(kinds.values(), []))
    total = busy[-1][1] - busy[0][0]
    return {"computation_time": length(comp), "exposed_comm_time": length(minus(comm, comp)),
            "exposed_memcpy_time": length(minus(minus(memcpy, comp), comm)), "busy_time": length(busy),
            "idle_time": total - length(busy), "total_time": total, "total_comm_time": length(comm),
            "total_memcpy_time": length(memcpy)}


class Kernels:
    """A row a kernel, with its instruction."""

    def __init__(self, space):
        self.space, self.rows = space, []
        for plane in space.device_planes():
            for line, e in gpu_events(plane):
                if not is_copy(e.name):
                    self.rows.append((plane, line, e, space.launch(e), space.instruction(e)))

    def as_ref(self, event, instruction):
        """The reference's instruction: by the module's name alone, no root."""
        module = event.stats.get("hlo_module")
        if module is None or self.space.launch(event) is None:
            return None
        names = sorted(f"{m.name}({p})" for p, m in self.space.modules.items() if m.name.startswith(module))
        program = int(names[0].rsplit("(", 1)[1][:-1])
        i = self.space.modules[program].instructions.get(event.stats["hlo_op"])
        return None if i is None or i.is_root else i if instruction is not None else None


def shown(i):
    """Input Dims and Input type."""
    if i is None:
        return (), ()
    arrays = [a for o in i.operands for a in (o.arrays if not o.shape.startswith("(") else []) if a[1]]
    return tuple(tuple(d) for _, d in arrays), tuple(t for t, _ in arrays)


# ---- comparison

class Checked:
    def __init__(self):
        self.equal, self.wrong, self.known = 0, [], {}

    def cell(self, where, got, want, tolerance=1e-9):
        if isinstance(want, str) and isinstance(got, (int, float)):
            want = float(want)
            good = abs(got - want) <= tolerance * max(abs(got), abs(want))
        else:
            good = got == want
        self.equal += good
        if not good:
            self.wrong.append(f"{where}: {got!r}, reference {want!r}")

    def differs(self, why, n=1):
        self.known[why] = self.known.get(why, 0) + n


def read(folder, name):
    path = os.path.join(folder, "reference", "jax_report", name + ".csv")
    if not os.path.exists(path):
        return []
    csv.field_size_limit(1 << 30)
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def check_timeline(folder, space, out):
    planes = space.device_planes()
    tables = {p.pid: timeline(p, as_ref=True) for p in planes}
    rows = read(folder, "gpu_timeline")
    out.cell("gpu_timeline rows", len(rows), 8 * len(planes))
    for r in rows:
        table = tables[int(r["gpu_pid"])]
        out.cell(f"gpu_timeline {r['type']}", table[r["type"]] / 1e6, r["time ms"])
        out.cell(f"gpu_timeline {r['type']} percent", table[r["type"]] / table["total_time"] * 100, r["percent"])
    for r in read(folder, "gpu_events_averages"):
        mean = statistics.fmean(t[r["type"]] for t in tables.values()) / 1e6
        out.cell(f"gpu_events_averages {r['type']}", mean, r["time ms"])
    for p in planes:
        ours = timeline(p)
        n = sum(ours[k] != v for k, v in tables[p.pid].items())
        if n:
            out.differs("rocclr copies counted as computation (7)", n)


def check_launchers(folder, kernels, out):
    rows = read(folder, "kernel_launchers")
    out.cell("kernel_launchers rows", len(kernels.rows), str(len(rows)))
    for r, (plane, line, e, launch, i) in zip(rows, kernels.rows):
        where = f"kernel_launchers {r['UID']}"
        for column, got in (("name", e.name), ("op category", category(e)), ("pid", str(plane.pid)),
                            ("tid", str(line.tid))):
            out.cell(f"{where} {column}", got, r[column])
        out.cell(where + " time", e.dur / 1000, r["total_direct_kernel_time"])
        latency = r["GPU_kernel_launch_latency"]
        out.cell(where + " latency", "" if launch is None else (e.ts - launch.ts) / 1000, latency)
        theirs = shown(kernels.as_ref(e, i))
        out.cell(where + " dims", theirs, (ast.literal_eval(r["Input Dims"]), ast.literal_eval(r["Input type"])))
        if theirs != shown(i):
            out.differs("root instructions ignored (4)" if i.is_root else "module chosen by prefix (3)")


def check_summary(folder, kernels, out):
    groups = {}
    for _, _, e, _, _ in kernels.rows:
        groups.setdefault(e.name, []).append(e)
    rows = read(folder, "kernel_launchers_summary")
    out.cell("kernel_launchers_summary rows", len(groups), str(len(rows)))
    total = sum(e.dur for g in groups.values() for e in g)
    for r in rows:
        g = groups.get(r["name"], [])
        out.cell("summary time", sum(e.dur for e in g) / 1000, r["total_direct_kernel_time_sum"])
        out.cell("summary count", len(g), r["Count"])
        out.cell("summary percentage", sum(e.dur for e in g) / total * 100, r["Percentage (%)"])
        out.cell("summary categories", sorted({category(e) for e in g}), ast.literal_eval(r["Categories"]))


def check_models(folder, kernels, out):
    groups = {}
    for _, _, e, _, i in kernels.rows:
        theirs = kernels.as_ref(e, i)
        figures = model(theirs, as_ref=True)
        if figures:
            groups.setdefault((e.name, shown(theirs)), []).append((e, figures, model(i)))
        elif model(i):
            out.differs("root instructions ignored (4), kernels without a model")
    rows = read(folder, "op_gemm") + read(folder, "op_conv")
    out.cell("op_* rows", len(groups), str(len(rows)))
    for r in rows:
        dims = (ast.literal_eval(r["Input Dims_first"]), ast.literal_eval(r["Input type_first"]))
        g = groups.get((r["name"], dims), [])
        out.cell("op count", len(g), r["name_count"])
        if not g:
            continue
        flops, moved, parameters = g[0][1]
        out.cell("op GFLOPS", flops / 1e9, r["GFLOPS_first"])
        out.cell("op MB", moved / 2**20, r["Data Moved (MB)_first"])
        out.cell("op TFLOPS/s", statistics.fmean(flops / e.dur / 1000 for e, _, _ in g), r["TFLOPS/s_mean"])
        out.cell("op TB/s", statistics.fmean(moved / e.dur / 1000 for e, _, _ in g), r["TB/s_mean"])
        out.cell("op time", sum(e.dur for e, _, _ in g) / 1000, r["Kernel Time (µs)_sum"])
        for name, value in parameters.items():
            out.cell("op " + name, str(value), r["param: " + name])
        if g[0][1][0] != g[0][2][0]:
            why = "module chosen by prefix (3), FLOPs" if "param: M" in r else "input channels lost (5), FLOPs"
            out.differs(why)


# ---- our programs

def counted(rows, key, *values):
    out = {}
    for r in rows or []:
        k = key(r)
        if k is not None:
            out[k] = tuple(a + b for a, b in zip(out.get(k, (0,) * len(values)), (r[v] for v in values)))
    return out


def check_programs(path, out):
    space = Space(path)
    planes = space.device_planes()
    got = {(r["dev"], r["type"]): r["time_ns"] for r in table(["tl-timeline", "--by", "dev", path])}
    for p in planes:
        for name, ns in timeline(p).items():
            out.cell(f"timeline {p.device} {name}", got.get((p.device, name)), ns)
    work = [(p, l, e, space.instruction(e)) for p in planes for l, e in gpu_events(p)
            if "TPU" not in p.name or l.name in ("XLA Ops", "Async XLA Ops")]
    check_kernels(path, planes, work, out)
    ops, models = {}, {}
    for i, ns in runs(space, work):
        ops[i.name] = ops.get(i.name, 0) + ns
        figures = model(i)
        if figures and figures[0]:
            key = (i.name, figures[0], figures[1])
            models[key] = (models.get(key, (0,))[0] + ns,)
    got = counted(table(["tl-ops", "--include-comm", path]), lambda r: r["name"], "direct_ns_sum")
    for name, ns in ops.items():
        out.cell("op " + name, got.get(name), (ns,))
    got = counted(table(["tl-roofline", "-c", "+details", path]), lambda r: r["gflop"] and
                  (r["name"], round(r["gflop"] * 1e9), round(r["moved_mib"] * 2**20)), "kernel_ns_sum")
    for key, ns in models.items():
        out.cell(f"model {key}", got.get(key), ns)
    return len(ops), len(models)


def runs(space, work):
    """(instruction, ns) of each run: successive kernels; overlap counts once."""
    out, last = [], None
    for p, _, e, i in sorted(work, key=lambda w: (w[0].id, w[2].corr or 0, w[2].ts)):
        key = i and (p.id, e.program, i.name, e.id if "TPU" in p.name else space.launch(e) is None and e.corr)
        if i is not None and key == last:
            out[-1][1].append((e.ts, e.end))
        elif i is not None:
            out.append((i, [(e.ts, e.end)]))
        last = key
    return [(i, length(union(spans))) for i, spans in out]


def check_kernels(path, planes, work, out):
    want = {}
    for _, _, e, _ in work:
        if not re.match("memset|memcpy|copy", e.name, re.I) and not COPY.fullmatch(e.name):
            n, ns = want.get(e.name, (0, 0))
            want[e.name] = n + 1, ns + e.dur
    got = counted(table(["tl-kernels", path]), lambda r: r["name"], "count", "dur_ns_sum")
    if planes and "GPU" in planes[0].name:
        out.cell("kernels", got, want)


def compare_programs(path):
    out = Checked()
    nops, nmodels = check_programs(path, out)
    print(f"{out.equal} figures equal, {len(out.wrong)} differ; {nops} instructions, {nmodels} with a model")
    for line in out.wrong[:20]:
        print("  " + line[:400])
    return bool(out.wrong)


def main(folders):
    if folders[0] == "--programs":
        return compare_programs(folders[1])
    status = 0
    for folder in folders:
        out = Checked()
        space = Space(glob.glob(folder + "/*.xplane.pb")[0])
        kernels = Kernels(space)
        check_timeline(folder, space, out)
        check_launchers(folder, kernels, out)
        check_summary(folder, kernels, out)
        check_models(folder, kernels, out)
        print(f"{os.path.basename(folder)}: {out.equal} cells equal, {len(out.wrong)} differ; of ours the reference has "
              "otherwise: " + (", ".join(f"{n} {why}" for why, n in sorted(out.known.items())) or "none"))
        for line in out.wrong[:20]:
            print("  " + line)
        status |= bool(out.wrong)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
