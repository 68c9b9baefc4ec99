#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mfu.py: MFU and HFU of drawn traces, as TAP.

    mfu.py [--seeds N]

A trace is drawn with known contents of each step: products forward and backward,
recompute of checkpointing, flash attention, other ops, collectives, GPU work
without a launch, one or two GPUs. The figures of a step follow from these by the
formulas alone, and are compared with tl-roofline (in PATH).
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

PEAK = {"bf16": 100.0, "fp32": 20.0}  # TFLOP/s
TYPES = {"bf16": ("c10::BFloat16", 2), "fp32": ("float", 4)}
ARCH = {"name": "drawn", "mem_bw_gbps": 1000,
        "peak_tflops": {"matrix_bf16": 100, "matrix_fp32": 20, "vector_fp32": 20, "vector_bf16": 20}}
COVERAGE = 0.9


class Step:
    def __init__(self, number, start, end):
        self.number, self.start, self.end = number, start, end
        self.flops = {"bf16": [0, 0], "fp32": [0, 0]}  # model, hardware
        self.gpu = self.modelled = self.lost = 0
        self.devices = set()

    def figures(self, is_partial):
        """wall, model and hardware TFLOP, MFU, HFU, percent without a model"""
        wall = self.end - self.start
        tflop = [sum(f[i] for f in self.flops.values()) / 1e12 for i in (0, 1)]
        unmodelled = 100 * (self.gpu - self.modelled) / self.gpu
        if self.modelled < COVERAGE * self.gpu or tflop[1] == 0 or is_partial:
            return [wall] + tflop + [None, None, unmodelled]
        ideal = [sum(f[i] / (PEAK[t] * 1e12) for t, f in self.flops.items()) for i in (0, 1)]
        capacity = wall / 1e9 * len(self.devices)
        return [wall] + tflop + [100 * x / capacity for x in ideal] + [unmodelled]


class Drawn:
    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.events, self.steps = [], []
        self.now, self.corr = 1000, 0
        self.ndevices = self.draw.choice((1, 1, 2))

    def event(self, cat, name, tid, ts, dur, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 1 if cat != "kernel" else 0,
                            "tid": tid, "ts": ts / 1000, "dur": dur / 1000, "args": args})

    def kernel(self, step, name, dur, linked=True):
        device = self.draw.randrange(self.ndevices)
        self.corr += 1
        if linked:
            self.event("cuda_runtime", "cudaLaunchKernel", 1, self.now + 200, 100, correlation=self.corr)
            step.devices.add(device)
        self.event("kernel", name, 7, self.now + 400, dur, device=device, stream=7,
                   correlation=self.corr)

    def op(self, step, name, shapes, kind, dur, values=None, kernel="gemm"):
        t = TYPES[kind][0] if kind else ""
        self.event("cpu_op", name, 1, self.now, 500, **{
            "Input Dims": shapes, "Input type": [t if s else "Scalar" for s in shapes],
            "Concrete Inputs": values or ["" for _ in shapes]})
        self.kernel(step, kernel, dur)
        self.now += dur + 2000
        step.gpu += dur

    def product(self, step, repeated=False):
        kind = self.draw.choice(("bf16", "bf16", "fp32"))
        m, k, n = (self.draw.randrange(1, 300) for _ in range(3))
        dur = self.draw.randrange(1000, 50000)
        self.op(step, "aten::mm", [[m, k], [k, n]], kind, dur)
        flops = 2 * m * k * n
        step.flops[kind][1] += flops
        step.flops[kind][0] += 0 if repeated else flops
        step.modelled += dur

    def attention(self, step):
        b, h, d = self.draw.randrange(1, 4), self.draw.randrange(1, 5), 64
        n = self.draw.randrange(1, 9) * 16
        q = [b, n, h, d]
        dur = self.draw.randrange(1000, 20000)
        back = self.draw.random() < 0.5
        one = 2 * b * h * n * n * d  # a product of queries and keys
        if back:
            self.op(step, "flash_attn::_flash_attn_backward", [q] * 6 + [[], [], []], "bf16", dur,
                    [""] * 6 + ["", "", "", "0.", "0.125", "False"][:9], "flash_bwd")
        else:
            self.op(step, "flash_attn::_flash_attn_forward", [q, q, q], "bf16", dur,
                    ["", "", "", "0.", "0.125", "False"], "flash_fwd")
        step.flops["bf16"][0] += (4 if back else 2) * one
        step.flops["bf16"][1] += (5 if back else 2) * one
        step.modelled += dur

    def other(self, step):
        dur = self.draw.randrange(500, 30000)
        what = self.draw.randrange(4)
        if what == 0:    # no model
            self.op(step, "my::op", [[8]], "fp32", dur, kernel="mine")
        elif what == 1:  # a model of the vector units
            self.op(step, "aten::add", [[64, 64], [64, 64], []], "fp32", dur, kernel="add")
            step.modelled += dur
        elif what == 2:  # no launch: of no step
            self.kernel(step, "lost", dur, linked=False)
            step.lost += dur
            self.now += dur + 2000
        else:            # communication counts for nothing
            self.kernel(step, "ncclDevKernel_AllReduce_Sum", dur)
            self.now += dur + 2000

    def step(self, number):
        step = Step(number, self.now, 0)
        few = self.draw.random() < 0.5
        for _ in range(self.draw.randrange(2, 12)):
            self.draw.choice((self.product, self.product, self.attention) if few else
                             (self.product, self.attention, self.other))(step)
        self.draw.choice((self.product, self.attention))(step)
        start = self.now
        self.now += 1000
        for _ in range(self.draw.randrange(3)):
            self.product(step, True)
        self.event("python_function", "torch/utils/checkpoint.py(300): recompute_fn", 1, start,
                   self.now - start)
        self.now += self.draw.randrange(1000, 100000)
        step.end = self.now
        self.event("user_annotation", "ProfilerStep#%d" % number, 1, step.start, step.end - step.start)
        self.steps.append(step)

    def write(self, path):
        for i in range(self.draw.randrange(2, 6)):
            self.step(10 + i)
        self.draw.shuffle(self.events)
        with open(path, "w") as f:
            f.write(json.dumps({"traceEvents": self.events}))


