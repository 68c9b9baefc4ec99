#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare.py: checks on the real traces, as TAP.

    compare.py oracle    the oracles against figures known by hand and the
                         reference's tables: do we read traces correctly?
    compare.py timeline  the programs against the oracles, to the nanosecond, and
                         against the reference's tables, within the precision of
                         its doubles
    compare.py tree      tl-tree against kineto.py, event by event

Options: --only GLOB (data sets), -j N, -v (each cell that differs). The traces
are in $TL_DATA; the programs are found in PATH.

A data set is a folder with traces and reference/VARIANT/gpu_timeline.csv; a
line in SAME_AS.txt says that a variant's table is another's.
"""
import argparse
import csv
import fnmatch
import gc
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile

import hostile
import kineto
import rocprof
import timeline
from worked import is_left

# Exact figures, ns: (GPU events, linked by the flow rule) and, by flow links,
# computation, exposed communication, exposed copies, busy, idle, total.
GOLDEN = {
    "mi210_gpu_only": (2443, 562, 562, 5343422, 0, 0, 5343422, 636081, 5979503),
    "h100_nsfw_vit": (5138, 156, 156, 1225310, 0, 0, 1225310, 6334534, 7559844),
    "mi300_nsfw_vit": (5371, 155, 155, 1716301, 0, 0, 1716301, 5152548, 6868849),
    "mi300_timesformer": (49950, 449, 449, 118758892, 0, 1093991, 119852883, 1414321, 121267204),
    "mi300_resnet_ckpt": (56451, 3653, 2604, 19234094, 35283137, 1583624, 56100855, 416748,
                          56517603),
    "torch_compile_triton": (246, 12, 12, 12549021, 0, 0, 12549021, 11, 12549032),
    "norm_layer_test": (8500, 173, 168, 991996, 0, 0, 991996, 1067787836, 1068779832),
    "inference_sglang_decode": (2058, 558, 558, 9759749, 0, 13177, 9772926, 463977017, 473749943),
}
GOLDEN_ROWS = ("computation_time", "exposed_comm_time", "exposed_memcpy_time", "busy_time",
               "idle_time", "total_time")
# Further figures: (data set, set, row) -> ns, or the number of linked events.
GOLDEN_MORE = {
    ("mi300_resnet_ckpt", "flow", "total_comm_time"): 47200310,
    ("mi300_resnet_ckpt", "flow", "total_memcpy_time"): 1633426,
    ("mi300_resnet_ckpt", "all", "computation_time"): 26174953,
    ("mi300_resnet_ckpt", "all", "exposed_comm_time"): 55371257,
    ("mi300_resnet_ckpt", "all", "busy_time"): 84002056,
    ("mi300_resnet_ckpt", "all", "total_time"): 86567708,
    ("mi300_resnet_ckpt", "linked", "events"): 2685,
    ("mi300_resnet_ckpt", "linked", "computation_time"): 19561931,
    ("mi300_resnet_ckpt", "linked", "exposed_comm_time"): 35088512,
    ("mi300_resnet_ckpt", "linked", "busy_time"): 56234067,
    ("mi300_resnet_ckpt", "linked", "idle_time"): 283536,
    ("norm_layer_test", "all", "computation_time"): 1018632,
    ("norm_layer_test", "linked", "events"): 173,
    ("norm_layer_test", "linked", "computation_time"): 1018632,
}
# Backward links: both ways of finding them give this many.
GOLDEN_BACKWARD = {"mi300_resnet_ckpt": 213, "norm_layer_test": 51}

# cpu_ops without a cpu_op above; owners of kernels, and their names.
GOLDEN_OWNERS = {
    "mi210_gpu_only": (0, 562, 2),
    "h100_nsfw_vit": (276, 151, 9),
    "mi300_nsfw_vit": (276, 151, 9),
    "mi300_timesformer": (964, 445, 13),
    "mi300_resnet_ckpt": (1278, 1296, 21),
    "torch_compile_triton": (2, 12, 6),
    "norm_layer_test": (126, 114, 18),
    "inference_sglang_decode": (26, 15, 9),
}
# Owners of one name, and discarded events, with and without Python frames.
GOLDEN_OWNER_NAMES = {
    "hta_ns_resolution": ({"aten::mul": 815, "torch::distributed::reducer::mul_out": 0}, 4500, 0),
}
# Python frames that doubles discard and exact ends do not.
GOLDEN_DISCARDED = {"h100_nsfw_vit": 0, "mi300_nsfw_vit": 0, "h100_timesformer": 0,
                    "mi300_timesformer": 0, "mi300_bert_small": 0, "h100_bert_small": 0,
                    "norm_layer_test": 0}

PAIRS = {"pair_bert_small": "mi300_bert_small", "pair_nsfw_vit": "mi300_nsfw_vit",
         "pair_timesformer": "mi300_timesformer", "pair_tpt_steps": "tpt_transformer_step1"}
LINKED = frozenset("default kernels roofline_mi300x callstack_nk topk nocapture capture full "
                   "capture_full module_pseudo_nk report_with_comparison".split())
# Epoch microseconds with ns decimals: the reference's doubles are 250 ns apart.
COARSE = {"hta_ns_resolution": 25.0}
TABLE = "gpu_timeline.csv"


class Report:
    """what one TAP result compares"""

    def __init__(self):
        self.tables = self.cells = self.equal = self.wrong = 0
        self.bad = []
        self.notes = []

    def fail(self, text):
        self.bad.append(text)

    def cell(self, where, got, want, close):
        self.cells += 1
        if got == want:
            self.equal += 1
        elif not close:
            self.wrong += 1
            self.fail("%s: %s instead of %s" % (where, got, want))


def read_csv(path, delimiter=","):
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f, delimiter=delimiter))


def is_trace(name):
    return (name.endswith((".json", ".json.gz")) and not name.startswith("execution_details"))


class DataSet:
    """a trace and the reference's tables of it: (variant, set, micro, table)"""

    def __init__(self, name, path):
        self.name = name
        self.path = path
        self.tables = []


