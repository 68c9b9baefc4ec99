#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""diffsteps.py: tl-diff's comparison of steps.

    diffsteps.py worked     on real traces: known figures, to the nanosecond, and sums
                            that must close on many pairs
    diffsteps.py planted [N]
                            generated pairs of traces: a change of known cause and length
                            in each step of one side is found, named and measured; pairs
                            without a change have no finding; with N only so many
"""
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile

from planted import CALL, FRAME, MAIN, MS, NOTE, OP, OTHER, PLAIN, US, WAITS
from worked import names_of, table, traces

PARTS = ("compute", "exposed_comm", "exposed_copy")
BESIDES = ("step", "gpu_busy", "opened_gaps")  # terms that are no parts

# before, after: {term: (before, after)}
WORKED = [
    ("tpt_transformer_step1", "tpt_transformer_step2", {
        "step": (821000, 865000), "gpu_busy": (131000, 131000), "launch_call": 24000,
        "op": 21000, "python": -10000}, True),
    ("mi300_bert_small", "h100_bert_small", {
        "step": (4007334, 4426114), "gpu_busy": (390748, 309437), "python": 966428,
        "op": 229504, "launch_latency": -753754}, None),
]


def terms(before, after, *options):
    return table(["tl-diff", "--table", "diff_steps", *options, before, after]) or []


def sentence(before, after):
    rows = table(["tl-diff", "--table", "diff_verdict", before, after])
    return rows[0]["text"]


def whole(rows):
    """of the first kind: {term: row}, without breakdowns of causes"""
    return {r["term"]: r for r in rows if not r.get("call") and r["kind"] == rows[0]["kind"]}


def check_sums(rows):
    """sums that do not close, for each kind of steps"""
    bad = []
    for kind in {r["kind"] for r in rows}:
        own = {r["term"]: r for r in rows if r["kind"] == kind and not r.get("call")}
        for side in ("before_ns", "after_ns"):
            busy = sum(own[t][side] for t in PARTS if t in own)
            idle = sum(r[side] for t, r in own.items()
                       if t not in PARTS and t not in BESIDES)
            if busy != own["gpu_busy"][side]:
                bad.append("%s: %s: busy %s, parts %s" % (kind, side, own["gpu_busy"], busy))
            if busy + idle != own["step"][side] and busy + idle > 0:
                bad.append("%s: %s: %s of %s" % (kind, side, busy + idle, own["step"][side]))
        for r in rows:
            if r["diff_ns"] != r["after_ns"] - r["before_ns"]:
                bad.append("difference of %s" % r)
    return bad


# ---- real traces ----

def worked():
    paths, root = {}, os.environ["TL_DATA"]
    names = [n for pair in WORKED for n in pair[:2]]
    some = list(traces(root))
    for path in some:
        for name in names_of(names, paths, os.path.relpath(path, root)):
            paths[name] = path
    n = 0
    for before, after, want, noise in WORKED:
        rows = whole(terms(paths[before], paths[after]))
        bad = []
        for term, value in want.items():
            r = rows[term]
            got = (r["before_ns"], r["after_ns"]) if isinstance(value, tuple) else r["diff_ns"]
            if got != value:
                bad.append("%s is %s, not %s" % (term, got, value))
        if rows["step"]["is_noise"] != noise:
            bad.append("noise: %s" % rows["step"])
        n += 1
        report(n, "%s to %s" % (before, after), bad)
    # neighbours in the list, so that all kinds of traces are paired
    bad, pairs = [], 0
    for a, b in zip(some, some[1:]):
        done = subprocess.run(["tl-diff", "--table", "diff_steps", a, b],
                              capture_output=True, check=False)
        if done.returncode not in (0, 3):
            continue
        pairs += 1
        bad += ["%s, %s: %s" % (a, b, x) for x in check_sums(terms(a, b))]
    report(n + 1, "sums of %d pairs close" % pairs, bad)
    print("1..%d" % (n + 1))


def report(n, what, bad):
    for b in bad[:5]:
        print("# " + b)
    print("%sok %d - %s" % ("not " if bad else "", n, what))


# ---- planted changes ----

class Run:
    """Steps of a host that launches four kernels each and never waits; a change is
    inserted before the third."""

    def __init__(self, seed, change=None, kinds=("ProfilerStep#%d",)):
        self.rnd = random.Random(seed)
        self.events, self.corr, self.at = [], 0, 1000 * MS
        self.change = change
        for step in range(7):
            kind = kinds[step % len(kinds)]
            self.step(kind % step if "%" in kind else kind, step % len(kinds) == 0)

    def event(self, cat, name, tid, start, end, **args):
        self.events.append({
            "ph": "X", "cat": cat, "name": name, "pid": 0 if "stream" in args else 7,
            "tid": tid, "ts": start / 1000, "dur": (end - start) / 1000, "args": args})

    def jitter(self, ns):
        return ns + self.rnd.randrange(-ns // 50, ns // 50 + 1)

    def launch(self, op, length, name, latency=5 * US, cat="kernel"):
        """an op of 30 us that launches; its kernel has ended when the next op begins"""
        start = self.at
        self.event(OP, op, MAIN, start, start + 30 * US)
        self.corr += 1
        api = "cudaMemcpyAsync" if cat != "kernel" else "cudaLaunchKernel"
        self.event(CALL, api, MAIN, start + 10 * US, start + 20 * US, correlation=self.corr)
        end = start + 20 * US + latency + length
        self.event(cat, name, 7, start + 20 * US + latency, end,
                   device=0, stream=7, correlation=self.corr)
        self.at = max(start + 30 * US, end) + self.jitter(50 * US)

    def step(self, name, is_changed):
        start = self.at
        self.at += self.jitter(50 * US)
        change = self.change if is_changed else None
        more = {}
        for i, op in enumerate(("aten::mm", "aten::add", "aten::mul", "nccl:all_reduce")):
            if i == 2 and change is not None:
                more = self.plant(*change)
            kernel = "ncclDevKernel_AllReduce" if op == "nccl:all_reduce" else "k_" + op
            length = self.jitter(400 * US) + more.get(op, 0)
            self.launch(op, length, kernel, 5 * US + more.get("latency:" + op, 0))
        if "copy" in more:
            self.launch("aten::copy_", more["copy"], "Memcpy DtoD (Device -> Device)",
                        cat="gpu_memcpy")
        self.at += self.jitter(50 * US)
        self.event(NOTE, name, MAIN, start, self.at)

    def plant(self, cause, name, ns, tid=MAIN):
        if cause in PLAIN:
            self.event(PLAIN[cause][0], name, tid, self.at, self.at + ns)
            self.at += ns
            return {}
        return {"compute": {"aten::mul": ns}, "exposed_comm": {"nccl:all_reduce": ns},
                "launch_latency": {"latency:aten::mul": ns}, "exposed_copy": {"copy": ns}}[cause]

    def write(self, path):
        with open(path, "w", encoding="ascii") as f:
            f.write(json.dumps({"traceEvents": self.events}))
        return path


def changes(rnd):
    for cause, (_, names, longest) in PLAIN.items():
        for name in names:
            ns = min(longest, 5 * MS) - rnd.randrange(US)
            if name == "cudaUnknownCall":
                ns = max(ns, MS)
            if cause == "sync":  # longer ones wait for work that is not there
                ns = 99 * US
            yield cause, name, ns, OTHER if rnd.random() < .4 and cause not in WAITS else MAIN
    for cause in ("compute", "exposed_comm", "exposed_copy"):
        yield cause, None, rnd.randrange(300 * US, 4 * MS), MAIN
    yield "launch_latency", None, 90 * US, MAIN


def check_change(folder, seed, change, kinds):
    cause, name, ns, _ = change
    before = Run(seed, None, kinds).write(os.path.join(folder, "before.json"))
    after = Run(seed + 1000, change, kinds).write(os.path.join(folder, "after.json"))
    bad = []
    for a, b, sign in ((before, after, 1), (after, before, -1)):
        rows = terms(a, b)
        bad += check_sums(rows)
        kind = "decode step (batch 8)" if len(kinds) > 1 else "step"
        rows = [r for r in rows if r["kind"] == kind]
        own = whole(rows)
        room = 150 * US  # for all jitter in a step
        if abs(own["step"]["diff_ns"] - sign * ns) > room and cause != "exposed_copy":
            bad.append("step is off by %s" % (own["step"]["diff_ns"] - sign * ns))
        row = own.get(cause)
        if row is None or abs(row["diff_ns"] - sign * ns) > 60 * US:
            bad.append("%s: planted %d: %s" % (cause, ns, row))
            continue
        most = max((r for t, r in own.items() if t not in BESIDES),
                   key=lambda r: abs(r["diff_ns"]))
        if ns > 2 * room and most is not row:
            bad.append("largest is %s" % most)
        if ns > 2 * room and (row["is_noise"] or own["step"]["is_noise"]):
            bad.append("taken for noise: %s" % row)
        calls = [r for r in rows if r["term"] == cause and r.get("call")]
        plain = (name or "").replace(".py(%s" % name.split(".py(")[-1].split(":")[0]
                                     if name and ".py(" in name else "\0", ".py")
        if name and plain.split(" at 0x")[0] not in calls[0]["call"].split(" at 0x")[0]:
            bad.append("%s: named %s, planted %s" % (cause, calls[:1], plain))
        text = sentence(a, b)
        if ns > 2 * room and not ((": " if len(kinds) == 1 else "") in text and
                                  ("more" if sign > 0 else "less") in text):
            bad.append("says: " + text)
    return bad


def planted():
    rnd, folder, n, bad = random.Random(5), tempfile.mkdtemp(), 0, []
    causes = set()
    most = int(sys.argv[2]) if sys.argv[2:] else None
    for i, change in enumerate(itertools.islice(changes(rnd), most)):
        kinds = ("ProfilerStep#%d",)
        if i % 5 == 4:  # only decoding with a batch of 8 is slower
            kinds = ("decode[bs=8 tok=8]", "decode[bs=16 tok=16]")
        causes.add(change[0])
        n += 1
        bad += ["%s: %s" % (change, b) for b in check_change(folder, i, change, kinds)]
    report(1, "%d changes of %d causes are found" % (n, len(causes)), bad)
    alarms, pairs = [], most or 60
    for i in range(pairs):
        a = Run(2 * i + 5000).write(os.path.join(folder, "a.json"))
        b = Run(2 * i + 5001).write(os.path.join(folder, "b.json"))
        if whole(terms(a, b))["step"]["is_noise"] is False:
            alarms.append("seed %d" % i)
    print("#: %d pairs alike: %.1f %% have steps that differ" % (pairs, 100 * len(alarms) / pairs))
    report(2, "steps alike are", alarms if len(alarms) > .075 * pairs else [])
    print("1..2")


if __name__ == "__main__":
    sys.exit({"worked": worked, "planted": planted}[sys.argv[1]]())
