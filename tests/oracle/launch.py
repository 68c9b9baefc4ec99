#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""launch.py: tl-launch on the real traces, from the raw JSON: each launch, what it
launched and its op; queues of GPU streams; copies; sums over runs and layers; and
figures that an independent program computed once, to the nanosecond.
"""
import os
import shutil
import subprocess
import sys
from collections import defaultdict

import kineto
from timeline import length, union
from worked import LARGE, is_left, names_of, table, traces

# trace: launches, A, Q, K, calls longer than their kernels, median Q, starved, median
# interval and work in us; None: not computed. In hta_gpu_user_annotation one copy has no
# length, and the computed number, 139, leaves it out.
WORKED = {
    "h100_bert_small": (61, 332494, 99349, 309437, 40, 1668, 61, 55.7, 3.6),
    "mi300_bert_small": (61, 278278, 884508, 390748, 22, 14256, None, None, None),
    "h100_nsfw_vit": (156, None, None, None, None, None, 148, None, None),
    "hta_gpu_user_annotation": (140, None, None, None, None, None, 130, None, None),
    "hta_nccl_parser": (3774, None, None, None, None, None, 2441, 91.5, 5.7),
    "tpt_transformer_step1": (48, None, None, None, None, None, 46, 45.0, 7.0),
}
# all launches: n, short, runtime and delay outliers, mean delay; queues: points, mean,
# max, mean over time, full ns
CKPT = "mi300_resnet_ckpt"
CKPT_LAUNCHES = (2685, 509, 0, 2685, 27878.83)
CKPT_QUEUES = {0: (5346, 1064.952, 1840, 867.533, 35885892), 4: (24, 4.75, 8, None, 0)}


def upper_median(v):
    return sorted(v)[len(v) // 2] if v else None


class Launch:
    def __init__(self, call):
        gpu = sorted(call.gpu, key=lambda g: (g.ts, g.id))
        self.call, self.first, self.gpu = call, gpu[0], gpu
        self.a = call.end - call.ts
        self.q = max(0, gpu[0].ts - call.end)
        self.k = length(union((g.ts, g.end) for g in gpu))


def launches_of(trace):
    return [Launch(e) for e in trace.launches if e.gpu and e.ts is not None and
            all(g.ts is not None for g in e.gpu)]


def show(what, got, want):
    return [] if got == want else ["%s: %s, not %s" % (what, got, want)]


def check_launches(path, launches):
    rows = table(["tl-launch", "--table", "launches", path])
    got = {r["uid"]: (r["api"], r["api_ns"], r["queue_ns"], r["kernel_ns"], r["total_ns"],
                      r["gpu_events"], r["kernel_uid"]) for r in rows}
    want = {x.call.id: (x.call.name, x.a, x.q, x.k, x.a + x.q + x.k, len(x.gpu), x.first.id)
            for x in launches}
    if got == want:
        return []
    return ["launches: %d, not %d" % (len(got), len(want))] + [
        "launch %s: %s, not %s" % (u, got.get(u), want.get(u))
        for u in sorted(got.keys() | want.keys()) if got.get(u) != want.get(u)][:5]


def check_apis(path, launches):
    want = defaultdict(lambda: [0] * 9)
    for x in launches:
        row = want[x.call.name]
        for i, v in enumerate((1, len(x.gpu), x.a, x.q, x.k, x.a > x.k,
                               x.a <= 50000 and x.k < x.a, x.a > 50000, x.q > 100000)):
            row[i] += v
    got = {r["api"]: [r[k] for k in (
        "count", "gpu_events", "api_ns_sum", "queue_ns_sum", "kernel_ns_sum", "api_longer_count",
        "short_kernel_count", "api_outlier_count", "delay_outlier_count")]
           for r in table(["tl-launch", path])}
    return show("by api", got, dict(want))


def check_ops(path, trace, launches):
    """the innermost op; for each op the first launch's delays"""
    want = defaultdict(lambda: [0, 0, 0, 0])
    seen = set()
    for x in sorted(launches, key=lambda x: x.call.pos):
        op = x.call.op
        row = want[op.name if op is not None else None]
        row[1] += 1
        if op is not None and op.id not in seen:
            seen.add(op.id)
            row[0] += 1
            row[2] += x.call.ts - op.ts
            row[3] += x.first.ts - x.call.ts
    for row in want.values():
        if row[0] == 0:
            row[2:] = [None, None]  # a sum of nothing
    got = {r.get("op"): [r["op_count"], r["count"], r["op_delay_ns_sum"], r["start_delay_ns_sum"]]
           for r in table(["tl-launch", "--table", "launches_by_op", path])}
    return show("by op", got, dict(want))


