#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""diff.py: a slow tl-diff, what it agrees with, and tl-diff against it, as TAP.

usage: diff.py oracle | programs | show BEFORE AFTER [--python] [--reference]

`oracle` holds the merged trees and tables of difftree.py and difftables.py
against the reference's; `programs` holds tl-diff against both; `show` prints
the merged tree of two tree streams.
"""
import csv
import glob
import io
import os
import subprocess
import sys
import tempfile
import threading

import difftables
import difftree

DATA = os.environ.get("TL_DATA", "../shared/data")

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

    def cell(self, where, got, want):
        self.cells += 1
        if got == want:
            self.equal += 1
        elif near(got, want):
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
        """the columns of want, in any place"""
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
        return "%d tables, %d cells, %d equal, %d within rounding, %d named differences" % (
            self.tables, self.cells, self.equal, self.rounded, len(self.named))


def near(got, want):
    """the reference subtracts doubles of up to a quarter of a microsecond"""
    try:
        a, b = float(got), float(want)
    except ValueError:
        return False
    return abs(a - b) <= 0.001 + 1e-9 * abs(b)


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
    for n, m in enumerate(tables.maps, 1):
        file = "cpu_op_map_trace%d.json" % n
        rep.text(file, difftables.as_json(m), reference(name, file))
    rep.text("cpu_op_map.json", difftables.as_json(tables.map), reference(name, "cpu_op_map.json"))


def main():
    if sys.argv[1] == "show":
        rules = difftree.REFERENCE if "--reference" in sys.argv else difftree.OURS
        trees = [difftree.Tree(p, "--python" in sys.argv) for p in sys.argv[2:4]]
        difftree.Merge(*trees, rules).print(sys.stdout.write)
        return 0
    jobs = pairs()
    print("1..%d" % len(jobs))
    failed = 0
    for n, pair in enumerate(jobs, 1):
        rep = Report()
        check_oracle(pair, rep)
        failed += bool(rep.bad)
        print("%sok %d - %s: %s" % ("not " if rep.bad else "", n, pair[0], rep))
        for line in rep.bad[:12]:
            print("# " + line)
    return failed > 0


if __name__ == "__main__":
    # trees are as deep as the calls of a program
    sys.setrecursionlimit(100000)
    threading.stack_size(512 << 20)
    status = []
    thread = threading.Thread(target=lambda: status.append(main()))
    thread.start()
    thread.join()
    sys.exit(status[0] if status else 1)
