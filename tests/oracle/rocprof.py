#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rocprof.py: the exact GPU timeline of a rocprofv3 *_results.json.

Rows: total_time (fini - init of the process), kernel, memory, busy_time, idle,
in ns, unions over all agents. A dispatch or copy that ends before it starts has
length 0. Several processes: the window is from the first init to the last fini.
--by-agent: the same rows per agent, the window from the first start to the last
end of its kernels and copies; a copy belongs to its GPU agent, the destination
if both ends are GPUs.
"""
import argparse
import gzip
import json
import sys

from timeline import length, percent, union


def load(path):
    with open(path, "rb") as f:
        data = f.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    doc = json.loads(data)
    if not isinstance(doc, dict) or "rocprofiler-sdk-tool" not in doc:
        raise ValueError("not a valid rocprofv3 file")
    return doc["rocprofiler-sdk-tool"]


def spans(process, kind):
    for r in process.get("buffer_records", {}).get(kind, ()):
        a, b = r.get("start_timestamp", 0), r.get("end_timestamp", 0)
        yield r, (a, max(a, b))


def rows(kernels, copies, total):
    busy = length(union(kernels + copies))
    return [("total_time", total), ("kernel", length(union(kernels))),
            ("memory", length(union(copies))), ("busy_time", busy),
            ("idle", max(0, total - busy))]


def timeline(processes):
    kernels = [s for p in processes for _, s in spans(p, "kernel_dispatch")]
    copies = [s for p in processes for _, s in spans(p, "memory_copy")]
    if not kernels and not copies:
        return []
    meta = [p["metadata"] for p in processes]
    total = max(m["fini_time"] for m in meta) - min(m["init_time"] for m in meta)
    return rows(kernels, copies, total)


def by_agent(processes):
    """[(gpu index, rows)]"""
    work = {}
    for p in processes:
        gpus = {a["id"]["handle"]: a for a in p.get("agents", ()) if a.get("type") == 2}
        for r, s in spans(p, "kernel_dispatch"):
            h = r.get("dispatch_info", {}).get("agent_id", {}).get("handle", 0)
            work.setdefault(index(gpus, h), ([], []))[0].append(s)
        for r, s in spans(p, "memory_copy"):
            dst = r.get("dst_agent_id", {}).get("handle", 0)
            src = r.get("src_agent_id", {}).get("handle", 0)
            h = dst if dst in gpus else src
            work.setdefault(index(gpus, h), ([], []))[1].append(s)
    out = []
    for agent, (kernels, copies) in sorted(work.items()):
        both = kernels + copies
        total = max(b for _, b in both) - min(a for a, _ in both)
        out.append((agent, rows(kernels, copies, total)))
    return out


def index(gpus, handle):
    return gpus[handle].get("gpu_index", handle) if handle in gpus else handle


def main(argv=None):
    ap = argparse.ArgumentParser(description="exact GPU timeline of rocprofv3 JSON")
    ap.add_argument("--by-agent", action="store_true")
    ap.add_argument("trace")
    a = ap.parse_args(argv)
    processes = load(a.trace)
    parts = by_agent(processes) if a.by_agent else [(None, timeline(processes))]
    print(("dev\t" if a.by_agent else "") + "type\ttime_ns\tpercent")
    for agent, table in parts:
        for name, value in table:
            p = percent(value, table[0][1]) or 0.0
            print(*([] if agent is None else [agent]), name, value, repr(p), sep="\t")
    return 0


if __name__ == "__main__":
    sys.exit(main())
