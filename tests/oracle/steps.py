#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""steps.py: tl-steps on the real traces: steps as worked out once by an independent
program, to the nanosecond; on all of them the steps' starts and wall times from the raw
JSON, and sums that must close.
"""
import gzip
import json
import os
import re
import sys
from decimal import Decimal

from worked import names_of, table, traces

NAMES = re.compile(r"ProfilerStep#(\d+)$")

# trace: uid of the first step, all walls, then of the first step: busy_launched, idle,
# the largest cause of idle time and its ns; None: not worked out
WORKED = {
    "kineto_resnet50_w0_step1": (
        3940, [176146000, 174061000, 176987000, 181327000, 176535000, 164261000],
        100629000, 86696000, "data", 68694000),
    "hta_nccl_parser": (7743, [222503285, 219786430, 224936243],
                        49438921, 173064364, "op", 99358504),
    "hta_ns_resolution": (12905, [35153734, 72113477, 95728456, 95584644, 95699037],
                          94569795, 5834442, "comm_host", 2289952),
    "multirank_cifar_mi300x_4r/rank0": (
        0, [47253494, 44852291, 48007432], None, None, None, None),
    "multirank_cifar_mi300x_4r/rank3": (
        None, [49027296, 44829998, 45306535], None, None, None, None),
    "mi300_resnet_ckpt": (5490, [16819343, 15968298, 15887029],
                          18887726, 2281845, "queued_before", None),
    "tpt_transformer_step1": (0, [1286000, 821000, 754000], 130000, 1156000, "op", 472000),
    "h100_bert_small": (None, [4426114], None, None, None, None),
    "h100_nsfw_vit": (None, [7894065], None, None, None, None),
    "mi300_nsfw_vit": (None, [7453325], None, None, None, None),
    "h100_timesformer": (None, [382535558], None, None, None, None),
    "mi300_timesformer": (None, [390679906], None, None, None, None),
    "multirank_dlrm_v100_8r/worker0": (None, [14455000], None, None, None, None),
    "inference_xdit_sd_3_5": (None, [1194812438], None, None, None, None),
}

# trace: what steps_summary says
SUMMARY = {
    "kineto_resnet50_w0_step1": {"time_ns_median": 176340500, "slowest": 8, "step_time": "wall"},
    "hta_nccl_parser": {"slowest": 6, "slowest_by": "exposed_comm", "slowest_by_ns": 18837923,
                        "median_step_ns": 10157778},
    "mi300_resnet_ckpt": {"step_time": "gpu_wall", "time_ns_median": 18768629.5,
                          "wall_ns_median": 15968298, "drain_ns_first": 32242575,
                          "drain_ns_last": 37924507, "unlinked_count": 968},
}


def check_worked(trace, want):
    uid, walls, launched, idle, cause, cause_ns = want
    steps = [r for r in table(["tl-steps", trace]) if r["what"] == "step"]
    first, bad = steps[0], []
    if [r["wall_ns"] for r in steps] != walls:
        bad.append("walls %s, not %s" % ([r["wall_ns"] for r in steps], walls))
    for column, value in (("uid", uid), ("busy_launched_ns", launched), ("idle_ns", idle),
                          ("idle_cause", cause), ("idle_cause_ns", cause_ns)):
        if value is not None and first[column] != value:
            bad.append("first step: %s %s, not %s" % (column, first[column], value))
    return bad


def check_gpu_time(trace):
    """where the host only enqueues"""
    steps = table(["tl-steps", trace])
    got = ([r.get("gpu_wall_ns") for r in steps], [r["drain_ns"] for r in steps])
    want = ([None, 18982928, 18554331], [32242575, 35257205, 37924507])
    return [] if got == want else ["GPU walls and drains %s, not %s" % (got, want)]


def check_summary(trace, want):
    row = table(["tl-steps", "--table", "steps_summary", trace])[0]
    return ["summary: %s %s, not %s" % (k, row.get(k), v) for k, v in want.items()
            if row.get(k) != v]


def ns(number):
    return int((Decimal(str(number)) * 1000).to_integral_value())


def raw_steps(trace):
    """(pid, N): start and end of all ProfilerStep#N"""
    with (gzip.open if trace.endswith(".gz") else open)(trace, "rt", encoding="utf-8") as f:
        try:
            raw = json.load(f, parse_float=Decimal, strict=False)
        except ValueError:
            return None
    events = raw.get("traceEvents", []) if isinstance(raw, dict) else raw
    steps = {}
    for e in events:
        m = NAMES.match(str(e.get("name"))) if isinstance(e, dict) else None
        if m and e.get("ph") == "X" and e.get("cat") in ("user_annotation", "cpu_op", "Operator"):
            start = Decimal(str(e["ts"])) * 1000
            steps.setdefault((str(e["pid"]), int(m[1])),
                             (start, start + Decimal(str(e["dur"])) * 1000))
    return steps


