#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rocprof_forms.py SEED DIR: one run as rocprofv3's JSON, CSV and .pftrace.

It draws a process: threads with calls, kernels on streams of two GPUs, copies
between them and the host, hardware counters. It writes DIR/run_results.json,
run_*.csv and run.pftrace, in the forms of rocprofv3 of ROCm 7.
"""
import csv
import json
import os
import random
import struct
import sys

from perfetto import fixed, num, text

COPIES = ["", "HOST_TO_HOST", "HOST_TO_DEVICE", "DEVICE_TO_HOST", "DEVICE_TO_DEVICE"]
PID, HANDLE = 4000, 7000  # an agent's handle is HANDLE and its node


def draw(seed):
    rnd = random.Random(seed)
    at, calls, kernels, copies = 5 * 10**15, [], [], []
    for corr in range(1, 60):
        tid = rnd.choice([PID, PID + 1])
        begin = at + rnd.randrange(1, 900)
        at = begin + rnd.randrange(1, 5000)
        what = rnd.choice(["hipLaunchKernel", "hipMemcpyAsync", "hipStreamSynchronize"])
        calls.append((what, tid, corr, begin, at))
        start = at + rnd.randrange(0, 9000)
        end = start + rnd.randrange(1, 40000)
        node, stream = rnd.choice([2, 3]), rnd.randrange(1, 3)
        if what == "hipLaunchKernel":
            counters = {"SQ_WAVES": float(rnd.randrange(99)), "FETCH_SIZE": rnd.random()}
            kernels.append((rnd.choice(["gemm", 'odd "name", <a, b>', "fill"]), tid, corr, start,
                            end, node, stream, len(kernels) + 1,
                            [rnd.choice([64, 256]), 1, 1], [rnd.choice([512, 4096]), 2, 1],
                            counters))
        elif what == "hipMemcpyAsync":
            way = rnd.randrange(2, 5)
            src, dst = {2: (0, node), 3: (node, 0), 4: (2, 3)}[way]
            copies.append((way, tid, corr, start, end, src, dst, stream, rnd.randrange(9999)))
    return calls, kernels, copies


def write_json(folder, calls, kernels, copies):
    names = sorted({c[0] for c in calls})
    symbols = sorted({k[0] for k in kernels})
    xyz = lambda v: dict(zip("xyz", v))
    head = lambda kind, op, tid, corr, a, b: {
        "kind": kind, "operation": op, "thread_id": tid,
        "correlation_id": {"internal": corr, "external": 0},
        "start_timestamp": a, "end_timestamp": b}
    # only the JSON has the process's start: here that of its GPU work
    spans = [x[3:5] for x in kernels + copies]
    process = {
        "metadata": {"pid": PID, "init_time": min(a for a, _ in spans),
                     "fini_time": max(b for _, b in spans)},
        "agents": [{"id": {"handle": HANDLE + n}, "type": 1 if n < 2 else 2, "name": "agent",
                    "node_id": n, "logical_node_id": n, "gpu_index": n - 2 if n > 1 else -1}
                   for n in range(4)],
        "strings": {"buffer_records": [
            {"kind": "NONE", "operations": []},
            {"kind": "HIP_RUNTIME_API", "operations": names},
            {"kind": "KERNEL_DISPATCH", "operations": []},
            {"kind": "MEMORY_COPY", "operations": ["MEMORY_COPY_" + c for c in COPIES]}]},
        "kernel_symbols": [{"kernel_id": i, "kernel_name": s, "truncated_kernel_name": s}
                           for i, s in enumerate(symbols)],
        "buffer_records": {
            "kernel_dispatch": [
                {**head(2, 2, tid, corr, a, b), "stream_id": {"handle": stream},
                 "dispatch_info": {"agent_id": {"handle": HANDLE + node},
                                   "queue_id": {"handle": 1}, "dispatch_id": dispatch,
                                   "kernel_id": symbols.index(name),
                                   "workgroup_size": xyz(block), "grid_size": xyz(grid)}}
                for name, tid, corr, a, b, node, stream, dispatch, block, grid, _ in kernels],
            "hip_api": [head(1, names.index(name), *rest) for name, *rest in calls],
            "memory_copy": [
                {**head(3, way, tid, corr, a, b), "src_agent_id": {"handle": HANDLE + src},
                 "dst_agent_id": {"handle": HANDLE + dst}, "bytes": size,
                 "stream_id": {"handle": stream}}
                for way, tid, corr, a, b, src, dst, stream, size in copies]}}
    with open(os.path.join(folder, "run_results.json"), "w", encoding="ascii") as f:
        f.write(json.dumps({"rocprofiler-sdk-tool": [process]}))


def write_csv(folder, calls, kernels, copies):
    def table(name, head, rows):
        with open(os.path.join(folder, "run_%s.csv" % name), "w", encoding="ascii") as f:
            csv.writer(f, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(
                [head.split()] + rows)

    table("agent_info", "Node_Id Logical_Node_Id Agent_Type Name",
          [[n, n, "CPU" if n < 2 else "GPU", "agent"] for n in range(4)])
    table("hip_api_trace", "Domain Function Process_Id Thread_Id Correlation_Id "
          "Start_Timestamp End_Timestamp",
          [["HIP_RUNTIME_API", name, PID, *rest] for name, *rest in calls])
    table("kernel_trace", "Kind Agent_Id Queue_Id Stream_Id Thread_Id Dispatch_Id Kernel_Id "
          "Kernel_Name Correlation_Id Start_Timestamp End_Timestamp Workgroup_Size_X "
          "Workgroup_Size_Y Workgroup_Size_Z Grid_Size_X Grid_Size_Y Grid_Size_Z",
          [["KERNEL_DISPATCH", "Agent %d" % node, 1, stream, tid, dispatch, 1, name, corr, a, b,
            *block, *grid]
           for name, tid, corr, a, b, node, stream, dispatch, block, grid, _ in kernels])
    table("memory_copy_trace", "Kind Direction Stream_Id Source_Agent_Id Destination_Agent_Id "
          "Correlation_Id Start_Timestamp End_Timestamp",
          [["MEMORY_COPY", "MEMORY_COPY_" + COPIES[way], stream, "Agent %d" % src,
            "Agent %d" % dst, corr, a, b]
           for way, _, corr, a, b, src, dst, stream, _ in copies])
    table("counter_collection", "Correlation_Id Dispatch_Id Agent_Id Process_Id Thread_Id "
          "Kernel_Name Counter_Name Counter_Value Start_Timestamp End_Timestamp",
          [[corr, dispatch, "Agent %d" % node, PID, tid, name, counter, repr(value), a, b]
           for name, tid, corr, a, b, node, _, dispatch, _, _, counters in kernels
           for counter, value in counters.items()])


def write_pftrace(folder, calls, kernels, copies):
    packets = [text(60, num(1, 1) + text(3, num(1, PID) + text(6, "run")))]

    def track(uuid, name):
        packets.append(text(60, num(1, uuid) + num(5, 1) + text(2, name)))

    def note(key, v):
        value = text(6, v) if isinstance(v, str) else \
            fixed(5, struct.pack("<d", v)) if isinstance(v, float) else num(3, v)
        return text(4, text(10, key) + value)

    def span(uuid, cat, name, a, b, **args):
        notes = {"begin_ns": a, "end_ns": b, "delta_ns": b - a, **args}
        packets.append(num(8, a) + text(11, num(9, 1) + num(11, uuid) + text(22, cat) + text(
            23, name) + b"".join(note(k, v) for k, v in notes.items())))
        packets.append(num(8, b) + text(11, num(9, 2) + num(11, uuid)))

    for tid in PID, PID + 1:
        track(tid, "THREAD 0 (%d)" % tid)
    for n in 1, 2:
        track(10 + n, 'STREAM [" %d "] ' % n)
    for name, tid, corr, a, b in calls:
        span(tid, "hip_api", name, a, b, tid=tid, kind=1, operation=1, corr_id=corr)
    for name, tid, corr, a, b, node, stream, _, block, grid, counters in kernels:
        span(10 + stream, "kernel_dispatch", name, a, b, kind=2, agent="Agent-%d" % node,
             corr_id=corr, queue=0, tid=tid, workgroup_size=block[0] * block[1] * block[2],
             grid_size=grid[0] * grid[1] * grid[2], stream_ID=stream, **counters)
    for way, tid, corr, a, b, src, dst, stream, size in copies:
        span(10 + stream, "memory_copy", "MEMORY_COPY_" + COPIES[way], a, b, kind=3,
             operation=way, src_agent="Agent-%d" % src, dst_agent="Agent-%d" % dst,
             copy_bytes=size, corr_id=corr, tid=tid, stream_ID=stream)
    with open(os.path.join(folder, "run.pftrace"), "wb") as f:
        f.write(b"".join(text(1, p + num(10, 1)) for p in packets))


def main(seed, folder):
    run = draw(int(seed))
    for write in write_json, write_csv, write_pftrace:
        write(folder, *run)


if __name__ == "__main__":
    main(*sys.argv[1:])
