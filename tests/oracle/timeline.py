#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""timeline.py: where the GPU time went, exactly, from kineto.py's events.

Set: all GPU events (duplicates dropped), or the linked ones, or those linked by
the reference's flow rule. Buckets by category and name (copies, collectives,
the rest). Half-open intervals in whole ns; touching ones merge. An interval of
length 0 that touches nothing is a piece of its own: it splits a gap and bounds the
total.

    timeline.py [--linked-only | --flow-links] [--micro-idle NS]
                [--by recompute|dev] [--kinds] FILE
"""
import argparse
import re
import sys

import kineto

COPY = re.compile(r"(MEMORY_COPY_(HOST_TO_DEVICE|DEVICE_TO_HOST|DEVICE_TO_DEVICE)"
                  r"|__amd_rocclr_copyBuffer(Rect)?(Aligned)?)(\.kd)?")
FILL = re.compile(r"__amd_rocclr_fillBuffer(Aligned)?(\.kd)?")
COMM = re.compile(r"rccl|nccl|cross_device_reduce", re.IGNORECASE)


def bucket(e):
    if e.cat == "gpu_memcpy":
        return "M"
    if e.cat == "kernel" and COPY.fullmatch(e.name):
        return "M"
    if e.cat == "kernel" and FILL.fullmatch(e.name):
        return "K"
    return "C" if COMM.search(e.name) else "K"


def union(spans):
    out = []
    for a, b in sorted(spans):
        if out and a <= out[-1][1]:
            out[-1][1] = max(out[-1][1], b)
        else:
            out.append([a, b])
    return out


def minus(left, right):
    out = []
    i = 0
    for a, b in left:
        while i < len(right) and right[i][1] <= a:
            i += 1
        j = i
        while j < len(right) and right[j][0] < b:
            if right[j][0] > a:
                out.append([a, right[j][0]])
            a = max(a, right[j][1])
            j += 1
        if a < b:
            out.append([a, b])
    return out


def length(spans):
    return sum(b - a for a, b in spans)


def timeline(events, micro=None):
    """[(type, ns)] in the table's order; micro: bound of a micro gap in ns"""
    sets = {"K": [], "C": [], "M": []}
    for e in events:
        sets[bucket(e)].append((e.ts, e.end))
    k, c, m = (union(sets[x]) for x in "KCM")
    a = union(sets["K"] + sets["C"] + sets["M"])
    total = a[-1][1] - a[0][0]
    busy = length(a)
    gaps = [a[i + 1][0] - a[i][1] for i in range(len(a) - 1)]
    if micro is None:
        idle = [("idle_time", total - busy)]
    else:
        idle = [("micro_idle_time", sum(g for g in gaps if g < micro)),
                ("macro_idle_time", sum(g for g in gaps if g >= micro))]
    rows = [("computation_time", length(k)), ("exposed_comm_time", length(minus(c, k))),
            ("exposed_memcpy_time", length(minus(minus(m, k), c))), ("busy_time", busy)]
    rows += idle + [("total_time", total), ("total_comm_time", length(c)),
                    ("total_memcpy_time", length(m))]
    assert sum(v for _, v in rows[:3]) == busy and sum(gaps) == total - busy
    return rows


KINDS = ("computation", "communication", "memory")


def kinds(events):
    """[(kinds, ns)] of concurrent work: each border to the next, checked for each event"""
    spans = [(e.ts, e.end, 2 if bucket(e) == "M" or e.cat == "gpu_memset" and bucket(e) == "K"
              else "KC".index(bucket(e))) for e in events]
    borders = sorted({b for s in spans for b in s[:2]})
    sums = {}
    for a, b in zip(borders, borders[1:]):
        key = tuple(sorted({k for start, end, k in spans if start <= a and b <= end}))
        if key:
            sums[key] = sums.get(key, 0) + b - a
    return [(" + ".join(KINDS[k] for k in key), sums[key])
            for key in sorted(sums, key=lambda key: (len(key), key))]


def selected(trace, which):
    """the GPU events of a trace; `flow` and `linked` need the links made so"""
    return [g for g in trace.gpu if which == "all" or g.launch is not None]


def percent(value, total):
    return value / total * 100 if total else None


def groups(events, by):
    if by == "recompute":
        parts = [("False", [e for e in events if not e.recompute]),
                 ("True", [e for e in events if e.recompute])]
    elif by == "dev":
        dev = {}
        for e in events:
            d = e.arg("device")
            dev.setdefault(e.pid if d is None else d, []).append(e)
        parts = [(str(d), dev[d]) for d in sorted(dev, key=lambda d: (isinstance(d, str), d))]
    else:
        parts = [(None, events)]
    return [(k, v) for k, v in parts if v]


def self_check():
    """the checks of the interval algebra in the specification"""
    for left, right, want in (
            ([[10, 20]], [[15, 16]], [[10, 15], [16, 20]]),
            ([[10, 20]], [[15, 16], [16, 18]], [[10, 15], [18, 20]]),
            ([[10, 20]], [[9, 12]], [[12, 20]]),
            ([[10, 20]], [[15, 22]], [[10, 15]]),
            ([[10, 20], [30, 40]], [[15, 35]], [[10, 15], [35, 40]]),
            ([[10, 20]], [[0, 30]], []),
            ([[10, 20]], [[15, 17], [16, 18]], [[10, 15], [18, 20]])):
        assert minus(left, right) == want, (left, right, minus(left, right))
    assert union([(5, 9), (1, 3), (3, 4), (8, 12)]) == [[1, 4], [5, 12]]


def main(argv=None):
    ap = argparse.ArgumentParser(description="exact GPU timeline of a Kineto trace")
    ap.add_argument("--linked-only", action="store_true")
    ap.add_argument("--flow-links", action="store_true")
    ap.add_argument("--micro-idle", type=int, metavar="NS")
    ap.add_argument("--by", choices=("recompute", "dev"))
    ap.add_argument("--kinds", action="store_true")
    ap.add_argument("trace")
    a = ap.parse_args(argv)
    self_check()
    t = kineto.Trace(a.trace).link(a.flow_links)
    if a.by == "recompute":
        t.tree()
    events = selected(t, "linked" if a.linked_only or a.flow_links else "all")
    if not events:
        print("timeline.py: no GPU events (%d unlinked)" % len(t.gpu), file=sys.stderr)
        return 1
    key = {"recompute": "is_recompute\t", "dev": "dev\t", None: ""}[a.by]
    print(key + ("kinds\ttime_ns\tpct_of_busy" if a.kinds else "type\ttime_ns\tpercent"))
    for k, part in groups(events, a.by):
        rows = kinds(part) if a.kinds else timeline(part, a.micro_idle)
        total = sum(v for _, v in rows) if a.kinds else dict(rows)["total_time"]
        for name, value in rows:
            p = percent(value, total)
            print(*([] if k is None else [k]), name, value, "" if p is None else repr(p), sep="\t")
    return 0


if __name__ == "__main__":
    sys.exit(main())
