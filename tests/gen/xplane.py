#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Profiles of a made-up JAX job with known contents.

    xplane.py -o DIR [--hosts 8 --gpus 2 ...]

DIR gets host0.xplane.pb ... and truth.json, the planted figures in ns.

Every step runs the module jit_train_step on all GPUs: layers of GEMMs,
attention, an element-wise fusion and a convolution, with a concurrent all-gather;
then the four other collectives. Two modules named jit_dot run after the last step.
Instructions run in order, each kernel as early as its stream and its launch allow. A
collective ends on all its GPUs together, some time after the last one began. The host
waits for the GPUs before it continues, so they are idle between modules.
"""
import argparse
import gzip
import itertools
import json
import os
import subprocess

import truth
import xla
from xspace import Plane, space

BASE = 1_771_595_650_217_823_548  # when the first host began to record
LAUNCH = {"kernel": "cuLaunchKernelEx", "copy": "cuMemcpyDtoDAsync_v2", "graph": "cuGraphLaunch"}
AMD = {"kernel": "hipExtModuleLaunchKernel", "copy": "hipMemcpyDtoDAsync", "graph": "hipGraphLaunch"}
US = 1_000_000  # ps


class Gpu:
    """The positions of one GPU's host thread and streams, and their work."""

    def __init__(self, host, dev, rank, calls):
        self.host, self.dev, self.rank, self.calls = host, dev, rank, calls
        self.host_at, self.compute, self.comm = 0, 0, 0
        self.launches, self.kernels, self.runs, self.ends = [], [], [], {}


class Kernel:
    def __init__(self, gpu, run, instr, name, start, dur, corr):
        self.gpu, self.run, self.instr, self.name = gpu, run, instr, name
        self.start, self.dur, self.corr = start, dur, corr
        self.on_comm = instr.coll is not None and "start" in instr.name


def jitter(args, *where):
    """Some ns of variation between kernels; with --ps also less than a ns."""
    h = 2166136261
    for w in where:
        h = (h ^ w) * 16777619 % 2**32
    h = h * 2654435761 % 2**32
    return (h >> 8) % 1000 * 1000 + ((h >> 20) % 1000 if args.ps else 0)


def launch(args, gpu, run, instr, kind):
    """A call on the host; kernels of a command buffer share one."""
    if args.graphs and kind == "kernel" and instr.coll is None:
        if gpu.graph is not None:
            return gpu.graph
        kind = "graph"
    else:
        gpu.graph = None
    call = (next(gpu.calls), gpu.host_at)
    gpu.launches.append((gpu.host_at, 2 * US, kind, call[0], run, instr))
    gpu.host_at += 3 * US
    if kind == "graph":
        gpu.graph = call
    return call


def compute(args, gpu, run, at, instr):
    parts = [(instr.name, sum(ns for _, ns in instr.kernels))] if args.tpu and instr.kernels else instr.kernels
    for k, (name, ns) in enumerate(parts):
        kind = "copy" if instr.opcode == "copy" else "kernel"
        corr, called = launch(args, gpu, run, instr, kind)
        dur = int(ns * args.slower.get(instr.name, 1)) * 1000 + jitter(args, gpu.rank, run["index"], at, k)
        start = max(gpu.compute + US, called + 4 * US)
        gpu.kernels.append(Kernel(gpu, run, instr, name, start, dur, corr))
        gpu.compute = start + dur


def communicate(args, gpus, run, instr):
    for group in instr.coll["groups"]:
        members, is_async = [gpus[r] for r in dict.fromkeys(group)], "start" in instr.name
        begun = []
        for g in members:
            corr, called = launch(args, g, run, instr, "kernel")
            start = max(g.compute + US, called + 4 * US, g.comm + US)
            g.kernels.append(Kernel(g, run, instr, instr.kernels[0][0], start, 0, corr))
            begun.append(g.kernels[-1])
        end = max(k.start for k in begun) + instr.coll["transfer_ns"] * 1000
        for k in begun:
            k.dur = end - k.start
            k.gpu.comm = end
            if not is_async:
                k.gpu.compute = end


def wait(args, gpu, run, instr):
    """An op on a TPU, an event of the stream on a GPU."""
    if args.tpu:
        start = gpu.compute + US
        gpu.compute = start + US
        gpu.kernels.append(Kernel(gpu, run, instr, instr.name, start, max(gpu.compute, gpu.comm) - start, 0))
    gpu.compute = max(gpu.compute, gpu.comm)


def permute(args, gpus, run, instr):
    """Pairs overlap, so all take part in one exchange."""
    pairs, everyone = instr.coll["groups"], [sorted({r for p in instr.coll["groups"] for r in p})]
    instr.coll["groups"] = everyone
    communicate(args, gpus, run, instr)
    instr.coll["groups"] = pairs


