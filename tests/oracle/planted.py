#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""planted.py: causes of idle time planted in random traces, found by tl-idle.

    planted.py [-k] [FIRST LAST]

For each seed from FIRST to LAST (1 to 40) it makes a trace of steps in which the GPU
waits for known reasons: each cause alone, two in one gap or two at the same time; on
the launching thread or on another one that it waits for; before a late launch, in
the launch itself, or after one in time. tl-idle must agree to the nanosecond: the
time of each cause, overall, per step and in the window of the steps, and each gap
with its length, largest cause and whether it is a lock. Every tenth trace has no
host events. All causes must have been planted. -k keeps the traces in the working
directory.
"""
import collections
import json
import os
import random
import re
import sys
import tempfile

from worked import table

MAIN, OTHER, BACK = 1, 2, 3
FRAME, OP, CALL, NOTE = "python_function", "cpu_op", "cuda_runtime", "user_annotation"
US, MS = 1000, 1000000
LOCK = "<built-in method acquire of _thread.lock object at 0x1>"
# cause: category, names, longest time in ns: for longer ones another rule may hold (a
# stall, a first call, a synchronisation for nothing)
PLAIN = {
    "python": (FRAME, ["model.py(3): forward", "nn.Module: Linear_0"], 5 * MS),
    "op": (OP, ["aten::add", "my::op"], 900 * US),
    "autograd": (OP, ["MmBackward0", "autograd::engine::evaluate_function: X"], 900 * US),
    "optimizer": (OP, ["Optimizer.step#AdamW.step"], 900 * US),
    "comm_host": (OP, ["c10d::allreduce_", "nccl:all_reduce",
                       "DistributedDataParallel.forward"], 900 * US),
    "io": (FRAME, ["<built-in method read of _io.BufferedReader object at 0x7f>",
                   "torch/serialization.py(3): load"], 5 * MS),
    "gc": (FRAME, ["<built-in function collect>"], 5 * MS),
    "data": (FRAME, ["torch/utils/data/dataloader.py(628): __next__",
                     "PIL/Image.py(9): open"], 5 * MS),
    "compile": (FRAME, ["torch/_dynamo/convert_frame.py(580): __call__",
                        "triton/compiler/compiler.py(2): compile"], 5 * MS),
    "runtime": (CALL, ["cudaFuncGetAttributes", "hipGetDevice"], 900 * US),
    "sync": (CALL, ["cudaDeviceSynchronize", "hipEventSynchronize"], 100 * US),
    "poll": (CALL, ["cudaEventQuery", "hipStreamQuery"], 900 * US),
    "alloc": (CALL, ["cudaFree", "hipMalloc", "cuMemCreate"], 5 * MS),
    "host_alloc": (CALL, ["cudaHostAlloc", "hipHostFree"], 5 * MS),
    "module_load": (CALL, ["cuModuleLoadData", "hipModuleLoadDataEx"], 5 * MS),
    "graph_build": (CALL, ["cudaGraphInstantiate", "hipStreamEndCapture"], 5 * MS),
    "init": (CALL, ["cudaStreamCreateWithFlags", "cudaUnknownCall"], 5 * MS)}
# a thread that launches nothing never waits for the GPU, except one at rest
WAITS = ("sync", "poll")
BACKWARD = "<built-in method run_backward of torch._C._EngineBase object at 0x7f>"
# names that are short except in stalls
STALLS = {"op": "my::steady", "autograd": "SteadyBackward0",
          "optimizer": "Optimizer.step#Steady.step", "comm_host": "c10d::steady_"}
LOCKED = "cudaFuncSetCacheConfig"
NO_PIECE = ("between_ops", "none")
LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../common/trace/cause.h")


class Planted:
    def __init__(self, seed):
        self.rnd = random.Random(seed)
        self.events = []
        self.corr = 1000
        self.host = 0     # the main thread is free from here on
        self.gpu = 0      # and the GPU
        self.stream = 7   # of what ran last
        self.gaps = []    # (start, end, [(cause, start, end)])
        self.locks = []   # calls that wait for another thread's: (start, end)
        self.ran = set()  # names of kernels that calls launched
        self.fresh = 0    # names given once
        self.copied = 0   # end of the last blocking copy
        self.borders = []

    # ---- events ----

    def event(self, cat, name, tid, start, end, **args):
        self.events.append({
            "ph": "X", "cat": cat, "name": name, "pid": tid if cat == "kernel" else 7,
            "tid": tid, "ts": start / 1000, "dur": (end - start) / 1000, "args": args})

    def call(self, start, end, name="cudaLaunchKernel", tid=MAIN):
        self.corr += 1
        self.event(CALL, name, tid, start, end, correlation=self.corr)
        self.host = end
        return self.corr

    def kernel(self, start, corr, stream=7, cat="kernel", name=None, length=None):
        """GPU work from start on; the contents of the gap before it are known"""
        end = start + (length or self.time(50 * US, 300 * US))
        name = name or "k%d" % self.rnd.randrange(5)
        if 1000 < corr <= self.corr:
            self.ran.add(name)
        self.events.append({
            "ph": "X", "cat": cat, "name": name, "pid": 0,
            "tid": stream, "ts": start / 1000, "dur": (end - start) / 1000,
            "args": {"device": 0, "stream": stream, "correlation": corr}})
        self.gpu, self.stream = end, stream

    def gap(self, end, parts):
        start, parts = self.gpu, [p for p in parts if p[2] > p[1]]
        assert parts[0][1] == start and parts[-1][2] == end
        assert all(a[2] == b[1] for a, b in zip(parts, parts[1:]))
        self.gaps.append((start, end, parts))

    def time(self, low, high):
        return self.rnd.randrange(low, high + 1)

    def new_name(self, name):
        self.fresh += 1
        return "%s_%d" % (name, self.fresh)

    # ---- what the host does before a late launch ----

    def plain(self, cause, tid, start, end):
        cat, names, _ = PLAIN[cause]
        name = self.rnd.choice(names)
        if cat == CALL and name == "cudaUnknownCall" and end - start < MS:
            name = "cudaStreamCreateWithFlags"
        self.event(cat, name, tid, start, end)
        if cause in ("data", "compile", "io", "gc", "optimizer", "comm_host") \
                and name[0] != "D" and self.rnd.random() < .5:  # all of what is below it is
            a, b = sorted(self.rnd.sample(range(start, end), 2))
            self.event(OP if cat == OP else FRAME, "inner(1): f", tid, a, b)

    def host_time(self, cause):
        return self.time(2 * US, PLAIN[cause][2] if self.rnd.random() < .2 else 90 * US)

    def late_part(self, start):
        """one activity of the host from start on: [(cause, start, end)]"""
        how = self.rnd.choice(["plain", "plain", "other", "other", "idle", "both", "rest",
                               "nested", "profiler", "nothing", "stall", "alloc", "lock",
                               "backward", "overlay"])
        return getattr(self, "part_" + how)(start)

    def part_plain(self, start):
        cause = self.rnd.choice(list(PLAIN))
        end = start + self.host_time(cause)
        self.plain(cause, MAIN, start, end)
        return [(cause, start, end)]

    def part_other(self, start):
        """waits for another thread"""
        cause = self.rnd.choice(list(PLAIN))
        end = start + self.host_time(cause)
        self.event(FRAME, LOCK, MAIN, start, end)
        self.plain(cause, OTHER, start, end)
        return [(cause, start, end)]

    def part_idle(self, start):
        """is idle, and another thread works"""
        cause = self.rnd.choice([c for c in PLAIN if c not in WAITS])
        end = start + self.host_time(cause)
        self.plain(cause, OTHER, start, end)
        return [(cause, start, end)]

    def part_both(self, start):
        """two threads at once: the launching one counts"""
        cause = self.rnd.choice(list(PLAIN))
        end = start + self.host_time(cause)
        self.plain(cause, MAIN, start, end)
        self.plain(self.rnd.choice([c for c in PLAIN if PLAIN[c][0] != CALL]), OTHER, start, end)
        return [(cause, start, end)]

    def part_rest(self, start):
        end = start + self.time(2 * US, 3 * MS)
        self.event(FRAME, LOCK, MAIN, start, end)
        return [("wait", start, end)]

    def part_nested(self, start):
        """the innermost counts"""
        end = start + 2 * self.host_time("op") + 10 * US
        a = start + 3 * US
        b = min(end - 2 * US, a + 900 * US)
        self.event(FRAME, "model.py(9): g", MAIN, start, end)
        self.event(OP, "aten::mul", MAIN, a, b)
        return [("python", start, a), ("op", a, b), ("python", b, end)]

    def part_profiler(self, start):
        end = start + self.time(30 * US, 90 * US)
        a, b = start + 3 * US, end - 2 * US
        self.event(FRAME, "model.py(9): g", MAIN, start, end)
        self.event("overhead", "Buffer Flush", -1, a, b)
        return [("python", start, a), ("profiler", a, b), ("python", b, end)]

    def part_nothing(self, start):
        """no event at all"""
        if self.rnd.random() < .5:
            return [("between_ops", start, start + self.time(2 * US, 900 * US))]
        return [("none", start, start + self.time(MS, 4 * MS))]

    def part_stall(self, start):
        """far longer than its name's median"""
        cause = self.rnd.choice(list(STALLS))
        end = start + self.time(1100 * US, 5 * MS)
        if self.rnd.random() < .5:
            self.event(OP, STALLS[cause], MAIN, start, end)
        else:
            self.event(FRAME, LOCK, MAIN, start, end)
            self.event(OP, STALLS[cause], OTHER, start, end)
        return [("stall:" + cause, start, end)]

    def part_alloc(self, start):
        """in the first op of its name a library is loaded, in the second it is freed"""
        name, parts = self.new_name("my::frees"), []
        for cause in ("init:alloc", "alloc"):
            a = start + 5 * US
            b = a + self.time(100 * MS, 120 * MS)
            self.event(OP, name, MAIN, start, b + 2 * US)
            self.event(CALL, "cudaFree", MAIN, a, b)
            parts += [("op", start, a), (cause, a, b), ("op", b, b + 2 * US)]
            start = b + 2 * US
            if self.rnd.random() < .5:
                break
        return parts

    def part_lock(self, start):
        end = start + self.time(60 * US, 900 * US)
        self.event(CALL, LOCKED, MAIN, start, end)
        # as long as half of it, or a little less
        half, is_lock = end - start - (end - start) // 2, self.rnd.random() < .5
        self.event(CALL, "hipMalloc", OTHER, start + 1, start + 1 + half - (not is_lock))
        if is_lock:
            self.locks.append((start, end))
        return [("runtime", start, end)]

    def part_backward(self, start):
        """the other thread's backward pass counts there, all else is nobody's"""
        cause = self.rnd.choice(["autograd"] + [c for c in PLAIN if c not in WAITS])
        end = start + self.host_time(cause)
        self.event(FRAME, BACKWARD, MAIN, start, end)
        if cause != "autograd":
            self.plain(cause, OTHER, start, end)
        return [(cause, start, end)]

    def part_overlay(self, start):
        """an annotation that outlasts the frame in which it was opened"""
        a, b = start + self.time(3 * US, 50 * US), start + self.time(60 * US, 900 * US)
        self.event(FRAME, "contextlib.py(130): __enter__", MAIN, start, a)
        self.event(NOTE, "data_loading", MAIN, start + 1 * US, b)
        self.event(OP, "aten::mul", MAIN, a, b)
        return [("python", start, a), ("data", a, b)]

    def late(self):
        """a launch after one or two activities of the host"""
        parts, at = [], max(self.host, self.gpu - self.time(0, 40 * US))
        if at > self.gpu:  # a blocking copy returns after the copy
            parts.append(("copy_block", self.gpu, at))
        for _ in range(self.rnd.choice([1, 1, 2])):
            more = self.late_part(at)
            # two pieces of nothing would be one, with rules for its length
            if parts and parts[-1][0] in NO_PIECE and more[0][0] in NO_PIECE:
                continue
            parts, at = parts + more, more[-1][2]
        self.host = at
        if at <= self.gpu:
            return
        parts = [(c, max(s, self.gpu), e) for c, s, e in parts if e > self.gpu]
        parts = [(named(c, e - s), s, e) for c, s, e in parts]
        how = self.rnd.choice(["launch"] * 12 + ["copy", "copy", "unlinked", "slow",
                                                "first_op"])
        if how == "copy":
            self.blocking_copy(parts, at)
        elif how == "unlinked":  # no call of it was recorded
            self.gap(at, parts)
            self.kernel(at, 10**6)
        elif how == "slow":  # the first of a name loads its code
            name = self.rnd.choice(sorted(self.ran & {"k0", "k1"}) + [self.new_name("new")])
            self.launch(parts, at, "stall" if name in self.ran else "module_load",
                        self.time(2 * MS, 4 * MS), name=name)
        elif how == "first_op":
            end = at + self.time(11 * MS, 20 * MS)
            name = self.new_name("my::first")
            self.event(OP, name, MAIN, at, end + 40 * US)
            self.launch(parts + [("init", at, end)], end)
            self.host = end + 40 * US
        else:
            self.launch(parts, at)

    def engine(self):
        """the backward pass's thread launches"""
        at = max(self.host, self.gpu - self.time(0, 40 * US))
        end = max(at, self.gpu) + self.time(2 * US, 900 * US)
        self.event(FRAME, BACKWARD, MAIN, at, end + 40 * US)
        if self.rnd.random() < .5:
            self.event(OP, "MmBackward0", BACK, at, end)
        self.launch([("autograd", self.gpu, end)], end, tid=BACK)
        self.host = end + 40 * US

    def launch(self, parts, at, cause="launch_call", length=None, tid=MAIN, name=None):
        end = at + (length or self.time(3 * US, 30 * US))
        start = end + self.time(0, 99 * US)
        corr = self.call(at, end, tid=tid)
        self.gap(start, parts + [(cause, at, end), ("launch_latency", end, start)])
        self.kernel(start, corr, name=name)

    def blocking_copy(self, parts, at):
        start, length = at + self.time(1 * US, 20 * US), self.time(5 * US, 50 * US)
        end = start + length + self.time(1 * US, 20 * US)
        call, name = self.rnd.choice([
            ("hipMemcpyWithStream", "CopyHostToDevice"),
            ("cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)"),
            ("hipMemcpyAsync", "CopyHostToDevice")])
        if call == "hipMemcpyAsync":  # so long that it blocks
            end += MS
        corr, self.copied = self.call(at, end, call), end
        self.gap(start, parts + [("copy_block", at, start)])
        self.kernel(start, corr, cat="gpu_memcpy", name=name, length=length)

    # ---- launched in time ----

    def in_time(self):
        """a gap after a call that had ended before it, or just not"""
        room = self.gpu - self.host
        if room < 12 * US:
            return
        how = self.rnd.choice(["queue", "latency", "stream", "late_start", "missing", "half",
                               "graph", "before"])
        at, a, stream = self.host + self.time(0, 2 * US), self.gpu, self.stream
        if how == "half":
            at = a - self.time(1, 4 * US)
            end = at + 5 * US
            start = end + self.time(0, 99 * US)
            parts = [("launch_call", a, end), ("launch_latency", end, start)]
        elif how == "latency":
            at = a - 6 * US
            end, start = a - 1 * US, a + self.time(1, 28 * US)
            parts = [("launch_latency", a, start)]
        elif how == "graph":
            corr = self.call(at, at + 5 * US, "cudaGraphLaunch")
            self.kernel(a, corr, self.stream)
            start = self.gpu + self.time(1, 40 * US)
            self.gap(start, [("graph_gap", self.gpu, start)])
            self.kernel(start, corr, self.stream)
            return
        elif how == "before":
            start = a + self.time(1, 400 * US)
            self.gap(start, [("queued_before", a, start)])
            self.kernel(start, self.rnd.randrange(1, 900), self.stream)
            return
        else:
            if room < 60 * US:
                return
            end = at + 5 * US
            if a - end < 30 * US:
                return
            length = self.time(1, 29 * US)
            cause = "queue_gap"
            if how == "stream":
                length, cause, stream = self.time(10 * US, 99 * US), "dependency", 15 - stream
            elif how != "queue":
                length, cause = self.time(30 * US, 4 * MS), "late_start"
            start = a + length
            parts = [(cause, a, start)]
            if how == "missing":
                parts = [("gpu_missing", a, start)]
        corr = self.call(at, at + 5 * US)
        if how == "missing":
            self.event(CALL, "cudaStreamSynchronize", MAIN, at + 6 * US, start + 9 * US)
            self.host = start + 9 * US
        elif how == "late_start":  # else its awaited work would be missing
            self.host = start
        self.gap(start, parts)
        self.kernel(start, corr, stream)

    # ---- all ----

    def trace(self):
        # an annotation on the other thread, so that the thread exists
        self.event(OP, "aten::zeros", OTHER, 0, 1 * US)
        corr = self.call(2 * US, 7 * US)
        self.kernel(9 * US, corr, length=400 * US)
        at = 10 * US
        for _ in range(12):  # the medians of names
            for cat, name in [(OP, n) for n in STALLS.values()] + \
                    [(CALL, LOCKED), (CALL, "cudaLaunchKernel")]:
                self.event(cat, name, MAIN, at, at + 2 * US)
                at += 2 * US
        self.host = at
        self.borders = [0]
        for _ in range(self.rnd.randrange(2, 5)):
            for _ in range(self.rnd.randrange(2, 9)):
                how = self.rnd.random()
                if how < .6:
                    self.late()
                elif how < .65 and self.host <= self.gpu:
                    self.engine()
                else:
                    self.in_time()
            # steps are contiguous: no host event crosses a border
            self.host = max(self.host, self.gpu - self.time(0, 20 * US))
            if self.host > self.borders[-1]:
                self.borders.append(self.host)
        last = max(self.borders.pop(), self.gpu, self.host) + 10 * US
        for i, (s, e) in enumerate(zip(self.borders, self.borders[1:] + [last])):
            self.event(NOTE, "ProfilerStep#%d" % (i + 3), MAIN, s, e)
        self.rnd.shuffle(self.events)
        copied = max(self.gpu, self.copied)  # a blocking copy returns after it
        self.window = [("op", 0, 1 * US), ("between_ops", 1 * US, 2 * US),
                       ("launch_call", 2 * US, 7 * US), ("launch_latency", 7 * US, 9 * US),
                       ("copy_block", self.gpu, copied), ("between_ops", copied, last)]
        return {"traceEvents": self.events}

    def gpu_only(self):
        """no host events: the reason is unknown"""
        for _ in range(self.rnd.randrange(2, 30)):
            start = self.gpu + self.rnd.choice([0, 1, self.time(1, 5 * MS)])
            if self.gpu and start > self.gpu:
                self.gap(start, [("no_host", self.gpu, start)])
            self.kernel(start, self.rnd.randrange(1, 2000))
        return {"traceEvents": self.events}

    def by_cause(self, more=()):
        sums = collections.Counter()
        for parts in [g[2] for g in self.gaps] + [more]:
            for cause, s, e in parts:
                if e > s:
                    sums[cause] += e - s
        return sums

    def by_step(self, end):
        """pieces split at the borders of steps, with what is before and after all gaps"""
        sums = collections.Counter()
        for parts in [g[2] for g in self.gaps] + [self.window]:
            for cause, s, e in parts:
                for i, (b, behind) in enumerate(zip(self.borders, self.borders[1:] + [end])):
                    if min(e, behind) > max(s, b):
                        sums[(i + 3, cause)] += min(e, behind) - max(s, b)
        return sums