def rows(trace, arch):
    out = subprocess.run(
        ["tl-roofline", "--arch", arch, "--table", "roofline_by_step", "--no-header", "-c",
         "step,wall_ns_sum,model_tflop,hardware_tflop,mfu,hfu,pct_unmodelled", trace],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
    return [[float(c) if c else None for c in line.split("\t")] for line in out.splitlines()]


def near(a, b):
    return a == b if None in (a, b) else abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seeds", type=int, default=30)
    args = p.parse_args()
    refused = given = partial = 0
    with tempfile.TemporaryDirectory() as folder:
        arch, trace = os.path.join(folder, "arch.json"), os.path.join(folder, "drawn.json")
        with open(arch, "w") as f:
            f.write(json.dumps(ARCH))
        for seed in range(args.seeds):
            drawn = Drawn(seed)
            drawn.write(trace)
            want = []
            for i, s in enumerate(drawn.steps):
                # work outside steps may belong to any that began before
                lost, gpu = (sum(getattr(x, f) for x in drawn.steps[i:]) for f in ("lost", "gpu"))
                is_partial = gpu < COVERAGE * (lost + gpu)
                partial += is_partial
                want.append([s.number] + s.figures(is_partial))
            got = rows(trace, arch)
            good = len(want) == len(got) and all(
                near(a, b) for w, g in zip(want, got) for a, b in zip(w, g))
            print("%sok %d - seed %d" % ("" if good else "not ", seed + 1, seed))
            for w, g in zip(want, got) if not good else ():
                print("# want %s\n# got  %s" % (w, g))
            refused += sum(w[4] is None for w in want)
            given += sum(w[4] is not None for w in want)
    print("%sok %d - all happen: %d figures, %d refused, %d for work of no step" % (
        "" if refused and given and partial else "not ", args.seeds + 1, given, refused, partial))
    print("1..%d" % (args.seeds + 1))


if __name__ == "__main__":
    sys.exit(main())