def queues_of(launches):
    """points of (pid, GPU stream): time, change"""
    queues = defaultdict(list)
    for x in launches:
        for g in x.gpu:
            q = queues[str(x.call.pid), str(g.arg("stream") if "stream" in g.args else g.tid),
                       str(g.arg("device") if "device" in g.args else g.pid)]
            q.append((x.call.ts, 0, 1))
            q.append((max(x.call.ts, g.ts), 1, -1))
    return queues


def check_queues(path, launches, full=1024):
    want = {}
    for key, points in queues_of(launches).items():
        points.sort()
        n, lengths, at_full, weighted = 0, [], 0, 0
        for i, (t, _, change) in enumerate(points):
            n += change
            lengths.append(n)
            stay = points[i + 1][0] - t if i + 1 < len(points) else 0
            at_full += stay if n >= full else 0
            weighted += n * stay
        span = points[-1][0] - points[0][0]
        want[key] = (len(points), round(sum(lengths) / len(points), 9), max(lengths),
                     round(weighted / span, 9) if span else None, span, at_full)
    got = {(str(r["pid"]), str(r.get("gpu_stream")), str(r.get("dev"))): (
        r["points"], round(r["length_mean"], 9), r["length_max"],
        None if r.get("length_time_mean") is None else round(r["length_time_mean"], 9),
        r["span_ns"], r["full_ns"])
           for r in table(["tl-launch", "--table", "queue_length", "--full", str(full), path])}
    return show("queues", got, want)


def check_copies(path, trace):
    want = defaultdict(lambda: [0, 0, 0, []])
    for g in trace.gpu:
        if g.cat not in ("gpu_memcpy", "gpu_memset") or g.ts is None:
            continue
        row = want[g.name]
        row[0] += 1
        row[1] += g.args.get("bytes", 0)
        row[2] += g.end - g.ts
    got = defaultdict(lambda: [0, 0, 0, []])
    for r in table(["tl-launch", "--table", "copies", path]) or []:
        row = got[r["copy"]]
        row[0] += r["count"]
        row[1] += r["bytes_sum"] or 0
        row[2] += r["time_ns_sum"]
        if r.get("gb_per_s") is not None and r["zero_length_count"] == 0 and abs(
                r["gb_per_s"] - r["bytes_sum"] / r["busy_ns"]) > 1e-9 * r["gb_per_s"]:
            return ["copies: %s" % r]
    return show("copies", dict(got), dict(want))


def late_of(trace, launches):
    """calls that began while the GPU was idle, without the trace's head"""
    by_id = {g.id: x for x in launches for g in x.gpu}
    busy = sorted((g for g in trace.gpu if g.ts is not None and g.end > g.ts),
                  key=lambda g: (g.ts, -g.end, g.id))
    late, end = set(), None
    for g in busy:
        if end is not None and g.ts > end and g.id in by_id and by_id[g.id].call.ts > end:
            late.add(by_id[g.id].call.id)
        end = g.end if end is None else max(end, g.end)
    return late


def threads_of(launches):
    threads = defaultdict(list)
    for x in launches:
        threads[x.call.pid, x.call.tid].append(x)
    for v in threads.values():
        v.sort(key=lambda x: (x.call.ts, -x.call.end, x.call.id))
    return threads


