#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Nsight Systems' databases: made ones, and the figures of nsys stats for any.

usage: nsys.py make VERSION SEED ROWS FILE    (VERSION: 2021 .. 2024)
       nsys.py check FILE [STREAM]

check computes, from the database alone and by the public definitions of nsys's reports, kernels,
copies by time and size, calls, launches (A, Q, K, T) and ranges; and the same from a tree of tl
(STREAM as NDJSON, default: runs tl-tree). It prints differences, or ok and the counts.
"""
import collections
import json
import random
import re
import sqlite3
import statistics
import subprocess
import sys

K = "CUPTI_ACTIVITY_KIND_"
MASK = ~0xffffff


def make(version, seed, rows, path):
    """Two processes with the same correlation ids, one with only calls, and differences of versions."""
    rnd = random.Random(seed)
    db = sqlite3.connect(path)
    new = version >= 2023
    strings = ["", "cudaLaunchKernel_v7000", "cudaMemcpyAsync_v3020", "cudaGraphLaunch_v10000", "cuLaunchKernel_v2",
               "cudaEventRecord", "gemm(float *)", "gemm", "add<int>(int)", "add", "registered range", "GPU thread",
               "poll", "overhead", "ncclAllReduce"]
    db.execute("create table StringIds (id integer primary key, value text)")
    db.executemany("insert into StringIds values (?, ?)", enumerate(strings))
    meta = "META_DATA_EXPORT" if new else "EXPORT_META_DATA"
    db.execute(f"create table {meta} (name text, value text)")
    db.execute(f"insert into {meta} values ('EXPORT_SCHEMA_VERSION', ?)", ("3.13.2" if new else "2.9.1",))
    db.execute("create table TARGET_INFO_SESSION_START_TIME (utcEpochNs integer)")
    db.execute("insert into TARGET_INFO_SESSION_START_TIME values (1700000000000000000)")
    db.execute("create table TARGET_INFO_SYSTEM_ENV (name text, value text)")
    env = "HOME=/root\0API_TOKEN=secret\0SLURM_PROCID=3\0WORLD_SIZE=8\0"
    db.execute("insert into TARGET_INFO_SYSTEM_ENV values ('Hostname', 'node1'), ('DeviceEnvironment', ?)", (env,))
    graph = "graphNodeId" + (", graphId" if new else "")
    db.execute(f"create table {K}KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid, "
               "demangledName, shortName, registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, "
               f"staticSharedMemory, dynamicSharedMemory, gridId, {graph})")
    db.execute(f"create table {K}MEMCPY (start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, "
               "copyKind, srcKind, dstKind)")
    db.execute(f"create table {K}RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue"
               + (", callchainId" if version >= 2022 else "") + ")")
    db.execute("create table NVTX_EVENTS (start, end, eventType, rangeId, category, color, text, globalTid, "
               "endGlobalTid, textId, domainId, uint64Value, int64Value, doubleValue, uint32Value, int32Value, "
               "floatValue, jsonTextId, jsonText)")
    if new:
        db.execute("create table ENUM_CUDA_MEMCPY_OPER (id, name, label)")
        db.executemany("insert into ENUM_CUDA_MEMCPY_OPER values (?, '', ?)",
                       [(1, "Host-to-Device"), (2, "Device-to-Host"), (8, "Device-to-Device")])
        db.execute(f"create table {K}CUDA_EVENT (deviceId, contextId, streamId, correlationId, globalPid, eventId, "
                   "timestamp)")
        db.execute("create table DIAGNOSTIC_EVENT (timestamp, severity, text, globalPid)")
        db.execute("insert into DIAGNOSTIC_EVENT values (1, 2, 'Not all CUDA events might have been collected.', 0), "
                   "(2, 1, 'Number of CUDA events collected: 5.', 0)")
        db.execute("create table GPU_METRICS (timestamp, typeId, metricId, value)")
        db.execute("create table TARGET_INFO_GPU_METRICS (typeId, metricId, metricName)")
        db.execute("insert into TARGET_INFO_GPU_METRICS values (1, 5, 'SM Active')")
        db.execute("insert into GPU_METRICS values (100, 1, 5, 40), (200, 1, 5, 60)")
    pids = [0x01000000_000000 * 2 + (p << 24) for p in (70, 50)]
    clocks = {g: 1000 for g in pids}
    for g in pids:
        tid = g + g // (1 << 24) % (1 << 24)
        db.execute("insert into NVTX_EVENTS (start, eventType, globalTid, domainId, text) values (1, 75, ?, 4, 'MPI')",
                   (tid,))
        corr, free = 0, 0
        for _ in range(rows):
            corr += 1
            t = clocks[g] + rnd.randrange(50)
            a = rnd.randrange(5, 500)
            what = rnd.choice("kkkcg" + ("r" if new else ""))
            name = {"k": 1 if rnd.random() < .7 else 4, "c": 2, "g": 3, "r": 5}[what]
            if rnd.random() < .5:
                text = rnd.choice(["aten::mm, seq = %d, sizes = [[8, 16], [16, 4]]" % corr, "step", "aten::add"])
                db.execute("insert into NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) "
                           "values (?, ?, 59, ?, ?, 0)", (t - 1, t + a + 1, text, tid))
            elif rnd.random() < .2:
                db.execute("insert into NVTX_EVENTS (start, end, eventType, textId, globalTid, domainId) "
                           "values (?, ?, 60, 10, ?, 4)", (t - 1, t + a + 1, tid))
            call = [t, t + a, 1 if name == 4 else 0, tid, corr, name, 0]
            if version >= 2022:
                db.execute(f"insert into {K}RUNTIME values (?, ?, ?, ?, ?, ?, ?, NULL)", call)
                if version == 2022 and name == 1:
                    db.execute(f"insert into {K}RUNTIME values (?, ?, 67, ?, ?, ?, 0, ?)",
                               (t - 1, t + a + 1, tid, corr, name, corr))
            else:
                db.execute(f"insert into {K}RUNTIME values (?, ?, ?, ?, ?, ?, ?)", call)
            for node in range({"k": 1, "c": 1, "g": rnd.randrange(4), "r": 0}[what]):
                s = max(t + rnd.randrange(0, 2 * a), free)
                e = s + rnd.randrange(1, 900)
                free = e - rnd.randrange(2)
                if what == "c":
                    kind = rnd.choice([1, 2, 8])
                    db.execute(f"insert into {K}MEMCPY values (?, ?, 0, 1, 7, ?, ?, ?, ?, ?, ?)",
                               (s, e, corr, g, rnd.randrange(1 << 30), kind, *{1: (0, 2), 2: (2, 1), 8: (2, 2)}[kind]))
                    continue
                n = rnd.choice([6, 8])
                db.execute(f"insert into {K}KERNEL values (?, ?, 0, 1, 7, ?, ?, ?, ?, 26, 2, 1, 1, 512, 1, 1, 16, 32, 1, ?"
                           + (", 0" if new else "") + ")", (s, e, corr, g, n, n + 1, node + 1 if what == "g" else 0))
            if what == "r":
                db.execute(f"insert into {K}CUDA_EVENT values (0, 1, 7, ?, ?, 3, ?)", (corr, g, rnd.choice([0, t + a + 9])))
            clocks[g] = t + a + 2
    # calls of a process that launches nothing: their ids are those of others
    db.execute(f"insert into {K}RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue) "
               "values (5, 6, 0, ?, 1, 1, 0)", (pids[0] + (9 << 24) + 1,))
    db.commit()


def base(name):
    return re.sub(r"_v\d{4,5}$", "", name)


def figures(values):
    """As nsys stats prints them."""
    return (sum(values), len(values), statistics.median(values), min(values), max(values),
            round(statistics.stdev(values), 3) if len(values) > 1 else 0)


def table(groups):
    return {k: figures(v) for k, v in groups.items()}


def from_database(path):
    db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    db.text_factory = lambda b: b.decode("utf-8", "replace")
    names = dict(db.execute("select id, value from StringIds"))
    has = {r[0] for r in db.execute("select name from sqlite_master where type = 'table'")}
    kern, time, size, api, launch, nvtx = (collections.defaultdict(list) for _ in range(6))
    calls = {}
    for start, end, cls, tid, corr, name in db.execute(
            f"select start, end, eventClass, globalTid, correlationId, nameId from {K}RUNTIME"):
        if cls != 67:
            api[base(names[name])].append(end - start)
            calls[tid & MASK, corr] = (start, end, tid, base(names[name]))
    for start, end, name, corr, pid in db.execute(
            f"select start, end, demangledName, correlationId, globalPid from {K}KERNEL"):
        kern[names[name]].append(end - start)
        if (pid & MASK, corr) in calls:
            a, b, tid, call = calls[pid & MASK, corr]
            launch[tid & 0xffffff, call, names[name]].append(
                (b - a, start - b if start > b else None, end - start, max(b, end) - a))
    kinds = {1: "HtoD", 2: "DtoH", 8: "DtoD"}
    for start, end, kind, size_bytes in db.execute(f"select start, end, copyKind, bytes from {K}MEMCPY"):
        time[kinds[kind]].append(end - start)
        size[kinds[kind]].append(size_bytes)
    domains = {(r[0] & MASK, r[1]): r[2] for r in db.execute(
        "select globalTid, domainId, text from NVTX_EVENTS where eventType = 75")}
    for start, end, text, number, tid, domain in db.execute(
            "select start, end, text, textId, globalTid, domainId from NVTX_EVENTS "
            "where eventType in (59, 60) and end is not null"):
        name = text if text is not None else names.get(number, "")
        nvtx[domains.get((tid & MASK, domain), ""), name.split(", seq = ")[0]].append(end - start)
    assert "ENUM_CUDA_MEMCPY_OPER" not in has or kinds
    return kern, time, size, api, launch, nvtx


def from_stream(lines):
    kern, time, size, api, launch, nvtx = (collections.defaultdict(list) for _ in range(6))
    events, calls = [], {}
    for line in lines:
        ev = json.loads(line)
        if "kind" not in ev:
            continue
        events.append(ev)
        if ev["kind"] in ("runtime", "driver"):
            calls[ev["src"], ev["id"]] = ev
            api[ev["name"]].append(ev["dur"])
    for ev in events:
        kind = ev["kind"]
        if kind == "kernel":
            kern[ev["name"]].append(ev["dur"])
            if "launch" in ev:
                call = calls[ev["src"], ev["launch"]]
                end = call["ts"] + call["dur"]
                launch[call["tid"], call["name"], ev["name"]].append(
                    (call["dur"], ev["ts"] - end if ev["ts"] > end else None, ev["dur"],
                     max(end, ev["ts"] + ev["dur"]) - call["ts"]))
        elif kind == "memcpy":
            time[ev["name"].split()[1]].append(ev["dur"])
            size[ev["name"].split()[1]].append(ev["args"]["bytes"])
        elif kind in ("annotation", "op", "async") and ev["cat"] != "inferred_step":
            nvtx["" if ev["cat"] in ("nvtx", "cpu_op") else ev["cat"], ev["name"]].append(ev["dur"])
    return kern, time, size, api, launch, nvtx


def check(path, stream):
    want = from_database(path)
    if stream:
        with open(stream, encoding="utf-8") as f:
            got = from_stream(f)
    else:
        tree = subprocess.Popen(["tl-tree", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        cat = subprocess.Popen(["tl-cat", "--ndjson"], stdin=tree.stdout, stdout=subprocess.PIPE, text=True)
        got = from_stream(cat.stdout)
    bad = []
    for what, a, b in zip(("kernels", "copies", "sizes", "calls", "launches", "ranges"), want, got):
        if what == "launches":
            a, b = ({k: sorted(v, key=str) for k, v in x.items()} for x in (a, b))
        else:
            a, b = table(a), table(b)
        if a != b:
            bad.append(f"{what}: " + "; ".join(f"{k}: {a.get(k)} is {b.get(k)}" for k in list(a.keys() | b.keys())
                                               if a.get(k) != b.get(k))[:400])
    print("\n".join(bad) or "ok " + " ".join(str(sum(map(len, x.values()))) for x in want))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
    else:
        check(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)
