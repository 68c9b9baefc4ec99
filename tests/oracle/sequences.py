#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sequences.py: tl-kernels --sequences against plain Python on the raw JSON.

    sequences.py [FIRST LAST | TRACE...]

For each seed from FIRST up to LAST (1 to 60) a trace of kernels drawn from a few
names, in which parts recur. Runs are found by listing all that repeat, and the
heaviest are taken one after the other; what ran below an op by nesting. All
cells must agree. Of a TRACE that is given only its runs.
"""
import collections
import gzip
import heapq
import json
import os
import random
import sys
import tempfile

from worked import table

LONG = 1000000
COMM = ("nccl", "rccl", "cross_device_reduce")
KINDS = ("kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset")


def ns(us):
    whole, _, part = ("%s" % us).partition(".")
    return int(whole) * 1000 + int((part + "000")[:3] or 0)


class Event:
    def __init__(self, uid, e):
        self.uid, self.name, self.cat = uid, e["name"], e.get("cat")
        self.start = ns(e["ts"])
        self.end = self.start + ns(e.get("dur", 0))
        self.tid, self.args = (e["pid"], e["tid"]), e.get("args", {})
        self.corr = self.args.get("correlation")
        self.is_kernel = self.cat in ("kernel", "Kernel")


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as f:
        events = json.load(f, parse_float=str)
    events = events["traceEvents"] if isinstance(events, dict) else events
    return [Event(i, e) for i, e in enumerate(events) if e.get("ph") == "X" and "ts" in e]


def runs(events, least, most):
    """[(names, places)], the heaviest first; a place is a list of kernels"""
    lanes = collections.defaultdict(list)
    for e in sorted((e for e in events if e.cat in KINDS), key=lambda e: (e.start, e.uid)):
        lanes[(e.args.get("device"), e.args.get("stream"))].append(e)
    text, kernels, weight = [], [], []
    for lane in lanes.values():
        for i, e in enumerate(lane):
            if not e.is_kernel or any(c in e.name.lower() for c in COMM):
                continue
            behind = lane[i + 1] if i + 1 < len(lane) else None
            gap = max(0, behind.start - e.end) if behind else None
            is_end = behind is None or gap >= LONG or not behind.is_kernel or \
                any(c in behind.name.lower() for c in COMM)
            text.append(e.name)
            kernels.append(e)
            weight.append(None if is_end else gap)
    n = len(text)
    # how many symbols there are up to a break
    room = [1] * n
    for i in range(n - 2, -1, -1):
        room[i] = 1 if weight[i] is None else room[i + 1] + 1
    found = []
    for length in range(least, most + 1):
        groups = collections.defaultdict(list)
        for i in range(n):
            if room[i] >= length:
                groups[tuple(text[i:i + length])].append(i)
        for places in groups.values():
            if len(places) < 2:
                continue
            right = {text[p + length] if room[p] > length else p for p in places}
            left = {("", p) if p == 0 or weight[p - 1] is None else (text[p - 1], 0)
                    for p in places}
            if (length < most and len(right) == 1) or len(left) == 1:
                continue
            period = min(b - a for a, b in zip(places, places[1:]))
            found.append((period if least <= period < length else length, places))
    taken = [False] * n

    def free(length, places):
        end, chosen, sum_ns = 0, [], 0
        for p in places:
            if p < end or any(taken[p:p + length]):
                continue
            end = p + length
            chosen.append(p)
            sum_ns += sum(weight[p:p + length - 1])
        return chosen, (-sum_ns, -len(chosen) * (length - 1), places[0], -length)

    heap = []
    for i, (length, places) in enumerate(found):
        chosen, key = free(length, places)
        if len(chosen) >= 2:
            heap.append((key, i))
    heapq.heapify(heap)
    out = []
    while heap and len(out) < 1000:
        was, i = heapq.heappop(heap)
        length, places = found[i]
        chosen, key = free(length, places)
        if len(chosen) < 2:
            continue
        if key != was:
            heapq.heappush(heap, (key, i))
            continue
        for p in chosen:
            taken[p:p + length] = [True] * length
        out.append((tuple(text[chosen[0]:chosen[0] + length]),
                    [kernels[p:p + length] for p in chosen]))
    return out


def run_rows(events, least, most):
    calls = {}
    for e in events:
        if e.cat in ("cuda_runtime", "cuda_driver", "hip_runtime", "Runtime") \
                and e.corr is not None:
            calls.setdefault(e.corr, e)
    rows = {}
    for names, places in runs(events, least, most):
        row = rows.setdefault(" | ".join(names), {
            "length": len(names), "count": 0, "gap_ns_sum": 0, "launch_ns_sum": None,
            "dur_ns_sum": 0})
        for place in places:
            row["count"] += 1
            row["dur_ns_sum"] += sum(k.end - k.start for k in place)
            for a, b in zip(place, place[1:]):
                row["gap_ns_sum"] += max(0, b.start - a.end)
                if b.corr in calls and b.corr != a.corr:
                    row["launch_ns_sum"] = (row["launch_ns_sum"] or 0) \
                        + calls[b.corr].end - calls[b.corr].start
    return rows


def op_rows(events, prefix, least):
    """what ran below the outermost ops whose name begins so"""
    ops = [e for e in events if e.cat == "cpu_op" and e.name.startswith(prefix)]
    roots = [o for o in ops if not any(
        p is not o and p.tid == o.tid and p.start <= o.start and o.end <= p.end
        and (p.start, -p.end, p.uid) < (o.start, -o.end, o.uid) for p in ops)]
    gpu = collections.defaultdict(list)
    for e in events:
        if e.cat in KINDS:
            gpu[e.corr].append(e)
    rows = {}
    for root in roots:
        calls = [e for e in events if e.cat == "cuda_runtime" and e.tid == root.tid
                 and root.start <= e.start < root.end]
        below = sorted(((k, c) for c in calls for k in gpu[c.corr]),
                       key=lambda x: (x[0].start, x[0].uid))
        if len(below) < least:
            continue
        row = rows.setdefault((root.name, " | ".join(k.name for k, _ in below)), {
            "length": len(below), "count": 0, "gap_ns_sum": 0, "launch_ns_sum": 0,
            "dur_ns_sum": 0, "op_ns_sum": 0})
        row["count"] += 1
        row["op_ns_sum"] += root.end - root.start
        row["dur_ns_sum"] += sum(k.end - k.start for k, _ in below)
        end, call = below[0][0].start, below[0][1]
        for k, c in below:
            row["gap_ns_sum"] += max(0, k.start - end)
            end = max(end, k.end)
            if c is not call:
                row["launch_ns_sum"] += c.end - c.start
            call = c
    return rows


def drawn(seed):
    rnd = random.Random(seed)
    parts = [[rnd.randrange(6) for _ in range(rnd.randrange(1, 7))] for _ in range(4)]
    events, host, corr = [], 0, 0
    gpu = {7: 0, 8: 0}

    def add(cat, name, tid, start, dur, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": 1 if tid < 7 else 0,
                       "tid": tid, "ts": start / 1000, "dur": dur / 1000, "args": args})

    for _ in range(rnd.randrange(3, 30)):
        stream, begin = rnd.choice([7, 7, 7, 8]), host
        host += 1000
        for symbol in rnd.choice(parts):
            corr += 1
            name = ("copy", "nccl_all")[rnd.randrange(2)] if rnd.random() < .04 \
                else "k%d" % symbol
            length = rnd.choice([rnd.randrange(1000, 9000)] * 30 + [3 * LONG])
            add("cuda_runtime", "cudaLaunchKernel", 1, host, length, correlation=corr)
            host += length + 500
            start = max(host, gpu[stream]) + rnd.choice([0, 0, rnd.randrange(5000)])
            add("gpu_memcpy" if name == "copy" else "kernel", name, stream, start, 4000,
                device=0, stream=stream, correlation=corr)
            gpu[stream] = start + 4000
        if rnd.random() < .8:
            add("cpu_op", rnd.choice(["my::a", "my::b", "other"]), 1, begin, host - begin)
            if rnd.random() < .5:
                add("cpu_op", "my::inner", 1, begin + 100, host - begin - 200)
        host += 1000
    rnd.shuffle(events)
    return {"traceEvents": events}


def differences(rows, expected, key):
    ours = {key(r): r for r in rows}
    for k in sorted(set(ours) | set(expected)):
        if k not in ours or k not in expected:
            yield "%s: only %s" % (k, "ours" if k in ours else "in Python")
        else:
            for c, v in expected[k].items():
                if ours[k][c] != v:
                    yield "%s: %s is %s, in Python %s" % (k, c, ours[k][c], v)
    if len(ours) != len(rows):
        yield "a row twice"


def check(path, is_drawn, rnd):
    argv = ["tl-kernels", "--sequences", path]
    events = load(path)
    least, most = (2, 8) if rnd.random() < .5 else (rnd.randrange(2, 5), rnd.randrange(4, 20))
    limits = ["--min-length", str(least), "--max-length", str(most)]
    rows = table(argv + limits) or []
    wrong = list(differences(rows, run_rows(events, least, most), lambda r: r["sequence"]))
    if rows != sorted(rows, key=lambda r: -r["gap_ns_sum"]):
        wrong.append("rows are not in order")
    if is_drawn:
        rows = table(argv + ["--op", "my::*"]) or []
        wrong += differences(rows, op_rows(events, "my::", 2),
                             lambda r: (r["under"], r["sequence"]))
    return wrong, len(rows)


def main(argv):
    bad = nrows = 0
    rnd = random.Random(1)
    if argv and not argv[0].isdigit():
        todo = [(path, None) for path in argv]
    else:
        first, last = (int(a) for a in argv) if argv else (1, 60)
        todo = [(None, seed) for seed in range(first, last + 1)]
    with tempfile.TemporaryDirectory() as folder:
        for path, seed in todo:
            if path is None:
                path = os.path.join(folder, "%d.json" % seed)
                with open(path, "w", encoding="ascii") as f:
                    json.dump(drawn(seed), f)
            wrong, n = check(path, seed is not None, rnd)
            nrows += n
            for w in wrong[:5]:
                print("# %s: %s" % (path if seed is None else "seed %d" % seed, w[:300]))
            bad += bool(wrong)
    print("%sok 1 - sequences of %d traces, %d rows; %d traces differ"
          % ("not " if bad else "", len(todo), nrows, bad))
    print("1..1")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
