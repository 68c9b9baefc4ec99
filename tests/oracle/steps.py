#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""steps.py: tl-steps on the real traces: steps as an independent program computed them
once, to the nanosecond; on all traces each figure of marked steps, from the raw JSON,
and sums that must close.
"""
import glob
import os
import sys

import kineto
import timeline
import windows
from worked import is_left, names_of, table, traces

# trace: uid of the first step, all walls, then for the first step: busy_launched, idle,
# the largest cause of idle time and its ns; None: not computed
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
    "mi300_ddp_resnet18": (None, [118128436, 115642545, 1014705864, 1068367127, 1076079598],
                           None, None, None, None),
    "tpt_transformer_step1": (0, [1286000, 821000, 754000], 130000, 1156000, "op", 472000),
    "h100_bert_small": (None, [4426114], None, None, None, None),
    "h100_nsfw_vit": (None, [7894065], None, None, None, None),
    "mi300_nsfw_vit": (None, [7453325], None, None, None, None),
    "h100_timesformer": (None, [382535558], None, None, None, None),
    "mi300_timesformer": (None, [390679906], None, None, None, None),
    "multirank_dlrm_v100_8r/worker0": (None, [14455000], None, None, None, None),
    "inference_xdit_sd_3_5": (None, [1194812438], None, None, None, None),
}

# trace: cells of steps_summary
SUMMARY = {
    "kineto_resnet50_w0_step1": {"time_ns_median": 176340500, "slowest": 8, "step_time": "wall"},
    "hta_nccl_parser": {"slowest": 6, "slowest_by": "exposed_comm", "slowest_by_ns": 18837923,
                        "median_step_ns": 10533626},
    # two steps of 0.12 s, three of 1 s: compared with one of the fast ones
    "mi300_ddp_resnet18": {"slowest": 5, "slowest_by": "alloc", "median_of": "fast"},
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


def compared(walls):
    """the place of the step that slow ones are compared with, and of which steps that is
    the median; walls in order of time"""
    rest = sorted(range(1 if len(walls) != 2 else 0, len(walls)), key=lambda i: walls[i])
    median = rest[(len(rest) - 1) // 2]
    for least in sorted({walls[i] for i in rest if walls[i] <= walls[median]}):
        fast = [i for i in rest if walls[i] < least]
        if fast and 2 * walls[fast[-1]] <= least and \
                4 * sum(2 * w <= least for w in walls) > len(walls):
            return fast[(len(fast) - 1) // 2], "fast"
    return median, "all"


def check_compared(trace, rows):
    """steps_slow and the summary agree on the step that is compared with"""
    bad, of = [], {}
    for r in rows:
        if r["what"] == "step":
            of.setdefault(r["pid"], []).append(r)
    for r in table(["tl-steps", "--table", "steps_slow", trace]):
        steps = of[r["pid"]]
        at, word = compared([s["wall_ns"] for s in steps])
        if (r["median_step"], r["median_of"]) != (steps[at]["step"], word):
            bad.append("step %s is compared with %s of %s, not %s of %s" % (
                r["step"], r["median_step"], r["median_of"], steps[at]["step"], word))
    for r in table(["tl-steps", "--table", "steps_summary", trace]):
        word = compared([s["wall_ns"] for s in of[r["pid"]]])[1] if r["median_of"] else None
        if r["median_of"] != word:
            bad.append("summary: median of %s, not %s" % (r["median_of"], word))
    return bad[:4]


def from_file(trace):
    """the windows of the steps, GPU events, those of each window, and sets of times"""
    t = kineto.Trace(trace).link()
    threads, sets = {}, {"K": [], "C": [], "M": []}
    for e in t.events:
        threads.setdefault((e.pid, e.tid), len(threads))
    gpus = [g for g in t.gpu if g.ts is not None]
    for g in gpus:
        sets[timeline.bucket(g)].append((g.ts, g.end))
    notes = [windows.Note(e.ts, e.end, e.id, e.name, e.pid, threads[e.pid, e.tid])
             for e in t.events if e.slice and e.ts is not None and
             e.cat == "user_annotation" and (e.pid, e.tid) != (0, 0)]
    linked = [g for g in gpus if g.launch is not None]
    steps = windows.windows(notes, [
        windows.Work(g.launch.pid, threads[g.launch.pid, g.launch.tid], g.launch.ts, g.end)
        for g in linked])
    steps.sort(key=lambda w: (str(w.pid), w.start))
    work = [[g for g in linked if g.launch.pid == w.pid and w.start <= g.launch.ts < w.end]
            for w in steps]
    sets = {k: timeline.union(v) for k, v in sets.items()}
    return steps, gpus, work, {**sets, "linked": linked}


def clipped(spans, w):
    return timeline.length(timeline.minus([[w.start, w.end]],
                                          timeline.minus([[w.start, w.end]], spans)))


def figures(w, work, sets, done_before):
    """the columns of a step, from the events of the file"""
    busy = timeline.union(sets["K"] + sets["C"] + sets["M"])
    comm = timeline.minus(sets["C"], sets["K"])
    copy = timeline.minus(timeline.minus(sets["M"], sets["K"]), sets["C"])
    done = max((g.end for g in work), default=None)
    leads = sorted(max(0, g.ts - g.launch.end) for g in work)
    found = {
        "busy_ns": clipped(busy, w),
        "idle_ns": w.end - w.start - clipped(busy, w),
        "exposed_comm_ns": clipped(comm, w), "exposed_copy_ns": clipped(copy, w),
        "overlap_ns": clipped(sets["C"], w) - clipped(comm, w),
        "gap_ns": max((b - a for a, b in timeline.minus([[w.start, w.end]], busy)), default=0),
        "busy_launched_ns": timeline.length(timeline.union([(g.ts, g.end) for g in work])),
        "kernels": sum(g.cat == "kernel" for g in work),
        "launches": len({g.launch.id for g in work}),
        "lead_ns": leads[len(leads) // 2] if work else None,
        "drain_ns": max(0, done - w.end) if work else None,
        "gpu_wall_ns": None if not work or done_before is None or w.number is None
                       else done - done_before}
    # without links it is unknown what was launched
    if not sets["linked"]:
        found.update(busy_launched_ns=None, kernels=None, launches=None)
    return found


def check_columns(trace, rows):
    """all figures of marked steps"""
    if any(r["is_inferred"] or r["what"] == "whole" for r in rows):
        return []
    steps, gpus, work, sets = from_file(trace)
    rows = sorted(rows, key=lambda r: (str(r["pid"]), r["ts_ns"]))
    if len(rows) != len(steps):
        return ["%d rows, from the file %d" % (len(rows), len(steps))]
    bad, done = [], {}
    for w, mine, r in zip(steps, work, rows):
        want = {"wall_ns": w.end - w.start,
                "what": "step" if w.number is not None else "between",
                "ts_ns": w.start - steps[0].start + rows[0]["ts_ns"]}
        if w.number is not None:
            want.update(step=w.number, uid=w.order)
        if gpus:
            want.update(figures(w, mine, sets, done.get(w.pid)))
        if mine and w.number is not None:
            done[w.pid] = max(g.end for g in mine)
        bad += ["step %s: %s %s, from the file %s" % (r["step"], k, r.get(k), v)
                for k, v in want.items() if r.get(k) != v]
    return bad


def check_sums(trace, rows, options=()):
    """windows follow each other; busy and idle time; all of an unmarked trace"""
    bad, end = [], {}
    for r in rows:
        key = (r.get("src"), r.get("rank"), r.get("pid"))
        if key in end and end[key] != r["ts_ns"]:
            bad.append("step %s begins at %d, not at %d" % (r["step"], r["ts_ns"], end[key]))
        end[key] = r["ts_ns"] + r["wall_ns"]
        # without any GPU event in the trace idle time is unknown
        if r["busy_ns"] is None and r["idle_ns"] is None:
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
            # rocprofv3 records how long it ran
            if "rocprofv3" in trace and kind in ("total_time", "idle_time"):
                continue
            if kind in times and times[kind] != whole[0][column]:
                bad.append("%s %d, tl-timeline says %d" % (column, whole[0][column], times[kind]))
    return bad


def main():
    root = os.environ["TL_DATA"]
    n, seen, failed = 0, set(), False
    kinds = {}
    ours = glob.glob(os.path.join(os.environ["ROOT"], "tests/data/h100/*.json.gz"))
    for trace in [*traces(root), *sorted(ours)]:
        rest = os.path.relpath(trace, root) if trace not in ours else os.path.basename(trace)
        names = names_of(WORKED, seen, rest)
        if is_left(trace):
            seen.update(names)
            continue
        try:
            rows = table(["tl-steps", trace])
            bad = check_sums(trace, rows) + check_columns(trace, rows) + \
                check_compared(trace, rows) if rows else []
            for w in names:
                seen.add(w)
                bad += check_worked(trace, WORKED[w])
                if w == "mi300_resnet_ckpt":
                    bad += check_gpu_time(trace)
                if w in SUMMARY:
                    bad += check_summary(trace, SUMMARY[w])
        except ValueError as e:
            if not names:  # another test has traces that no program reads
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
