#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""versus.py: tl-report --vs against the reference's reports with a comparison.

usage: versus.py

TAP: for each pair with such a report of the reference, the comparing columns of
unified_perf_summary and the sheet diff_stats, cell by cell. Left out is what a page
names: matched memsets, which the reference does not list, and integers that it
prints as floats.
"""
import ast
import csv
import json
import os
import subprocess
import sys
import tempfile

import diff
import inline
from ours import labels as marked_columns

csv.field_size_limit(1 << 30)

COLUMNS = [
    "speedup (trace2/trace1)", "delta_us (trace2 - trace1)", "lca_count_trace2", "lca_id",
    "lca_name", "lca_total_kernel_time_trace1_us", "lca_total_kernel_time_trace2_us",
]
LISTS = ("Input Dims", "Input Strides", "Input type", "Concrete Inputs")


def table(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8", newline="") as f:
        reader = csv.DictReader(f)
        return reader.fieldnames, list(reader)


def as_list(text):
    """A tuple of Python, or JSON, as nested tuples; empty: None"""
    if text == "":
        return None
    try:
        got = json.loads(text)
    except ValueError:
        got = ast.literal_eval(text)

    def frozen(v):
        return tuple(frozen(x) for x in v) if isinstance(v, (list, tuple)) else v
    return frozen(got)


def ids(text):
    return "; ".join(str(int(float(x))) for x in text.split("; ")) if text else text


def same(column, got, want):
    if column in LISTS:
        return as_list(got) == as_list(want)
    if column in ("lca_id", "lowest_common_ancestor_id"):
        return ids(got) == ids(want)
    try:
        x, y = float(got), float(want)
    except ValueError:
        return got == want
    # doubles of timestamps in us: see the reference's README
    return abs(x - y) <= max(2e-3, 1e-5 * abs(y))


class Report:
    def __init__(self):
        self.n = self.failed = 0

    def check(self, name, cells, bad):
        self.n += 1
        self.failed += bool(bad)
        print("%sok %d - %s (%d cells)" % ("not " if bad else "", self.n, name, cells))
        for line in bad[:8]:
            print("# " + line[:300])


def check_unified(rep, pair, ours, theirs):
    names, rows = table(ours, "unified_perf_summary.csv")
    their_names, want = table(theirs, "unified_perf_summary.csv")
    got = {(r["name"], r["ex_UID"]): r for r in rows}
    bad, cells = [], 0
    for of in (names, their_names):
        at = of.index("Kernel Time (µs)_sum")
        if of[at + 1:at + 8] != COLUMNS:
            bad.append("columns: %s" % of[at + 1:at + 8])
    if len(got) != len(want) or len(rows) != len(want):
        bad.append("%d rows, not %d" % (len(rows), len(want)))
    for w in want:
        g = got.get((w["name"], w["ex_UID"]))
        if g is None:
            bad.append("no row %s %s" % (w["name"], w["ex_UID"]))
            continue
        for c in COLUMNS:
            cells += 1
            if not same(c, g[c], w[c]):
                bad.append("%s %s: %s: %s, not %s" % (w["name"], w["ex_UID"], c, g[c], w[c]))
    filled = sum(1 for w in want if w["lca_id"])
    rep.check("%s: unified_perf_summary" % pair, cells, bad)
    rep.check("%s: some rows are compared" % pair, filled, [] if filled else ["none"])


def check_stats(rep, pair, ours, theirs):
    names, rows = table(ours, "diff_stats.csv")
    their_names, want = table(theirs, "diff_stats.csv")
    bad, cells = [], 0
    marked = marked_columns("tl-diff", "diff_stats", 2)
    if [c for c in names if c not in marked] != their_names:
        bad.append("columns: %s, not %s" % (names, their_names))
    wanted = {(w["source"], w["gpu_op_uid"]) for w in want}
    got = {}
    for r in rows:
        key = (r["source"], r["gpu_op_uid"])
        if key not in wanted and not r["name"].startswith("Memset"):
            bad.append("one row too many: %s %s" % key)
        got[key] = r
    for w in want:
        g = got.get((w["source"], w["gpu_op_uid"]))
        if g is None:
            bad.append("no row %s %s" % (w["source"], w["gpu_op_uid"]))
            continue
        for c in their_names:
            cells += 1
            if not same(c, g.get(c, ""), w[c]):
                bad.append("%s: %s: %s, not %s" % (w["gpu_op_uid"], c, g.get(c), w[c]))
    rep.check("%s: diff_stats" % pair, cells, bad)


def main():
    rep = Report()
    for pair, first, second in diff.pairs():
        theirs = os.path.join(diff.DATA, pair, "reference", "report_with_comparison")
        if not os.path.exists(os.path.join(theirs, "unified_perf_summary.csv")):
            continue
        with tempfile.TemporaryDirectory() as ours:
            subprocess.run(["tl-report", "-d", ours, diff.trace_of(first), "--vs",
                            diff.trace_of(second)], check=True, stderr=subprocess.DEVNULL)
            check_unified(rep, pair, ours, theirs)
            if os.path.exists(os.path.join(theirs, "diff_stats.csv")):
                check_stats(rep, pair, ours, theirs)
            cells, lost, rows, bad = inline.compare(
                [diff.trace_of(first)], [diff.trace_of(second)], ours)
            if lost * 10 > rows:
                bad.append("%d of %d rows were not found again" % (lost, rows))
            rep.check("%s: columns worked out once more" % pair, cells, bad)
    print("1..%d" % rep.n)
    return 1 if rep.failed else 0


if __name__ == "__main__":
    sys.exit(main())
