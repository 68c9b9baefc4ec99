#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""health_drawn.py: drawn defects, two and three at once, at drawn places; as TAP.

    health_drawn.py [SEED] [DRAWS] [PAIRS]

Each defect takes ops of the sound trace of tests/gen/health.py for itself, with
their calls and kernels, so planted counts add up: tl-health finds each check with
their sum, and no other check. Then PAIRS of all pairs of kinds: each program warns
of its figures that a finding spoils, and of no others.
"""
import collections
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gen"))
import health  # noqa: E402 pylint: disable=wrong-import-position,import-error

# what small and idle traces have, and what follows from lost events
ALWAYS = {"content.few", "content.idle", "content.unstable", "coverage.uneven"}
OPS = health.OPS


class Job:
    """A trace, its original events, and which ops are taken."""

    def __init__(self, rng):
        self.t, self.rng = health.Trace(), rng
        self.ops, self.calls = list(self.t.ops), list(self.t.calls)
        self.kernels = list(self.t.kernels)
        self.free, self.kinds = set(range(OPS)), set()
        self.want = collections.Counter()

    def take(self, least, most, low=0, high=OPS, behind=()):
        """Some drawn ops of a range, each with those so far after it; or none."""
        got, n = [], self.rng.randint(least, most)
        for i in self.rng.sample(range(low, high), high - low):
            mine = {i, *(i + k for k in behind)}
            if len(got) < n and mine <= self.free:
                self.free -= mine
                got.append(i)
        return sorted(got) if len(got) >= least else []

    def block(self, n, first):
        """These ops, all of them or none."""
        mine = set(range(first, first + n))
        if not mine <= self.free:
            return []
        self.free -= mine
        return sorted(mine)

    def alone(self, kind):
        """Once per trace; false: it has one."""
        if kind in self.kinds:
            return False
        self.kinds.add(kind)
        return True

    def found(self, n, *checks):
        for c in checks:
            self.want[c] += n
        return n > 0


DEFECTS = {}


def defect(fn):
    DEFECTS[fn.__name__] = fn
    return fn


def each(name, least, most, checks, low=0, high=OPS, behind=()):
    """A defect of single ops."""
    def deco(change):
        def plant(j):
            got = j.take(least, most, low, high, behind)
            for i in got:
                change(j, i)
            return j.found(len(got), *checks)
        plant.__name__ = name
        DEFECTS[name] = plant
        return change
    return deco


# ---- single ops ----

@each("before_launch", 1, 8, ["time.before_launch"])
def before_launch(j, i):
    j.kernels[i]["ts"] -= 12


@each("no_duration", 1, 12, ["time.no_duration"])
def no_duration(j, i):
    j.kernels[i]["dur"] = 0


@each("negative", 1, 6, ["time.negative", "file.skipped"])
def negative(j, i):
    j.kernels[i]["dur"] = -5.5


@each("overrun", 1, 4, ["time.overrun"], high=OPS - 2, behind=(2,))
def overrun(j, i):
    j.kernels[i]["dur"] = 2 * health.PERIOD + health.KERNEL + 10


@each("overlap", 1, 4, ["time.overlap"], high=OPS - 2, behind=(2,))
def overlap(j, i):
    j.kernels[i]["dur"] = 2 * health.PERIOD + 5


# far enough apart that the GPU has work between
@each("burst", 1, 4, ["time.burst", "time.overlap"], high=OPS - 2, behind=(1, 2))
def burst(j, i):
    j.kernels[i]["ts"] = j.kernels[i + 2]["ts"]


@each("no_launch", 1, 6, ["links.no_launch"], low=8)
def no_launch(j, i):
    j.t.calls.remove(j.calls[i])


@each("no_work", 1, 6, ["links.no_work"], high=OPS - 8)
def no_work(j, i):
    j.t.kernels.remove(j.kernels[i])


@each("no_op", 1, 6, ["links.no_op"])
def no_op(j, i):
    j.t.ops.remove(j.ops[i])


@each("no_id", 1, 6, ["links.no_id", "links.no_work"], high=OPS - 8)
def no_id(j, i):
    del j.kernels[i]["args"]["correlation"]


def again(j, i, pid):
    j.t.more.append(j.t.event("cuda_runtime", "cudaMemsetAsync", j.calls[i]["ts"] + 60, 2.5,
                              pid, 2, dict(j.calls[i]["args"])))


@each("shared", 1, 6, ["links.shared"])
def shared(j, i):
    again(j, i, 1)


@each("processes", 1, 6, ["links.processes"])
def processes(j, i):
    again(j, i, 2)


@each("inside", 1, 6, [])
def inside(j, i):
    j.t.more.append(j.t.event("cuda_driver", "cuLaunchKernel", j.calls[i]["ts"] + 1, 2.5, 1, 1,
                              dict(j.calls[i]["args"])))


@each("backward", 1, 6, ["links.backward"])
def backward(j, i):
    j.ops[i]["name"] = "autograd::engine::evaluate_function: MmBackward0"


@each("no_shapes", 1, 6, ["content.no_shapes"])
def no_shapes(j, i):
    j.ops[i]["args"]["Input Dims"] = [[], []]


@each("cut", 1, 6, ["content.cut"])
def cut(j, i):
    j.ops[i]["args"]["Concrete Inputs"] = ["", "[1, 2, ..., 9]"]


@each("names", 1, 6, ["content.names"])
def names(j, i):
    j.ops[i]["name"] += "\x01" if i % 2 else "\ufffd"


@each("keys", 1, 6, ["file.keys"])
def keys(j, i):
    j.ops[i]["args"].update(corr2=1, correlation=2)


@each("twice", 1, 6, ["file.twice"])
def twice(j, i):
    j.t.more.append(dict(j.kernels[i]))


@each("skipped", 1, 6, ["file.skipped"])
def skipped(j, i):
    del j.kernels[i]["ts"]


# ---- stretches ----

@defect
def begin(j):
    got = j.block(j.rng.randint(1, 8), 0)
    for i in got:
        j.t.calls.remove(j.calls[i])
    return j.found(len(got), "coverage.begin")


def last(j, most):
    """The last ops, for a defect at the trace's end."""
    n = j.rng.randint(1, most)
    return j.block(n, OPS - n) if j.alone("end") else []


