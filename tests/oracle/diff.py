#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""diff.py: a slow tl-diff against the reference, and tl-diff against it, as TAP.

usage: diff.py [oracle] [programs] [PAIR]
       diff.py show BEFORE AFTER [--python] [--reference]

`oracle` compares the merged trees and tables of difftree.py and difftables.py
with the reference's; `programs` compares tl-diff with both; `show` prints the
merged tree of two tree streams.
"""
import ast
import csv
import glob
import io
import json
import math
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter

import diffmirror
import difftables
import difftree
from worked import is_left

DATA = os.environ.get("TL_DATA", "../shared/data")

# It subtracts doubles that stand for times since boot.
REFERENCE_TOLERANCE = 0.001

# pair -> nodes of the reference's merged tree, with Python frames, rows, LCAs
KNOWN = {
    "pair_bert_small": (397, 654, 122, 61),
    "pair_nsfw_vit": (1024, 1620, 311, 151),
    "pair_timesformer": (3438, 4682, 983, 445),
}


def pairs():
    """(name, first, second) of the reference's outputs"""
    out = []
    with open(os.path.join(DATA, "README.md"), encoding="utf-8") as f:
        for line in f:
            cells = [c.strip(" `") for c in line.strip().strip("|").split("|")]
            folder = os.path.join(DATA, cells[0], "reference", "tracediff")
            if (cells[0].startswith("pair_") and os.path.isdir(folder)
                    and os.path.isdir(os.path.join(DATA, cells[1]))):
                out.append((cells[0], cells[1], cells[2]))
    return out


def trace_of(name):
    found = [p for p in glob.glob(os.path.join(DATA, name, "*")) if p.endswith((".json", ".gz"))]
    if len(found) != 1:
        raise ValueError("%s: %d traces" % (name, len(found)))
    return found[0]


def reference(pair, file):
    folder = os.path.join(DATA, pair, "reference", "tracediff")
    path = os.path.join(folder, file)
    if not os.path.exists(path):
        with open(os.path.join(folder, "SAME_AS.txt"), encoding="utf-8") as f:
            where = dict(line.rstrip("\n").split("\t") for line in f)[file]
        path = os.path.join(os.path.dirname(folder), where, file)
    with open(path, encoding="utf-8", newline="") as f:
        return f.read()


def as_table(text):
    return list(csv.reader(io.StringIO(text, newline="")))


class Report:
    def __init__(self):
        self.tables = self.cells = self.equal = self.rounded = 0
        self.bad, self.named = [], []
        self.tolerance = 1e-9  # us; for means, the only rounded figures

    def cell(self, where, got, want):
        self.cells += 1
        distance = 0 if got == want else apart(got, want)
        if distance == 0:
            self.equal += 1
        elif distance <= self.tolerance:
            self.rounded += 1
        else:
            self.bad.append("%s: %s instead of %s" % (where, got[:300], want[:300]))

    def text(self, where, got, want):
        self.tables += 1
        a, b = got.split("\n"), want.split("\n")
        if len(a) != len(b):
            self.bad.append("%s: %d lines instead of %d" % (where, len(a), len(b)))
        for n, (x, y) in enumerate(zip(a, b), 1):
            self.cell("%s:%d" % (where, n), x, y)

    def table(self, where, got, want):
        """the columns of want, at any place"""
        self.tables += 1
        if len(got) != len(want):
            self.bad.append("%s: %d rows instead of %d" % (where, len(got) - 1, len(want) - 1))
        for c, label in enumerate(want[0]):
            if label not in got[0]:
                self.bad.append("%s: no column %s" % (where, label))
                continue
            at = got[0].index(label)
            for n, (x, y) in enumerate(zip(got[1:], want[1:]), 1):
                self.cell("%s: row %d: %s" % (where, n, label), x[at], y[c])

    def __str__(self):
        named = "".join(", %d %s" % (n, w) for w, n in sorted(Counter(self.named).items()))
        return "%d tables, %d cells, %d equal, %d but for rounding%s" % (
            self.tables, self.cells, self.equal, self.rounded, named)


def apart(got, want):
    """the difference of two numbers, however they are written"""
    try:
        a, b = float(got), float(want)
    except ValueError:
        return math.inf
    return abs(a - b)


def tree_text(merge):
    out = io.StringIO()
    merge.print(out.write)
    return out.getvalue()


def load(path, folder, python):
    name = os.path.join(folder, "%d.tl" % len(os.listdir(folder)))
    subprocess.run(["tl-tree", path, "-o", name], check=True)
    return difftree.Tree(name, python)