def execute(args, gpus, module, run):
    for g in gpus:
        g.graph = None
        late = args.late.get(g.rank, 0) * 1000
        g.runs.append((run, g.host_at, len(g.launches)))
        g.host_at += 10 * US + late
    for at, instr in enumerate(module.entry):
        if instr.coll:
            (permute if instr.coll["type"] == "collective-permute" else communicate)(args, gpus, run, instr)
        elif instr.opcode.endswith("-done"):
            for g in gpus:
                wait(args, g, run, instr)
        elif instr.opcode != "parameter":
            for g in gpus:
                compute(args, g, run, at, instr)
    for g in gpus:
        g.ends[run["index"]] = end = max(g.compute, g.comm)
        g.host_at = max(g.host_at, end) + 5 * US


def simulate(args):
    calls = [itertools.count(1) for _ in range(args.hosts)]  # correlation ids are a process's
    gpus = [Gpu(h, d, h * args.gpus + d, calls[h]) for h in range(args.hosts) for d in range(args.gpus)]
    modules = [xla.train(args)] + [xla.single(p, n) for p, n in ((11, 1024), (12, 2048))]
    steps, index = [], 0
    for m in modules if args.tpu else []:
        m.program += 2**63  # a hash
    for g in gpus:
        g.host_at = 100 * US
    for s in range(args.steps):
        begun = [g.host_at for g in gpus]
        for _ in range(args.runs):
            execute(args, gpus, modules[0], {"module": modules[0], "step": s, "index": index})
            index += 1
        for h in range(args.hosts):
            mine = gpus[h * args.gpus:(h + 1) * args.gpus]
            steps.append({"host": h, "step": s, "start": min(begun[g.rank] for g in mine) - 2 * US,
                          "end": max(g.host_at for g in mine) + US})
            for g in mine:
                g.host_at = steps[-1]["end"] + 20 * US
    for m in modules[1:]:
        for _ in range(2):
            execute(args, gpus, m, {"module": m, "step": None, "index": index})
            index += 1
    return gpus, modules, steps


# ---- files

def device_facts(args):
    if args.amd:
        return [("device_vendor", "AMD"), ("clock_rate", 2100000), ("core_count", 304),
                ("memory_bandwidth", 2662400000000), ("memory_size", 206141652992),
                ("compute_cap_major", 9), ("compute_cap_minor", 4)]
    return [("device_vendor", "Nvidia"), ("gpu_device_name", "NVIDIA H100 80GB HBM3"), ("clock_rate", 1980000),
            ("core_count", 132), ("memory_bandwidth", 3352320000000), ("memory_size", 85017493504),
            ("compute_cap_major", 9), ("compute_cap_minor", 0)]


def kernel_name(args, k):
    if not args.amd:
        return k.name
    return ("__amd_rocclr_copyBuffer" if k.instr.opcode == "copy" else k.name) + ".kd"


def hlo_stats(args, module, instr, in_graph):
    stats = {"tf_op": (5, "XlaModule:"), "hlo_op": "command_buffer_1" if in_graph else instr.name,
             "hlo_module": module.name, "program_id": module.program}
    if instr.op_name and not args.no_scopes and not in_graph:
        stats["name"] = instr.op_name
    return stats


def in_graph(args, instr):
    return args.graphs and instr.coll is None and instr.opcode != "copy"


def device_stats(args, k):
    stats = {"correlation_id": (3, k.corr)}
    if k.instr.opcode == "copy" and not args.amd:
        stats["memcpy_details"] = f"kind_src:device kind_dst:device size:{k.instr.copied} dest:0 async:1"
    elif args.amd:
        stats["kernel_details"] = " grid:264,1,1 block:256,1,1 private_mem:0 group_mem:16384 occ_pct:0"
    else:
        stats["theoretical_occupancy_pct"] = 50.0
        stats["kernel_details"] = "regs:64 static_shared:0 dynamic_shared:16384 grid:264,1,1 block:256,1,1 occ_pct:50"
    graph = in_graph(args, k.instr)
    if graph:
        stats["cuda_graph_id"] = (3, 20)
        stats["cuda_graph_node_id"] = (3, 20 << 32 | sum(map(ord, k.instr.name)))
    return stats | hlo_stats(args, k.run["module"], k.instr, graph)