@defect
def end(j):
    got = last(j, 6)
    for i in got:
        j.t.kernels.remove(j.kernels[i])
    return j.found(len(got), "coverage.end")


@defect
def huge(j):
    got = last(j, 3)
    for i in got:
        j.kernels[i]["dur"] = 2 * 86400e6
    return j.found(len(got), "time.huge")


@defect
def dominant(j):
    got = last(j, 1)
    for i in got:
        j.kernels[i]["dur"] = 2e3 * 40 + 0.123
    return j.found(len(got), "time.dominant")


@defect
def graphs(j):
    if not last(j, 1):
        return False
    n = j.rng.randint(1, 3)
    health.graphs(j.t, n)
    return j.found(n, "links.graphs")


@defect
def captured(j):
    if not last(j, 1):
        return False
    health.captured(j.t, j.rng.randint(1, 12))
    return j.found(1, "links.no_op")


def later(j):
    """Ops around the 20th, for a defect that moves what follows."""
    return j.block(6, 17) if j.alone("moved") else []


@defect
def jump(j):
    if not later(j):
        return False
    border = health.BEGIN + 20 * health.PERIOD - 2
    for e in j.t.host() + j.kernels + j.t.more:
        if e.get("ts", 0) > border:
            e["ts"] += 60e6
    return j.found(1, "time.jump")


def move(j, n):
    """As health.late(), for the present events."""
    border = health.BEGIN + 20 * health.PERIOD + 10
    for e in j.t.host() + j.t.more:
        e["ts"] += n * 1e3 if e["ts"] > border else 0
    for e in j.kernels[20:]:
        if "ts" in e:
            e["ts"] += n * 1e3


@defect
def late(j):
    if not later(j):
        return False
    move(j, j.rng.randint(4, 9))
    return j.found(1, "coverage.late")


@defect
def blocked(j):
    if not later(j):
        return False
    n = j.rng.randint(4, 9)
    move(j, n)
    j.ops[20]["dur"] += n * 1e3
    j.t.steps[2]["dur"] += n * 1e3
    j.t.more.append(j.t.event("cuda_runtime", "cudaDeviceSynchronize",
                              health.BEGIN + 20 * health.PERIOD + 11, n * 1e3, 1, 1,
                              {"correlation": 700}))
    return j.found(1, "coverage.blocked")


# ---- the whole trace ----

@defect
def unknown(j):
    n = j.rng.randint(1, 9)
    if not j.alone("unknown"):
        return False
    health.unknown(j.t, n)
    return j.found(n, "content.unknown")


@defect
def lost(j):
    n = j.rng.randint(1, 9)
    if not j.alone("lost"):
        return False
    health.lost(j.t, n)
    return j.found(1, "coverage.lost")


@defect
def no_stacks(j):
    if not j.alone("no_stacks"):
        return False
    health.no_stacks(j.t, 1)
    return j.found(1, "content.no_stacks")


@defect
def no_steps(j):
    if not j.alone("no_steps"):
        return False
    j.t.steps.clear()
    return j.found(1, "coverage.no_steps")


# Which of the figures that these programs print a check spoils, from a warning on.
PROGRAMS = {"tl-timeline": {"busy", "idle"}, "tl-kernels": {"kernels"}, "tl-ops": {"ops"},
            "tl-launch": {"launches"}, "tl-idle": {"idle", "launches"}}