def runs_of(threads, late, interval):
    """(first uid, last uid, launches) by definition, slowly"""
    runs = set()
    for v in threads.values():
        part = []
        for i, x in enumerate(v + [None]):
            if x is not None and x.call.id not in late:
                continue
            if part and (x is None or x.call.ts - v[part[-1]].call.ts > 10 * interval):
                whole = v[part[0]:part[-1] + 1]
                gaps = [b.call.ts - a.call.ts for a, b in zip(whole, whole[1:])]
                if len(part) >= 20 and upper_median([y.k for y in whole]) < upper_median(gaps):
                    runs.add((whole[0].call.id, whole[-1].call.id, len(whole)))
                part = []
            part.append(i)
    return runs


def check_graph_gain(path, steps):
    """Successive steps have the idle time of tl-idle's window, and tl-advise's gain by
    graphs is the sum of their terms."""
    windows = table(["tl-idle", "--steps", "--table", "idle_window", path]) or []
    if len(windows) != 1 or windows[0]["window_ns"] != sum(r["wall_ns"] for r in steps):
        return []
    w = windows[0]
    bad = show("host work", w["host_ns"], sum(r["host_ns"] for r in steps))
    left = sum(r["gaps_ns"] + r["start_ns"] for r in steps)
    bad += show("what graphs leave", w["graph_ns"], left)
    # host time outside the launches of each step stays, too
    bad += show("outside", w["outside_ns"] <= sum(r["outside_ns"] for r in steps), True)
    left += w["outside_ns"]
    advice = table(["tl-advise", path]) if shutil.which("tl-roofline") else None
    return bad + [x for f in advice or [] if f["rule"] in ("graph", "graph_behind_calls")
                  for x in show("gain of graphs", f["gain_ns_high"], w["host_ns"] - left)]


def check_cost(path, trace, launches):
    rows = table(["tl-launch", "--table", "launch_cost", path])
    cost, bad = rows[0], []
    threads, late = threads_of(launches), late_of(trace, launches)
    gaps = [b.call.ts - a.call.ts for v in threads.values() for a, b in zip(v, v[1:])]
    interval = upper_median(gaps)
    bad += show("cost", (cost["launches"], cost["gpu_events"], cost.get("launch_interval_ns"),
                         cost["launch_work_ns"]),
                (len(launches), sum(len(x.gpu) for x in launches), interval,
                 upper_median([x.k for x in launches])))
    graphs = [x.a + x.q for x in launches
              if len(x.gpu) > 1 and "graphlaunch" in x.call.name.lower()]
    bad += show("graph launches", (cost["graph_launch_ns"], cost["graph_launch_from"]),
                (upper_median(graphs), "graph_launch") if graphs else (10000, "assumed"))
    head = cost["starved"] - len(late)  # the first launch, where the window begins before it
    if head not in (0, 1):
        bad.append("starved: %d, not %d" % (cost["starved"], len(late)))
    rows = table(["tl-launch", "--table", "graph_estimate", path])
    if head == 1:
        first = min(trace.gpu, key=lambda g: (g.ts, -g.end, g.id) if g.ts is not None else (1e99,))
        late.add(first.launch.id)
    bad += show("runs", {(r["uid"], r["last_uid"], r["launches"])
                         for r in rows if r["what"] == "run"}, runs_of(threads, late, interval))
    for r in rows:
        left = r["wall_ns"] - sum(r[k] for k in ("busy_ns", "gaps_ns", "start_ns", "sync_ns",
                                                 "copy_block_ns", "data_ns", "alloc_ns", "missing_ns",
                                                 "outside_ns"))
        terms = (r["graph_ns"], r["gaps_ns"], r["start_ns"])
        bad += show("estimate", terms, (max(0, left), (r["gpu_events"] - 1) * cost["graph_gap_ns"],
                                        cost["graph_launch_ns"]))
        idle = sum(r[k] for k in (
            "sync_ns", "copy_block_ns", "data_ns", "alloc_ns", "missing_ns", "host_ns", "other_ns"))
        bad += show("idle time", r["wall_ns"] - r["busy_ns"], idle)
    bad += check_graph_gain(path, [r for r in rows if r["what"] == "step"])
    layers = table(["tl-launch", "--table", "launch_layers", path])
    # of several threads, too, time counts once
    whole = (max(x.call.end for x in launches) - min(x.call.ts for x in launches))
    mine = sum(r["time_ns"] for r in layers if r["over"] == "all")
    if mine > whole or whole - mine > 2000:  # the last call may be cut
        bad.append("layers: %d, not %d" % (mine, whole))
    return bad


