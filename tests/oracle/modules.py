#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""modules.py: tl-modules and tl-fold on the real traces, as TAP.

Each trace with nn.Module frames is read by kineto.py, which shares nothing with
the programs. From its tree it computes the figures of each call of a module, and
all stacks, in the plainest way. Every figure must agree to the nanosecond. Figures
known by hand are checked, too.
"""
import concurrent.futures
import csv
import gc
import gzip
import io
import os
import subprocess
import sys
import tempfile
from collections import defaultdict

import kineto
from worked import is_left

DATA = os.environ["TL_DATA"]

# (module, uid) -> GPU time in ns, and the part below it in no module.
GOLDEN = {
    "inference_sglang_prefilldecode": {
        ("Qwen3Model_0", 4548): (492163781, None),
        ("Qwen3DecoderLayer_0", 4609): (13941646, None),
        ("RMSNorm_0", 4617): (72027, None),
        ("Qwen3Attention_0", 4721): (3688622, 96381),
        ("QKVParallelLinear_0", 4728): (1657876, None),
        ("Qwen2MLP_0", 5886): (10077323, None),
    },
}
GOLDEN_COUNT = {"inference_sglang_prefilldecode": 509}


def busy(events):
    total, end = 0, None
    for start, stop in sorted((g.ts, g.end) for g in events):
        if end is None or start > end:
            end = start
        if stop > end:
            total += stop - end
            end = stop
    return total


def is_module(e):
    return e.is_frame and e.name.startswith("nn.Module")


def backward_of(trace, modules):
    """module id -> GPU events below backward ops linked to ops below it"""
    out = defaultdict(list)
    for g in trace.gpu:
        e = g.launch
        while e is not None and e.fwd is None:
            e = e.parent
        f = e.fwd if e is not None and g.launch is not None else None
        while f is not None:
            f = f.parent
            if f is not None and f.id in modules:
                out[f.id].append(g)
    return out


def module_rows(trace):
    """(uid, depth, parent, gpu, self, non-module, kernels, backward) of each call"""
    modules = {e.id: e for e in trace.order if is_module(e)}
    below, own = defaultdict(list), defaultdict(list)
    for g in trace.gpu:
        e, first = g.launch, True
        while e is not None and not g.launch.gone:
            if e.id in modules:
                below[e.id].append(g)
                if first:
                    own[e.id].append(g)
                first = False
            e = e.parent
    up = {i: next((a.id for a in above(e) if a.id in modules), None) for i, e in modules.items()}
    inner = set(up.values())
    bwd = backward_of(trace, modules)
    rows = {}
    for i in modules:
        depth, p = 0, up[i]
        while p is not None:
            depth, p = depth + 1, up[p]
        rows[i] = (modules[i].name[11:], depth, up[i], busy(below[i]), busy(own[i]),
                   busy(own[i]) if i in inner else None,
                   sum(g.cat == "kernel" for g in below[i]), busy(bwd[i]))
    return rows


def above(e):
    while e.parent is not None:
        e = e.parent
        yield e


class Paths:
    """stacks as numbers: equal frames, equal number"""

    def __init__(self):
        self.numbers = {}

    def push(self, up, text):
        return self.numbers.setdefault((up, text), len(self.numbers) + 1)

    def of_line(self, stack):
        at = 0
        for text in stack.split(";"):
            at = self.push(at, text)
        return at


def stacks_of(trace, paths, wanted):
    """event id -> its stack of wanted events, itself included; up has that of the event above"""
    at, up = {}, {}
    for e in trace.order:
        up[e.id] = at[e.parent.id] if e.parent is not None and e.parent.id in at else 0
        at[e.id] = paths.push(up[e.id], frame(e)) if wanted(e) else up[e.id]
    return at, up


def stacks(trace, paths, with_kernels, wanted):
    out = defaultdict(int)
    at, up = stacks_of(trace, paths, wanted)
    for g in trace.gpu:
        if g.launch is None:
            path = paths.push(0, "[no launch]")
        else:
            path = up.get(g.id, 0)
            if not path and not with_kernels:
                path = paths.push(0, "[no frame]")
        if with_kernels:
            path = paths.push(path, frame(g))
        out[path] += g.end - g.ts
    return {k: v for k, v in out.items() if v > 0}


def cpu_stacks(trace, paths, wanted):
    own, nearest = {}, {}
    at, _ = stacks_of(trace, paths, wanted)
    for e in trace.order:
        up = nearest.get(e.parent.id) if e.parent is not None else None
        nearest[e.id] = e.id if wanted(e) else up
        if wanted(e):
            own[e.id] = e.end - e.ts
            if up is not None:
                own[up] -= e.end - e.ts
    out = defaultdict(int)
    for i, ns in own.items():
        if ns > 0:
            out[at[i]] += ns
    return dict(out)


FRAMES = {}


def frame(e):
    if e.name not in FRAMES:
        FRAMES[e.name] = escaped(e.name)
    return FRAMES[e.name]


def escaped(name):
    out = []
    for c in name:
        if c == "\\":
            out.append("\\\\")
        elif c in "\n\t":
            out.append("\\n" if c == "\n" else "\\t")
        elif c == ";" or ord(c) < 32 or ord(c) == 127 or 128 <= ord(c) < 160:
            out.extend("\\x%02x" % b for b in c.encode())
        else:
            out.append(c)
    return "".join(out) or "[no name]"


def run(*command):
    p = subprocess.run(command, capture_output=True, check=False)
    if p.returncode != 0 or p.stderr:
        raise ValueError("%s: %s" % (" ".join(command), p.stderr.decode()))
    return p.stdout.decode()


def num(text):
    return int(text) if text else None


def check_modules(tree, trace, golden, count, bad):
    want = module_rows(trace)
    got = {}
    columns = "uid,module,depth,parent_uid,gpu_ns,self_ns,non_module_ns,kernels,bwd_ns"
    text = run("tl-modules", "--min-time", "0ns", "--bwd", "-c", columns, tree)
    for r in csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE):
        if r["uid"]:
            got[int(r["uid"])] = (
                r["module"], int(r["depth"]), num(r["parent_uid"]), int(r["gpu_ns"]),
                int(r["self_ns"]), num(r["non_module_ns"]), int(r["kernels"]), int(r["bwd_ns"]))
        else:
            outside = busy([g for g in trace.gpu if g.launch is None or not any(
                is_module(a) for a in above(g))])
            if int(r["gpu_ns"]) != outside:
                bad.append("outside of modules: %s instead of %d" % (r["gpu_ns"], outside))
    for i in sorted(set(got) | set(want)):
        if got.get(i) != want.get(i):
            bad.append("module %d: %s instead of %s" % (i, got.get(i), want.get(i)))
    for (name, uid), (gpu, non_module) in golden.items():
        r = got.get(uid, (None,) * 8)
        if (r[0], r[3]) != (name, gpu) or non_module not in (None, r[5]):
            bad.append("%s: %s instead of %s %s" % (name, r, gpu, non_module))
    if count is not None and len(got) != count:
        bad.append("%d modules instead of %d" % (len(got), count))
    return len(got)


def check_kernels(tree, trace, bad):
    """the call of a module above each kernel, and tl-modules' row for it"""
    rows = {int(r["uid"]): r for r in table(
        "tl-modules", "--min-time", "0ns", "-c", "uid,module,gpu_ns,kernels", tree) if r["uid"]}
    nearest = {}
    for g in trace.gpu:
        if g.cat == "kernel":
            nearest[g.id] = None if g.launch is None or g.launch.gone else next(
                (str(a.id) for a in (g.launch, *above(g.launch)) if is_module(a)), None)
    n = 0
    for r in table("tl-kernels", "--by", "event", "-c",
                   "id,dur_ns,module,module_uid,module_kernels,module_busy_ns,pct_of_module",
                   tree):
        n += 1
        if (nearest.pop(int(r["id"]), "none") or "") != r["module_uid"]:
            bad.append("kernel %s: module %s" % (r["id"], r["module_uid"]))
        elif r["module_uid"]:
            m = rows[int(r["module_uid"])]
            share = 100 if m["kernels"] == "1" else 100 * int(r["dur_ns"]) / int(m["gpu_ns"])
            if (r["module"], r["module_kernels"], r["module_busy_ns"]) != (
                    "nn.Module: " + m["module"], m["kernels"], m["gpu_ns"]) or abs(
                    float(r["pct_of_module"]) - share) > 1e-9 * share:
                bad.append("kernel %s: %s of %s" % (r["id"], r, m))
    if nearest:
        bad.append("%d kernels are missing" % len(nearest))
    return n


