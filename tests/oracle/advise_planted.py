#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""advise_planted.py: what is planted in a trace is found, with its gain, and
none of it in a sound trace.

Each trace says which rules must find something, and how much can be gained at
most: a time in us, as planted, or None if a finding has no gain. All times of a
trace are laid out here.
"""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

LAUNCH, LATENCY = 2, 3
# rules about the window, gaps, copies and kernels
SYSTEM = {"not_recorded", "idle", "graph", "graph_behind_calls", "opened",
          "exposed_communication", "overlap", "exposed_copies", "copies_d2h",
          "copies_d2h_many", "copies_h2d", "copies_h2d_many", "short_kernels",
          "short_kernels_in_graphs",
          "gap_likely", "gap_zero_grad", "gap_host", "gap_start", "gap_call", "gap_no_call"}


class Trace:
    """A host thread that launches work for GPU stream 7."""

    def __init__(self):
        self.events, self.at, self.gpu, self.corr = [], 0, 0, 0

    def put(self, cat, name, ts, dur, tid=1, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid,
                            "ts": ts, "dur": dur, "args": args})

    def host(self, cat, name, us):
        self.put(cat, name, self.at, us)
        self.at += us
        return self

    def gpu_work(self, us, name="k", cat="kernel", stream=7):
        """Launches it now; it runs after earlier work of the stream."""
        self.corr += 1
        self.put("cuda_runtime", "cudaLaunchKernel", self.at, LAUNCH, correlation=self.corr)
        self.at += LAUNCH
        start = max(self.gpu, self.at + LATENCY) if stream == 7 else self.gpu - us
        self.put(cat, name, start, us, stream, correlation=self.corr, device=0, stream=stream)
        self.gpu = max(self.gpu, start + us)
        return self

    def wait(self):
        """Until the GPU has finished all work."""
        self.put("cuda_runtime", "cudaStreamSynchronize", self.at, self.gpu + 1 - self.at)
        self.at = self.gpu + 1
        return self

    def idle(self):
        """Waits likewise, without an event that shows it."""
        self.at = max(self.at, self.gpu)
        return self


def sound():
    t = Trace()
    for _ in range(30):
        t.host("cpu_op", "aten::mm", 20).gpu_work(1000)
        t.gpu_work(500, "ncclDevKernel_AllReduce", stream=8)
    return t


def behind(cat, name, us, n, busy=10):
    """Each of n kernels is launched after an event, to an idle GPU."""
    t = Trace()
    for _ in range(n):
        t.host(cat, name, us).gpu_work(busy).idle()
    return t


def exposed(name, cat, us, n):
    t = Trace()
    for _ in range(n):
        t.host("cpu_op", "aten::mm", 20).gpu_work(1000).gpu_work(us, name, cat)
    return t


def items(busy):
    t = Trace()
    for _ in range(40):
        t.host("cpu_op", "aten::item", 30).gpu_work(busy).wait()
    return t


def missing():
    t = behind("cpu_op", "aten::mm", 100, 5)
    t.gpu_work(10)
    t.events[-1]["ts"] += 50000
    t.host("cuda_runtime", "cudaDeviceSynchronize", 50000)
    return t


def silent():
    t = Trace()
    for _ in range(15):
        t.at += 1000
        t.host("cpu_op", "aten::mm", 10).gpu_work(1000).idle()
    return t


PLANTED = [
    ("sound", sound(), {}),
    ("exposed all-reduce", exposed("ncclDevKernel_AllReduce", "kernel", 400, 10),
     {"exposed_communication": 10 * 400, "overlap": None}),
    ("copies between kernels", exposed("Memcpy HtoD (Pinned -> Device)", "gpu_memcpy", 300, 12),
     {"exposed_copies": 12 * 300, "copies_h2d": None}),
    ("results read one by one", exposed("Memcpy DtoH (Device -> Pinned)", "gpu_memcpy", 3, 12),
     {"copies_d2h_many": None}),
    # the first one is before the first GPU event
    ("hipFree in the loop", behind("cuda_runtime", "hipFree", 100, 40),
     {"gap_call": 39 * (100 + LAUNCH + LATENCY)}),
    ("a thread that launches too slowly", behind("cpu_op", "aten::mm", 100, 40, 8),
     {"graph": 39 * (100 + LAUNCH + LATENCY), "short_kernels": None, "idle": None}),
    ("few launches behind long ops", behind("cpu_op", "aten::mm", 100, 19),
     {"gap_host": 18 * (100 + LAUNCH + LATENCY)}),
    ("code that is loaded", behind("cuda_runtime", "cuModuleLoadData", 3000, 5),
     {"gap_start": 4 * 3000}),
    ("item() behind each op", items(60), {"opened": 39 * (30 + 1 + LAUNCH + LATENCY)}),
    ("item(), of a thread that launches too slowly", items(10),
     {"graph_behind_calls": 39 * (30 + 1 + LAUNCH + LATENCY)}),
    ("GPU work that is not recorded", missing(), {"not_recorded": None}),
    ("time without events", silent(), {"not_recorded": None}),
]


def findings(trace, folder):
    path = os.path.join(folder, "trace.json")
    with open(path, "w", encoding="ascii") as f:
        f.write(json.dumps({"traceEvents": trace.events}))
    p = subprocess.run(["tl-advise", "--format", "csv", "-c", "rule,gain_ns_high,insight", path],
                       capture_output=True, text=True, check=False)
    if p.returncode not in (0, 3):
        raise SystemExit("status %d: %s" % (p.returncode, p.stderr))
    return list(csv.DictReader(io.StringIO(p.stdout)))


def check(trace, want, folder):
    rows = [r for r in findings(trace, folder) if r["rule"] in SYSTEM]
    bad = []
    for rule, us in want.items():
        gains = [r["gain_ns_high"] for r in rows if r["rule"] == rule]
        if not gains:
            bad.append("%s finds nothing" % rule)
        elif us is None and any(gains):
            bad.append("%s gains %s" % (rule, gains))
        elif us is not None and not 0.9 * us * 1000 <= sum(map(int, gains)) <= 1.02 * us * 1000:
            bad.append("%s gains %s ns, not %d us" % (rule, gains, us))
    if not want:
        bad += ["%s: %s" % (r["rule"], r["insight"]) for r in rows]
    return bad


def main():
    failed = 0
    print("1..%d" % len(PLANTED))
    with tempfile.TemporaryDirectory() as folder:
        for i, (name, trace, want) in enumerate(PLANTED):
            bad = check(trace, want, folder)
            failed += bool(bad)
            print("%sok %d - planted: %s" % ("not " if bad else "", i + 1, name))
            for line in bad:
                print("# " + line)
            sys.stdout.flush()
    return bool(failed)


sys.exit(main())
