#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""groups.py: groups of tl-ops and tl-kernels for which the reference has no table.

    groups.py FOLDER...

Each trace is read by kineto.py, which shares nothing with the programs. Its calls
and kernels are grouped in the plainest way: ops by name, module, step, annotation
and thread, all ops with what is below them, host time, kernels by name, launch
configuration, step, annotation and event. Every sum must agree to the nanosecond.
"""
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict

import kineto
import ops
import windows

DATA = os.environ["TL_DATA"]
COMM = re.compile("rccl|nccl|cross_device_reduce", re.I)


def busy(events):
    total, end = 0, None
    for start, stop in sorted((g.ts, g.end) for g in events):
        if end is None or start > end:
            end = start
        if stop > end:
            total, end = total + stop - end, stop
    return total


def table(*command):
    p = subprocess.run(command, capture_output=True, text=True, check=False)
    if p.returncode != 0:
        raise ValueError("%s: %s" % (" ".join(command), p.stderr))
    return list(csv.DictReader(io.StringIO(p.stdout), delimiter="\t", quoting=csv.QUOTE_NONE))


def above(e):
    while e.parent is not None:
        e = e.parent
        yield e


def is_cpu_op(e):
    return e.is_op and e.cat == "cpu_op"


def owner_of(g):
    if g.launch.gone:
        return g.launch
    return next((a for a in above(g.launch) if is_cpu_op(a) and a.name != "execute"), g.launch)


class Calls:
    """ops and launches, with what they own and what is below them"""

    def __init__(self, trace, tree=None):
        self.own, self.below, self.child = defaultdict(list), defaultdict(list), defaultdict(int)
        self.events = {}
        for g in trace.gpu:
            if g.launch is None:
                continue
            if not COMM.search(g.name):
                e = owner_of(g)
                self.own[e.id].append(g)
                self.events[e.id] = e
            chain = [g.launch] if g.launch.gone else [g.launch, *above(g.launch)]
            for e in chain:
                self.below[e.id].append(g)
        self.ops = [e for e in trace.order if is_cpu_op(e)]
        for e in self.ops:
            up = next((a for a in above(e) if is_cpu_op(a)), None)
            if up is not None:
                self.child[up.id] += e.end - e.ts
        self.notes = [e for e in trace.events if e.slice and e.cat == "user_annotation"
                      and e.ts is not None]
        threads = {}
        for e in trace.events:
            threads.setdefault((e.pid, e.tid), len(threads))
        self.steps = windows.windows([
            windows.Note(n.ts, n.end, n.id, n.name, n.pid, threads[n.pid, n.tid])
            for n in self.notes]) or (windows.inferred(trace.events, tree) if tree else [])

    def step(self, e):
        """the step of its process in which it starts"""
        w = windows.at(self.steps, e.ts, e.pid)
        return "" if w is None else "between" if w.number is None else str(w.number)

    def annotation(self, e):
        """the innermost other one in which it starts, on its thread or else on any"""
        hits = [((n.pid, n.tid) == (e.pid, e.tid), n.ts, -n.end, n.id, n.name)
                for n in self.notes if n.ts <= e.ts < n.end
                and not re.fullmatch(r"ProfilerStep#\d+", n.name)]
        return max(hits)[4] if hits else ""

    @staticmethod
    def module(e):
        return next((a.name for a in above(e)
                     if a.is_frame and a.name.startswith("nn.Module")), "")


def summed(pairs):
    out = defaultdict(lambda: [0, 0])
    for key, ns in pairs:
        out[key][0] += 1
        out[key][1] += ns
    return {k: tuple(v) for k, v in out.items()}


def escaped(text):
    return "".join("\\" + c if c == "\\" else c for c in text)


def same(bad, what, got, want):
    want = {tuple(escaped(k) for k in key): v for key, v in want.items()}
    for k in sorted(set(got) | set(want)):
        if got.get(k) != want.get(k):
            bad.append("%s: %s: %s instead of %s" % (what, k, got.get(k), want.get(k)))
    return len(want)


def read(rows, keys, figures):
    found = {}
    for r in rows:
        key = tuple(r[k] for k in keys)
        if key in found:
            raise ValueError("two rows of %s" % (key,))
        found[key] = tuple(int(r[f]) for f in figures)
    return found


def check_ops(tree, trace, bad):
    calls = Calls(trace, tree)
    n = 0
    for by, key in (("name", lambda e: e.name), ("module", calls.module), ("step", calls.step),
                    ("annotation", calls.annotation)):
        want = summed(((key(e),), busy(calls.own[e.id])) for e in calls.events.values())
        got = read(table("tl-ops", "--by", by, tree), (by,), ("count", "direct_ns_sum"))
        n += same(bad, "--by " + by, got, want)
    launches = [e for e in calls.events.values() if not is_cpu_op(e)]
    want = defaultdict(lambda: (0, 0, 0, 0))
    for e in calls.ops + launches:
        own = calls.own.get(e.id, ())
        more = (1, bool(own), busy(calls.below.get(e.id, ())), busy(own))
        want[(e.name,)] = tuple(a + b for a, b in zip(want[(e.name,)], more))
    got = read(table("tl-ops", "--all-ops", tree), ("name",),
               ("count", "launching_count", "subtree_ns_sum", "direct_ns_sum"))
    n += same(bad, "--all-ops", got, want)
    want = defaultdict(lambda: (0, 0, 0))
    for e in calls.ops:
        total = e.end - e.ts
        more = (1, max(0, total - calls.child[e.id]), total)
        want[(e.name,)] = tuple(a + b for a, b in zip(want[(e.name,)], more))
    got = read(table("tl-ops", "--clock", "cpu", tree), ("name",),
               ("count", "cpu_self_ns", "cpu_total_ns"))
    n += same(bad, "--clock cpu", got, want)
    threads = summed((names_of(trace, e), busy(calls.own[e.id])) for e in calls.events.values())
    got = read(table("tl-ops", "--by", "thread", "-c", "+details", tree),
               ("process_name", "process_label", "thread_name"), ("count", "direct_ns_sum"))
    return n + same(bad, "--by thread", got, threads)


def names_of(trace, e):
    """names of process and thread; the last record counts"""
    found = {"process_name": "Unknown", "process_labels": "Unknown", "thread_name": "Unknown"}
    for m in trace.events:
        if m.ph == "M" and m.name in found and m.pid == e.pid:
            if m.name == "thread_name" and m.tid != e.tid or (
                    m.name != "thread_name" and m.tid not in (0, None)):
                continue
            found[m.name] = m.args.get("labels" if m.name == "process_labels" else "name")
    return tuple(found.values())


def check_kernels(tree, trace, bad):
    kernels = [g for g in trace.gpu if g.cat == "kernel"]
    calls = Calls(trace, tree)

    def placed(place, g):
        return "" if g.launch is None or g.launch.gone else place(g.launch)

    def config(g, key):
        return json.dumps(g.args[key], separators=(",", ":")) if key in g.args else ""

    n = 0
    for by, columns, key in (
            ("name", ("name",), lambda g: (g.name,)),
            ("launch-config", ("name", "grid", "block", "registers", "shared_bytes"),
             lambda g: (g.name, config(g, "grid"), config(g, "block"),
                        config(g, "registers per thread"), config(g, "shared memory"))),
            ("step", ("step",), lambda g: (placed(calls.step, g),)),
            ("annotation", ("annotation",), lambda g: (placed(calls.annotation, g),))):
        want = defaultdict(lambda: (0, 0))
        for g in kernels:
            a, b = want[key(g)]
            want[key(g)] = (a + 1, b + g.end - g.ts)
        got = read(table("tl-kernels", "--by", by, tree), columns, ("count", "dur_ns_sum"))
        n += same(bad, "kernels by " + by, got, want)
    for r in table("tl-kernels", "--by", "event", tree):
        g = trace.events[int(r["id"])]
        op = None
        if g.launch is not None and not g.launch.gone:
            op = next((a for a in above(g.launch) if is_cpu_op(a)), None)
        delay = "" if g.launch is None else str(g.ts - g.launch.end)
        name = op.name if op is not None else g.launch.name if g.launch is not None else ""
        n += 1
        if (r["op"], r["queue_delay_ns"], int(r["dur_ns"])) != (
                escaped(name), delay, g.end - g.ts):
            bad.append("kernel %d: %s %s %s instead of %s %s %d" % (
                g.id, r["op"], r["queue_delay_ns"], r["dur_ns"], name, delay, g.end - g.ts))
    return n


def check(folder):
    trace, _ = ops.find_trace(DATA, folder, "default")
    bad, n = [], 0
    with tempfile.NamedTemporaryFile(suffix=".tl") as f:
        try:
            subprocess.run(["tl-tree", trace, "-o", f.name], check=True, capture_output=True)
            read_back = kineto.Trace(trace).link().tree()
            n = check_ops(f.name, read_back, bad) + check_kernels(f.name, read_back, bad)
        except (ValueError, OSError, subprocess.CalledProcessError) as e:
            bad.append(str(e))
    return n, bad


def main():
    folders = sys.argv[1:]
    print("1..%d" % len(folders))
    failed = 0
    for i, folder in enumerate(folders, 1):
        n, bad = check(folder)
        failed += bool(bad)
        print("%sok %d - %s: %d groups and kernels" % ("not " if bad else "", i, folder, n),
              flush=True)
        for line in bad[:10]:
            print("# " + line[:300])
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