def check_flops(tree, bad):
    """
    If no work is outside modules, and all is below ops with a model, the uppermost
    modules have the FLOPs of all ops in tl-roofline.
    """
    rows = table("tl-modules", "--flops", "--min-time", "0ns", "-c", "depth,module,gflop,pct_modelled", tree)
    if any(r["module"].startswith("Non-nn.Module") or float(r["pct_modelled"] or 0) < 100
           for r in rows if r["depth"] == "0"):
        return
    mine = sum(float(r["gflop"]) for r in rows if r["depth"] == "0")
    theirs = sum(float(r["gflop"] or 0) * int(r["operation_count"])
                 for r in table("tl-roofline", "-c", "gflop,operation_count", tree))
    if abs(mine - theirs) > 1e-9 * theirs:
        bad.append("GFLOP: %r in modules, %r of ops" % (mine, theirs))


def table(*command):
    return list(csv.DictReader(io.StringIO(run(*command)), delimiter="\t",
                               quoting=csv.QUOTE_NONE))


def fold(paths, *args):
    """(number of the stack -> time, lines)"""
    lines = [line.rsplit(" ", 1) for line in run("tl-fold", *args).splitlines()]
    names = [s.encode() for s, _ in lines]
    if any(a >= b for a, b in zip(names, names[1:])):
        raise ValueError("not sorted, or a stack twice")
    return {paths.of_line(s): int(v) for s, v in lines}