def named(cause, ns):
    """the cause of a part in the gap: some depend on its length"""
    if ":" in cause:  # if long, and otherwise
        cause, short = cause.split(":")
        return cause if ns >= (100 * MS if short == "alloc" else MS) else short
    if cause in NO_PIECE:
        return "none" if ns >= MS else "between_ops"
    if cause == "sync" and ns > 100 * US:
        return "gpu_missing"
    return cause


def largest(parts):
    sums = collections.Counter()
    for cause, s, e in parts:
        sums[cause] += e - s
    most = max(sums.values())
    return {c for c in sums if sums[c] == most}, most


def compare(what, ours, theirs):
    wrong = ["%s: %s: is %s, planted %s" % (what, k, ours.get(k), theirs.get(k))
             for k in sorted(set(ours) | set(theirs), key=str) if ours.get(k) != theirs.get(k)]
    return wrong


def sums(argv, keys):
    rows = table(argv) or []
    return {tuple(r[k] for k in keys) if keys[1:] else r[keys[0]]: r["time_ns"] for r in rows}


def check(seed, folder):
    p = Planted(seed)
    path = os.path.join(folder, "planted%d.json" % seed)
    has_host = seed % 10 != 0
    with open(path, "w", encoding="ascii") as f:
        f.write(json.dumps(p.trace() if has_host else p.gpu_only()))
    wrong = compare("causes", sums(["tl-idle", path], ["cause"]), dict(p.by_cause()))
    if has_host:
        wrong += compare("window", sums(["tl-idle", "--steps", path], ["cause"]),
                         dict(p.by_cause(p.window)))
        wrong += compare("steps", sums(["tl-idle", "--by", "step,cause", path],
                                       ["step", "cause"]), dict(p.by_step(1 << 62)))
    rows = table(["tl-idle", "--table", "idle_gaps", path]) or []
    if len(rows) != len(p.gaps):
        wrong.append("%d gaps, planted %d" % (len(rows), len(p.gaps)))
    for r, (s, e, parts) in zip(rows, p.gaps):
        causes, ns = largest(parts)
        longest = max((b - a, b) for c, a, b in parts if c in causes)[1]
        lock = any(b == longest for _, b in p.locks)
        if r["gap_ns"] != e - s or r["cause"] not in causes or r["cause_ns"] != ns or \
                r["is_lock"] != lock:
            wrong.append("gap of %d ns: is %s, planted %s" % (e - s, r, parts))
    return wrong, len(p.gaps), {c for g in p.gaps for c, _, _ in g[2]}


def main(argv):
    keep = "-k" in argv
    argv = [a for a in argv if a != "-k"]
    first, last = (int(a) for a in argv) if argv else (1, 40)
    folder = tempfile.mkdtemp() if not keep else "."
    ngaps, seen, bad = 0, set(), 0
    for seed in range(first, last + 1):
        wrong, n, causes = check(seed, folder)
        ngaps, seen = ngaps + n, seen | causes
        for w in wrong[:5]:
            print("# seed %d: %s" % (seed, w))
        bad += bool(wrong)
    with open(LIST, encoding="ascii") as f:
        rest = set(re.findall(r'X\(\w+, "(\w+)"', f.read())) - {"nothing", "annotated"} - seen
    if rest and last - first > 30:
        print("# never planted: %s" % " ".join(sorted(rest)))
        bad += 1
    print("%sok 1 - %d traces, %d gaps, %d causes planted; %d traces differ"
          % ("not " if bad else "", last - first + 1, ngaps, len(seen), bad))
    print("1..1")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