def find_sets(data, only):
    """every trace that has events of Kineto, the biggest first"""
    sets = {}
    for folder in sorted(os.listdir(data)):
        top = os.path.join(data, folder)
        if not os.path.isdir(top) or folder.startswith(
                ("not_a", "rocprof", "rpd", "jax", "hlo", "nsys", "perfetto", "xprof")):
            continue
        files = [os.path.join(top, f) for f in sorted(os.listdir(top)) if is_trace(f)]
        capture = os.path.join(top, "capture_traces")
        if os.path.isdir(capture):
            files += [os.path.join(capture, f) for f in sorted(os.listdir(capture)) if is_trace(f)]
        for f in files:
            name = folder
            if "capture_traces" in f:
                name += "/capture"
            elif len(files) > 1 and not os.path.isdir(capture):
                m = re.match(r"(?:rank|worker|sampled_rank-)(\d+)", os.path.basename(f))
                name += "/rank" + m.group(1) if m else "/" + os.path.basename(f)
            sets[name] = DataSet(name, f)
    for folder in sorted(os.listdir(data)):
        ref = os.path.join(data, folder, "reference")
        if not os.path.isdir(ref):
            continue
        for variant in sorted(os.listdir(ref)):
            add_table(sets, folder, ref, variant)
    out = [s for s in sets.values() if fnmatch.fnmatch(s.name, only)]
    return sorted(out, key=lambda s: (-os.path.getsize(s.path) *
                                      (1 if s.path.endswith("gz") else 0.07), s.name))


def add_table(sets, folder, ref, variant):
    table = os.path.join(ref, variant, TABLE)
    same = os.path.join(ref, variant, "SAME_AS.txt")
    if not os.path.exists(table):
        if not os.path.exists(same):
            return
        with open(same, encoding="utf-8") as f:
            other = dict(line.rstrip("\n").split("\t") for line in f if "\t" in line).get(TABLE)
        if other is None:
            return
        table = os.path.join(ref, other, TABLE)
    name, v = PAIRS.get(folder, folder), variant
    m = re.match(r"(rank\d+|capture_pytorch|pytorch)_(.*)", variant)
    if m:
        v = m.group(2)
        if m.group(1) != "pytorch":
            name += "/" + m.group(1).replace("capture_pytorch", "capture")
    if name not in sets:
        return
    if v in LINKED:
        row = ("flow", None, False)
    elif v == "overlap":
        row = ("flow", 5000, False)
    elif v == "recompute":
        row = ("flow", None, True)
    elif v in ("unlinked", "unlinked_only"):
        row = ("all", None, False)
    else:
        return
    sets[name].tables.append((folder + "/" + variant,) + row + (table,))