def check_stacks(tree, trace, bad):
    paths = Paths()
    n = 0

    def same(what, want, *args):
        nonlocal n
        got = fold(paths, *args, tree)
        n += len(got)
        wrong = [k for k in set(got) | set(want) if got.get(k) != want.get(k)]
        if wrong:
            bad.append("%s: %d stacks differ" % (what, len(wrong)))

    def is_op(e):
        return e.is_op and e.cat == "cpu_op"

    same("all", stacks(trace, paths, True, lambda e: e.is_frame or is_op(e)))
    same("python", stacks(trace, paths, True, lambda e: e.is_frame), "--frames", "python")
    same("ops", stacks(trace, paths, False, is_op), "--frames", "ops", "--no-kernels")
    same("cpu", cpu_stacks(trace, paths, lambda e: e.is_frame or e.is_op), "--clock", "cpu")
    return n


def check(path):
    name = os.path.relpath(path, DATA)
    bad, nmodules, nstacks = [], 0, 0
    gc.disable() # many objects, none of them garbage
    with tempfile.NamedTemporaryFile(suffix=".tl") as f:
        try:
            run("tl-tree", path, "-o", f.name)
            trace = kineto.Trace(path).link().tree()
            key = name.split("/")[0]
            whole = name.count("/") == 1
            nmodules = check_modules(f.name, trace, GOLDEN.get(key, {}) if whole else {},
                                     GOLDEN_COUNT.get(key) if whole else None, bad)
            check_kernels(f.name, trace, bad)
            check_flops(f.name, bad)
            nstacks = check_stacks(f.name, trace, bad)
        except (ValueError, OSError) as e:
            bad.append(str(e))
    return name, nmodules, nstacks, bad


def has_modules(path):
    with open(path, "rb") as f:
        data = f.read()
    try:
        return b"nn.Module: " in (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    except OSError:
        return False


def main():
    paths = []
    for folder, _, files in os.walk(DATA, followlinks=True):
        if "/reference" not in folder and "/not_a_trace" not in folder:
            paths += [os.path.join(folder, f) for f in files if f.endswith((".json", ".json.gz"))]
    paths = [p for p in sorted(paths, key=os.path.getsize, reverse=True)
             if not is_left(p, 1_200_000) and has_modules(p)]
    print("1..%d" % (len(paths) + 1))
    failed = 0
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for n, (name, nmodules, nstacks, bad) in enumerate(pool.map(check, paths), 1):
            print("%sok %d - %s: %d calls of modules, %d stacks"
                  % ("not " if bad else "", n, name, nmodules, nstacks), flush=True)
            failed += bool(bad)
            for line in bad[:10]:
                print("# " + line)
    enough = len(paths) >= (15 if os.environ.get("TL_SLOW") else 12)
    print("%sok %d - as many traces as there were" % ("" if enough else "not ", len(paths) + 1))
    return failed > 0 or not enough


if __name__ == "__main__":
    sys.exit(main())
