# SPDX-License-Identifier: MIT
"""diffgen.py: pairs of small, similar made-up traces, for tl-diff.

A pair is two lists of roots. A root is a small call tree; its counterpart is the
same tree after a few edits. Names repeat, so that alignment has to choose.
"""
import json
import random

OPS = ["aten::" + c for c in "abcdef"] + ["model::wrapper", "aten::add_long_name_of_one_kind",
                                          "aten::add_long_name_of_another"]
KERNELS = ["gemm_kernel", "void at::native::add<float>(int)", "reduce(12)", "copy_kernel"]
LAUNCHES = ["cudaLaunchKernel", "cudaLaunchKernel", "hipLaunchKernel", "cuLaunchKernel",
            "hipModuleLaunchKernel"]
FRAMES = ["model/net.py(%d): forward", "lib/net.py(%d): forward", "model/net.py(%d): helper",
          "<built-in method add of Tensor object at 0x7f%06x>", "nn.Module: Linear_%d"]


class Call:
    """kind: op, frame, launch, graph or the kind of a GPU event"""

    def __init__(self, kind, name, below=(), dur=0):
        self.kind, self.name, self.below, self.dur = kind, name, list(below), dur

    def copy(self):
        return Call(self.kind, self.name, [c.copy() for c in self.below], self.dur)

    def all(self):
        yield self
        for c in self.below:
            yield from c.all()


class Maker:
    def __init__(self, seed, frames=False):
        self.rng, self.frames = random.Random(seed), frames

    def work(self):
        kind = self.rng.choices(["kernel", "memcpy", "memset"], [8, 1, 1])[0]
        name = {"kernel": self.rng.choice(KERNELS), "memcpy": "Memcpy DtoD (Device -> Device)",
                "memset": "Memset (Device)"}[kind]
        return Call(kind, name, dur=self.rng.randrange(1, 40) * self.rng.choice((1, 250)))

    def launch(self):
        if self.rng.random() < 0.08:
            name = self.rng.choice(["cudaGraphLaunch", "hipGraphLaunch"])
            return Call("graph", name, [self.work() for _ in range(self.rng.randrange(4))])
        count = self.rng.choices([0, 1], [1, 6])[0]
        return Call("launch", self.rng.choice(LAUNCHES), [self.work() for _ in range(count)])

    def frame(self, below):
        name = self.rng.choice(FRAMES)
        return Call("frame", name % self.rng.randrange(1000), below)

    def op(self, depth):
        count = self.rng.choices([0, 1, 2, 3, 5], [1, 4, 4, 2, 1])[0]
        below = []
        for _ in range(count):
            if depth == 0 or self.rng.random() < 0.4:
                below.append(self.launch())
            else:
                below.append(self.op(depth - 1))
            if self.frames and self.rng.random() < 0.3:
                below[-1] = self.frame([below[-1]])
        # neighbours often have the same name
        return Call("op", self.rng.choice(OPS[:self.rng.choice((2, 4, len(OPS)))]), below)

    def root(self, number):
        """a name of its own and a second op keep pairs of roots apart"""
        op = self.op(self.rng.choice((1, 1, 2, 2, 3)))
        op.name = "root::%d" % number
        op.below.insert(0, Call("op", "aten::leaf"))
        return op

    def wild_roots(self):
        """few trees of any shape: wrappers, launches outside ops, calls without name"""
        roots = []
        for _ in range(self.rng.randrange(1, 9)):
            top = self.op(self.rng.randrange(4))
            for _ in range(self.rng.choice((0, 0, 1, 2))):
                top = self.frame([top]) if self.frames else Call("op", "aten::wrap", [top])
            if self.rng.random() < 0.15:
                top = self.launch()
            if self.rng.random() < 0.1:
                top = Call("op", "aten::a", [self.launch() for _ in range(12)])
            roots.append(top)
            if self.rng.random() < 0.3:
                roots.append(roots[-1].copy())
        for c in (c for r in roots for c in r.all()):
            if c.kind == "op" and c not in roots and self.rng.random() < 0.05:
                c.name = self.rng.choice(("", "cudaLaunchKernel", "gemm_kernel"))
        return roots

    def wild_pair(self):
        a = self.wild_roots()
        b = [r.copy() for r in a]
        for _ in range(self.rng.choice((0, 1, 2, 5))):
            self.edit(self.rng.choice([r for r in b if r.kind in ("op", "frame")] or [self.op(1)]))
        for _ in range(self.rng.choice((0, 0, 1, 2))):
            at = self.rng.randrange(len(b) + 1)
            what = self.rng.randrange(3)
            if what == 0 or at == len(b):
                b.insert(at, self.op(2))
            elif what == 1:
                del b[at]
            else:
                b.append(b.pop(at))
        return a, b

    def edit(self, root):
        """one change somewhere below the root"""
        hosts = [c for c in root.all() if c.kind in ("op", "frame")]
        host = self.rng.choice(hosts)
        below = host.below
        first = host is root and host.name.startswith("root::") # its first op stays
        at = self.rng.randrange(first, len(below)) if len(below) > first else len(below)
        what = self.rng.randrange(9)
        if what == 0 or at == len(below):
            below.insert(at, self.op(1) if self.rng.random() < 0.5 else self.launch())
        elif what == 1:
            del below[at]
        elif what == 2:
            below[at] = Call("op", self.rng.choice(OPS), [below[at]])
        elif what == 3 and below[at].kind in ("op", "frame"):
            below[at:at + 1] = below[at].below
        elif what == 4 and at > first:
            below[at - 1], below[at] = below[at], below[at - 1]
        elif what == 5 and below[at].kind == "op":
            below[at].name = self.rng.choice(OPS)
        elif what == 6:
            below.insert(at, below[at].copy())
        elif what == 7 and below[at].kind == "launch":
            below[at].name = self.rng.choice(LAUNCHES)
        else:
            for c in below[at].all():
                if c.kind == "kernel" and self.rng.random() < 0.5:
                    c.name = self.rng.choice(KERNELS)
                    c.dur = self.rng.randrange(1, 9999)

    def partner(self, root):
        other = root.copy()
        for _ in range(self.rng.choice((0, 1, 1, 2, 4))):
            self.edit(other)
        return other

    def pair(self, roots):
        a = [self.root(n) for n in range(roots)]
        return a, [self.partner(r) for r in a]