ALL = "busy idle kernels ops launches"
SPOILS = {
    "time.zero": "idle steps", "time.huge": ALL, "time.negative": "busy kernels ops",
    "time.no_duration": "busy kernels ops", "time.jump": "idle",
    "time.before_launch": "launches idle", "time.overrun": "kernels ops",
    "time.overlap": "kernels ops", "time.burst": "kernels idle",
    "links.no_launch": "ops idle launches", "links.no_work": "busy idle kernels ops launches",
    "links.no_id": "ops idle launches", "links.shared": "ops idle launches",
    "links.processes": "ops idle launches", "links.graphs": "kernels steps",
    "coverage.blocked": "idle steps", "coverage.late": "idle steps",
    "coverage.begin": "ops steps", "coverage.end": "steps",
    "coverage.starved": "busy idle steps", "coverage.lost": ALL, "file.skipped": ALL,
    "file.async": ALL,
}

# events are moved after the trace has become longer, and before any are removed or
# copied
ORDER = ("graphs", "captured", "jump", "late", "blocked")


def draw(rng, n, words=None):
    """A job with n defects, or these, and their names."""
    j, got = Job(rng), []
    words = words or rng.sample(sorted(DEFECTS), n)
    for name in sorted(words, key=(ORDER + tuple(words)).index):
        if DEFECTS[name](j):
            got.append(name)
    return j, got


def findings(path):
    p = subprocess.run(["tl-health", "--format", "tsv", "--no-header", "-c", "check,count", path],
                       capture_output=True, text=True, check=False)
    if p.returncode not in (0, 3, 4):
        return "status %d: %s" % (p.returncode, p.stderr)
    rows = (line.split("\t") for line in p.stdout.splitlines())
    return {c: int(n) for c, n in rows if c not in ALWAYS}


def marked(path, folder):
    """Where the programs' warnings differ from those that the findings demand."""
    tl, bad = os.path.join(folder, "t.tl"), []
    p = subprocess.run(["tl-health", "-q", "--format", "tsv", "--no-header", "-c", "check,severity",
                        "--mark", tl, path], capture_output=True, text=True, check=False)
    if p.returncode not in (0, 3, 4):
        return ["status %d: %s" % (p.returncode, p.stderr)]
    rows = [line.split("\t") for line in p.stdout.splitlines()]
    severe = {c for c, severity in rows if severity in ("warning", "misleading")}
    for program, figures in PROGRAMS.items():
        want = {c for c in severe if figures & set(SPOILS.get(c, "").split())}
        p = subprocess.run([program, tl], capture_output=True, text=True, check=False)
        said = {c for line in p.stderr.splitlines() if "tl-health" in line
                for c in re.findall(r"\b(?:time|links|coverage|content|file)\.[a-z_]+", line)}
        if p.returncode != 5 and (said != want or want and p.returncode != 3):
            bad.append("%s (%d) warns of %s instead of %s" %
                       (program, p.returncode, sorted(said), sorted(want)))
    return bad


def check_pairs(seed, npairs, folder):
    """Whether it holds for so many pairs of kinds."""
    pairs = list(itertools.combinations(sorted(DEFECTS), 2))
    random.Random(seed).shuffle(pairs)
    path, bad, n = os.path.join(folder, "p.json"), [], 0
    for pair in pairs[:npairs]:
        j, got = draw(random.Random("%d %s %s" % (seed, *pair)), 2, list(pair))
        n += len(got) == 2
        with open(path, "w", encoding="utf-8") as f:
            j.t.write(f)
        bad += ["%s: %s" % (" ".join(got), b) for b in marked(path, folder)]
    print("%sok 3 - %d pairs of kinds, %d of both: what they spoil is marked" %
          ("not " if bad else "", len(pairs[:npairs]), n))
    for line in bad[:20]:
        print("# " + line)
    return not bad


def main():
    seed, draws, npairs = (int(a) for a in (sys.argv[1:] + ["1", "60", "30"][len(sys.argv) - 1:]))
    failed = 0
    print("1..3")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.json")
        for n in 2, 3:
            bad, planted = [], set()
            for k in range(draws):
                j, got = draw(random.Random("%d %d %d" % (seed, n, k)), n)
                planted.update(got)
                with open(path, "w", encoding="utf-8") as f:
                    j.t.write(f)
                have, want = findings(path), {c: v for c, v in j.want.items() if v}
                if have != want:
                    bad.append("draw %d: %s: %s instead of %s" %
                               (k, " ".join(got), have, want))
            failed += bool(bad)
            print("%sok %d - %d times %d defects at once, of %d kinds" %
                  ("not " if bad else "", n - 1, draws, n, len(planted)))
            for line in bad[:20]:
                print("# " + line)
            sys.stdout.flush()
        failed += not check_pairs(seed, npairs, folder)
    return bool(failed)


sys.exit(main())
