#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""step_time.py: one time of a step in all programs, to the nanosecond: that of
tl-timeline --step N is that of its row with --by step and of tl-steps, its idle time that
of tl-idle --step N; selected by their markers or several at once, steps have the same.

Where the GPU sets the pace, tl-idle's window is that of the GPU's work, not compared.
"""
import glob
import os
import subprocess
import sys

from worked import is_left, table, traces

FIGURES = ("total_time", "busy_time", "idle_time")
MOST = 5  # steps of a trace


def figures(rows):
    """total, busy and idle time of a timeline's rows; None: unknown"""
    ns = {r["type"]: r.get("time_ns") for r in rows or []}
    return tuple(ns.get(f) for f in FIGURES)


def timeline(tree, *options):
    return figures(table(["tl-timeline", *options, tree]))


def idle_of(tree, step):
    """of tl-idle, with the time before the first GPU event that it does not count"""
    rows = table(["tl-idle", "--step", step, tree])
    window = table(["tl-idle", "--step", step, "--table", "idle_window", tree])
    return None if not window else sum(r["time_ns"] for r in rows or []) + window[0]["head_ns"]


def check_step(tree, row, where, of_row, is_gpu):
    step = "%d%s" % (row["step"], where)
    want = (row["wall_ns"], row["busy_ns"], row["idle_ns"])
    got = timeline(tree, "--step", step)
    bad = []
    if row["busy_ns"] is None:  # no GPU work of it was recorded
        want = got if got == (None, None, None) else want
    if got != want:
        bad.append("step %s: %s, in tl-steps %s" % (step, got, want))
    if not where and of_row != (row["wall_ns"], row["busy_ns"], row["idle_ns"]):
        bad.append("step %s: with --by step %s, in tl-steps %s" % (step, of_row, want))
    idle = idle_of(tree, step)
    if not is_gpu and idle != want[2]:
        bad.append("step %s: idle %s, in tl-idle %s" % (step, want[2], idle))
    name = row["name"] or ""
    if name.startswith("ProfilerStep#") and not where and \
            timeline(tree, "--annotation", name) != got:
        bad.append("step %s: not the time of %s" % (step, name))
    return bad


def check(tree):
    """differences, and how many steps were compared"""
    rows = [r for r in table(["tl-steps", tree]) or [] if r["what"] == "step"]
    by_step = table(["tl-timeline", "--by", "step", tree])
    if not rows or by_step is None:
        return [], 0
    summary = table(["tl-steps", "--table", "steps_summary", tree])
    by_gpu = {r["pid"] for r in summary if r["step_time"] == "gpu_wall"}
    is_several = len({r["pid"] for r in rows}) > 1
    bad, some = [], rows[::max(1, len(rows) // MOST)]
    for row in some:
        of_row = figures([r for r in by_step if r["step"] == row["step"]])
        bad += check_step(tree, row, "@%s" % row["pid"] if is_several else "", of_row,
                          row["pid"] in by_gpu)
    two = [r for r in (rows[0], rows[-1]) if r["busy_ns"] is not None]
    if len(rows) > 1 and len(two) == 2 and not is_several:
        got = timeline(tree, "--step", "%d,%d" % (two[0]["step"], two[1]["step"]))
        want = tuple(sum(r[k] for r in two) for k in ("wall_ns", "busy_ns", "idle_ns"))
        if got != want:
            bad.append("first and last step: %s, in tl-steps %s" % (got, want))
    return bad, len(some)


def main():
    root, n, nsteps, failed = os.environ["TL_DATA"], 0, 0, False
    ours = glob.glob(os.path.join(os.environ["ROOT"], "tests/data/h100/*.json.gz"))
    for trace in [*traces(root), *sorted(ours)]:
        if is_left(trace) or subprocess.run(["tl-tree", trace, "-o", "steps.tl"], check=False,
                                            capture_output=True).returncode not in (0, 3):
            continue
        bad, nsome = check("steps.tl")
        if nsome == 0:
            continue
        n, nsteps = n + 1, nsteps + nsome
        failed |= bool(bad)
        print("%sok %d - %s: %d steps" % (
            "not " if bad else "", n, os.path.relpath(trace, root), nsome))
        for line in bad:
            print("# " + line)
    n += 1
    print("%sok %d - steps were compared: %d" % ("" if nsteps else "not ", n, nsteps))
    print("1..%d" % n)
    return failed or not nsteps


sys.exit(main())