# ---- tables as {(key, type): ns}


def oracle_rows(events, micro=None, by=None):
    return [((k or "", name), value) for k, part in timeline.groups(events, by)
            for name, value in timeline.timeline(part, micro)]


def with_percent(rows):
    total = {k: v for (k, name), v in rows if name == "total_time"}
    return {key: (v, timeline.percent(v, total[key[0]])) for key, v in rows}


def against_reference(rep, where, rows, table, coarse=0.1):
    """rows: the exact ones; coarse: allowed difference, us"""
    against_table(rep, where, rows, with_percent(rows), table, coarse)


def against_table(rep, where, rows, got, table, coarse=0.1):
    """got: {key: (ns, percent)}"""
    ref = read_csv(table)
    rep.tables += 1
    names = [(r.get("is_recompute") or "", r["type"]) for r in ref]
    if names != [k for k, _ in rows]:
        rep.fail("%s: rows %s instead of %s" % (where, [k for k, _ in rows], names))
    total = {k: v for (k, n), v in rows if n == "total_time"}
    for r, key in zip(ref, names):
        if key not in got:
            continue
        us, pct = got[key][0] / 1000, got[key][1]
        want = float(r["time ms"]) * 1000
        rep.cell("%s %s us" % (where, " ".join(key).strip()), us, want,
                 abs(us - want) <= max(coarse, 1e-5 * abs(want)))
        want = float(r["percent"])
        slack = 100 * coarse / (total[key[0]] / 1000) if total[key[0]] else 0
        rep.cell("%s %s %%" % (where, " ".join(key).strip()), pct, want,
                 pct is not None and abs(pct - want) <= max(slack, 1e-5 * abs(want)))


# ---- the oracles by themselves


class Exact:
    """a trace and its exact tables, made when asked for"""

    def __init__(self, path):
        self.trace = kineto.Trace(path)
        self.mode = None
        self.linked = {}

    def link(self, flow):
        if self.mode != ("flow" if flow else "corr"):
            self.trace.link(flow)
            self.mode = "flow" if flow else "corr"
        return self.trace

    def events(self, which):
        if which == "all":
            return list(self.trace.gpu)
        return timeline.selected(self.link(which == "flow"), "linked")

    def marked(self, which):
        """events with recompute marks"""
        self.link(which == "flow")
        self.trace.tree()
        return self.events(which)


def check_oracle(s):
    rep = Report()
    exact = Exact(s.path)
    sets = {w: exact.events(w) for w in ("all", "linked", "flow")}
    folder = s.name
    for variant, which, micro, recompute, table in s.tables:
        events = exact.marked(which) if recompute else sets[which]
        rows = oracle_rows(events, micro, "recompute" if recompute else None)
        against_reference(rep, variant, rows, table, COARSE.get(folder, 0.1))
        rep.notes += exact_notes(variant, rows, table) if folder in COARSE else []
    if s.tables and len(sets["flow"]) != len(sets["linked"]):
        rep.notes.append("the flow rule links %d, correlation %d of %d GPU events"
                         % (len(sets["flow"]), len(sets["linked"]), len(sets["all"])))
    if folder in GOLDEN:
        g = GOLDEN[folder]
        rep.tables += 1
        rows = dict(timeline.timeline(sets["flow"]))
        got = (len(exact.trace.events), len(sets["all"]), len(sets["flow"]))
        for name, a, b in zip(("events", "gpu", "linked") + GOLDEN_ROWS,
                              got + tuple(rows[r] for r in GOLDEN_ROWS), g):
            rep.cell("golden " + name, a, b, False)
    for (name, which, row), want in GOLDEN_MORE.items():
        if name == folder:
            got = (len(sets[which]) if row == "events"
                   else dict(timeline.timeline(sets[which]))[row])
            rep.cell("golden %s %s" % (which, row), got, want, False)
    if folder in GOLDEN_BACKWARD:
        t = exact.link(False).tree()
        pairs = {e.id: e.fwd.id for e in t.events if e.fwd is not None}
        flows = {w: f.id for w, f in t.backward_flows().items()}
        rep.cell("golden backward links", len(pairs), GOLDEN_BACKWARD[folder], False)
        rep.cell("golden backward links by flow", flows, pairs, False)
    check_owners(rep, folder, exact)
    return rep