def check_raw(trace, rows):
    """their wall times are those of the file"""
    raw = raw_steps(trace)
    mine = [r for r in rows if r["what"] == "step" and NAMES.match(r["name"] or "")]
    if not raw or not mine:
        return []
    want = []
    for pid in sorted({p for p, _ in raw}):
        order = sorted((span, n) for (p, n), span in raw.items() if p == pid)
        starts = [ns(span[0] / 1000) for span, _ in order] + [ns(order[-1][0][1] / 1000)]
        want += [(pid, n, starts[i + 1] - starts[i]) for i, (_, n) in enumerate(order)]
    got = sorted((str(r["pid"]), r["step"], r["wall_ns"]) for r in mine)
    return [] if got == sorted(want) else ["from the file: %s, here: %s" % (sorted(want), got)]


def check_sums(trace, rows, options=()):
    """windows follow one another; busy and idle; all of an unmarked trace"""
    bad, end = [], {}
    for r in rows:
        key = (r.get("src"), r.get("rank"), r.get("pid"))
        if key in end and end[key] != r["ts_ns"]:
            bad.append("step %s begins at %d, not at %d" % (r["step"], r["ts_ns"], end[key]))
        end[key] = r["ts_ns"] + r["wall_ns"]
        if r["busy_ns"] is None:
            continue
        if r["busy_ns"] + r["idle_ns"] != r["wall_ns"]:
            bad.append("step %s: busy and idle are not its wall time" % r["step"])
        if r["exposed_comm_ns"] + r["exposed_copy_ns"] > r["busy_ns"]:
            bad.append("step %s: more exposed than busy" % r["step"])
        if r["gap_ns"] > r["idle_ns"] or r["idle_cause_ns"] > r["idle_ns"]:
            bad.append("step %s: a part of its idle time is longer" % r["step"])
    for s in table(["tl-steps", *options, "--table", "steps_summary", trace]):
        mine = [r for r in rows if all(r.get(k) == s.get(k) for k in ("src", "rank", "pid"))]
        if s["window_ns"] != sum(r["wall_ns"] for r in mine) or s["between_ns"] != sum(
                r["wall_ns"] for r in mine if r["what"] == "between"):
            bad.append("summary: window %s, between %s" % (s["window_ns"], s["between_ns"]))
    whole = [r for r in rows if r["what"] == "whole"]
    if whole and len(rows) == 1:
        times = {r["type"]: r["time_ns"] for r in table(["tl-timeline", trace])}
        mine = {"busy_time": "busy_ns", "idle_time": "idle_ns", "total_time": "wall_ns",
                "exposed_comm_time": "exposed_comm_ns", "exposed_memcpy_time": "exposed_copy_ns"}
        for kind, column in mine.items():
            # rocprofv3 says how long it was on
            if "rocprofv3" in trace and kind in ("total_time", "idle_time"):
                continue
            if kind in times and times[kind] != whole[0][column]:
                bad.append("%s %d, tl-timeline says %d" % (column, whole[0][column], times[kind]))
    return bad


def main():
    root = os.environ["TL_DATA"]
    n, seen, failed = 0, set(), False
    kinds = {}
    for trace in traces(root):
        rest = os.path.relpath(trace, root)
        names = names_of(WORKED, seen, rest)
        try:
            rows = table(["tl-steps", trace])
            bad = check_sums(trace, rows) + check_raw(trace, rows) if rows else []
            for w in names:
                seen.add(w)
                bad += check_worked(trace, WORKED[w])
                if w == "mi300_resnet_ckpt":
                    bad += check_gpu_time(trace)
                if w in SUMMARY:
                    bad += check_summary(trace, SUMMARY[w])
        except ValueError as e:
            if not names:  # what no program reads is another test's
                continue
            rows, bad = None, [str(e)]
        for r in rows or []:
            kinds[r["what"]] = kinds.get(r["what"], 0) + 1
        n += 1
        failed |= bool(bad)
        print("%sok %d - %s" % ("not " if bad else "", n, rest))
        for line in bad:
            print("# " + line)
    trace = os.path.join(os.environ["ROOT"], "tests/data/h100/serving_steps.json.gz")
    options = ["--annotation", "execute_*"]
    rows = table(["tl-steps", *options, trace])
    bad = check_sums(trace, rows, options)
    bad += ["no %s" % what for what in ("step", "between") if what not in
            {r["what"] for r in rows}]
    n += 1
    failed |= bool(bad)
    print("%sok %d - serving steps and what is between them" % ("not " if bad else "", n))
    for line in bad:
        print("# " + line)
    missing = sorted(set(WORKED) - seen)
    n += 1
    print("%sok %d - all worked numbers were looked at: %s" % (
        "not " if missing else "", n, ", ".join("%d %s" % (v, k) for k, v in sorted(kinds.items()))))
    for w in missing:
        print("# " + w)
    print("1..%d" % n)
    return failed or bool(missing)


sys.exit(main())
