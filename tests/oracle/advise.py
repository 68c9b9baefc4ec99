#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""advise.py TABLES FOLDER RULES: computes each finding of tl-advise again.

TABLES is what tl-report --format ndjson wrote, FOLDER tl-advise's findings about
it, RULES the folder of its rules. Gains come from the tables alone, by the
definitions on the page. Numbers in a sentence must be those of a row.
"""
import collections
import json
import math
import os
import re
import sys

COMM = ("all_reduce", "collective", "ncclkernel", "nccldev", "rccl",
        "broadcast", "allgather")
bad = []


def check(yes, *what):
    if not yes:
        bad.append(" ".join(str(w) for w in what))


def tables_of(path):
    tables, rows = {}, None
    for line in open(path, encoding="utf-8", errors="surrogateescape"):
        o = json.loads(line)
        if "table" in o and "columns" in o:
            rows = tables.setdefault(o["table"], [])
        elif list(o) == ["end"]:
            rows = None
        else:
            rows.append(o)
    return tables


def half_away(x):
    return int(math.floor(x + 0.5))


def near(a, b):
    """Sums of doubles in another order."""
    return abs(a - b) <= 1 + 1e-9 * abs(b)


tables = tables_of(sys.argv[1])
advice, metrics = [], None
for name in sorted(os.listdir(sys.argv[2])):
    got = tables_of(os.path.join(sys.argv[2], name))
    advice = got.get("advice", advice)
    metrics = got["advice_metrics"][0] if "advice_metrics" in got else metrics
rules = {}
libraries = []
for name in sorted(os.listdir(sys.argv[3])):
    for r in json.load(open(os.path.join(sys.argv[3], name))):
        if "library" in r:
            libraries.append(r)
        else:
            rules[r["rule"]] = r

times = collections.Counter()
n = 0
for r in tables["gpu_timeline"]:
    times[r["type"]] += r["time_ns"]
    n += r["type"] == "total_time"
total = times["total_time"] // n
windows = tables.get("idle_window", [])
window = (sum(w["window_ns"] for w in windows) // len(windows)
          if windows else total)
missing = (sum(w["missing_ns"] for w in windows) // len(windows)
           if windows else 0)
check(metrics["total_ns"] == total, "total", metrics["total_ns"], total)


def late_rank():
    """The rank that bounds the job, as tl-report's page defines it."""
    if len(windows) < 2 or any(w.get("src") is not None for w in windows):
        return None
    waits = sum(g["wait_ns_sum"] or 0 for g in tables.get("nccl_groups", []))
    whole = waits + sum(g["latency_ns_sum"] or 0
                        for g in tables.get("nccl_groups", []))
    caused = collections.Counter()
    for r in tables.get("straggler_cause", []):
        caused[r["rank"]] += r["caused_wait_ns"] or 0
    if not caused or 3 * waits < 2 * whole:
        return None
    rank, most = max(caused.items(), key=lambda x: x[1])
    return rank if most > 0 and 2 * most >= sum(caused.values()) and \
        10 * sum(w["communication_ns"] for w in windows) >= \
        sum(w["window_ns"] for w in windows) else None


late = late_rank()
mine = [w for w in windows if late is None or w["rank"] == late]
check(late is None or len(mine) == 1, "windows of rank", late)
missing_of_mine = missing
if late is not None:
    window, missing_of_mine = mine[0]["window_ns"], mine[0]["missing_ns"]
# as in the verdict: the recorded part of a window
recorded_ns = window - missing_of_mine if windows else total


def factors(f):
    return rules[f["rule"]].get("factors", [0.75, 0.875, 1])


def gains(f):
    return [f["gain_ns_low"], f["gain_ns"], f["gain_ns_high"]]


# ---- launches ----

