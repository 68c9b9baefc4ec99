#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""phase-sums.py: phases of a trace's GPU work and fields of its iterations, from its JSON.

    phase-sums.py TRACE        PHASE <tab> EVENTS <tab> NANOSECONDS
    phase-sums.py -i TRACE     a line of fields for each iteration
"""
import gzip
import json
import sys
from collections import Counter
from decimal import Decimal

from phases import fields
from windows import ITERATIONS, Note, Work, at, windows

GPU = {"kernel", "gpu_memcpy", "gpu_memset"}
CALLS = {"cuda_runtime", "cuda_driver"}
FIELDS = ("batch_size", "context_requests", "generation_requests", "context_sum", "generation_sum")
SUMS = ("c_sk", "c_sqsq", "c_sqsk", "g_sk", "g_sqsq", "g_sqsk")


def ns(us):
    return int(us * 1000)


def main():
    path = sys.argv[-1]
    with (gzip.open if path.endswith(".gz") else open)(path) as f:
        events = json.load(f, parse_float=Decimal, parse_int=Decimal)["traceEvents"]
    timed = [(i, e) for i, e in enumerate(events) if e.get("ph") == "X" and "cat" in e]
    calls = {e["args"]["correlation"]: e for _, e in timed
             if e["cat"] in CALLS and "correlation" in e.get("args", {})}
    gpu = [(e, calls.get(e["args"].get("correlation"))) for _, e in timed if e["cat"] in GPU]
    marks = [Note(ns(e["ts"]), ns(e["ts"] + e["dur"]), i, e["name"], e["pid"], e["tid"])
             for i, e in timed if e["cat"] == "user_annotation"]
    work = [Work(c["pid"], c["tid"], ns(c["ts"]), ns(e["ts"] + e["dur"])) for e, c in gpu if c]
    names = {n.order: n.name for n in marks}
    found = [w for w in windows(marks, work, ITERATIONS) if w.number is not None]
    if sys.argv[1] == "-i":
        for w in found:
            f = fields(names[w.order])
            sums = [f[k] if f["has_sqsk"] else "" for k in SUMS]
            print("\t".join(str(v) for v in [f["phase"], *(f[k] for k in FIELDS), *sums]))
        return
    count, length = Counter(), Counter()
    for e, call in gpu:
        w = at(found, ns(call["ts"]), call["pid"]) if call else None
        phase = "none" if not call else fields(names[w.order])["phase"] if w else "outside"
        count[phase] += 1
        length[phase] += ns(e["ts"] + e["dur"]) - ns(e["ts"])
    for phase in sorted(count):
        if phase != "none":
            print(phase, count[phase], length[phase], sep="\t")


main()
