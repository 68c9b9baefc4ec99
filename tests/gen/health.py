#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A small sound trace, and defects planted into it.

    health.py [DEFECT...] >trace.json

It has 40 ops in 4 steps; each launches one kernel of 30.123 us on one of two
GPU streams, in order. A defect is NAME or NAME=N, for N events of it.
"""
import json
import sys

OPS, STEPS, PERIOD, KERNEL = 40, 4, 100.5, 30.123
BEGIN = 5000.25  # us


class Trace:
    """Events by kind, and members of the file."""

    def __init__(self):
        self.steps, self.ops, self.calls, self.kernels = [], [], [], []
        self.more, self.members = [], {"with_stack": 1}
        for i in range(OPS):
            at = BEGIN + i * PERIOD
            self.ops.append(self.event(
                "cpu_op", "aten::mm", at, 20.5, 1, 1,
                {"External id": i + 1, "Input Dims": [[64, 64], [64, 64]],
                 "Input Strides": [[64, 1], [64, 1]],
                 "Input type": ["float", "float"],
                 "Concrete Inputs": ["", ""]}))
            self.calls.append(self.event(
                "cuda_runtime", "cudaLaunchKernel", at + 5, 4.75, 1, 1,
                {"correlation": 100 + i, "External id": i + 1}))
            stream = 7 + i % 2
            self.kernels.append(self.event(
                "kernel", "gemm_64x64", at + 15, KERNEL, 0, stream,
                {"device": 0, "stream": stream, "correlation": 100 + i,
                 "External id": i + 1, "grid": [8, 1, 1],
                 "block": [128, 1, 1]}))
        each = OPS // STEPS
        for i in range(STEPS):
            self.steps.append(self.event(
                "user_annotation", f"ProfilerStep#{i}",
                BEGIN - 1 + i * each * PERIOD, each * PERIOD, 1, 1, {}))

    @staticmethod
    def event(cat, name, ts, dur, pid, tid, args):
        return {"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur,
                "pid": pid, "tid": tid, "args": args}

    def host(self):
        return self.steps + self.ops + self.calls

    def write(self, out):
        text = json.dumps(
            dict(self.members, traceEvents=self.host() + self.kernels +
                 self.more), separators=(",", ":"))
        out.write(text.replace('"corr2"', '"correlation"'))


def zero(t, n):
    for e in t.host() + t.kernels:
        e["ts"] += 2e10  # hours after the start of the clock
    for e in t.kernels[:n]:
        e["ts"] = 0


def zero_host(t, n):
    zero(t, 0)
    for e in t.ops[:n]:
        e["ts"] = 0


def huge(t, n):
    for e in t.kernels[-n:]:
        e["dur"] = 2 * 86400e6


def negative(t, n):
    for e in t.kernels[:n]:
        e["dur"] = -5.5


def no_duration(t, n):
    for e in t.kernels[:n]:
        e["dur"] = 0


def jump(t, n):
    """The second half n seconds later."""
    for e in t.host() + t.kernels:
        if e["ts"] > BEGIN + OPS // 2 * PERIOD - 2:
            e["ts"] += n * 1e6


def before_launch(t, n):
    for e in t.kernels[:n]:
        e["ts"] -= 12


def outside(t, n):
    end = t.kernels[-n]["ts"] - 1
    t.more.append(t.event("Trace", "PyTorch Profiler (0)", BEGIN - 10,
                          end - BEGIN + 10, "Spans", "PyTorch Profiler", {}))


def overrun(t, n):
    """Every fourth kernel lasts until the next but one on its stream."""
    for i in range(n):
        t.kernels[4 * i]["dur"] = 2 * PERIOD + KERNEL + 10


def overlap(t, n):
    """Kernels end 5 us into the next one."""
    for i in range(n):
        t.kernels[4 * i]["dur"] = 2 * PERIOD + 5


def dominant(t, n):
    t.kernels[-1]["dur"] = n * 1e3 + 0.123


def coarse(t, _):
    for e in t.host() + t.kernels:
        e["ts"], e["dur"] = int(e["ts"]), int(e["dur"])


def skipped(t, n):
    for e in t.kernels[:n]:
        del e["ts"]


def twice(t, n):
    t.more += [dict(e) for e in t.kernels[:n]]


def keys(t, n):
    for e in t.ops[:n]:
        e["args"]["corr2"] = 1
        e["args"]["correlation"] = 2


def several(t, n):
    for i in range(n):
        t.more.append(t.event("Trace", "PyTorch Profiler (0)", BEGIN - 10,
                              OPS * PERIOD, "Spans", f"{i}", {}))


def burst(t, n):
    """Kernels start together with the next one of their stream."""
    for i in range(0, 4 * n, 4):
        t.kernels[i]["ts"] = t.kernels[i + 2]["ts"]


def no_launch(t, n):
    del t.calls[10:10 + n]


def no_work(t, n):
    del t.kernels[10:10 + n]


def no_op(t, n):
    del t.ops[:n]


def no_id(t, n):
    for e in t.kernels[10:10 + n]:
        del e["args"]["correlation"]


def again(t, n, pid):
    for e in t.calls[:n]:
        t.more.append(t.event("cuda_runtime", "cudaMemsetAsync", e["ts"] + 60,
                              2.5, pid, 2, dict(e["args"])))


def shared(t, n):
    again(t, n, 1)


def processes(t, n):
    again(t, n, 2)


def inside(t, n):
    """A driver call inside the runtime call of the same id: no defect."""
    for e in t.calls[:n]:
        t.more.append(t.event("cuda_driver", "cuLaunchKernel", e["ts"] + 1,
                              2.5, 1, 1, dict(e["args"])))


def graphs(t, n):
    """8 replays of a graph of 3 kernels; n of them lack one."""
    for i in range(8):
        at = BEGIN + (OPS + i) * PERIOD
        t.more.append(t.event("cpu_op", "replay", at, 20, 1, 1,
                              {"Input Dims": [[4, 4]],
                               "Input Strides": [[4, 1]]}))
        t.more.append(t.event("cuda_runtime", "cudaGraphLaunch", at + 5, 5, 1,
                              1, {"correlation": 900 + i}))
        for k in range(3 - (i < n)):
            t.more.append(t.event(
                "kernel", f"node{k}", at + 20 + 10 * k, 8.5, 0, 7,
                {"device": 0, "stream": 7, "correlation": 900 + i,
                 "graph id": 5, "graph node id": k}))


def captured(t, n):
    """Launches into a graph that is captured: no defect."""
    at = BEGIN + (OPS + 1) * PERIOD
    for i, name in enumerate(["cudaStreamBeginCapture"] +
                             ["cudaLaunchKernel"] * n +
                             ["cudaStreamEndCapture"]):
        t.more.append(t.event("cuda_runtime", name, at + 5 * i, 4, 1, 1,
                              {"correlation": 800 + i}))
    t.more.append(t.event("cuda_runtime", "cudaLaunchKernel", at + 9000, 4, 1,
                          1, {"correlation": 899}))
    t.more.append(t.event("kernel", "last", at + 9010, 4.5, 0, 7,
                          {"device": 0, "stream": 7, "correlation": 899}))


def backward(t, n):
    name = "autograd::engine::evaluate_function: "
    for i in range(n):
        t.ops[i]["name"] = name + "MmBackward0"
    t.ops[n]["name"] = name + "torch::autograd::AccumulateGrad"


def late(t, n):
    """Kernel 20 and all later events n ms later, except its launch."""
    border = BEGIN + 20 * PERIOD
    for e in t.host():
        e["ts"] += n * 1e3 if e["ts"] > border + 10 else 0
    for e in t.kernels[20:]:
        e["ts"] += n * 1e3


def blocked(t, n):
    late(t, n)
    t.ops[20]["dur"] += n * 1e3
    t.steps[2]["dur"] += n * 1e3
    t.more.append(t.event("cuda_runtime", "cudaDeviceSynchronize",
                          BEGIN + 20 * PERIOD + 11, n * 1e3, 1, 1,
                          {"correlation": 700}))


def begin(t, n):
    del t.calls[:n]


def end(t, n):
    del t.kernels[-n:]


def starved(t, n):
    """n launches one after the other, without kernels."""
    for i in range(n):
        t.more.append(t.event("cuda_runtime", "cudaLaunchKernel",
                              BEGIN + 20 * PERIOD + 22 + i, 0.75, 1, 1,
                              {"correlation": 600 + i}))


def far(t, n):
    """All but the first op 10^n us later."""
    for what in t.ops, t.calls, t.kernels, t.more:
        for e in what[0 if what is t.more else 1:]:
            e["ts"] += 10 ** n


def steps(t, n):
    each = OPS // STEPS
    for what in t.ops, t.calls, t.kernels:
        del what[each:each * (n + 1)]


def lost(t, n):
    t.members["WARNING"] = ["CUPTI dropped records"] * n


def rank(t, n):
    t.members["distributedInfo"] = {"rank": n, "world_size": 4}


def later(t, n):
    for e in t.host() + t.kernels:
        e["ts"] += n * 1e6


def uneven(t, n):
    """n fewer ops in the second step."""
    each = OPS // STEPS
    for what in t.ops, t.calls, t.kernels:
        del what[each:each + n]


def no_ops(t, _):
    t.ops.clear()


def no_shapes(t, n):
    for e in t.ops[:n]:
        e["args"]["Input Dims"] = [[], []]


def no_strides(t, _):
    for e in t.ops:
        del e["args"]["Input Strides"]


def no_types(t, _):
    for e in t.ops:
        del e["args"]["Input type"]


def no_stacks(t, _):
    del t.members["with_stack"]


def flows(t, n):
    """Arrows from each launch to its kernel; n of them lack an end."""
    for i, (a, b) in enumerate(zip(t.calls, t.kernels)):
        for k, (ph, e) in enumerate((("s", a), ("f", b))):
            if i >= n or i % 2 != k:
                t.more.append({"ph": ph, "id": 100 + i, "cat": "ac2g",
                               "name": "ac2g", "ts": e["ts"],
                               "pid": e["pid"], "tid": e["tid"]})


def no_model(t, n):
    for e in t.ops[:n]:
        e["name"] = "site::novelty"


def device(t, _):
    t.members["deviceProperties"] = [
        {"id": 0, "name": "NVIDIA H100 80GB HBM3"}]


def above_roof(t, n):
    """Products of 2^40 operations in 30 us."""
    device(t, 1)
    for e in t.ops[:n]:
        e["args"]["Input Dims"] = [[8192, 8192], [8192, 8192]]
        e["args"]["Input Strides"] = [[8192, 1], [8192, 1]]


def cut(t, n):
    for e in t.ops[:n]:
        e["args"]["Concrete Inputs"] = ["", "[1, 2, ..., 9]"]


def names(t, n):
    for i, e in enumerate(t.ops[:n]):
        e["name"] += "\x01" if i % 2 else "\ufffd"


def unknown(t, n):
    for i in range(n):
        t.more.append(t.event("novelty", "x", BEGIN + i, 0.5, 1, 3, {}))


def unstable(t, _):
    """Half of the kernels take a thirtieth of the time."""
    for e in t.kernels[:OPS // 2]:
        e["dur"] = 1


def other_grid(t, _):
    """The kernels do other work: no defect."""
    unstable(t, 1)
    for e in t.kernels[:OPS // 2]:
        e["args"]["grid"] = [1, 1, 1]


def other_sizes(t, _):
    unstable(t, 1)
    for e in t.ops[:OPS // 2]:
        e["args"]["Input Dims"] = [[4, 4], [4, 4]]


def collective(t, _):
    unstable(t, 1)
    for e in t.kernels:
        e["name"] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"


def no_calls(t, _):
    t.calls.clear()


def no_steps(t, _):
    t.steps.clear()


def no_gpu(t, _):
    t.kernels.clear()


PLANTS = {f.__name__: f for f in (
    zero, zero_host, huge, negative, no_duration, jump, before_launch,
    outside, overrun, overlap, dominant, coarse, skipped, twice, keys,
    several, burst, no_launch, no_work, no_op, no_id, shared, processes,
    inside, graphs, captured, backward, late, blocked, begin, end, starved,
    far, steps, lost, rank, later, uneven, no_ops, no_shapes, no_strides, no_types,
    no_stacks, flows, no_model, device, above_roof, cut,
    names, unknown, unstable, other_grid, other_sizes, collective, no_calls,
    no_steps, no_gpu)}


def main():
    t = Trace()
    for word in sys.argv[1:]:
        name, _, n = word.partition("=")
        PLANTS[name](t, int(n or 1))
    t.write(sys.stdout)


if __name__ == "__main__":
    main()
