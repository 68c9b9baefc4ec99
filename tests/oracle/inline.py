#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""inline.py: the columns of tl-report --vs, computed once more, slowly.

usage: inline.py NAME BEFORE... --vs AFTER...

The trees have the GPU work below the ops of a row, and its time; tl-diff's
diff_stats has the ancestor at which each GPU event is compared. From these each
column of each row of unified_perf_summary is computed. Prints one line of TAP
without its number: that all columns agree, and that the busy times at all
ancestors are those of their events. Rows whose GPU work is not found again, by its
time, are counted, and few may be.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict

import events

csv.field_size_limit(1 << 30)
ARGS = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")
GPU = ("kernel", "memcpy", "memset")
SYNTHETIC = " (Synthetic Op)"


def run(*argv):
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode("utf-8")


def union(spans):
    total, end = 0, None
    for a, b in sorted(spans):
        if end is None or a > end:
            total, end = total + b - a, b
        elif b > end:
            total, end = total + b - end, b
    return total


def frozen(value):
    return tuple(map(frozen, value)) if isinstance(value, list) else value


class Tree:
    """A trace: ops, GPU events, and their nesting."""

    def __init__(self, path, folder):
        tree = os.path.join(folder, "tree.tl")
        run("tl-tree", "-o", tree, path)
        self.up, self.node, self.gpu = {}, {}, {}
        self.of_key = defaultdict(list)
        self.below = defaultdict(list)  # ops and launches: GPU events
        self.owner = {}  # of a GPU event: its nearest op's key, or its launch's name
        self.of_kernel = defaultdict(list)  # owner and kernel: GPU events
        for line in run("tl-cat", "--ndjson", tree).splitlines():
            e = json.loads(line)
            if "kind" not in e or "inst" in e:
                continue
            i = e["id"]
            self.up[i] = e.get("parent")
            if e["kind"] in GPU:
                self.gpu[i] = (int(events.untag(e["ts"])), int(events.untag(e["dur"])),
                               e["name"])
            elif e["kind"] != "python":
                args = e.get("args", {})
                key = (e["name"], e["pid"], e["tid"]) + tuple(
                    frozen(events.untag(args.get(a))) for a in ARGS)
                self.node[i] = (e["kind"], key)
                if e["kind"] == "op":
                    self.of_key[key].append(i)
        for i in self.gpu:
            self.place(i)

    def place(self, i):
        nearest = launch = None
        at = self.up[i]
        while at is not None:
            kind, key = self.node.get(at, (None, None))
            if kind == "op":
                nearest = nearest or key
                self.below[at].append(i)
            elif kind is not None and launch is None:
                launch = key[0]
            at = self.up.get(at)
        self.owner[i] = nearest or launch
        self.of_kernel[self.owner[i], self.gpu[i][2]].append(i)

    def span(self, i):
        ts, dur, _ = self.gpu[i]
        return ts, ts + dur

    def busy(self, ids):
        return union([self.span(i) for i in ids])

    def is_within(self, i, key):
        at = self.up.get(i)
        while at is not None:
            if self.node.get(at, (None, None))[1] == key:
                return True
            at = self.up.get(at)
        return False

    def work_of(self, row):
        """GPU events of a row, and the sum of their times by call"""
        uid, name = int(row["ex_UID"]), row["name"]
        kind, key = self.node.get(uid, (None, self.owner.get(uid)))
        if name.endswith(SYNTHETIC):
            ids = self.of_kernel[key, name[:-len(SYNTHETIC)].split("->", 1)[-1]]
            return ids, sum(self.gpu[i][1] for i in ids)
        if kind != "op" or name != key[0]:
            return [], None
        calls = [c for c in self.of_key[key] if not self.is_within(c, key)]
        return ([i for c in calls for i in self.below[c]],
                sum(self.busy(self.below[c]) for c in calls))


