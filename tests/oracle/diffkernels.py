#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""diffkernels.py: tl-diff --by kernel finds what is planted in replays, as TAP.

usage: diffkernels.py [PAIRS]

PAIRS (12) made-up traces for each change: some replays of graphs, with layers
of the same kernels, and one replay of the second trace with the change.
"""
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter

NAMES = ["gemm_%s" % c for c in "abcdefgh"] + ["norm<float>", "attn_fwd", "add", "copy"]


class Kernel:
    def __init__(self, name, dur):
        self.name, self.dur = name, dur


def layer(rng):
    """kernels without equal neighbours, also from the last to the first"""
    while True:
        names = [rng.choice(NAMES) for _ in range(rng.randrange(5, 9))]
        if all(a != b for a, b in zip(names, names[1:] + names[:1])):
            return names


def replays(rng):
    """of a trace: two kinds, each with the same kernels every time"""
    body = layer(rng)
    durs = [rng.randrange(1000, 90000) for _ in body]
    out = []
    for _ in range(rng.randrange(1, 4)):
        for kind, count in (("decode", rng.randrange(1, 4)), ("prefill", rng.randrange(4, 6))):
            out.append((kind, [Kernel(n, d) for _ in range(count) for n, d in zip(body, durs)]))
    return out


# ---- changes: each returns the rows that must show it, as
# (name, name_after): (alone_before, alone_after, ns)

def slow(rng, kernels, at):
    extra = rng.randrange(1, 50000)
    kernels[at].dur += extra
    return {(kernels[at].name, ""): (0, 0, extra)}


def rename(rng, kernels, at):
    old, extra = kernels[at].name, rng.randrange(-900, 50000)
    kernels[at] = Kernel("other::" + old, kernels[at].dur + extra)
    return {(old, "other::" + old): (0, 0, extra)}


def add(rng, kernels, at):
    kernels.insert(at, Kernel("new", rng.randrange(1, 9000)))
    return {("new", ""): (0, 1, kernels[at].dur)}


def again(rng, kernels, at):
    """one more of a name that is there"""
    kernels.insert(at, Kernel(rng.choice(NAMES), rng.randrange(1, 9000)))
    return {(kernels[at].name, ""): (0, 1, kernels[at].dur)}


def drop(_, kernels, at):
    gone = kernels.pop(at)
    return {(gone.name, ""): (1, 0, -gone.dur)}


def fuse(rng, kernels, at):
    a, b = kernels[at], kernels.pop(at + 1)
    kernels[at] = Kernel("fused", rng.randrange(1, 9000))
    return {(a.name, ""): (1, 0, -a.dur), (b.name, ""): (1, 0, -b.dur),
            ("fused", ""): (0, 1, kernels[at].dur)}


def swap(_, kernels, at):
    kernels[at:at + 2] = kernels[at:at + 2][::-1]
    return {}


def turn(_, kernels, at):
    kernels[at:at + 3] = kernels[at:at + 3][::-1]
    return {}


def move(rng, kernels, at):
    kernels.insert(rng.randrange(len(kernels)), kernels.pop(at))
    return {}


def nothing(*_):
    return {}


CHANGES = [slow, rename, add, again, drop, fuse, swap, turn, move, nothing]


# ---- traces

def write(path, sequences):
    """the uids of each sequence's kernels"""
    events, uids, t = [], [], 0
    for number, (kind, kernels) in enumerate(sequences):
        def event(cat, name, ts, dur, tid, **args):
            events.append(dict(ph="X", cat=cat, name=name, pid=1, tid=tid, ts=ts / 1000,
                               dur=dur / 1000, args=args))
        span = sum(k.dur for k in kernels) + 100000
        event("user_annotation", "%s_%d" % (kind, number), t, span, 1)
        event("cuda_runtime", "cudaGraphLaunch", t + 1000, 10, 1, correlation=number + 1)
        at, mine = t + 2000, []
        for k in kernels:
            mine.append(len(events))
            event("kernel", k.name, at, k.dur, 7, correlation=number + 1, stream=7, device=0)
            at += k.dur + 1
        uids.append(mine)
        t += span + 1000
    with open(path, "w", encoding="utf-8") as f:
        f.write(json.dumps({"traceEvents": events}))
    return uids


def diff(a, b):
    p = subprocess.run(["tl-diff", "--by", "kernel", "--format", "csv", "-c", "+details", a, b],
                       capture_output=True, text=True, check=True)
    return list(csv.DictReader(p.stdout.splitlines()))


def totals(rows, side):
    return (sum(int(r["count_" + side]) for r in rows), sum(int(r[side + "_ns"]) for r in rows))


def pair(change, seed, folder):
    rng = random.Random(seed)
    first, second = replays(rng), None
    second = [(kind, [Kernel(k.name, k.dur) for k in kernels]) for kind, kernels in first]
    where = rng.randrange(len(second))
    kind, kernels = second[where]
    at = rng.randrange(1, len(kernels) - 3)
    expected = change(rng, kernels, at)
    paths = [os.path.join(folder, n) for n in ("a.json", "b.json")]
    uids = [write(p, s) for p, s in zip(paths, (first, second))]
    rows, back = diff(*paths), diff(*reversed(paths))
    bad = []
    found = {(r["kind"].split("_")[0], r["name"], r["name_after"]):
             (int(r["alone_before"]), int(r["alone_after"]), int(r["diff_ns"]))
             for r in rows if r["alone_before"] != "0" or r["alone_after"] != "0"
             or r["diff_ns"] != "0" or r["name_after"]}
    expected = {("replay: " + kind,) + names: figures for names, figures in expected.items()}
    if found != expected:
        bad.append("found %s instead of %s" % (found, expected))
    for r in rows:
        for side, mine in zip(("before", "after"), uids):
            if r["alone_" + side] != "0" and int(r["first_uid_" + side]) not in mine[where]:
                bad.append("event %s is elsewhere" % r["first_uid_" + side])
    for side, sequences in (("before", first), ("after", second)):
        durs = [k.dur for _, s in sequences for k in s]
        if totals(rows, side) != (len(durs), sum(durs)):
            bad.append("%s: %s events and ns" % (side, totals(rows, side)))
    turned = Counter((r["kind"], r["name_after"] or r["name"], r["name"] if r["name_after"] else "",
                      -int(r["diff_ns"])) for r in back)
    if turned != Counter((r["kind"], r["name"], r["name_after"], int(r["diff_ns"])) for r in rows):
        bad.append("not the same the other way round")
    return ["seed %d: %s" % (seed, text) for text in bad]


def main():
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    print("1..%d" % len(CHANGES))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, change in enumerate(CHANGES, 1):
            bad = [text for seed in range(pairs) for text in pair(change, seed, folder)]
            failed += bool(bad)
            print("%sok %d - a planted %s: %d pairs" % ("not " if bad else "", number,
                                                        change.__name__, pairs), flush=True)
            for text in bad[:5]:
                print("# " + text[:400])
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