class Writer:
    """A trace of roots, one after another on one thread, as Kineto writes it."""

    def __init__(self, rng):
        self.rng, self.out, self.gpu = rng, [], []
        self.now, self.ready, self.corr = 1000, 0, 0
        self.work_of = {}

    def add(self, name, cat, ts, dur, tid, args):
        us = "%d.%03d"
        self.out.append('{"ph":"X","cat":"%s",%s"pid":%d,"tid":%d,"ts":%s,"dur":%s,'
                        '"args":{%s}}' % (cat, '"name":%s,' % json.dumps(name) if name else "",
                                          0 if tid == 7 else 1, tid,
                                          us % divmod(ts, 1000), us % divmod(dur, 1000), args))

    def call(self, c):
        slot, start = len(self.out), self.now
        self.out.append(None)
        self.now += 10
        args = ""
        if c.kind in ("launch", "graph"):
            self.corr += 1
            args = '"correlation":%d' % self.corr
            for g in c.below:
                self.work(g)
        else:
            if c.kind == "op":
                args = '"Input Dims":[[%d,3],[]],"Input type":["float","Scalar"]' % len(c.below)
            for k in c.below:
                self.call(k)
        self.now += 10
        cat = {"op": "cpu_op", "frame": "python_function"}.get(c.kind, "cuda_runtime")
        if c.name.startswith("cu") and not c.name.startswith("cuda"):
            cat = "cuda_driver"
        self.add(c.name, cat, start, self.now - start, 1, args)
        self.out[slot] = self.out.pop()
        self.now += 5

    def work(self, g):
        start = max(self.now, self.ready - self.rng.choice((0, 0, g.dur // 2)))
        self.ready = start + g.dur
        cat = g.kind if g.kind == "kernel" else "gpu_" + g.kind
        self.gpu.append((g.name, cat, start, g.dur, self.corr))

    def text(self, roots):
        for r in roots:
            self.call(r)
        if self.rng.random() < 0.2:  # work of launches before the trace
            self.gpu.append(("gemm_kernel", "kernel", 500, 77, 999999999))
        first = len(self.out)
        self.work_of = {first + n: g for n, g in enumerate(self.gpu) if g[4] <= self.corr}
        for name, cat, ts, dur, corr in self.gpu:
            self.add(name, cat, ts, dur, 7, '"correlation":%d,"device":0,"stream":7' % corr)
        return '{"traceEvents":[\n%s]}\n' % ",\n".join(self.out)


def write(path, roots, seed=1):
    """GPU work that has a launch: id -> (name, kind, start, time, launch)"""
    writer = Writer(random.Random(seed))
    with open(path, "w", encoding="utf-8") as f:
        f.write(writer.text(roots))
    return writer.work_of