def gpu_plane(args, gpu, shift):
    plane = Plane(f"/device:GPU:{gpu.dev}", gpu.dev)
    plane.facts = device_facts(args)
    for on_comm, number, what in ((False, 14, "MemcpyD2D,Compute"), (True, 20, "Compute")):
        mine = [k for k in gpu.kernels if k.on_comm == on_comm]
        line = plane.line(number, f"Stream #{number}({what})", 50) if mine else None
        for k in sorted(mine, key=lambda k: k.start):
            plane.event(line, kernel_name(args, k), k.start - shift, k.dur, device_stats(args, k))
    return plane


def host_plane(args, gpus, steps, shift):
    plane = Plane("/host:CPU")
    python = plane.line(2218618457151031885, "python3", 20, "python3")
    events = []
    for s in steps:
        if not args.no_steps:
            events.append((s["start"], s["end"] - s["start"], "train", {"_r": 1, "step_num": s["step"]}))
        events.append((s["start"] + US // 2, s["end"] - s["start"] - US, "$train.py:12 train_step", {}))
    events += [(t, 8 * US, f"PjitFunction({r['module'].name[4:]})", {}) for g in gpus[:1] for r, t, _ in g.runs]
    for start, dur, name, stats in sorted(events, key=lambda e: (e[0], -e[1])):
        plane.event(python, name, start - shift, dur, stats)
    for g in gpus:
        line = plane.line(1000 + g.dev, f"Host Threads/{1000 + g.dev}", 30, f"Host Threads/{1000 + g.dev}")
        for n, (start, dur, kind, corr, run, instr) in enumerate([] if args.no_launches else g.launches):
            stats = {"device_id": g.dev, "correlation_id": (3, corr)} | hlo_stats(args, run["module"], instr, kind == "graph")
            plane.event(line, (AMD if args.amd else LAUNCH)[kind], start - shift, dur, stats)
    for g in gpus if args.memory else []:
        line = plane.line(3000 + g.dev, f"tf_pjrt_thread_pool/{g.dev}", 40)
        for n, (run, start, _) in enumerate(g.runs):
            for what, at, held in (("MemoryAllocation", start + US, 1), ("MemoryDeallocation", g.ends[run["index"]], 0)):
                plane.event(line, what, at - shift, 0, {
                    "allocator_name": f"GPU_{g.dev}_bfc", "bytes_reserved": 0, "bytes_allocated": held << 20,
                    "bytes_available": (64 - held) << 20, "fragmentation": 0.25, "peak_bytes_in_use": 1 << 20,
                    "requested_bytes": (1 << 20) - 100, "allocation_bytes": 1 << 20, "addr": 0x7f0000000000 + n})
    return plane


def metadata_plane(args, modules):
    """The key is the program's id on TPUs and in older files, otherwise just a number."""
    plane = Plane("/host:metadata")
    for m in modules:
        plane.named(f"{m.name}({m.program})", stats=() if args.dump else (("Hlo Proto", m.proto()),),
                    key=m.program if args.tpu or args.amd else None)
    return plane


def tpu_plane(args, gpu, shift):
    plane = Plane(f"/device:TPU:{gpu.dev}", 2 + 8 * gpu.dev)
    plane.facts = [("device_type_string", "TPU v6 Lite"), ("peak_teraflops_per_second", 918.0),
                   ("peak_hbm_bw_gigabytes_per_second", 1637.993152512)]
    runs, ops, later = (plane.line(i, n) for i, n in ((2, "XLA Modules"), (3, "XLA Ops"), (4, "Async XLA Ops")))
    of_run = truth.by_run(gpu)
    for run, _, _ in gpu.runs:
        begun, m = min(k.start for k in of_run[run["index"]]), run["module"]
        plane.event(runs, f"{m.name}({m.program})", begun - shift, gpu.ends[run["index"]] - begun,
                    {"run_id": run["index"], "_ct": 12, "_c": 1000 * gpu.rank + run["index"] + 1})
    for k in sorted(gpu.kernels, key=lambda k: k.start):
        meta = {"hlo_category": category(k.instr), "program_id": (3, k.run["module"].program),
                "flops": (3, k.instr.flops or 0), "bytes_accessed": (3, k.instr.bytes or 0),
                "source": (5, k.instr.more.get("source", "train.py:1")), "tf_op": (5, k.instr.op_name)}
        name = plane.named(k.instr.text(), "async-" + k.instr.coll["type"] if k.on_comm else k.instr.name, meta)
        plane.put(later if k.on_comm else ops, name, k.start - shift, k.dur, {"device_offset_ps": k.start})
    return plane


def category(instr):
    """XLA's hlo_category; for an async wrapper, its computation's."""
    kind = (instr.waits or instr).coll
    suffix = [s for s in ("-start", "-done") if s in instr.name]
    return "".join([kind["type"]] + suffix) if kind else instr.opcode


def tpu_host_plane(gpus, shift):
    plane = Plane("/host:CPU")
    line = plane.line(3118193, "tf_Compute/3118193", 20)
    for start, g, run in sorted(((t, g, r) for g in gpus for r, t, _ in g.runs), key=lambda e: (e[0], e[1].rank)):
        plane.event(line, "DoEnqueueProgram", start - shift, US, {
            "_pt": 12, "_p": 1000 * g.rank + run["index"] + 1, "run_id": run["index"], "device_ordinal": g.dev})
    return plane


def write(args, name, data):
    if args.damage == "text":
        data = data.decode("utf-8", "replace").replace("\r", "\n").encode()
    elif args.damage:
        data = data[:int(args.damage)]
    if args.gz:
        name, data = name + ".gz", gzip.compress(data, 6, mtime=0)
    with open(os.path.join(args.output, name), "wb") as f:
        f.write(data)
    if args.zst:
        subprocess.run(["zstd", "-q", "--rm", "-f", os.path.join(args.output, name)], check=True)


def profile(args, host, gpus, modules, steps):
    """One host's file; its clock starts when it begins to record."""
    shift = -host * 1_000_003_000  # ps; it began earlier
    mine = [g for g in gpus if g.host == host]
    task = Plane("Task Environment")
    task.facts = [("profile_start_time", (3, BASE + shift // 1000)),
                  ("profile_stop_time", (3, BASE + max(max(g.ends.values()) for g in mine) // 1000))]
    if args.tpu:
        planes = [tpu_plane(args, g, shift) for g in mine]
        planes += [metadata_plane(args, modules), tpu_host_plane(mine, shift), task]
    else:
        planes = [metadata_plane(args, modules)] + [gpu_plane(args, g, shift) for g in mine]
        planes += [host_plane(args, mine, [s for s in steps if s["host"] == host], shift), task]
    return space(planes, f"node{host}")


def dump(args, host, modules):
    """The files of XLA_FLAGS=--xla_dump_to on a host."""
    where = os.path.join(args.output, f"host{host}", "xla_dumps")
    os.makedirs(where, exist_ok=True)
    for m in modules:
        with open(f"{where}/module_{m.program:04}.{m.name}.sm_9.0_gpu_after_optimizations.txt", "w", encoding="utf-8") as f:
            f.write(m.dump())


def pairs(text):
    name, value = text.rsplit(":", 1)
    return name, float(value)


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("-o", "--output", required=True, help="the folder, made if needed")
    p.add_argument("--hosts", type=int, default=1)
    p.add_argument("--gpus", type=int, default=1, help="of each host")
    p.add_argument("--steps", type=int, default=2)
    p.add_argument("--runs", type=int, default=1, help="of the module in a step")
    p.add_argument("--layers", type=int, default=2)
    p.add_argument("--late", type=lambda t: map(int, t.split(":")), action="append", default=[],
                   metavar="RANK:NS", help="its host begins each module so much later")
    p.add_argument("--slower", type=pairs, action="append", default=[], metavar="INSTRUCTION:FACTOR")
    p.add_argument("--iota", action="store_true", help="write groups as [G,D]<=[...]T(...)")
    p.add_argument("--ps", action="store_true", help="times have fractions of a ns")
    p.add_argument("--no-steps", action="store_true", help="no StepTraceAnnotation")
    p.add_argument("--no-launches", action="store_true")
    p.add_argument("--no-scopes", action="store_true", help="kernels do not carry op_name")
    p.add_argument("--graphs", action="store_true", help="what does not communicate is in command buffers")
    p.add_argument("--memory", action="store_true", help="allocations")
    p.add_argument("--amd", action="store_true")
    p.add_argument("--tpu", action="store_true")
    p.add_argument("--dump", action="store_true", help="no HLO in the files, but dumps beside them: hostN/xla_dumps")
    p.add_argument("--gz", action="store_true")
    p.add_argument("--zst", action="store_true")
    p.add_argument("--damage", metavar="text|BYTES", help="copied as text; cut after so many bytes")
    args = p.parse_args()
    args.late, args.slower = dict(args.late), dict(args.slower)
    gpus, modules, steps = simulate(args)
    os.makedirs(args.output, exist_ok=True)
    for host in range(args.hosts):
        write(args, f"host{host}.xplane.pb", profile(args, host, gpus, modules, steps))
        if args.dump:
            dump(args, host, modules)
    with open(os.path.join(args.output, "truth.json"), "w", encoding="utf-8") as f:
        json.dump(truth.figures(args, gpus, modules, steps), f, indent=1)


main()
