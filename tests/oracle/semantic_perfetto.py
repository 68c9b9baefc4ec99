#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""semantic_perfetto.py: semantic.py for Perfetto's protobuf.

    semantic_perfetto.py [--sample N] [--write] TABLE

Slices of tracks and work of GPUs. A field of another wire type does not count; the last of
repeated fields does.
"""
import json
import os
import sys

import semantic
from kineto import same
from perfetto import num, text
from semantic_events import event, outcome, time_of

# ---- the trace: packets of (label, number, value), nested; kind -> packets

NAMES = {"gemm": 1, "add": 2, "copy": 3}
STAGES = {"Kernel": 1, "Memcpy": 2}


def stage(what, name, corr, ts, dur):
    note = lambda k, v: ("note", 6, [("key", 1, k), ("value", 2, str(v))])
    return [("ts", 8, ts), ("stage", 53, [
        ("dur", 2, dur), ("gpu", 11, 0), ("queue", 13, 5), ("what", 14, STAGES[what]),
        ("name", 20, NAMES[name]), note("stream id", 7), note("correlation", corr)])]


def dispatch(name, corr, ts, end):
    note = lambda k, v: (k, 4, [("key", 10, k), ("value", 3, v)])
    return [("ts", 8, ts), ("slice", 11, [
        ("type", 9, 1), ("track", 11, 9), ("cat", 22, "kernel_dispatch"), ("name", 23, name),
        note("begin_ns", ts), note("end_ns", end), note("corr_id", corr)])]


def begin(name, corr, ts):
    return [("ts", 8, ts), ("slice", 11, [
        ("type", 9, 1), ("track", 11, 2), ("cat", 22, "cuda_runtime"), ("name", 23, name),
        ("note", 4, [("key", 10, "correlation"), ("value", 3, corr)])])]


def end(track, ts):
    return [("ts", 8, ts), ("slice", 11, [("type", 9, 2), ("track", 11, track)])]


def trace():
    calls = [(n, 100 * n, 100 * n + 50) for n in range(1, 8)]
    return {
        "begin": [begin("cudaMemcpyAsync" if n == 4 else "cudaLaunchKernel", n, a)
                  for n, a, _ in calls],
        "end": [end(2, b) for _, _, b in calls],
        "kernel": [stage("Kernel", "gemm", 1, 1000, 500), stage("Kernel", "add", 2, 1400, 1000),
                   stage("Kernel", "gemm", 3, 5000, 1001)],
        "copy": [stage("Memcpy", "copy", 4, 2300, 700), stage("Memcpy", "copy", 4, 9000, 100)],
        "dispatch": [dispatch("k", 5, 10000, 10400), dispatch("l", 6, 10500, 10600),
                     dispatch("k", 7, 11000, 11400)],
    }


def encoded(fields):
    return b"".join(text(n, encoded(v)) if isinstance(v, list) else
                    num(n, v) if isinstance(v, int) else text(n, v) for _, n, v in fields)


def put(packets, path):
    """and, beside it, the packets"""
    interned = b"".join(text(f, num(1, i) + text(2, s)) for f, names in ((2, NAMES), (24, STAGES))
                        for s, i in names.items())
    out = [text(6, text(1, num(1, 6) + num(2, 1000)) + text(1, num(1, 1) + num(2, 1000))),
           text(60, num(1, 1) + text(3, num(1, 7) + text(6, "python"))),
           text(60, num(1, 2) + num(5, 1) + text(4, num(1, 7) + num(2, 7))),
           text(60, num(1, 9) + num(5, 1)),
           text(12, interned) + num(10, 1) + num(13, 1)]
    order = [p for pair in zip(packets["begin"], packets["end"]) for p in pair]
    order += [p for k in ("kernel", "copy", "dispatch") for p in packets[k]]
    out += [encoded(p) + num(10, 1) + num(13, 2) for p in order]
    with open(path, "wb") as f:
        f.write(b"".join(text(1, p) for p in out))
    with open(path + ".json", "w", encoding="utf-8") as f:
        f.write(json.dumps(packets))


MUTATIONS = {
    "missing": lambda v: [], "other": lambda v: [7] if isinstance(v, str) else ["soon"],
    "zero": lambda v: [0], "negative": lambda v: [-1], "huge": lambda v: [9 * 10 ** 18],
    "word": lambda v: ["soon"], "empty": lambda v: [""], "changed": lambda v: [
        v, "soon" if isinstance(v, str) else v + 3],
}
OF_TEXT = ("missing", "other", "word", "empty", "changed")
OF_NUMBER = ("missing", "other", "zero", "negative", "huge", "changed")


def paths(fields, above=""):
    for label, _, v in fields:
        if isinstance(v, list):
            yield from paths(v, above + label + ".")
        else:
            yield above + label, v


def mutate(fields, path, mutation):
    out = []
    for label, n, v in fields:
        if label != path[0]:
            out.append((label, n, v))
        elif len(path) > 1:
            out.append((label, n, mutate(v, path[1:], mutation)))
        else:
            out += [(label, n, x) for x in mutation(v)]
    return out


def mutated(kind, member, mutation, extent):
    out = trace()
    several = {"one": 1, "half": (len(out[kind]) + 1) // 2, "all": len(out[kind])}[extent]
    for i in range(several):
        out[kind][i] = mutate(out[kind][i], member.split("."), MUTATIONS[mutation])
    return out


def cases():
    for kind, packets in trace().items():
        for member, v in dict(paths(packets[0])).items():
            for mutation in OF_TEXT if isinstance(v, str) else OF_NUMBER:
                yield kind, member, mutation


# ---- what to expect


def last(fields, number, type_):
    """the value of a field, or the fields of a message"""
    out = None
    for _, n, v in fields:
        if n == number and isinstance(v, type_):
            out = v
    return out


def notes(slice_, number, key, value, type_):
    out = {}
    for _, n, v in slice_:
        if n == number and isinstance(v, list):
            out[last(v, key, str)] = last(v, value, type_)
    return out


def known(slice_, word):
    """what its categories say: the known one of several counts"""
    words = [v for _, n, v in slice_ if n == 22 and isinstance(v, str)]
    return word in words, any(words)


def of_process(slice_, corr):
    """an id, and whether its track belongs to the process"""
    return None if corr is None else (last(slice_, 11, int) in (2, 9), corr)


def read_calls(packets):
    """ends match begins in order"""
    opened, calls = {}, []
    for b, e in zip(packets["begin"], packets["end"]):
        s, ts = last(b, 11, list), last(b, 8, int)
        if last(s, 9, int) == 1 and ts is not None:
            is_call, has_any = known(s, "cuda_runtime")
            call = event("call" if is_call else "slice" if has_any else "?",
                         last(s, 23, str) or "", ts, None,
                         call=of_process(s, notes(s, 4, 10, 3, int).get("correlation")))
            opened.setdefault(last(s, 11, int), []).append(call)
            calls.append(call)
        s, ts = last(e, 11, list), last(e, 8, int)
        if last(s, 9, int) == 2 and ts is not None:
            if opened.get(last(s, 11, int)):
                opened[last(s, 11, int)].pop()["end"] = ts
    return calls


def read(path):
    with open(path + ".json", encoding="utf-8") as f:
        packets = json.load(f)
    for p in packets["kernel"] + packets["copy"]:
        s, ts = last(p, 53, list), last(p, 8, int)
        what = {i: n for n, i in STAGES.items()}.get(last(s, 14, int), "")
        name = {i: n for n, i in NAMES.items()}.get(last(s, 20, int), what)
        dur, corr = last(s, 2, int), same(notes(s, 6, 1, 2, str).get("correlation"))
        yield event({"Kernel": "kernel", "Memcpy": "copy"}.get(what, "?"), name, ts,
                    None if dur is None or ts is None or dur < 0 else ts + dur, 0,
                    str(notes(s, 6, 1, 2, str)),
                    # without a process, ids may or may not be the process's
                    [(True, corr), (False, corr), None])
    for p in packets["dispatch"]:
        s = last(p, 11, list)
        n = notes(s, 4, 10, 3, int)
        is_kernel, has_any = known(s, "kernel_dispatch")
        ts, start, stop = last(p, 8, int), n.get("begin_ns"), n.get("end_ns")
        if last(s, 9, int) == 1 and ts is not None:
            if None in (time_of(start), time_of(stop)) or min(start, stop) < 0:
                start, stop = ts, None  # then its own end would count
            yield event("kernel" if is_kernel else "slice" if has_any else "?",
                        last(s, 23, str) or "", start, stop, 0, str(n),
                        of_process(s, n.get("corr_id")))
    yield from read_calls(packets)


class Packets(semantic.Format):
    extents, name, put = ("one", "half", "all"), "t.pftrace", staticmethod(put)

    def outcome(self, path, tree):
        return outcome(path, tree, read)


if __name__ == "__main__":
    sys.exit(semantic.check(sys.argv[1:], list(cases()), Packets(mutated, None, trace()),
                            list(MUTATIONS)))
