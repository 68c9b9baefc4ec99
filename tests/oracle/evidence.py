#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""evidence.py: traces whose recoverable time and evidence are known, for
tests/cli/recoverable.t; writes them into the working directory."""
import json


class Trace:
    """Times in us."""

    def __init__(self):
        self.events, self.calls = [], 0

    def put(self, cat, name, ts, dur, pid=1, tid=1, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid,
                            "ts": ts, "dur": dur, "args": args})

    def mm(self, at, gpu_at, us, pid=1, tid=1, dev=0, call_us=10):
        """An op of 20 us that launches a kernel; returns the kernel's end."""
        self.calls += 1
        self.put("cpu_op", "aten::mm", at, 10 + call_us, pid, tid, **{
            "External id": self.calls,
            "Input Dims": [[4096, 4096], [4096, 4096]],
            "Input type": ["c10::BFloat16", "c10::BFloat16"],
            "Input Strides": [[4096, 1], [4096, 1]], "Concrete Inputs": ["", ""]})
        self.put("cuda_runtime", "cudaLaunchKernel", at + 5, call_us, pid, tid,
                 correlation=self.calls)
        start = max(gpu_at, at + call_us + 10)
        self.put("kernel", "Cijk_gemm", start, us, dev, 7, correlation=self.calls,
                 device=dev, stream=7)
        return start + us

    def save(self, name):
        with open(name + ".json", "w", encoding="utf-8") as f:
            json.dump({"schemaVersion": 1, "deviceProperties": [
                {"id": i, "name": "AMD Instinct MI300X"} for i in range(2)],
                "traceEvents": self.events}, f)


def loading(name, wait=None, busy=500, load=20000):
    """Steps of data loading, and GPU work that ends within it unless the host waits
    for it."""
    t, at, gpu = Trace(), 0, 0
    for step in range(5):
        start = at
        for _ in range(10):
            gpu = t.mm(at, gpu, busy)
            at += 30
        if wait:
            t.put("cuda_runtime", wait, at, gpu + 5 - at)
            at = gpu + 5
        if load:
            t.put("python_function", "torch/utils/data/dataloader.py(628): __next__", at, load)
            at += load
        t.put("user_annotation", "ProfilerStep#%d" % step, start, at - start)
    t.save(name)


def lock(name, held):
    """Launches that another thread holds up, by step and number."""
    t, at, gpu = Trace(), 0, 0
    for step in range(5):
        start = at
        for k in range(10):
            us = 6000 if (step, k) in held else 10
            gpu = t.mm(at, gpu, 100, call_us=us)
            if us > 10:
                t.put("cuda_runtime", "cudaMalloc", at, us, tid=2, correlation=900)
            at += us + 120
        t.put("user_annotation", "ProfilerStep#%d" % step, start, at - start)
    t.save(name)


def later():
    """Work of the first of two steps runs in the second, behind work of 1 ms that the
    trace lacks."""
    t, gpu = Trace(), 3000
    for step in range(2):
        for k in range(5):
            gpu = t.mm(2000 * step + 100 * k, gpu, 100)
        t.put("user_annotation", "ProfilerStep#%d" % step, 2000 * step, 2000)
    t.save("later")


def two(name, pids, tids, devs, steps=(5, 5)):
    """The second of two processes, threads or GPUs does as much as the first, a GPU a
    hundredth."""
    t, gpu = Trace(), [0, 0]
    for i in range(2):
        for step in range(steps[i]):
            at = step * 10000
            for k in range(10 if i == 0 or devs[1] == 0 else 1):
                gpu[i] = t.mm(at + 1000 * k + 20 * i, gpu[i], 950 if i == 0 else 100,
                              pids[i], tids[i], devs[i])
            if i == 0 or pids[0] != pids[1] or tids[0] != tids[1]:
                t.put("user_annotation", "ProfilerStep#%d" % step, at, 10000, pids[i], tids[i])
    t.save(name)


def other_work(name, cat, kernel):
    """Each of five steps computes for 1 ms, then copies or communicates for 1 ms."""
    t, at = Trace(), 0
    for step in range(5):
        end = t.mm(at, 0, 1000)
        t.calls += 1
        t.put("cuda_runtime", "cudaLaunchKernel", at + 40, 5, correlation=t.calls)
        t.put(cat, kernel, end, 1000 + step, 0, 8, correlation=t.calls, device=0, stream=8)
        t.put("user_annotation", "ProfilerStep#%d" % step, at, 2200)
        at += 2200
    t.save(name)


loading("hidden")
other_work("communicates", "kernel", "ncclDevKernel_AllReduce_Sum_f32_RING")
other_work("copies", "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)")
loading("waits", wait="cudaDeviceSynchronize")
loading("frees", wait="hipFree")
loading("gpu_bound", busy=2000, load=0)
loading("launches", busy=5, load=0)
lock("lock", [(3, 5)])
lock("locks", [(2, 5), (3, 5)])
later()
two("gpus", (1, 1), (1, 1), (0, 1))
two("threads", (1, 1), (1, 2), (0, 0), (5, 4))
two("processes", (1, 2), (1, 1), (0, 0))
two("uneven", (1, 2), (1, 1), (0, 0), (5, 3))
