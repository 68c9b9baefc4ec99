#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A job of ranks that wait for each other, simulated: DIR/rankN.json.

    late.py -o DIR [--ranks 4] [--steps 6] [--call RANK|all:NAME=US]... [--without NAME]

In each step a rank makes its --call events on the host, one after another. It
launches 20 kernels of 300 us in total, and an all-reduce that begins when all ranks
have arrived and takes 100 us; then its host waits for it. Events start half a
microsecond apart. It prints the job's time in ns, the same for all ranks; with
--without, that of a job whose calls of this name take no time. The difference is
what the job would gain.
"""
import argparse
import json
import os

LAUNCH, KERNELS, KERNEL, TRANSFER = 10, 20, 15, 100


def calls(texts, ranks):
    of = {r: [] for r in range(ranks)}
    for t in texts:
        who, what = t.split(":", 1)
        name, us = what.rsplit("=", 1)
        for r in range(ranks) if who == "all" else [int(who)]:
            of[r].append((name, float(us)))
    return of


class Rank:
    def __init__(self, rank):
        self.rank, self.at, self.gpu, self.corr, self.events = rank, rank / 2, 0.0, 0, []

    def put(self, cat, name, ts, dur, tid=1, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 0 if tid == 7 else 100 + self.rank, "tid": tid,
                            "ts": ts, "dur": dur, "args": args})

    def launch(self):
        self.corr += 1
        self.put("cuda_runtime", "cudaLaunchKernel", self.at, LAUNCH, correlation=self.corr)
        self.at += LAUNCH
        self.gpu = max(self.gpu, self.at)

    def work(self, of):
        for name, us in of:
            self.put("cpu_op", name, self.at, us)
            self.at += us
        for _ in range(KERNELS):
            self.launch()
            self.put("kernel", "gemm", self.gpu, KERNEL, 7, correlation=self.corr, device=0, stream=7)
            self.gpu += KERNEL
        self.launch()

    def reduce(self, end, ranks, seq):
        self.put("kernel", "ncclDevKernel_AllReduce_Sum", self.gpu, end - self.gpu, 7, **{
            "correlation": self.corr, "device": 0, "stream": 7, "Seq": seq, "dtype": "Float",
            "Collective name": "allreduce", "Group size": ranks, "In msg nelems": 1000000,
            "Out msg nelems": 1000000, "Process Group Name": "0",
            "Process Group Ranks": str(list(range(ranks)))})
        self.gpu = end
        self.put("cuda_runtime", "cudaDeviceSynchronize", self.at, end + 5 - self.at)
        self.at = end + 5


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("-o", required=True)
    ap.add_argument("--ranks", type=int, default=4)
    ap.add_argument("--steps", type=int, default=6)
    ap.add_argument("--call", action="append", default=[])
    ap.add_argument("--without")
    a = ap.parse_args()
    of = calls(a.call, a.ranks)
    ranks = [Rank(r) for r in range(a.ranks)]
    for step in range(a.steps):
        begin = ranks[0].at
        for r in ranks:
            r.work([(n, 0 if n == a.without else us) for n, us in of[r.rank]])
        end = max(r.gpu for r in ranks) + TRANSFER
        for r in ranks:
            r.reduce(end, a.ranks, step)
            r.put("user_annotation", "ProfilerStep#%d" % step, begin, r.at - begin)
    os.makedirs(a.o, exist_ok=True)
    for r in ranks:
        with open("%s/rank%d.json" % (a.o, r.rank), "w", encoding="ascii") as f:
            f.write(json.dumps({"distributedInfo": {"rank": r.rank, "world_size": a.ranks},
                                "traceEvents": r.events}))
    print(round(1000 * ranks[0].at))


main()