def check_owners(rep, folder, exact):
    if folder not in GOLDEN_OWNERS and folder not in GOLDEN_OWNER_NAMES \
            and folder not in GOLDEN_DISCARDED:
        return
    for python in (True, False):
        t = exact.link(False).tree(python)
        where = "golden %s Python " % ("with" if python else "without")
        roots = sum(e.slice and e.cat == "cpu_op" and e.op is None and not e.gone
                    for e in t.events)
        names = owners(t)
        gone = sum(e.gone for e in t.events)
        if folder in GOLDEN_OWNERS:
            rep.cell(where + "root ops, owners, names",
                     (roots, len(names), len(set(names))), GOLDEN_OWNERS[folder], False)
        if folder in GOLDEN_OWNER_NAMES:
            want, count, discarded = GOLDEN_OWNER_NAMES[folder]
            rep.cell(where + "owners", ({n: names.count(n) for n in want}, len(names), gone),
                     (want, count, discarded), False)
        if folder in GOLDEN_DISCARDED:
            rep.cell(where + "discarded", gone, GOLDEN_DISCARDED[folder], False)


def owners(trace):
    """the name of each owner of kernels that are no collectives"""
    out = {}
    for g in trace.gpu:
        if g.launch is None or timeline.COMM.search(g.name):
            continue
        p = g.launch.parent
        while p is not None and (p.cat != "cpu_op" or p.name == "execute"):
            p = p.parent
        p = p or g.launch
        out[p.id] = p.name
    return list(out.values())


def example(*rows):
    """a trace of (cat, name, tid, start us, end us, args)"""
    return kineto.Trace(doc=[{"ph": "X", "cat": c, "name": n, "pid": 1, "tid": t, "ts": str(a),
                              "dur": str(kineto.decimal.Decimal(str(b))
                                         - kineto.decimal.Decimal(str(a))),
                              "args": args}
                             for c, n, t, a, b, *rest in rows
                             for args in [rest[0] if rest else {}]]).link().tree()


def parents(t):
    return ["" if e.parent is None else e.parent.id for e in t.events]