class Points:
    """What tl-diff compares, by source of before"""

    def __init__(self, before, after):
        sides = [x for p in before for x in ("-B", p)] + [x for p in after for x in ("-A", p)]
        text = run("tl-diff", "--table", "diff_stats", "--format", "ndjson", "-c",
                   "src,source,gpu_op_uid,lca_id,lca_name,busy_ns", *sides)
        self.of_gpu, self.names = {}, {}
        self.work = defaultdict(list)  # source of before, point, side
        self.said = {}
        for line in text.splitlines():
            r = json.loads(line)
            if "source" not in r or r["lca_id"] is None:
                continue
            at = r["src"], r["lca_id"]
            self.names.setdefault(at, r["lca_name"])
            self.work[at + (r["source"],)].append(r["gpu_op_uid"])
            self.said[at + (r["source"],)] = r["busy_ns"]
            if r["source"] == "trace1":
                self.of_gpu[r["src"], r["gpu_op_uid"]] = r["lca_id"]


def columns(points, busy, src, ids, kernel_ns):
    """The seven columns, as text where they are lists"""
    lcas = sorted({points.of_gpu[src, i] for i in ids if (src, i) in points.of_gpu})
    if not lcas:
        return None
    before = sum(busy[src, p, "trace1"] for p in lcas)
    after = sum(busy.get((src, p, "trace2"), 0) for p in lcas)
    return {
        "speedup (trace2/trace1)": after / before if before else None,
        "delta_us (trace2 - trace1)": (after - kernel_ns) / 1e3,
        "lca_count_trace2": sum((src, p, "trace2") in busy for p in lcas),
        "lca_id": "; ".join(map(str, lcas)),
        "lca_name": "; ".join(points.names[src, p] for p in lcas),
        "lca_total_kernel_time_trace1_us": before / 1e3,
        "lca_total_kernel_time_trace2_us": after / 1e3,
    }


def same(got, want):
    if want is None or got == "":
        return want is None and got == ""
    if isinstance(want, str):
        return got == want
    return abs(float(got) - want) <= 1e-9 * max(1, abs(want))


def compare(before, after, folder):
    """(cells, rows that were not found again, rows, differences)"""
    trees = [[Tree(p, folder) for p in side] for side in (before, after)]
    points = Points(before, after)
    bad, busy = [], {}
    for (src, p, side), ids in points.work.items():
        k = min(src, len(after) - 1) if side == "trace2" else src
        ns = trees[side == "trace2"][k].busy(ids)
        busy[src, p, side] = ns
        if ns != points.said[src, p, side]:
            bad.append("point %d of %s: busy %d, not %d" % (p, side, points.said[src, p, side], ns))
    report = subprocess.run(
        ["tl-report", *before, *[x for p in after for x in ("--vs", p)], "-d", folder],
        stderr=subprocess.DEVNULL, check=False)
    if report.returncode not in (0, 3):  # 3: a job with missing ranks
        bad.append("tl-report: status %d" % report.returncode)
    cells = lost = rows = 0
    with open(os.path.join(folder, "unified_perf_summary.csv"), encoding="utf-8", newline="") as f:
        table = list(csv.DictReader(f))
    for row in table:
        src = int(row.get("src") or row.get("rank") or 0)
        kernel_ns = round(float(row["Kernel Time (µs)_sum"]) * 1e3)
        ids, ns = trees[0][src].work_of(row)
        rows += 1
        if ns != kernel_ns:
            lost += 1
            continue
        for name, want in (columns(points, busy, src, ids, kernel_ns) or {"lca_id": None}).items():
            cells += 1
            if not same(row[name], want):
                bad.append("%s %s: %s: '%s', not '%s'" % (row["name"], row["ex_UID"], name,
                                                          row[name], want))
    return cells, lost, rows, bad


def main():
    at = sys.argv.index("--vs")
    name, before, after = sys.argv[1], sys.argv[2:at], sys.argv[at + 1:]
    with tempfile.TemporaryDirectory() as folder:
        cells, lost, rows, bad = compare(before, after, folder)
    failed = bool(bad) or not cells or lost * 10 > rows
    print("%sok - %s: %d cells, %d of %d rows not found again" % (
        "not " if failed else "", name, cells, lost, rows))
    for line in bad[:8]:
        print("# " + line[:300])
    return failed


if __name__ == "__main__":
    sys.exit(main())