def is_launch_bound():
    """As tl-report decides it, for one source."""
    if len(mine) != 1:
        return None
    w = mine[0]
    recorded = w["window_ns"] - w["missing_ns"]
    if w["gpu_ns"] >= recorded - recorded // 5:
        return False
    parts = {k: w[k] for k in ("communication_ns", "copy_ns", "host_ns",
                               "sync_ns", "data_ns", "compile_ns",
                               "start_up_ns", "allocation_ns") if k in w}
    if max(parts.values()) > w["host_ns"]:
        return False
    launch = (w["launched"] >= 20 and 2 * w["starved"] >= w["launched"] and
              w["launch_work_ns"] < w["launch_interval_ns"] and
              w["gap_ns"] < w["host_ns"] // 4)
    sync = (w["opened_ns"] > w["host_ns"] // 2 and
            w["opened_ns"] >= recorded // 10 and
            (not launch or w["gpu_ns"] > w["host_ns"]))
    return launch and not sync


# ---- GPU work while the host sets the pace ----

BLOCKING = ("sync", "copy_block", "alloc", "host_alloc", "module_load",
            "gpu_missing", "late_start", "queued_before", "none", "no_host")


def find_limit():
    """GPU time on the critical path, and what it loses without GPU work."""
    path = {r["bound"]: r for r in tables.get("what_if", [])}
    if "total" not in path or n != 1 or len(mine) != 1 or mine[0]["is_tpu"] or \
            any(r["step_time"] == "gpu_wall" for r in tables.get("steps_summary", [])):
        return None
    w = mine[0]
    recorded = w["window_ns"] - w["missing_ns"]
    if w["gpu_ns"] >= recorded - recorded // 5:
        return None
    untold = 0
    for cause in BLOCKING:
        idle = sum(r["time_ns"] for r in tables.get("idle", []) if r["cause"] == cause)
        untold += max(0, path[cause]["before_ns"] - idle if cause in path else 0)
    if w["steps"] <= 1:
        untold += max(0, w["window_ns"] - path["total"]["before_ns"])
    most = max(0, path["total"]["before_ns"] - path["total"]["after_ns"]) + untold
    gpu = sum(path[b]["before_ns"] for b in ("compute", "communication", "copy") if b in path)
    busy = times["busy_time"]
    return None if most >= busy else (min(gpu + untold, busy), most, busy)


limit = find_limit()


def returned(low, mid):
    """Gains that the path returns."""
    if limit is None:
        return low, mid
    path, most, busy = limit
    mid = min(most, mid * path / busy)
    return min(max(0, low - (busy - path)), mid), mid


# ---- ops ----

def library(op, kernels):
    for of in ("op", "kernel"):
        for entry in libraries:
            text = op if of == "op" else kernels
            if entry["of"] == of and any(x in text for x in entry["like"]):
                return entry["library"]
    return ""


def reached(r):
    """Percent of the roof, by time where calls differ; None: no model."""
    ns, e = r["kernel_ns_sum"], r.get("pct_roofline_mean")
    if e is None or r.get("lost_ns") is None or ns <= 0:
        return e
    return 100 * (1 - r["lost_ns"] / ns)


def key_of(r, category):
    bound = (r.get("roofline_bound") or "")[:7].lower()
    bound = "memory" if bound.startswith("memory") else bound
    e = reached(r) or 0
    # the cell as it is written
    return (category, bound, library(r["name"], json.dumps(
        r.get("kernel_details_summary"), separators=(",", ":"),
        ensure_ascii=False)), r.get("roof") or "", 0 if e < 30 else 30 if e < 60 else 60)


def lost(r):
    e = reached(r)
    return 0 if e is None or e > 110 else max(0, 1 - e / 100) * r["kernel_ns_sum"]


# for the rank that bounds the job, or means
basis = 1 if late is not None else n
gains_of_others = collections.Counter()


def expected_ops():
    modelled = collections.defaultdict(lambda: [0.0, 0, []])
    others = collections.defaultdict(lambda: [0, []])
    for r in tables.get("unified_perf_summary", []):
        category = r["op_category"] or "other"
        if category in ("communication", "memcpy", "record_param_comms"):
            continue
        if category == "other" and any(x in r["name"].lower() for x in COMM):
            continue
        if late is not None and r["rank"] != late:
            gains_of_others[key_of(r, category)] += lost(r)
            continue
        ns, e = r["kernel_ns_sum"], reached(r)
        if r.get("roofline_bound") == "LINK_BOUND":
            continue
        if e is None or e > 110:
            # kernels of graph replays are one finding
            name = r["name"]
            key = ("figures", None) if "GraphLaunch->" in name and \
                name.endswith(" (Synthetic Op)") else (category, name)
            others[key][0] += ns
            others[key][1].append(r)
            continue
        key = key_of(r, category)
        modelled[key][0] += lost(r)
        modelled[key][1] += ns
        modelled[key][2].append(r)
    return modelled, others


modelled, others = expected_ops()
# work on several GPUs or GPU streams of a source at once
any_ns = times["busy_time"] - times["exposed_comm_time"]
each = sum({"busy_time": 1, "exposed_comm_time": -1}.get(r["type"], 0) * r["time_ns"]
           for r in tables.get("gpu_timeline_by_agent", []))
at_once = max(1, each / any_ns) if any_ns > 0 else 1
alone = sum(r["time_ns"] for r in tables.get("gpu_timeline_by_agent", [])
            if r["type"] == "total_comm_time")
kernels = sum(r["dur_ns_sum"] for r in tables.get("kernel_summary", [])) + \
    sum(r["time_ns_sum"] for r in tables.get("copies", [])
        if "memset" in r["copy"].lower() and "exposed_comm_time" in times) - \
    max(alone, times["total_comm_time"])
computing = times["computation_time"] or times["kernel"]
if kernels > 1.01 * computing > 0:
    at_once = max(at_once, kernels / computing)


def passes(ns):
    """What saving ns of kernels gains: at least, in the mean, at most."""
    if at_once == 1 or not computing:
        return [ns, ns, ns]
    any_of = computing * basis / n
    most = min(ns, any_of)
    mean = min(ns / at_once, most)
    return [min(max(0, ns - (at_once - 1) * any_of), mean), mean, most]


def can_be(got, own, key):
    """What only the rank that bounds the job has may gain less than all of it."""
    if late is None or key is None:
        return near(got, own)
    others = own * gains_of_others[key] / (len(windows) - 1) / max(1, modelled[key][0])
    return min(own, others) - 2 <= got <= own + 2


check(abs(metrics["work_at_once"] - at_once) < 1e-9, "at once", metrics["work_at_once"], at_once)
least = 0.005 * max(window, total)
ops = [f for f in advice if f["evidence"] in ("compute", "no_roof", "in_graphs")]
left = {}
for key, (gain, ns, rows) in modelled.items():
    of = [gain / ns * part / basis if ns else 0 for part in passes(ns)]
    if 0.875 * of[1] >= least:
        left["compute", key] = (of, rows)
for key, (ns, rows) in others.items():
    if 100 * ns >= (1.667 if key[1] else 1) * total * basis:
        left["no_roof" if key[1] else "in_graphs", key] = ([0, 0, 0], rows)
launch_bound = is_launch_bound()
for f in ops:
    found = None
    for key, (gain, rows) in left.items():
        if (key[0] == f["evidence"] and key[1][0] == f["category"] and
                len(rows) == f["rows"] and
                (f["gain_ns"] is None if f["evidence"] != "compute" else
                 can_be(f["gain_ns_high"], factors(f)[2] * gain[2], key[1])) and
                (f["uids"] or []) == [r["first_uid"] for r in rows[:5]
                              if r.get("first_uid") is not None]):
            found = key
    check(found is not None, "no rows for", f)
    if found is None:
        continue
    gain, rows = left.pop(found)
    most = max(rows, key=lambda r: r["kernel_ns_sum"])
    if found[0] == "compute":
        low = 0 if launch_bound else factors(f)[0] * gain[0]
        if launch_bound is None and f["gain_ns_low"] == 0:
            low = 0  # decided over several sources
        low, mid = returned(low, factors(f)[1] * gain[1])
        check(can_be(f["gain_ns_low"], low, found[1]) or
              limit and abs(f["gain_ns_low"] - low) < 2, "low", f, low)
        check(can_be(f["gain_ns"], mid, found[1]) or
              limit and abs(f["gain_ns"] - mid) < 2, "mid", f, mid)
        check(f["confidence"] != "high" or gain[2] <= 1.01 * gain[0], "bounds", f)
        category, bound, lib, roof, band = found[1]
        ns = sum(r["kernel_ns_sum"] for r in rows)
        percent = 100 * (1 - modelled[found[1]][0] / ns)
        check(" at %.1f %% of the %s roof (%s): " % (percent, bound, roof)
              in f["insight"], "roof", f["insight"], percent)
        check(not lib or " of %s at" % lib in f["insight"], "library", f)
    check(found[0] == "in_graphs" or len(most["name"]) > 60 or most["name"] in f["insight"], "most", f)
for key in left:
    gain = left[key][0][1]
    check(key[0] == "compute" and (abs(0.875 * gain - least) < 2 or late is not None and
                                   0.875 * gains_of_others[key[1]] / (len(windows) - 1) < least),
          "not found", key, gain)

# ---- the window ----

def rows_of_mine():
    """gpu_timeline of the rank that bounds the job, or the mean of all."""
    got = collections.Counter()
    for r in tables["gpu_timeline"]:
        if late is None or r["rank"] == late:
            got[r["type"]] += r["time_ns"] / (n if late is None else 1)
    return got


own = rows_of_mine()
for f in advice:
    if f["rule"] == "idle":
        m = re.search(r"([\d.]+) % of what was recorded", f["insight"])
        of = own["total_time"] - missing_of_mine
        check(abs(float(m[1]) - 100 * (of - own["busy_time"]) / of) < 0.06, "idle", f)
    m = re.search(r"([\d.]+) % of (communication is overlapped|[\d.]+ .s of comm)", f["insight"])
    if f["evidence"] == "window" and m:
        hidden = 100 * (1 - own["exposed_comm_time"] / own["total_comm_time"])
        check(abs(float(m[1]) - hidden) < 0.06, "overlapped", f, hidden)
    m = re.search(r"exposed c.*\(([\d.]+) % of the (window|recorded time)", f["insight"])
    if m and f["evidence"] == "window":
        part = f["gain_ns_high"] or 0
        if f["category"] == "communication":
            def gaps(of):
                """gaps in queued work, which have no gain"""
                return sum(r["time_ns"] for r in tables.get("idle", [])
                           if r["class"] == of and
                           (late is None or r["rank"] == late)) / len(mine)
            part = most = own.get("exposed_comm_time")
            if mine:
                part = sum(w["communication_ns"] for w in mine) / len(mine)
                most = part - gaps("communication")
            if "exposed_comm_time" in own:  # what computes alone
                most = min(most, own["computation_time"] -
                           (own["total_comm_time"] - own["exposed_comm_time"]))
            else:  # without ops it does not know what is hidden
                most = min(most, sum(w["gpu_ns"] for w in mine) / len(mine) - gaps("gpu"))
            check(abs((f["gain_ns_high"] or 0) - max(0, most)) < 2 and
                  (f["gain_ns_high"] is None) == (most <= 0), "gain", f, most)
        check(abs(float(m[1]) - 100 * part / recorded_ns) < 0.06, "exposed", f)
        check((m[2] == "window") == (missing_of_mine == 0), "basis", f)
    if n > 1 and (f["rule"] == "idle" or m):
        check(("rank %s" % late in f["insight"]) == (late is not None) and
              ("on average" in f["insight"]) == (late is None), "whose", f)

# ---- single ops ----

LAYOUT = re.compile("batched_transpose|nchw2nhwc|nhwc2nchw|nchwtonhwc|nhwctonchw|"
                    "transpose_nchw|transpose_cnhw", re.IGNORECASE)
unified = [r for r in tables.get("unified_perf_summary", [])
           if late is None or r["rank"] == late]
conv = [r for r in unified if (r["op_category"] or "").startswith("CONV")]
layout = sum(k["total_duration_us"] * 1000 for r in conv
             for k in r["kernel_details_summary"] or []
             if LAYOUT.search(k["name"]))
whole = sum(r["kernel_ns_sum"] for r in conv)
for f in advice:
    if f["evidence"] == "layout":
        check(near(f["gain_ns_high"], passes(layout)[2] / basis), "layout", f, layout)
        check("(%.1f %%)" % (100 * layout / whole) in f["insight"], f)
    if f["evidence"] == "op":
        mine_ = [r for r in unified if r["first_uid"] in (f["uids"] or [])]
        check(any(r["kernel_ns_sum"] >= 0.05 * total and
                  "%.1f %%" % reached(r) in f["insight"]
                  for r in mine_), "op", f)
check(not conv or 10 * layout < whole or 0.75 * passes(layout)[1] / basis < least or
      any(f["evidence"] == "layout" for f in advice), "no layout", layout)

# ---- gaps ----

idle = tables.get("idle", [])
for f in advice:
    if f["evidence"] != "gap":
        continue
    uid = f["uids"][0] if f.get("uids") else None
    rows = [r for r in idle if r["longest_uid"] == uid and
            r["class"] == f["category"]] if uid is not None else \
        [r for r in idle if r["class"] == f["category"]]
    check(rows, "no row of", f)
    check(f["category"] not in ("missing", "gpu"), "claims", f)
    if late is not None:
        rows = [r for r in rows if r["rank"] == late]
    # the same call in all sources, for each row that it may be
    all_of = [[r for r in idle if all(r[k] == x[k] for k in
                                      ("class", "cause", "call")) and
               (late is None or r["rank"] == late)] for x in rows]
    if len(mine) == 1:
        bounds = [r["time_ns"] + r["behind_ns"] for r in rows]
        check(any(g >= f["gain_ns_high"] and
                  (r["class"] == "host" or late is not None or
                   f["gain_ns_high"] in (r["time_ns"], g))
                  for g, r in zip(bounds, rows)), "gain of", f, bounds)
    else:
        check(any(f["gain_ns_high"] <= sum(r["time_ns"] + r["behind_ns"]
                                           for r in same) / len(windows) + 1
                  for same in all_of), "gain of", f)
    m = re.search(r"([\d,.]+) calls?( on average)?, longest", f["insight"])
    n = 1 if late is not None else len(windows)
    check(m is None or (bool(m[2]) == (n > 1) and any(
        abs(float(m[1].replace(",", "")) - sum(r["calls"] for r in same) / n)
        <= 0.5 for same in all_of)), "calls", f)

# ---- all ----

places = [f["place"] for f in advice]
check(places == list(range(1, len(advice) + 1)), "places", places)
with_gain = [f for f in advice if f["gain_ns"] is not None]
check(advice[:len(with_gain)] == with_gain, "those without a gain are last")
check(all(a["gain_ns"] >= b["gain_ns"]
          for a, b in zip(with_gain, with_gain[1:])), "order")
for f in with_gain:
    whole = max(window, total)
    if limit and f["most_ns"] is not None:
        check(f["most_ns"] == limit[1] and f["gain_ns"] <= limit[1], "limit", f, limit)
        check(("while the host sets the pace" in f["insight"]) ==
              (f["gain_ns_high"] > limit[1]), "says", f)
    check(f["most_ns"] is None or limit is not None, "no limit", f)
    check(0 <= f["gain_ns_low"] <= f["gain_ns"] <= f["gain_ns_high"], f)
    check(abs(f["pct_gain"] - 100 * f["gain_ns"] / whole) < 1e-6, "share", f)
    check(f["gain_ns_high"] <= max(window, total), "more than all", f)
    check(f["overlaps"] is None or f["overlaps"] < f["place"], "overlap", f)
apart = sum(f["gain_ns"] for f in with_gain
            if f["overlaps"] is None and f["confidence"] != "low" and
            f["section"] not in ("fusion", "comparison"))
check(metrics["gain_ns"] == apart, "sum", metrics["gain_ns"], apart)
check(apart <= max(window, total) - missing, "more than was recorded", apart)
check(bool([f for f in advice if f["rule"] == "not_recorded"]) ==
      (missing_of_mine >= 0.1 * window), "not recorded", missing_of_mine)
print("\n".join(bad[:20]))
sys.exit(bool(bad))
