#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""oddtrace.py: random PyTorch traces with contents that real ones seldom have.

    oddtrace.py SEED FILE

Ops, frames, modules and launches nest at random on several threads. GPU work of
all kinds runs on several devices and GPU streams. Some traces are plain, most are
odd: ids as numbers or as their digits; times finer than a ns, as strings or since
1970; no dur, or a negative one or 0; equal starts; events that outlast others; B
and E; unknown or missing categories; launches in launches; graphs; two launches of
one id; work without launch, device, stream or correlation; repeated work; events in
any order.
"""
import decimal
import json
import random
import re
import sys

KERNELS = [
    "void at::native::vectorized_elementwise_kernel<4, F>(int)",
    "void at::native::reduce_kernel<512>(x)", "void at::native::other(int)",
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<>()",
    "ncclDevKernel_AllReduce_Sum", "rcclX", "Cross_Device_Reduce_1stage",
    "Cijk_Ailk_Bljk_MT128x128x32", "gemm", "__amd_rocclr_copyBuffer.kd",
    "__amd_rocclr_copyBufferRectAligned", "__amd_rocclr_fillBufferAligned.kd",
    "MEMORY_COPY_HOST_TO_DEVICE", "µ-kernel " + "x" * 70, "k\"q\\uote\t1", "=1+1;x"]
OPS = ["aten::mm", "aten::copy_", "aten::native_layer_norm", "aten::sum", "my::op",
       "triton_poi_fused_1", "aten::cat", "record_param_comms", "aten::fill_", "my::other",
       "execute", "nccl:all_reduce"]
FRAMES = ["a.py(1): f", "b.py(2): g", "<built-in method x>", "nn.modules(3): q",
          "torch/utils/checkpoint.py(99): recompute_fn"]
MODULES = ["nn.Module: " + m for m in (
    "Net_0", "Block_0", "Block_1", "Linear_3", "Linear_12", "Odd", "Norm_1_2")]
PLAIN = [("cuda_runtime", "cudaLaunchKernel"), ("cuda_runtime", "hipGraphLaunch")]
LAUNCHES = PLAIN + [
    ("cuda_driver", "cuLaunchKernelEx"), ("cuda_runtime", "hipMemcpyAsync"),
    ("xpu_runtime", "urEnqueueKernelLaunch"), ("privateuse1_runtime", "AscendLaunch"),
    ("cuda_runtime", "cudaGraphLaunch_ptsz")]
THREADS = [(1, 1), (1, 2), (77, 88), ("py", "main thread"), (1, 3)]


class Odd:
    def __init__(self, seed):
        self.rnd = r = random.Random(seed)
        self.events = []
        self.corr = r.choice([0, 1, 1000, 2**31 + 5])
        self.base = r.choice([0, 0, 1000, 10**9, 1700000000 * 10**9])  # ns
        self.grain = r.choice([1000, 500, 1, 1, 100])  # ns
        self.fine = r.random() < .2
        self.odd = r.random() < .6
        self.threads = r.sample(THREADS, r.randint(1, 4))
        self.size = r.choice([3, 8, 20, 40])
        self.gpu_at = self.limit = 0

    def chance(self, p):
        return self.odd and self.rnd.random() < p

    def grained(self, ns):
        return ns // self.grain * self.grain

    # ---- values

    def us(self, ns):
        """us as JSON: a number as written, between @@, or a string"""
        s = "%d.%03d" % (ns // 1000, ns % 1000)
        if self.fine and ns and self.rnd.random() < .3:
            s += "%03d" % self.rnd.choice([1, 499, 500, 501, 999])
        elif ns % 1000 == 0 and self.rnd.random() < .5:
            s = "%d" % (ns // 1000)
        return s if self.chance(.05) else "@@%s@@" % s

    def number(self, v):
        return str(v) if isinstance(v, int) and self.chance(.1) else v

    def shapes(self):
        r, args = self.rnd, {"External id": self.rnd.randrange(1, 1000)}
        if r.random() < .8:
            dims = r.choice([[], [[4, 4]], [[4, 4], [4, 8], []], [[[2], [3]], []]])
            args["Input Dims"] = dims
            for key, value in (("Input type", "float"), ("Input Strides", [1]),
                               ("Concrete Inputs", r.choice(["", "1"]))):
                if r.random() < .9:
                    args[key] = [value] * len(dims)
        if r.random() < .3:
            args.update({"Sequence number": r.randrange(6), "Fwd thread id": 0})
        return args

    # ---- events

    def add(self, cat, name, thread, ts, dur, args=None, whole=False):
        e = {"ph": "X", "cat": cat, "name": name, "pid": self.number(thread[0]),
             "tid": self.number(thread[1]), "ts": self.us(self.base + ts), "dur": self.us(dur)}
        if args is not None:
            e["args"] = args
        if not whole and self.chance(.01):
            del e["dur"]
        elif not whole and self.chance(.01):
            e["dur"] = "@@-3.5@@"
        self.events.append(e)
        return e

    def gpu(self, corr, t):
        r = self.rnd
        self.gpu_at = max(self.gpu_at, t) if r.random() < .8 else max(0, self.gpu_at - 3000)
        cat = r.choice(["kernel"] * 6 + ["gpu_memcpy", "gpu_memset", "cuda_sync",
                                         "gpu_user_annotation"])
        cat = "mtia_ccp_events" if self.chance(.02) else cat
        dev, stream = r.choice([0, 0, 0, 1]), r.choice([7, 7, 7, 8, 20])
        ts = max(0, self.gpu_at + self.grained(r.randrange(-2000, 4000)))
        dur = 0 if r.random() < .08 else self.grained(
            r.randrange(r.choice([900, 3000, 12000, 40000])))
        args = {"device": dev, "stream": stream}
        if corr is not None:
            args["correlation"] = self.number(corr)
        for key in ("stream", "device"):
            if self.chance(.05):
                del args[key]
        if r.random() < .7:
            args.update({"grid": r.choice([[1, 1, 1], [64, 2, 1]]), "block": [256, 1, 1]})
        # a ROCm copy's name makes only kernels copies
        name = {"gpu_memcpy": "Memcpy HtoD", "mtia_ccp_events": "gemm"}.get(
            cat, r.choice(KERNELS))
        e = self.add(cat, name, (dev, stream), ts, dur, args)
        self.gpu_at = ts + dur
        if self.chance(.02):
            self.events.append(json.loads(json.dumps(e)))

    def launch(self, thread, t, dur, depth=0):
        r = self.rnd
        cat, name = r.choice(LAUNCHES if self.odd else PLAIN)
        self.corr += 1
        corr = self.corr
        args = {} if self.chance(.03) else {"correlation": self.number(corr)}
        self.add(cat, name, thread, t, dur, args)
        if self.chance(.03):
            self.add(cat, name, thread, t + dur, 1000, {"correlation": corr})
        if dur > 2000 and depth < 2 and r.random() < .2:
            self.launch(thread, t + 500, dur // 2, depth + 1)
        for _ in range(r.choice([0, 1, 3, 6] if "Graph" in name else [0, 1, 1, 1, 1, 1])):
            self.gpu(corr, t + dur)

    def host(self, thread, t, dur, depth):
        x = self.rnd.random()
        if x < .25 or depth > 7:
            self.launch(thread, t, min(dur, 4000))
            return
        if x < .62:
            self.add("cpu_op", self.rnd.choice(OPS), thread, t, dur, self.shapes())
        else:
            self.add("python_function", self.rnd.choice(FRAMES if x < .85 else MODULES), thread,
                     t, dur, {"Python id": len(self.events)})
        if dur > 1500 and self.rnd.random() < .85:
            self.block(thread, t + self.grained(self.rnd.choice([0, 0, 300, 1000])), t + dur,
                       depth + 1)

    def block(self, thread, start, end, depth):
        r, t = self.rnd, start
        while t < end and len(self.events) < self.limit:
            t += self.grained(r.choice([0, 0, r.randrange(3000)]))
            left = end - t
            if left <= 0:
                break
            dur = left
            if r.random() < .9:
                dur = min(left, max(self.grain, self.grained(r.randrange(500, 60000))))
            if self.chance(.04):
                dur = left + r.choice([500, 999, 1000, 4000])
            if self.chance(.03):
                dur = 0
            self.host(thread, t, dur, depth)
            t += min(dur, left)

    def backward(self, thread, t):
        for _ in range(self.rnd.randrange(4)):
            dur = self.grained(self.rnd.randrange(3000, 20000))
            args = {"Sequence number": self.rnd.randrange(6), "Fwd thread id": 1}
            for name in ("autograd::engine::evaluate_function: MmBackward0", "MmBackward0"):
                self.add("cpu_op", name, thread, t, dur, args)
            self.block(thread, t + self.grained(200), t + dur, 5)
            t += dur + 1000

    def annotations(self, end):
        r = self.rnd
        n, first = r.choice([0, 1, 2, 3]), r.choice([0, 3])
        for i in range(n):
            self.add("user_annotation", "ProfilerStep#%d" % (first + i), self.threads[0],
                     i * (end // n), end // n - r.choice([0, 2000]), whole=True)
        for _ in range(r.choice([0, 3, 6])):
            t = r.randrange(end)
            dur = r.choice([0, r.randrange(end - t), end - t])
            self.add("user_annotation", r.choice(["fwd", "bwd", "opt", "a=b c"]),
                     r.choice(self.threads), self.grained(t), self.grained(dur), whole=True)

    # ---- the whole

    def strange(self, end):
        for cat in (None, "weird_cat", "overhead", "Trace", 5):
            if self.chance(.3):
                e = self.add(cat, "what", self.threads[0], self.rnd.randrange(end), 3000,
                             whole=True)
                if cat is None:
                    del e["cat"]

    def begin_and_end(self):
        """some ops as B and E, at most one per thread"""
        done = set()
        for e in list(self.events):
            thread = str(e["pid"]), str(e["tid"])
            if (e.get("cat") != "cpu_op" or thread in done or not self.chance(.02)
                    or e.get("dur", "@@-").startswith("@@-")):
                continue
            done.add(thread)
            ts, dur = (decimal.Decimal(x.strip("@")) for x in (e["ts"], e.pop("dur")))
            e["ph"] = "B"
            self.events.append({"ph": "E", "pid": e["pid"], "tid": e["tid"],
                                "ts": "@@%s@@" % (ts + dur)})
        return bool(done)

    def names(self):
        for pid, tid in self.threads:
            for name, at, key, text in (
                    ("process_name", 0, "name", "python"), ("process_labels", 0, "labels", "CPU"),
                    ("thread_name", tid, "name", "thread %s" % self.rnd.choice("ab"))):
                if self.rnd.random() < .5:
                    self.events.append({"ph": "M", "name": name, "pid": pid, "tid": at, "ts": 0,
                                        "args": {key: text}})

    def text(self):
        r, end = self.rnd, self.size * 20000
        for n, thread in enumerate(self.threads):
            self.limit = len(self.events) + self.size * 4
            self.block(thread, r.choice([0, 0, 5000]), end, 0)
            if n and r.random() < .6:
                self.limit += 30
                self.backward(thread, end + 10000)
        self.annotations(end)
        for i in range(r.choice([0, 0, 1, 3])):
            self.gpu(r.choice([None, 10**7 + i]), r.randrange(end))
        self.strange(end)
        if not self.begin_and_end() and r.random() < .4:
            r.shuffle(self.events)
        self.names()
        doc = {"schemaVersion": 1, "traceEvents": self.events}
        if r.random() < .3:
            doc["distributedInfo"] = {"rank": 3, "world_size": 8}
        text = json.dumps(doc, ensure_ascii=r.random() < .5)
        return re.sub(r'"@@([^"@]*)@@"', r"\1", text)


def write(path, seed):
    with open(path, "w", encoding="utf-8") as f:
        f.write(Odd(seed).text())


if __name__ == "__main__":
    write(sys.argv[2], int(sys.argv[1]))