def check_examples(_):
    """the worked examples of the descriptions"""
    rep = Report()
    rep.tables = 1
    seq = {"Sequence number": 7}
    wrap = kineto.WRAPPER + " AddmmBackward0"
    t = example(("python_function", "nn.Module: Net_0", 1, 0, 1000),
                ("python_function", "nn.Module: Linear_3", 1, 10, 310),
                ("cpu_op", "aten::linear", 1, 20, 220, seq),
                ("cpu_op", "aten::addmm", 1, 30, 130, seq),
                ("cuda_runtime", "hipLaunchKernel", 1, 40, 45, {"correlation": 1}),
                ("kernel", "k", 9, 60, 70, {"correlation": 1}),
                ("cpu_op", wrap, 2, 2000, 2300, seq),
                ("cpu_op", "AddmmBackward0", 2, 2010, 2210, seq))
    rep.cell("A parents", parents(t), ["", 0, 1, 2, 3, 4, "", 6], False)
    rep.cell("A backward", [(e.id, e.fwd.id) for e in t.events if e.fwd], [(6, 3)], False)
    rep.cell("A counts", [(e.ndesc, e.ngpu) for e in t.events],
             [(5, 1), (4, 1), (3, 1), (2, 1), (1, 1), (0, 0), (1, 0), (0, 0)], False)
    rep.cell("A modules", [kineto.uid(e.module) for e in t.events],
             ["", 0, 1, 1, 1, 1, "", ""], False)
    p = ("cpu_op", "p", 1, 100, 150)
    a = ("cpu_op", "a", 1, 110, 120)
    launch = "cuda_runtime", "cudaLaunchKernel", 1
    for name, rows, want, gone in (
            ("B", (p, a, launch + (119.5, 124.5)), ["", 0, 0], []),
            ("B discarded", (p, a, launch + (119.0, 124.0)), ["", 0, ""], [2]),
            ("B root", (a, launch + (119.5, 124.5)), ["", ""], []),
            ("C", (("cpu_op", "child", 1, 100, 150), ("cpu_op", "parent", 1, 100, 180)),
             [1, ""], []),
            ("string ends exactly", (("cpu_op", "p", 1, "1711234567890123.001",
                                      "1711234567890124.003"),
                                     ("cpu_op", "c", 1, "1711234567890123.999",
                                      "1711234567890124.003")), ["", 0], []),
            ("zero durations", (p, ("cpu_op", "z", 1, 120, 120), ("cpu_op", "y", 1, 120, 120),
                                ("cpu_op", "x", 1, 150, 150)), ["", 0, 0, ""], []),
            ("frame around", (("cpu_op", "o", 1, 10, 20), ("python_function", "f", 1, 5, 30)),
             [1, ""], []),
            ("frame that cuts an op", (("cpu_op", "o", 1, 10, 20),
                                       ("cpu_op", "i", 1, 19.7, 19.9),
                                       ("python_function", "f", 1, 19.5, 30)),
             ["", 0, ""], [2]),
            ("frame after an op by a hair", (("cpu_op", "o", 1, 10, 20),
                                             ("python_function", "f", 1, 19.5, 30)),
             ["", ""], []),
            ("op that outlives a frame", (("python_function", "f", 1, 5, 15),
                                          ("cpu_op", "o", 1, 10, 20)), ["", ""], [])):
        t = example(*rows)
        rep.cell(name + " parents", parents(t), want, False)
        rep.cell(name + " discarded", [e.id for e in t.events if e.gone], gone, False)
    us = 1000
    t = kineto.Trace(doc=[{"ph": "X", "cat": c, "name": n, "ts": x, "dur": y - x, "pid": 0,
                           "tid": n} for c, n, x, y in (
                               ("kernel", "a", 100, 200), ("kernel", "b", 283, 300),
                               ("kernel", "nccl", 150, 250), ("gpu_memcpy", "HtoD", 240, 280))])
    rows = dict(timeline.timeline(t.gpu))
    for name, want in zip(GOLDEN_ROWS + ("total_comm_time", "total_memcpy_time"),
                          (117, 50, 30, 197, 3, 200, 100, 40)):
        rep.cell("timeline " + name, rows[name], want * us, False)
    rows = dict(timeline.timeline(t.gpu, 5 * us))
    rep.cell("timeline gaps", (rows["micro_idle_time"], rows["macro_idle_time"]), (3 * us, 0),
             False)
    return rep


def exact_notes(variant, rows, table):
    off = [abs(v / 1000 - float(r["time ms"]) * 1000) for (_, v), r in zip(rows, read_csv(table))]
    return ["%s: up to %.3f us off" % (variant, max(off))] if off else []


# ---- the programs