def check_oracle(pair, rep):
    name, one, two = pair
    rep.tolerance = REFERENCE_TOLERANCE
    with tempfile.TemporaryDirectory() as tmp:
        trees = [load(trace_of(x), tmp, False) for x in (one, two)]
        merge = difftree.Merge(*trees, difftree.REFERENCE)
        tables = difftables.Tables(merge)
        if name in KNOWN:
            trees = [load(trace_of(x), tmp, True) for x in (one, two)]
            python = difftree.Merge(*trees, difftree.REFERENCE)
            lcas = {r["lowest_common_ancestor_id"] for r in tables.rows}
            got = (len(merge.nodes), len(python.nodes), len(tables.rows), len(lcas))
            rep.cell("nodes, with frames, rows, LCAs", str(got), str(KNOWN[name]))
    rep.text("merged_tree_output.txt", tree_text(merge), reference(name, "merged_tree_output.txt"))
    for t in ("diff_stats", "diff_stats_unique_args_summary"):
        rep.table(t, tables.table(t), as_table(reference(name, t + ".csv")))


# Pairs without the reference's outputs: ranks, steps, other models.
MORE = [
    ("multirank_dlrm_v100_8r/worker0*", "multirank_dlrm_v100_8r/worker1*"),
    ("multirank_hta_sampled_2of128/*0.json.gz", "multirank_hta_sampled_2of128/*1.json.gz"),
    ("multirank_cifar_mi300x_4r/rank0*", "multirank_cifar_mi300x_4r/rank1*"),
    ("hta_alexnet/*.gz", "hta_simple_add_e2e/*.gz"),
    ("hta_gpu_user_annotation/*.gz", "hta_alexnet/*.gz"),
    ("hta_event_sync/*.gz", "hta_alexnet/*.gz"),
]
FRAMED = [  # pairs with Python frames, compared with them, too
    ("mi300_bert_small/*.gz", "mi300_nsfw_vit/*.gz"),
    ("mi300_bert_small/*.gz", "h100_bert_small/*.gz"),
    ("mi300_timesformer/*.gz", "h100_timesformer/*.gz"),
    ("h100_nsfw_vit/*.gz", "h100_nsfw_vit/*.gz"),
    ("norm_layer_test/*.gz", "mi300_resnet_ckpt/*.gz"),
    ("mi300_ddp_resnet18/*.gz", "mi300_resnet_ckpt/*.gz"),
    ("torch_compile_triton/*.gz", "hta_triton_example/*.gz"),
    ("inference_sglang_decode/*.gz", "inference_vllm_decode_full/*.gz"),
    ("inference_sglang_prefilldecode/*.gz", "inference_sglang_decode/*.gz"),
]


def run_diff(folder, one, two, python):
    """the files tl-diff writes, by name"""
    out = os.path.join(folder, "out")
    command = ["tl-diff", "-d", out] + (["--python"] if python else []) + [one, two]
    p = subprocess.run(command, capture_output=True, text=True, check=False)
    if p.returncode not in (0, 3):
        raise ValueError("%s: %s" % (" ".join(command), p.stderr))
    files = {}
    for name in sorted(os.listdir(out)):
        with open(os.path.join(out, name), encoding="utf-8", newline="") as f:
            files[name] = f.read()
        os.remove(os.path.join(out, name))
    return files


def against_oracle(rep, files, merge, tables):
    rep.text("merged_tree_output.txt", files["merged_tree_output.txt"], tree_text(merge))
    for t in ("diff_stats", "diff_stats_unique_args_summary"):
        rep.table(t, as_table(files[t + ".csv"]), tables.table(t))


def as_json_list(text):
    if not text.startswith("("):
        return text
    return json.dumps(ast.literal_eval(text), separators=(",", ":"), ensure_ascii=False)