def check_worked(path, want):
    rows = table(["tl-launch", "--table", "launches", path])
    cost = table(["tl-launch", "--table", "launch_cost", path])[0]
    n, a, q, k, longer, median_q, starved, interval, work = want
    mine = (len(rows), sum(r["api_ns"] for r in rows), sum(r["queue_ns"] for r in rows),
            sum(r["kernel_ns"] for r in rows), sum(r["api_ns"] > r["kernel_ns"] for r in rows),
            upper_median([r["queue_ns"] for r in rows]), cost["starved"],
            round(cost["launch_interval_ns"] / 1000, 1), round(cost["launch_work_ns"] / 1000, 1))
    return ["worked: %s, not %s" % (mine, want)
            ] if any(w not in (None, m) for m, w in zip(mine, want)) else []


def check_checkpointing(path):
    rows = table(["tl-launch", path])
    sums = [sum(r[k] for r in rows) for k in ("count", "short_kernel_count", "api_outlier_count",
                                              "delay_outlier_count", "queue_ns_sum")]
    bad = show("worked", tuple(sums[:4]) + (round(sums[4] / sums[0] / 1000, 2),), CKPT_LAUNCHES)
    got = {r["gpu_stream"]: (
        r["points"], round(r["length_mean"], 3), r["length_max"],
        round(r["length_time_mean"], 3) if r["gpu_stream"] == 0 else None, r["full_ns"])
           for r in table(["tl-launch", "--table", "queue_length", path])}
    return bad + show("worked queues", got, CKPT_QUEUES)


def check(trace, path):
    trace = kineto.Trace(trace).link().tree()
    launches = launches_of(trace)
    rows = table(["tl-launch", path])
    if rows is None:
        return ["no launches, not %d" % len(launches)] if launches else []
    return (check_launches(path, launches) + check_apis(path, launches) +
            check_ops(path, trace, launches) + check_queues(path, launches) +
            check_queues(path, launches, 3) + check_copies(path, trace) +
            check_cost(path, trace, launches))


def main():
    root = os.environ["TL_DATA"]
    n, failed, seen, path = 0, False, set(), "launch.tl"
    for trace in traces(root):
        rest = os.path.relpath(trace, root)
        if is_left(trace, large=LARGE):
            seen.update(names_of(list(WORKED) + [CKPT], seen, rest))
            continue
        if subprocess.run(["tl-tree", trace, "-o", path], stderr=subprocess.DEVNULL,
                          check=False).returncode not in (0, 3):
            continue  # another test has traces that no program reads
        worked = names_of(list(WORKED) + [CKPT], seen, rest)
        try:
            bad = check(trace, path)
        except (ValueError, kineto.BadTrace) as e:
            if not worked:
                continue
            bad = [str(e)]
        for w in worked:
            seen.add(w)
            bad += check_checkpointing(path) if w == CKPT else check_worked(path, WORKED[w])
        n += 1
        failed |= bool(bad)
        print("%sok %d - %s" % ("not " if bad else "", n, rest), flush=True)
        for line in bad:
            print("# " + line[:2000])
    missing = sorted({*WORKED, CKPT} - seen)
    n += 1
    print("%sok %d - all worked numbers were looked at" % ("not " if missing else "", n))
    print("1..%d" % n)
    return failed or bool(missing)


if __name__ == "__main__":
    sys.exit(main())