def run(command):
    """(exit status, stdout, stderr) of a pipeline, given as a list of lists"""
    procs = []
    stdin = subprocess.DEVNULL
    for i, argv in enumerate(command):
        p = subprocess.Popen(argv, stdin=stdin, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        if procs:
            procs[-1].stdout.close()
        stdin = p.stdout
        procs.append(p)
    out, err = procs[-1].communicate()
    rc = procs[-1].returncode
    for p in procs[:-1]:
        err += p.stderr.read()
        p.stderr.close()
        rc = p.wait() or rc
    return rc, out.decode(), err.decode("utf-8", "replace")


def program_rows(rep, where, command, key=None):
    """[((key, type), ns)], {(key, type): percent} as a program prints them"""
    rc, out, err = run(command)
    if rc not in (0, 3):
        rep.fail("%s: exit status %d: %s" % (where, rc, err.strip()[:300]))
        return None, None
    table = list(csv.DictReader(out.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    if not table or any(c not in table[0] for c in ("type", "time_ns", "percent")):
        rep.fail("%s: no such columns: %s" % (where, out.split("\n", 1)[0]))
        return None, None
    rows, percents = [], {}
    for r in table:
        k = (r[key] if key else "", r["type"])
        if key == "is_recompute":
            k = (canon(k[0]), k[1])
        rows.append((k, int(r["time_ns"])))
        percents[k] = float(r["percent"]) if r["percent"] else None
    return rows, percents


def canon(text):
    return {"0": "False", "1": "True", "false": "False", "true": "True"}.get(text, text)


def against_oracle(rep, where, rows, percents, want):
    rep.tables += 1
    want_pct = with_percent(want)
    got = dict(rows)
    if [k for k, _ in rows if not k[1].startswith("unlinked")] != [k for k, _ in want]:
        rep.fail("%s: rows %s instead of %s" % (where, [k for k, _ in rows], [k for k, _ in want]))
    for key, value in want:
        if key in got:
            rep.cell("%s %s ns" % (where, " ".join(key).strip()), got[key], value, False)
            p = want_pct[key][1]
            rep.cell("%s %s %%" % (where, " ".join(key).strip()), percents[key], p,
                     p is not None and percents[key] is not None
                     and abs(percents[key] - p) <= 1e-12 * abs(p))


def check_timeline(s):
    rep = Report()
    exact = Exact(s.path)
    tl = ["tl-timeline", "--format", "tsv"]
    sets = {w: exact.events(w) for w in ("all", "linked", "flow")}
    if not sets["all"]:
        rc, out, err = run([tl + [s.path]])
        rep.cell("exit status without GPU events", rc, 5, False)
        rep.cell("output without GPU events", out, "", False)
        return rep
    by_flow = [["tl-decode", s.path], ["tl-link", "--link=flow"], tl + ["--linked-only"]]
    command = {"all": [tl + [s.path]], "linked": [tl + ["--linked-only", s.path]]}
    # if the reference misses links, these are cut first
    same = {e.id for e in sets["flow"]} == {e.id for e in sets["linked"]}
    command["flow"] = command["linked"] if same else by_flow
    if not same:
        rep.notes.append("the flow rule links %d, correlation %d of %d GPU events"
                         % (len(sets["flow"]), len(sets["linked"]), len(sets["all"])))
    printed = {}

    def ask(which, micro=None, by=None):
        k = (which, micro, by)
        if k not in printed:
            c = command[which]
            extra = ["--micro-idle", "%dns" % micro if micro % 1000 else "%dus" % (micro // 1000)] \
                if micro else []
            if by:
                extra += ["--by", by]
            c = c[:-1] + [c[-1][:3] + extra + c[-1][3:]]
            where = which + ("" if not micro else " micro") + ("" if not by else " by " + by)
            key = {"recompute": "is_recompute", "dev": "dev"}.get(by)
            rows, percents = program_rows(rep, where, c, key)
            if rows is not None:
                events = exact.marked(which) if by == "recompute" else sets[which]
                against_oracle(rep, where, rows, percents, oracle_rows(events, micro, by))
            printed[k] = rows
        return printed[k]

    ask("all")
    ask("all", by="dev")
    ask("all", micro=5000)
    if sets["linked"]:
        ask("linked")
    else:
        rc, out, err = run(command["linked"])
        rep.cell("exit status without linked GPU events", rc, 5, False)
    for variant, which, micro, recompute, table in s.tables:
        rows = ask(which, micro, "recompute" if recompute else None)
        if rows is not None:
            rows = [r for r in rows if not r[0][1].startswith("unlinked")]
            against_reference(rep, variant, rows, table, COARSE.get(s.name, 0.1))
    return rep


def check_rocprof(data, programs):
    rep = Report()
    top = os.path.join(data, "rocprofv3_json_908")
    path = [os.path.join(top, f) for f in os.listdir(top) if is_trace(f)][0]
    processes = rocprof.load(path)
    rows = [(("", n), v) for n, v in rocprof.timeline(processes)]
    agents = [((str(a), n), v) for a, table in rocprof.by_agent(processes) for n, v in table]
    want = (19207532470, 4233112334, 0, 4233112334, 14974420136)
    for ((_, name), value), w in zip(rows, want):
        rep.cell("golden " + name, value, w, False)
    if programs:
        for where, extra, key, expected in (("rocprof", [], None, rows),
                                            ("rocprof by dev", ["--by", "dev"], "dev", agents)):
            got, percents = program_rows(rep, where, [["tl-timeline", "--format", "tsv"] + extra
                                                      + [path]], key)
            if got is not None:
                against_oracle(rep, where, got, percents, expected)
                if not extra:
                    rows = got
    for variant in sorted(os.listdir(os.path.join(top, "reference"))):
        table = os.path.join(top, "reference", variant, TABLE)
        if os.path.exists(table):
            against_reference(rep, variant, rows, table)
    return rep


# ---- the tree


COLUMNS = ("id", "parent", "launch", "fwd", "flags", "ndesc", "ngpu")


def check_tree(s):
    rep = Report()
    trace = kineto.Trace(s.path).link()
    for python in (True, False):
        where = "tree" if python else "tree --no-python"
        if not python and not any(e.is_frame for e in trace.events):
            break
        trace.tree(python)
        check_shape(rep, where, trace, python)
        argv = ["tl-tree"] + ([] if python else ["--no-python"]) + [s.path]
        rc, out, err = run([argv, ["tl-cat", "--tsv", "-F", ",".join(COLUMNS)]])
        if rc not in (0, 3):
            rep.fail("%s: exit status %d: %s" % (where, rc, err.strip()[:300]))
            continue
        rep.tables += 1
        got = [line.split("\t") for line in out.splitlines()]
        if got and got[0][0] == "id":
            del got[0]
        # steps without annotations are added
        got = [row for row in got if "synthetic" not in row[COLUMNS.index("flags")]]
        against_tree(rep, where, trace, got, python)
    return rep


def check_shape(rep, where, trace, flows_too):
    """laws of the oracle's own tree"""
    displaced, outside = [], []
    for e in trace.order:
        p = e.parent
        if p is not None and not e.is_gpu and not p.ts <= e.ts <= e.end <= p.end:
            outside.append(e.id)
        while p is not None and p.is_frame:
            p = p.parent
        if e.is_op and p is not e.opparent:
            displaced.append(e.id)
    rep.cell(where + " of the oracle: ops displaced by frames", displaced, [], False)
    rep.cell(where + " of the oracle: outside their parents", outside, [], False)
    flows = {w: f.id for w, f in trace.backward_flows().items()} if flows_too else {}
    if flows:
        pairs = {e.id: e.fwd.id for e in trace.events if e.fwd is not None}
        rep.cell(where + " of the oracle: backward links by flow", flows, pairs, False)


def against_tree(rep, where, trace, got, python):
    pro, tree, tail = trace.sections()
    want = {str(e.id): tree_row(trace, e) for part in (pro, tree, tail) for e in part
            if python or not e.is_frame or e.ph != "X"}
    seen = {}
    for row in got:
        if row[0] in seen:
            rep.fail("%s: event %s twice" % (where, row[0]))
        seen[row[0]] = row
    wrong = {}
    n = len(COLUMNS)
    for uid, row in want.items():
        g = seen.get(uid)
        if g is None:
            wrong.setdefault("missing", []).append(uid)
            continue
        rep.cells += n
        if g == row:
            rep.equal += n
            continue
        for i, name in enumerate(COLUMNS):
            a, b = g[i], row[i]
            if name == "flags":
                a, b = set(re.split("[, ]", a)) - {""}, set(b.split(",")) - {""}
            elif name in ("ndesc", "ngpu"):
                a = a or "0"
            if a == b:
                rep.equal += 1
            else:
                rep.wrong += 1
                wrong.setdefault(name, []).append("%s: %s instead of %s" % (uid, a, b))
    for uid in seen:
        if uid not in want:
            wrong.setdefault("unexpected", []).append(uid)
    for name, items in sorted(wrong.items()):
        rep.fail("%s: %s: %d wrong, e.g. %s" % (where, name, len(items), "; ".join(items[:4])))
    ids = {str(e.id) for e in tree}
    order = [r[0] for r in got if r[0] in ids]
    rep.cell(where + " order", order == [str(e.id) for e in tree], True, False)


def tree_row(trace, e):
    return [str(e.id), str(kineto.uid(e.parent)), str(kineto.uid(e.launch)),
            str(kineto.uid(e.fwd)), ",".join(trace.flags_of(e)), str(e.ndesc), str(e.ngpu)]


# ---- traces that real profilers rarely write

SEEDS = range(40)


def check_hostile(what):
    rep = Report()
    with tempfile.TemporaryDirectory() as tmp:
        for seed in SEEDS:
            path = os.path.join(tmp, "hostile-%d.json" % seed)
            with open(path, "w", encoding="utf-8") as f:
                f.write(hostile.text(seed))
            if what == "oracle":
                trace = kineto.Trace(path).link()
                for python in (True, False):
                    rep.tables += 1
                    check_shape(rep, "seed %d" % seed, trace.tree(python), False)
                continue
            part = CHECKS[what](DataSet("hostile", path))
            rep.tables += part.tables
            rep.cells += part.cells
            rep.equal += part.equal
            rep.wrong += part.wrong
            rep.bad += ["seed %d: %s" % (seed, b) for b in part.bad]
    return rep


# ---- all checks


CHECKS = {"oracle": check_oracle, "timeline": check_timeline, "tree": check_tree}


def one(job):
    what, item = job
    try:
        if what == "hostile":
            return check_hostile(item)
        if what == "examples":
            return check_examples(item)
        if what.startswith("rocprof"):
            return check_rocprof(item, what.endswith("programs"))
        return CHECKS[what](item)
    except Exception as err:  # a failed check; others go on
        rep = Report()
        rep.fail("%s: %s" % (type(err).__name__, err))
        return rep


def main():
    ap = argparse.ArgumentParser(description="checks on the real traces, as TAP")
    ap.add_argument("what", choices=sorted(CHECKS))
    ap.add_argument("--only", default="*", metavar="GLOB", help="data sets")
    ap.add_argument("-j", type=int, default=2, metavar="N", help="processes")
    ap.add_argument("-v", action="store_true", help="each cell that differs")
    a = ap.parse_args()
    data = os.environ.get("TL_DATA", "../shared/data")
    if not os.path.isdir(data):
        print("1..0 # SKIP no reference traces (TL_DATA)")
        return 0
    needs = {"timeline": ("tl-timeline", "tl-link", "tl-decode"), "tree": ("tl-tree", "tl-cat")}
    for p in needs.get(a.what, ()):
        if not shutil.which(p):
            print("1..0 # SKIP no %s yet" % p)
            return 0
    timeline.self_check()
    sets = find_sets(data, a.only)
    if a.what == "oracle":
        sets = [s for s in sets if s.tables]
    elif a.what == "tree":
        sets = [s for s in sets if not s.name.startswith("chrome") and not is_left(s.path)]
    jobs = [(a.what, s) for s in sets]
    names = [s.name for s in sets]
    if a.what != "tree" and fnmatch.fnmatch("rocprofv3_json_908", a.only):
        jobs.append(("rocprof" + (" programs" if a.what == "timeline" else ""), data))
        names.append("rocprofv3_json_908")
    if a.what == "oracle" and a.only == "*":
        jobs.append(("examples", None))
        names.append("worked examples")
    if fnmatch.fnmatch("hostile", a.only):
        jobs.append(("hostile", a.what))
        names.append("hostile")
    print("1..%d" % len(jobs), flush=True)
    tables = cells = equal = wrong = failed = 0
    # a process per job returns its memory as a whole, without a collector
    with multiprocessing.Pool(a.j, gc.disable, maxtasksperchild=1) as pool:
        for n, (name, rep) in enumerate(zip(names, pool.imap(one, jobs, 1)), 1):
            print("%sok %d - %s: %d tables, %d cells, %d equal"
                  % ("not " if rep.bad else "", n, name, rep.tables, rep.cells, rep.equal))
            for text in rep.notes:
                print("#   " + text)
            for text in rep.bad if a.v else rep.bad[:12]:
                print("#   " + text)
            if len(rep.bad) > 12 and not a.v:
                print("#   ... %d more" % (len(rep.bad) - 12))
            sys.stdout.flush()
            tables += rep.tables
            cells += rep.cells
            equal += rep.equal
            wrong += rep.wrong
            failed += bool(rep.bad)
    print("# %s: %d tables, %d cells compared: %d equal, %d within tolerance, %d wrong;"
          " %d data sets failed"
          % (a.what, tables, cells, equal, cells - equal - wrong, wrong, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
