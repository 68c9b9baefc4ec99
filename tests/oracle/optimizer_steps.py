#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""optimizer_steps.py: drawn training without markers: steps end with the optimizer's.

    optimizer_steps.py [FIRST LAST]

For each seed it draws a loop whose steps differ: in what they launch (a twelfth of the
kernels belong to one step only), in how much (by half), and in time (by 20 x).
Optimizers come alone, in a row, or in turns with work between them. The recording
begins with the loop, after the construction of a model, or within a step, and may end
within one. The starts and ends of steps are recorded as the trace is made.
Not to be taken for steps: an optimizer stepped by hooks of the backward pass, and one
between stretches with nothing in common. A whole first step may be left out if by
chance it lacks what all others have: in at most one draw of twenty.
"""
import json
import os
import random
import sys
import tempfile

from worked import table

SCENES = ("plain", "several", "turns", "setup", "cut_head", "cut_tail", "hooks", "foreign")


class Loop:
    def __init__(self, seed, scene):
        self.rnd, self.scene = random.Random(seed), scene
        self.events, self.now, self.corr = [], 1000, 0
        self.ends, self.nlaunched = [], []

    def put(self, cat, name, start, end, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1,
                            "ts": start, "dur": end - start, "args": args})

    def launch(self, name):
        self.corr += 1
        self.now += self.rnd.randint(5, 40)
        self.put("cuda_runtime", "cudaLaunchKernel", self.now, self.now + 4,
                 correlation=self.corr)
        self.events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7,
                            "ts": self.now + 6, "dur": 3,
                            "args": {"device": 0, "stream": 7, "correlation": self.corr}})
        self.now += 5

    def optimizer(self, name="SGD"):
        start = self.now = self.now + 3
        for i in range(4):
            self.launch("update_%s_%d" % (name, i))
        self.now += 2
        self.put("user_annotation", "Optimizer.step#%s.step" % name, start, self.now)

    def work(self, names, number):
        """what a step launches: each kernel, or one of the step's own in its place"""
        for name in names:
            own = self.rnd.random() < 0.08
            self.launch("own_%d_%s" % (number, name) if own else name)

    def end(self):
        self.ends.append(self.now)

    def step(self, number, names):
        scene = self.scene
        self.now += self.rnd.randint(20, 60) * self.rnd.choice((1, 1, 20))
        if scene == "foreign":
            names = ["f%d_%d" % (number, i) for i in range(len(names))]
        self.work(names, number)
        if scene == "plain":
            self.work(names[:self.rnd.randint(0, 30)], number)
        if scene == "hooks":
            for i in range(6):
                start = self.now = self.now + 1
                self.launch("bwd_%d" % i)
                self.optimizer("hook")
                self.put("cpu_op", "autograd::AccumulateGrad", start, self.now)
        elif scene == "turns":
            self.optimizer("D")
            self.work(["generate_%d" % i for i in range(30)], number)
            self.optimizer("G")
        else:
            self.optimizer()
            if scene == "several":
                self.optimizer("Adam")
        self.end()


def drawn(seed, scene):
    """the trace, and its borders in ns; None: no steps are to be found"""
    loop = Loop(seed, scene)
    names = ["k%d" % i for i in range(loop.rnd.randint(25, 60))]
    names = [loop.rnd.choice(names) for _ in range(60)]
    if scene == "setup":
        loop.put("cpu_op", "aten::normal_", 0, 90000)
        loop.now = 100000
    first = loop.now
    for i in range(loop.rnd.randint(5, 9)):
        loop.step(i, names)
    if scene == "setup":
        first = min(e["ts"] for e in loop.events if e["cat"] == "cuda_runtime")
    if scene == "cut_head":
        calls = sorted(e["ts"] for e in loop.events if e["cat"] == "cuda_runtime")
        at = calls[loop.rnd.randint(20, 45)]
        loop.events = [e for e in loop.events if e["ts"] >= at]
        first = None
    if scene == "cut_tail":
        loop.work(names[:loop.rnd.randint(1, 50)], 99)
    if scene in ("plain", "several", "turns", "cut_tail"):
        # the first event of the thread
        first = min(e["ts"] for e in loop.events if e["tid"] == 1)
    borders = ([first] if first is not None else []) + loop.ends
    return {"traceEvents": loop.events}, [b * 1000 for b in borders]


def check(path, scene, want, left_out):
    rows = table(["tl-steps", path])
    steps = [r for r in rows if r["what"] == "step"]
    got = [r["ts_ns"] for r in steps]
    got += [steps[-1]["ts_ns"] + steps[-1]["wall_ns"]] if steps else []
    if scene in ("hooks", "foreign"):
        taken = [b for b in want[1:-1] if b in got]
        return ["%s are steps" % taken] if taken else []
    if scene != "cut_head" and got == want[1:]:
        left_out.append(path)
        want = want[1:]
    bad = [] if got == want else ["%s, not %s" % (got, want)]
    bad += [] if [r["step"] for r in steps] == list(range(1, len(want))) else ["numbers"]
    return bad + ([] if all(r["is_inferred"] for r in steps) else ["not inferred"])


def main():
    first, last = (int(x) for x in sys.argv[1:3]) if len(sys.argv) > 2 else (1, 16)
    left_out = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.json")
        for seed in range(first, last + 1):
            scene = SCENES[seed % len(SCENES)]
            trace, want = drawn(seed, scene)
            with open(path, "w", encoding="utf-8") as f:
                f.write(json.dumps(trace))
            bad = check(path, scene, want, left_out)
            print("%sok %d - %s, seed %d" % (
                "not " if bad else "", seed - first + 1, scene, seed))
            for line in bad:
                print("# " + line)
    print("%sok %d - %d first steps left out" % (
        "not " if len(left_out) * 20 > last - first + 1 else "", last - first + 2, len(left_out)))
    print("1..%d" % (last - first + 2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
