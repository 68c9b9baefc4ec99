#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""semantic_rocprof.py: semantic.py for rocprofv3's JSON.

    semantic_rocprof.py [--sample N] [--write] TABLE

Only integers of ns are times. tl-timeline and tl-kernels must show what is computed here
from the same file.
"""
import decimal
import json
import os
import subprocess
import sys

import odd
import semantic
import timeline
from kineto import same
from semantic_events import differ_launches, event, shown_launches

# ---- the trace: processes of buffers of records


def times(a, b):
    return [("start_timestamp", str(a)), ("end_timestamp", str(b))]


def ids(corr):
    return [("correlation_id", [("internal", str(corr)), ("external", "0")]),
            ("thread_id", "42")]


def dispatch(corr, kernel, agent, a, b):
    size = [("x", "64"), ("y", "1"), ("z", "1")]
    return [("kind", "11"), ("operation", "2"), *ids(corr), *times(a, b),
            ("stream_id", [("handle", "1")]),
            ("dispatch_info", [
                ("agent_id", [("handle", str(agent))]), ("queue_id", [("handle", "1")]),
                ("kernel_id", str(kernel)), ("dispatch_id", str(corr)),
                ("workgroup_size", size), ("grid_size", [("x", "640"), *size[1:]])])]


def copy(corr, a, b):
    return [("kind", "10"), ("operation", "1"), *ids(corr), *times(a, b), ("bytes", "4096"),
            ("dst_agent_id", [("handle", "11")]), ("src_agent_id", [("handle", "1")])]


def call(corr, a, b):
    return [("kind", "3"), ("operation", "1"), *ids(corr), *times(a, b)]


def trace():
    return {"kernel_dispatch": [dispatch(1, 7, 11, 1000, 1500), dispatch(2, 8, 11, 1400, 2400),
                                dispatch(3, 7, 12, 5000, 6001)],
            "memory_copy": [copy(4, 2300, 3000), copy(5, 9000, 9100)],
            "hip_api": [call(n, 100 * n, 100 * n + 50) for n in range(1, 6)]}


HEAD = {"metadata": {"pid": 77, "init_time": 0, "fini_time": 20000},
        "agents": [{"id": {"handle": 1}, "type": 1, "gpu_index": 0},
                   {"id": {"handle": 11}, "type": 2, "gpu_index": 0},
                   {"id": {"handle": 12}, "type": 2, "gpu_index": 1}],
        "kernel_symbols": [{"kernel_id": 7, "formatted_kernel_name": "gemm"},
                           {"kernel_id": 8, "formatted_kernel_name": "add"}]}


def text(buffers):
    body = ", ".join('"%s": [%s]' % (k, ",\n".join(semantic.member_text(r) for r in v))
                     for k, v in buffers.items())
    return '{"rocprofiler-sdk-tool": [{%s, "buffer_records": {%s}}]}' % (
        json.dumps(HEAD)[1:-1], body)


def paths(members, above=""):
    for k, v in members:
        yield above + k
        if isinstance(v, list):
            yield from paths(v, above + k + ".")


WHOLE = ("start_timestamp", "end_timestamp", "correlation_id.internal", "dispatch_info.kernel_id",
         "dispatch_info.agent_id.handle")
MUTATIONS = [m for m in semantic.MUTATIONS if m not in semantic.ONLY]


def cases():
    for kind, records in trace().items():
        for member in paths(records[0]):
            for mutation in MUTATIONS:
                if member in WHOLE or mutation in semantic.FEW:
                    yield kind, member, mutation


def mutated(kind, member, mutation, every):
    out = trace()
    out[kind] = [semantic.mutate(r, member.split("."), semantic.MUTATIONS[mutation])
                 if every or not i else r for i, r in enumerate(out[kind])]
    return text(out)


# ---- what to expect, from the mutated file


def at(record, path):
    for k in path.split("."):
        record = record.get(k) if isinstance(record, dict) else None
    return record


def integer(v, low=-(1 << 63), high=1 << 63):
    return v if isinstance(v, int) and not isinstance(v, bool) and low <= v < high else None


def time_of(record, key):
    return integer(record.get(key), -semantic.LIMIT, semantic.LIMIT)


def why_not(buffers):
    why = set()
    for records in buffers.values():
        for r in records:
            a, b = time_of(r, "start_timestamp"), time_of(r, "end_timestamp")
            why |= ({"t"} if a is None else {"d"} if b is None or b < a else set())
    return why


def spans(records):
    """(record, start, end) of those that begin at a known time"""
    for r in records:
        a, b = time_of(r, "start_timestamp"), time_of(r, "end_timestamp")
        if a is not None:
            yield r, a, max(a, b) if b is not None else a


def figures(kernels, copies, total):
    union = lambda x: timeline.length(timeline.union((a, b) for _, a, b in x))
    busy = union(kernels + copies)
    return {"total_time": total, "kernel": union(kernels), "memory": union(copies),
            "busy_time": busy, "idle": max(0, total - busy)}


def name_of(record):
    n = integer(at(record, "dispatch_info.kernel_id"))
    return "unknown_kernel" if n is None else {7: "gemm", 8: "add"}.get(n, "unknown_kernel_%d" % n)


def wanted(buffers):
    kernels = list(spans(buffers["kernel_dispatch"]))
    copies = list(spans(buffers["memory_copy"]))
    names = {}
    for r, a, b in kernels:
        names.setdefault(name_of(r), []).append(b - a)
    return (figures(kernels, copies, HEAD["metadata"]["fini_time"]),
            {n: (len(v), sum(v), min(v), max(v)) for n, v in names.items()})


def is_shared(buffers):
    """whether several calls share the id of GPU work"""
    calls = [at(r, "correlation_id.internal") for r in buffers["hip_api"]]
    return any(calls.count(at(r, "correlation_id.internal")) > 1
               for k in ("kernel_dispatch", "memory_copy") for r in buffers[k])


def events(buffers):
    """for launches: spans() has only events with a known start"""
    for k, kind in ("kernel_dispatch", "kernel"), ("memory_copy", "copy"), ("hip_api", "call"):
        for r, a, b in spans(buffers[k]):
            v = same(at(r, "correlation_id.internal"))
            yield event(kind, "", a, b, call=v if isinstance(v, str) else integer(v))


def outcome(path, tree):
    """(what differs or None, letters, tables)"""
    p = subprocess.run(["tl-tree", "-o", tree, path], capture_output=True, check=False, text=True)
    if p.returncode not in (0, 3):
        return "tl-tree: exit %d: %s" % (p.returncode, p.stderr), "", None
    with open(path, encoding="utf-8") as f:
        doc = json.load(f, parse_float=decimal.Decimal, parse_constant=semantic.Constant)
    buffers = doc["rocprofiler-sdk-tool"][0]["buffer_records"]
    why = why_not(buffers)
    rows, names = wanted(buffers)
    rc, got, err = odd.table(["tl-timeline", "--format", "ndjson", tree])
    got = {r["type"]: r["time_ns"] for r in got if r["type"] in rows}
    rc2, kernels, _ = odd.table(["tl-kernels", "-c", "+details", "--format", "ndjson", tree])
    seen = {r["name"]: (r["count"], r["dur_ns_sum"], r["dur_ns_min"], r["dur_ns_max"])
            for r in kernels}
    launched = shown_launches(tree)
    bad = differ_launches(launched, list(events(buffers)))
    tables = [got, seen, launched]
    status = {3} if why else {0}
    if is_shared(buffers) and "several calls" in p.stderr:
        why.add("u")
    elif {p.returncode, rc} != status:
        return "exit %d, %d instead of %s: %s%s" % (p.returncode, rc, why, p.stderr, err), "", None
    if got != rows:
        return "tl-timeline: %s instead of %s" % (got, rows), "", None
    if seen != names and rc2 != 5:
        return "tl-kernels: %s instead of %s" % (seen, names), "", None
    if bad:
        return bad, "", None
    return None, "".join(sorted(why)), tables


if __name__ == "__main__":
    sys.exit(semantic.check(sys.argv[1:], list(cases()),
                            semantic.Format(mutated, outcome, text(trace())), list(MUTATIONS)))
