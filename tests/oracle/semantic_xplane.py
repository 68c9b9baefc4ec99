#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""semantic_xplane.py: semantic.py for XPlane's protobuf.

    semantic_xplane.py [--sample N] [--write] TABLE

Read from the bytes: a field of another wire type does not count, the last of repeated fields
does, and a missing number is 0, as in proto3.
"""
import re
import sys

import semantic
import semantic_perfetto
from semantic_events import event, outcome
from semantic_perfetto import encoded
from xplane import fields, signed

# ---- the trace: messages of (label, number, value), nested; kind -> messages

WORK = {"gemm": 1, "add": 2, "MemcpyH2D": 3}
HOST = {"cudaLaunchKernel": 1, "cudaMemcpyAsync": 2, "dot": 3, "train": 4}
KEYS = {"correlation_id": 1, "step_num": 2}


def timed(meta, a, b, key=None, value=0):
    """an XEvent from a to b ns"""
    stat = [("stat", 4, [("key", 1, KEYS[key]), ("value", 4, value)])] if key else []
    return [("meta", 1, meta), ("offset", 2, 1000 * a), ("dur", 3, 1000 * (b - a)), *stat]


def named(names):
    return [[("key", 1, i), ("is", 2, [("id", 1, i), ("name", 2, n)])] for n, i in names.items()]


def trace():
    work = lambda name, corr, a, b: timed(WORK[name], a, b, "correlation_id", corr)
    calls = {4: "cudaMemcpyAsync", 5: "cudaMemcpyAsync"}
    return {
        "device": [[("id", 1, n), ("name", 2, "/device:GPU:%d" % n)] for n in (0, 1)],
        "host": [[("id", 1, 2), ("name", 2, "/host:CPU")]],
        "stream": [[("id", 1, 3), ("name", 2, "Stream #7(Kernel)"), ("start", 3, 50)],
                   [("id", 1, 4), ("name", 2, "Stream #8(MemcpyH2D)"), ("start", 3, 60)],
                   [("id", 1, 3), ("name", 2, "Stream #7(Kernel)"), ("start", 3, 70)]],
        "thread": [[("id", 1, 42), ("name", 2, "python"), ("start", 3, 40)]],
        "kernel": [work("gemm", 1, 1000, 1500), work("add", 2, 1400, 2400),
                   work("gemm", 3, 5000, 6001), work("add", 6, 7000, 7500)],
        "copy": [work("MemcpyH2D", 4, 2300, 3000), work("MemcpyH2D", 5, 9000, 9100)],
        "call": [timed(HOST[calls.get(n, "cudaLaunchKernel")], 100 * n, 100 * n + 50,
                       "correlation_id", n) for n in range(1, 7)],
        "op": [timed(HOST["dot"], 100 * n - 5, 100 * n + 60) for n in range(1, 7)],
        "step": [timed(HOST["train"], 90, 390, "step_num", 1),
                 timed(HOST["train"], 391, 700, "step_num", 2)],
        "name of work": named(WORK),
        "name on the host": named(HOST),
        "name of a stat": named(KEYS),
    }


def put(t, path):
    line = lambda head, *kinds: ("", 3, head + [("", 4, e) for k in kinds for e in k])
    keys = [("", 5, e) for e in t["name of a stat"]]
    work = [("", 4, e) for e in t["name of work"]] + keys
    host = [("", 4, e) for e in t["name on the host"]] + keys
    on = t["kernel"][3:4] + t["kernel"][7:8]  # the last and its copy are on the other device
    one = [e for e in t["kernel"] if e not in on]
    with open(path, "wb") as f:
        f.write(encoded([
            ("", 1, t["device"][0] + [line(t["stream"][0], one), line(t["stream"][1], t["copy"])]
             + work),
            ("", 1, t["device"][1] + [line(t["stream"][2], on)] + work),
            ("", 1, t["host"][0] + [line(t["thread"][0], t["step"], t["op"], t["call"])] + host)]))


MUTATIONS = {**semantic_perfetto.MUTATIONS, "again": None}  # the message
EVENTS = ("kernel", "copy", "call", "op", "step")


def mutated(kind, member, mutation, extent):
    out = trace()
    several = {"one": 1, "half": (len(out[kind]) + 1) // 2, "all": len(out[kind])}[extent]
    if mutation == "again":
        out[kind] += out[kind][:several]
        return out
    for i in range(several):
        out[kind][i] = semantic_perfetto.mutate(out[kind][i], member.split("."),
                                                MUTATIONS[mutation])
    return out


def cases():
    for kind, messages in trace().items():
        for member, v in dict(semantic_perfetto.paths(messages[0])).items():
            for mutation in semantic_perfetto.OF_TEXT if isinstance(v, str) else \
                    semantic_perfetto.OF_NUMBER:
                yield kind, member, mutation
        if kind in EVENTS:
            yield kind, "(row)", "again"


# ---- what to expect, from the bytes


def all_of(data, number):
    return [v for n, v in fields(data) if n == number and isinstance(v, bytes)]


def last(data, number, type_=int):
    out = type_()
    for n, v in fields(data):
        if n == number and isinstance(v, type_):
            out = v
    return out


def text(data, number):
    return last(data, number, bytes).decode("utf-8", "replace")


def names_of(plane, number):
    """id -> name; the last of repeated ids counts"""
    return {last(e, 1): text(last(e, 2, bytes), 2) for e in all_of(plane, number)}


def stats_of(e, keys):
    """integer ones"""
    out = {}
    for s in all_of(e, 4):
        for number, v in fields(s):
            if number in (3, 4) and isinstance(v, int):
                out[keys.get(last(s, 1))] = v
    return out


def kind_of(plane, line, name, stats, dur):
    if plane.startswith("/device:GPU:"):
        if line and not line.startswith("Stream"):
            return "op"  # a range of what others do
        return "copy" if re.match("(?i)copy|memcpy", name or "") else "kernel"
    if not plane.startswith("/host:"):
        return "slice" if plane else "?"
    if stats.get("correlation_id"):
        return "call"
    return "?" if name is None else "op" if dur or "step_num" in stats else "slice"


def read_line(plane, line, names, keys):
    name, start = text(line, 2), signed(last(line, 3))
    stream = re.match(r"Stream #(\d+)", name)
    for e in all_of(line, 4):
        what, stats = names.get(last(e, 1)), stats_of(e, keys)
        offset, dur = signed(last(e, 2)), signed(last(e, 3))
        near = lambda ps: start + (ps + 500) // 1000  # halves up
        yield event(kind_of(plane, name, what, stats, dur),
                    "#%d" % signed(last(e, 1)) if what is None else what, near(offset),
                    near(offset + dur) if dur >= 0 else near(offset) - 1, 0,
                    (plane, stream[1] if stream else last(line, 1), stats.get("correlation_id")),
                    stats.get("correlation_id"))


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    for plane in all_of(data, 1):
        names, keys = names_of(plane, 4), names_of(plane, 5)
        for line in all_of(plane, 3):
            yield from read_line(text(plane, 2), line, names, keys)


class Space(semantic.Format):
    extents, name, put = ("one", "half", "all"), "t.xplane.pb", staticmethod(put)

    def outcome(self, path, tree):
        return outcome(path, tree, read)


if __name__ == "__main__":
    sys.exit(semantic.check(sys.argv[1:], list(cases()), Space(mutated, None, trace()),
                            list(MUTATIONS)))