class Reference:
    """tl-diff's files compared with the reference's, whose known errors are:

    memset: matched memsets vanish; identical: so do trace2 and the column source;
    renamed: the table has the common names of ops; root: a meaningless name for
    ops without modules.
    """

    def __init__(self, rep, pair, files):
        self.rep, self.pair, self.files = rep, pair, files
        self.rep.text("reference: merged_tree_output.txt", files["merged_tree_output.txt"],
                      reference(pair, "merged_tree_output.txt"))
        self.rows("diff_stats", ("source", "gpu_op_uid"))
        keys = [c for c in difftables.SUMMARY if not c.startswith(("cpu_op_name", "kernel_time"))]
        self.rows("diff_stats_unique_args_summary",
                  [k for k in keys if k not in ("nn_module_parent", "busy_time")])

    def rows(self, table, keys):
        self.rep.tables += 1
        got, want = as_table(self.files[table + ".csv"]), as_table(
            reference(self.pair, table + ".csv"))
        rows = [dict(zip(want[0], map(as_json_list, r))) for r in want[1:]]
        identical = "source" not in want[0]
        ours = {}
        for r in got[1:]:
            row = dict(zip(got[0], r))
            ours[tuple(row[k] for k in keys)] = row
        for r in rows:
            if identical:
                r["source"] = "trace1"
            row = ours.pop(tuple(r[k] for k in keys), None)
            if row is None:
                self.rep.bad.append("reference: %s: no row of %s" % (table, r))
                continue
            for k in want[0]:
                if k == "cpu_op_name" and table != "diff_stats" and row[k] != r[k]:
                    self.rep.named.append("renamed")
                else:
                    self.rep.cell("reference: %s: %s" % (table, k), row[k], r[k])
        for row in ours.values():
            if row["name"].startswith("Memset"):
                self.rep.named.append("memset")
            elif identical and row["source"] == "trace2":
                self.rep.named.append("identical")
            else:
                self.rep.bad.append("reference: %s: not there: %s" % (table, row))


def check_programs(job, rep):
    name, one, two, python = job
    with tempfile.TemporaryDirectory() as tmp:
        trees = [load(x, tmp, python) for x in (one, two)]
        merge = difftree.Merge(*trees, difftree.OURS)
        files = run_diff(tmp, one, two, python)
        rep.bad += diffmirror.differences(files, run_diff(tmp, two, one, python))
    against_oracle(rep, files, merge, difftables.Tables(merge))
    if name.startswith("pair_") and not python:
        rep.tolerance = REFERENCE_TOLERANCE
        Reference(rep, name, files)


def jobs_of(what):
    jobs = [(name, trace_of(a), trace_of(b), False) for name, a, b in pairs()]
    if what == "oracle":
        return [(check_oracle, p[0] + ", slow program", p) for p in pairs()]
    for patterns in MORE + FRAMED:
        found = [glob.glob(os.path.join(DATA, p)) for p in patterns]
        if any(len(f) != 1 for f in found):
            raise ValueError(patterns)
        a, b = (f[0] for f in found)
        if is_left(a) or is_left(b):
            continue
        name = "%s, %s" % tuple(p.replace("/*.gz", "").replace("*", "") for p in patterns)
        jobs.append((name, a, b, False))
        if patterns in FRAMED:
            jobs.append((name + ", frames", a, b, True))
    return [(check_programs, j[0], j) for j in jobs]


def one_job(item):
    check, _, job = item
    rep = Report()
    try:
        on_big_stack(lambda: check(job, rep))
    except Exception as err:  # a failed check; others go on
        rep.bad.append("%s: %s" % (type(err).__name__, err))
    return rep


def on_big_stack(call):
    """trees are as deep as a program's call stack"""
    sys.setrecursionlimit(100000)
    threading.stack_size(512 << 20)
    problems = []

    def body():
        try:
            call()
        except Exception as err:
            problems.append(err)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    if problems:
        raise problems[0]


def show(argv):
    rules = difftree.REFERENCE if "--reference" in argv else difftree.OURS
    trees = [difftree.Tree(p, "--python" in argv) for p in argv[:2]]
    difftree.Merge(*trees, rules).print(sys.stdout.write)


def main():
    words = sys.argv[1:]
    if words[0] == "show":
        on_big_stack(lambda: show(words[1:]))
        return 0
    jobs = [j for w in words if w in ("oracle", "programs") for j in jobs_of(w)]
    if words[-1] not in ("oracle", "programs"):
        jobs = [j for j in jobs if words[-1] in j[1]]
    print("1..%d" % len(jobs), flush=True)
    tables = cells = equal = named = failed = 0
    with multiprocessing.Pool(2, maxtasksperchild=1) as pool:
        for n, (job, rep) in enumerate(zip(jobs, pool.imap(one_job, jobs, 1)), 1):
            failed += bool(rep.bad)
            print("%sok %d - %s: %s" % ("not " if rep.bad else "", n, job[1], rep), flush=True)
            for line in rep.bad[:12]:
                print("# " + line)
            tables, cells = tables + rep.tables, cells + rep.cells
            equal, named = equal + rep.equal, named + len(rep.named)
    print("# %d tables, %d cells compared, %d equal, %d named differences, %d pairs failed"
          % (tables, cells, equal, named, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
