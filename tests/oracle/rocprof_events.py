#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rocprof_events.py: calls, kernels and copies of rocprofv3's and rpd's recordings, read
with Python's own libraries, as the Chrome trace that kineto.py takes.

Events are by uid: CSV's calls come before its kernels and copies, row by row; rpd's
tables are read in the order of time; a .pftrace's events are in the order of its
packets, and the table of slices beside it says what they are.
"""
import csv
import json
import os
import sqlite3

import rocprof

KIND = {"hip_api": "cuda_runtime", "kernel_dispatch": "kernel", "memory_copy": "gpu_memcpy"}


def event(kind, name, start, end, pid, tid, corr, **args):
    """times as text: no digit of ns is lost"""
    us = lambda ns: "%d.%03d" % divmod(ns, 1000)
    return {"ph": "X", "cat": KIND[kind], "name": name, "pid": pid, "tid": tid,
            "ts": us(start), "dur": us(end - start), "args": {"correlation": corr, **args}}


def of_csv(path):
    stem, out = path[:-len("kernel_trace.csv")], []
    for kind, table, name in (("hip_api", "hip_api_trace", "Function"),
                              ("kernel_dispatch", "kernel_trace", "Kernel_Name"),
                              ("memory_copy", "memory_copy_trace", "Direction")):
        if not os.path.exists("%s%s.csv" % (stem, table)):
            continue
        with open("%s%s.csv" % (stem, table), encoding="utf-8", newline="") as f:
            for r in csv.DictReader(f):
                out.append(event(kind, r[name], int(r["Start_Timestamp"]), int(r["End_Timestamp"]),
                                 r.get("Process_Id"), r.get("Thread_Id"),
                                 int(r["Correlation_Id"]), device=r.get("Agent_Id"),
                                 stream=r.get("Stream_Id")))
    return out


def of_json(path):
    """kernels and copies: a trace without calls has nothing else"""
    out = []
    for p in rocprof.load(path):
        names = {k["kernel_id"]: k["truncated_kernel_name"] for k in p["kernel_symbols"]}
        for kind in ("kernel_dispatch", "memory_copy"):
            for r, (a, b) in rocprof.spans(p, kind):
                name = names[r["dispatch_info"]["kernel_id"]] if "dispatch_info" in r else kind
                out.append(event(kind, name, a, b, p["metadata"]["pid"], r["thread_id"],
                                 r["correlation_id"]["internal"]))
    return out


def of_rpd(path):
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    text = dict(db.execute("SELECT id, string FROM rocpd_string"))
    call = dict(db.execute("SELECT op_id, api_id FROM rocpd_api_ops"))
    rows = [(start, {}) for start, in db.execute(
        "SELECT start FROM rocpd_monitor UNION ALL SELECT max(end) FROM rocpd_monitor")]
    for i, pid, tid, start, end, name in db.execute(
            "SELECT id, pid, tid, start, end, apiName_id FROM rocpd_api"):
        rows.append((start, event("hip_api", text[name], start, end, pid, tid, i)))
    for i, gpu, queue, start, end, name, kind in db.execute(
            "SELECT id, gpuId, queueId, start, end, description_id, opType_id FROM rocpd_op"):
        is_copy = text[kind].startswith("Copy")
        rows.append((start, event("memory_copy" if is_copy else "kernel_dispatch",
                                  text[name] or text[kind], start, end, 0, queue, call[i],
                                  device=gpu, stream=queue)))
    return [e for _, e in sorted(rows, key=lambda r: r[0])]


def fields(data):
    """(number, value) of a protobuf message"""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte, at = data[at], at + 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        size = {1: 8, 5: 4}.get(key & 7)
        if key & 7 == 0:
            yield key >> 3, varint()
            continue
        if size is None:
            size = varint()
        yield key >> 3, data[at:at + size]
        at += size


def of_pftrace(path):
    """slices end with an event of another type, which is not counted"""
    table = os.path.join(os.path.dirname(path), "reference", "track_events", "slices.csv")
    with open(table, encoding="utf-8", newline="") as f:
        slices = {(int(r["ts_ns"]), int(r["track_uuid"])): r for r in csv.DictReader(f)}
    with open(path, "rb") as f:
        data = f.read()
    out, seen = [], 0
    for _, packet in fields(data):
        of = dict(fields(packet))
        what = dict(fields(of[11])) if 11 in of else {}
        if what.get(9) not in (1, 3, 4):
            continue
        r = slices.get((of[8], what.get(11))) if what[9] == 1 else None
        if r is None:
            out.append({})
            continue
        seen += 1
        args = json.loads(r["args"])
        out.append(event(r["category"], r["name"], int(r["ts_ns"]),
                         int(r["ts_ns"]) + int(r["dur_ns"]), r["pid"], args["tid"],
                         args["corr_id"], stream=r["track_uuid"]))
    if seen != len(slices):
        raise ValueError("%s: %d slices of %d" % (path, seen, len(slices)))
    return out


READERS = {"kernel_trace.csv": of_csv, "_results.json.gz": of_json, ".rpd": of_rpd,
           ".pftrace": of_pftrace}


def reader(path):
    """None: another format"""
    return next((r for end, r in READERS.items() if path.endswith(end)), None)


def recordings(root):
    """recordings below root that have calls or GPU work"""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f != "reference")
        for name in sorted(files):
            path = os.path.join(folder, name)
            table = os.path.join(folder, "reference", "track_events", "slices.csv")
            if reader(path) is of_pftrace:
                with open(table, encoding="utf-8") as f:
                    if "kernel_dispatch" not in f.read():
                        continue
            if reader(path) and (reader(path) is not of_json or "rocprof" in folder):
                yield path
