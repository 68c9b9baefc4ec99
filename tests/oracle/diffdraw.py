#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""diffdraw.py [PAIRS [CHANGE...]]: tl-diff's judgement of drawn pairs, as TAP.

A second implementation computes rows, the rest, communication and their sum from the
drawn times by the rules alone. Rows, sentence and gate must say the same. Pairs without
a change must seldom show a difference. What is planted must be found, also after a slow
first step, and in it; so must a step that stands out and, in jobs, a rank that became
slower and the reason. With CHANGE only these are planted, in the smallest pairs.
"""
import csv
import json
import math
import multiprocessing
import os
import random
import re
import subprocess
import sys
import tempfile

ROWS, COMM = 60, 6  # the last are communication
TICK, RUN_NOISE = 40, .005
# runs, steps; alarms at most, in percent of all pairs
SHAPES = [(1, 3), (1, 5), (1, 10), (3, 5)]
MOST = 5
# planted changes; least share of the changed time that is named, in percent, by shape
PLANTS = {"family": (25, 50, 65, 55), "one": (80, 85, 90, 80), "slow": (0, 0, 0, 0),
          "jitter": None, "calls": (0, 0, 0, 0), "removed": (0, 0, 0, 0),
          "added": (0, 0, 0, 0), "step": (0, 80, 80, 80), "first": (0, 80, 90, 80),
          "warmer": (0, 0, 0, 90), "warm": None, None: None}
# their first steps are slow and vary by a tenth; in those of warmer an op takes ten times
# as long
WARM = "first", "warmer", "warm"
# jobs: ranks, steps; how often at least the planted change is found, and nothing else
JOBS = [(4, 3), (8, 10)]
LEAST_JOBS = (85, 95)


# ---- distributions, by plain sums ----

def digamma(x):
    n = x + 100
    return (math.log(n) - 1 / (2 * n) - 1 / (12 * n * n)
            - sum(1 / (x + k) for k in range(100)))


def trigamma(x):
    n = x + 100
    return (1 / n + 1 / (2 * n * n) + 1 / (6 * n ** 3)
            + sum(1 / (x + k) ** 2 for k in range(100)))


def student(t, df):
    """the chance of as large a |t|: Simpson's rule over the angle whose tangent it is"""
    low = math.atan(abs(t) / math.sqrt(df))
    high = min(math.pi / 2, low + 12 / math.sqrt(df))
    n, total = 300, 0.0
    h = (high - low) / n
    for i in range(n + 1):
        y = max(math.cos(low + i * h), 0) ** (df - 1)
        total += y * (1 if i in (0, n) else 4 if i % 2 else 2)
    ln_beta = math.lgamma(.5) + math.lgamma(df / 2) - math.lgamma(df / 2 + .5)
    return 2 * total * h / 3 / math.exp(ln_beta)


def quantile(df):
    low, high = 1.9, 13.0
    for _ in range(30):
        mid = (low + high) / 2
        low, high = (mid, high) if student(mid, df) > .05 else (low, mid)
    return low


# ---- the rules ----

def independent(v):
    """how many samples are independent"""
    n, m = len(v), sum(v) / len(v)
    squares = sum((x - m) ** 2 for x in v)
    if n < 8 or not squares:
        return n
    r = max(0, sum((v[i] - m) * (v[i - 1] - m) for i in range(1, n)) / squares + 1 / n)
    return max(n / 3, n * (1 - r) / (1 + r))


class Row:
    """samples of both sides"""

    def __init__(self, sides, eff, nevents=1, is_ratio=False):
        self.v, self.eff = sides, eff
        self.mean = [sum(v) / len(v) for v in sides]
        self.diff, self.middle = self.mean[1] - self.mean[0], sum(self.mean) / 2
        self.is_ratio = is_ratio and min(self.mean) > 0
        self.of = self.mean if self.is_ratio else [self.middle] * 2
        squares = [sum((x - m) ** 2 for x in v) for v, m in zip(sides, self.mean)]
        self.is_const = not sum(squares)
        free = len(sides[0]) + len(sides[1]) - 2
        self.share = max(sum(q / m ** 2 for q, m in zip(squares, self.of)) / free,
                         nevents * TICK ** 2 / 12 / self.middle ** 2)
        self.df = max(1, eff[0] + eff[1] - 2)
        self.nevents = nevents
        self.on_both = all(any(v) for v in sides)

    def test(self, pool, allowance, share, least):
        df0, var0 = pool
        q = (df0 * var0 + self.df * self.share) / (df0 + self.df)
        var, df = (q, self.df + df0) if q > self.share else (self.share, self.df)
        self.var = var * sum(m ** 2 / n for m, n in zip(self.of, self.eff)) + \
            allowance * self.middle ** 2
        var *= 1 / self.eff[0] + 1 / self.eff[1]
        self.free = df * ((var + allowance) / var) ** 2
        least = max(least, share * self.middle, 2 * TICK * math.sqrt(self.nevents))
        if abs(self.diff) < least:
            return 1

        def apart(a, b):
            return math.log(b / a) if self.is_ratio else b - a
        se = math.sqrt(var + allowance if self.is_ratio else self.var)
        whole = apart(*self.mean)
        p = student(whole / se, self.free)
        for s, v in enumerate(self.v):
            for k in range(len(v)):
                rest = v[:k] + v[k + 1:]
                mean = [sum(rest) / len(rest), self.mean[1 - s]]
                d = apart(*(mean[::-1] if s else mean))
                if d * self.diff <= 0:
                    return 1
                if abs(d) < abs(whole):
                    p = max(p, student(d / se / math.sqrt(1 + .5 / (len(v) - 1)), self.free))
        return p


def pool_of(rows):
    rows = [r for r in rows if not r.is_const]
    if len(rows) < 10:
        return 0, 0
    e = [math.log(r.share) - digamma(r.df / 2) + math.log(r.df / 2) for r in rows]
    mean = sum(e) / len(e)
    c = sum((x - mean) ** 2 for x in e) / (len(e) - 1) - trigamma(rows[0].df / 2)
    if c <= 0:
        return 1000, math.exp(mean)
    low, high = 1e-6, 1e6
    for _ in range(60):
        mid = math.sqrt(low * high)
        low, high = (mid, high) if trigamma(mid) > c else (low, mid)
    return 2 * low, math.exp(mean + digamma(low) - math.log(low))


def named_of(p, level):
    limit = -1
    for k, x in enumerate(sorted(p), 1):
        if x <= level * k / len(p):
            limit = x
    return [x <= limit for x in p]


class Expected:
    """the expected words on samples[side][sample][row], with this share of a step of
    means[side][row]; firsts: first steps, which are in no sample"""

    def __init__(self, samples, by_run, has_extra, means, scale, firsts):
        def of(rows, samples=samples):
            return [[sum(x[i] for i in rows) for x in side] for side in samples]

        self.means, self.scale = means, scale
        whole = of(range(ROWS))
        eff = [independent(v) for v in whole]
        n = [len(v) for v in whole]
        few = not by_run and math.comb(n[0] + n[1], n[0]) < 70
        allowance = 0 if by_run else 2 * RUN_NOISE ** 2
        self.rows, self.named, self.rest, self.judged, self.var = [], [], [], [], []
        self.firsts, self.first_named, self.first_rest, self.first_judged = [], [], [], []
        self.is_first_known = by_run and scale < 1
        for ids, level, rest_level in ((range(ROWS), .03, .01),
                                       (range(ROWS, ROWS + COMM), .005, .005)):
            rows = [Row(of([i]), eff) for i in ids]
            both = [r.on_both for r in rows]
            pool = pool_of([r for r in rows if r.on_both])
            middle = sum(sum(side[i] for i in ids) for side in means) / 2 / scale
            p = [r.test(pool, allowance, .05 if few else .01, .002 * middle * few)
                 for r in rows if r.on_both]
            if self.is_first_known:
                self.judge_first(of, ids, firsts, [x.on_both for x in rows])
                level -= .01 * (level == .03)
            tested = iter(named_of(p + [1] * (has_extra and level >= .02), level))
            # rows of one side are no noise, and need no test
            named = [not x or next(tested) for x in both]
            left = [i for i, x in zip(ids, named) if not x]
            self.judged.append(sum(r.diff for r, x in zip(rows, named) if x))
            self.var += [r.var for r, x, y in zip(rows, named, both) if x and y]
            rest = Row(of(left), eff, len(left)) if left else None
            is_rest = bool(left) and rest.test((0, 0), allowance, 0, .005 * middle) <= rest_level
            if is_rest:
                self.judged[-1] += rest.diff
                self.var.append(rest.var)
            self.rest.append(is_rest)
            self.rows += rows
            self.named += named
        if not self.is_first_known:
            self.first_named = [False] * (ROWS + COMM)
            self.first_rest = self.first_judged = 0, 0

    def judge_first(self, of, ids, firsts, both):
        """the same of first steps, at a quarter of a percent"""
        eff = [len(side) for side in firsts]
        rows = [Row(of([i], firsts), eff, 1, True) if x else None for i, x in zip(ids, both)]
        known = [r for r in rows if r]
        df0, var0 = pool_of(known)
        pool = min(df0, sum(eff) - 2), var0 # what makes one slow makes all
        tested = iter(named_of([r.test(pool, 0, .01, 0) for r in known], .0025))
        named = [bool(r) and next(tested) for r in rows]
        left = [i for i, r, x in zip(ids, rows, named) if r and not x]
        middle = sum(sum(v) / len(v) for v in of(ids, firsts)) / 2
        rest = Row(of(left, firsts), eff, len(left)) if left else None
        is_rest = bool(left) and rest.test((0, 0), 0, 0, .005 * middle) <= .0025
        self.first_judged.append((1 - self.scale) * (
            sum(r.diff for r, x in zip(rows, named) if x) + (rest.diff if is_rest else 0)))
        self.firsts += rows
        self.first_named += named
        self.first_rest.append(is_rest)

    def spread(self, i):
        """half the interval of a row's difference, with first steps if these are known"""
        parts = [(self.rows[i], self.scale)]
        if self.is_first_known:
            parts.append((self.firsts[i], 1 - self.scale))
        var = [r.var * scale ** 2 for r, scale in parts]
        free = sum(var) ** 2 / sum(v ** 2 / r.free for v, (r, _) in zip(var, parts))
        return quantile(free) * math.sqrt(sum(var))


# ---- drawing ----

def draw(rnd, plant, runs, steps):
    """[side][run][step][row] in ns, and how much longer each row became"""
    mean = [math.exp(rnd.gauss(11.5, 1.2)) for _ in range(ROWS)] + [3e5] * COMM
    sd = [math.exp(rnd.uniform(math.log(.003), math.log(.05))) for _ in range(ROWS)]
    total, factor, so_far = sum(mean[:ROWS]), [1.0] * (ROWS + COMM), 0
    for i in range(ROWS):
        if plant == "family" and so_far < total / 3:
            factor[i], so_far = 1.07, so_far + mean[i]
        if plant == "slow":
            factor[i] = 1.02
    mid = min(range(ROWS), key=lambda i: abs(mean[i] - total / 50))
    if plant in ("one", "first"):
        factor[mid] = 1.5
    if plant in ("removed", "added"):
        factor[mid] = 0
    first = [10 if plant == "warmer" and i == mid else 1 for i in range(ROWS)]
    sides = []
    for side in range(2):
        job = []
        for _ in range(runs):
            speed, common, run = math.exp(rnd.gauss(0, .004)), rnd.gauss(0, 1), []
            for at in range(steps):
                common = .3 * common + .954 * rnd.gauss(0, 1)
                warm = rnd.uniform(1.5, 2) if plant in WARM and at == 0 else 1
                row = [mean[i] * (factor[i] if side else 1) * speed * warm
                       * (first[i] if side and at == 0 else 1)
                       * math.exp(.003 * common + rnd.gauss(0, sd[i]))
                       * (1 + rnd.expovariate(1 / .3) * (rnd.random() < .01))
                       for i in range(ROWS)]
                wide = .6 if plant == "jitter" and side else .3
                row += [3e5 * math.exp(rnd.gauss(0, wide)) * (3 if rnd.random() < .1 else 1)
                        for _ in range(COMM)]
                run.append([round(x) for x in row])
            if plant == "step" and side and not job: # in every run it would be a change
                at = rnd.randrange(steps)
                most = sorted(range(ROWS), key=lambda i: -mean[i])[:3]
                more = .1 * sum(run[at][:ROWS]) / sum(run[at][i] for i in most)
                for i in most:
                    run[at][i] = round(run[at][i] * (1 + more))
            job.append(run)
        sides.append(job)
    if plant == "added":
        sides.reverse()
    return sides, [m * (f - 1 + x - 1) for m, f, x in zip(mean, factor, first + [1] * COMM)]


def write(path, run, calls, job=None):
    """calls: of a further op, per step"""
    events, corr, at = [], 0, 1000

    def event(cat, name, tid, ts, ns, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid,
                       "ts": ts, "dur": ns / 1000, "args": args})

    for n, step in enumerate(run):
        start = at
        for i, ns in enumerate(step + [20000] * calls):
            if ns == 0: # it is not there
                continue
            corr += 1
            name = "extra" if i >= len(step) else "op%02d" % i
            event("cpu_op", name, 1, at, 8000)
            event("cuda_runtime", "cudaLaunchKernel", 1, at + 1, 5000, correlation=corr)
            kernel = "ncclDevKernel_AllReduce" if ROWS <= i < ROWS + COMM else "k_" + name
            event("kernel", kernel, 7, at + 10, ns, correlation=corr, device=0, stream=7)
            at += 10 + math.ceil(ns / 1000)
        event("user_annotation", "ProfilerStep#%d" % n, 1, start, (at - start) * 1000)
    with open(path, "w", encoding="ascii") as f:
        f.write(json.dumps({**({"distributedInfo": job} if job else {}), "traceEvents": events}))


# ---- a step that stands out ----

def median(v):
    v = sorted(v)
    return (v[(len(v) - 1) // 2] + v[len(v) // 2]) / 2


def step_of(run, at):
    """by how much this step stands out, in which row most, and by how much; or None"""
    total = [sum(step[:ROWS]) for step in run]
    others = [x for i, x in enumerate(total) if i != at]
    m = median(others)
    s = max(1.4826 * median([abs(x - m) for x in others]), .005 * m)
    excess = total[at] - m
    if len(run) < 5 or excess <= 6 * s * math.sqrt(1 + 6 / len(others)) or \
            excess <= max(.03 * m, 50000):
        return None
    grown = [(run[at][i] - median([x[i] for k, x in enumerate(run) if k != at]), i)
             for i in range(ROWS)]
    grown = [(g, i) for g, i in grown if run[at][i] > 1.1 * (run[at][i] - g)]
    if sum(g for g, _ in grown) < .7 * excess:
        return None
    return excess, max(grown)[1], max(grown)[0]


def first_out(sides):
    """1: the first steps are not judged"""
    return int(all(2 * sum(bool(step_of(run, 0)) for run in job) > len(job) for job in sides))


def standing_out(sides, out):
    """(excess, side, run, step, row, its growth) of the largest one, or None"""
    found = None
    for side, job in enumerate(sides):
        for r, run in enumerate(job):
            run = run[out:]
            at = max(range(len(run)), key=lambda i: sum(run[i][:ROWS]))
            x = step_of(run, at)
            if x and (not found or x[0] > found[0]):
                found = x[0], side, r, at + out, x[1], x[2]
    return found


def compare_step(said, want):
    said = [x for x in said if x.startswith("step ") and "stands out" in x]
    if bool(said) != bool(want):
        return ["%s: expected %s" % (said, want)]
    if not want:
        return []
    m = re.match(r"step (\d+) of (before|after)(?:, run (\d+),)? stands out: .* of compute, "
                 r"(\S+ [mun]?s) \(.*\) above the median of \d+ others, (\S+ [mun]?s) of it "
                 r"in op(\d+)$", said[0])
    if not m or (int(m[1]), m[2], int(m[3] or 0), int(m[6])) != \
            (want[3], ("before", "after")[want[1]], want[2], want[4]) or \
            any(abs(told_ns(m[k]) - want[i]) > 100 + 1e-3 * want[i] for k, i in ((4, 0), (5, 5))):
        return ["%s: expected %s" % (said[0], want)]
    return []


# ---- a pair ----

def told_ns(text):
    number, unit = text.split()
    return float(number) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]


def ask(paths, *options):
    command = ["tl-diff", "--per", "step", *options]
    for flag, side in zip("BA", paths):
        command += [x for p in side for x in ("-" + flag, p)]
    p = subprocess.run(command, capture_output=True, text=True, check=False)
    if p.returncode not in (0, 4):
        raise ValueError(p.stderr)
    return p


def compare_first(said, want):
    """whether first steps stand out, and in which row most"""
    said = [x for x in said if re.match("(the first step stands|first steps of most runs stand)"
                                        " out on both sides: ", x)]
    if bool(said) != (want.scale < 1) or said and \
            (said[0].endswith("they are judged by themselves") != want.is_first_known
             or [int(x) for x in re.findall(r" in op(\d+) (?:before|after)", said[0])]
             != want.most):
        return ["first steps: %s: expected %s" % (said, want.most)]
    return []


def compare(paths, want, extra_ns):
    """where rows, sentence and gate differ from the expected ones"""
    bad = []
    p = ask(paths, "--format", "tsv", "-c",
            "name,diff_ns,spread_ns,is_noise,is_comm,first_step_ns", "--fail-over", "gpu:0us")
    rows = {r["name"]: r for r in csv.DictReader(p.stdout.splitlines(), delimiter="\t")}
    first = [0, 0] # from first steps with unknown noise
    facts = [x or y for x, y in zip(want.named, want.first_named)]
    for i, (r, named) in enumerate(zip(want.rows, facts)):
        got = rows["op%02d" % i]
        diff = want.means[1][i] - want.means[0][i]
        mine = diff - r.diff * want.scale if r.on_both else 0
        first[i >= ROWS] += mine if want.scale < 1 and not want.is_first_known else 0
        is_unknown = not want.is_first_known and not named and \
            got["first_step_ns"] not in ("", "0")
        if abs(float(got["diff_ns"]) - diff) > 1.01 or \
                bool(got["first_step_ns"]) != (want.scale < 1) or \
                abs(float(got["first_step_ns"] or 0) - mine) > want.slack or \
                (got["is_noise"] == "false") != named and got["diff_ns"] != "0" or \
                (got["is_noise"] == "") != is_unknown or \
                got["is_comm"] != ("true" if i >= ROWS else "false"):
            bad.append("op%02d: %s, not %.1f, %.1f, %s" % (i, got, diff, mine, named))
        if is_unknown and got["spread_ns"]:
            bad.append("op%02d: spread %s of what is not known" % (i, got["spread_ns"]))
        if i % 16 == 0 and r.on_both and not is_unknown:
            spread = want.spread(i)
            if abs(spread - float(got["spread_ns"])) > 1 + 1e-5 * spread:
                bad.append("op%02d: spread %s, not %.1f" % (i, got["spread_ns"], spread))
    judged = sum(want.judged) * want.scale + extra_ns + sum(want.first_judged)
    # which do not offset what is proven
    more = judged + max(0, sum(first))
    slack = 100 + ROWS * want.slack * any(first)
    m = re.search(r"([-+][\d.]+ \w+)(?: ± [\d.]+ \w+)? beyond noise", p.stderr)
    unknown = re.search(r"([-+][\d.]+ \w+) \(noise unknown\)", p.stderr)
    if (p.returncode == 4) != (more > 0) and abs(more) > slack:
        bad.append("gate: status %d, judged %.0f, %.0f unknown" % (p.returncode, judged, more))
    if p.returncode == 4 and (bool(m) != (judged != 0) or
                              m and abs(told_ns(m[1]) - judged) > 600 or
                              bool(unknown) != any(first) or unknown and
                              abs(told_ns(unknown[1]) - sum(first)) > 600 + slack):
        bad.append("gate says %s, judged %.0f, %.0f unknown" % (p.stderr, judged, sum(first)))
    if "may be" in p.stderr or p.returncode == 0 and m:
        bad.append("gate: %s" % p.stderr)
    if p.returncode == 4 and (("none by itself" in p.stderr) != any(want.rest) or
                              ("first steps (spread" in p.stderr) != any(want.first_rest)):
        bad.append("gate: rest %s, %s: %s" % (want.rest, want.first_rest, p.stderr))
    said = ask(paths, "--table", "diff_verdict", "--no-header").stdout.split("\n")
    bad += compare_step(said, want.step)
    bad += compare_first(said, want)
    noise = sum(r["is_noise"] == "true" for r in rows.values())
    if noise != sum(int(m[1]) for m in (re.match(r"(\d+) (?:of \d+ )?rows? .*within noise$", x)
                                        for x in said) if m):
        bad.append("%d rows within noise: %s" % (noise, said))
    text = [x for x in said if x.startswith("GPU compute")][0]
    for part, family, more in ((text.split(". Comm")[0], 0, extra_ns),
                               (text.split(". Comm")[-1], 1, 0)):
        m = re.search(r"([-+][\d.]+ [mun]?s)(?: a step)? beyond noise", part)
        ns = want.judged[family] * want.scale + more + want.first_judged[family]
        unknown = re.search(r"noise unknown for ([-+][\d.]+ [mun]?s), all by first steps", part)
        if bool(unknown) != bool(first[family]) or unknown and \
                abs(told_ns(unknown[1]) - first[family]) > \
                100 + 1e-3 * abs(first[family]) + ROWS * want.slack:
            bad.append("%s: noise unknown for %.0f" % (part, first[family]))
        is_told = any((facts[:ROWS], facts[ROWS:])[family]) or want.rest[family] or \
            want.first_rest[family] or more != 0
        if bool(m) != bool(is_told):
            bad.append("%s: judged %.0f" % (part, ns))
        if part.endswith(": within noise") != (not m and not unknown):
            bad.append("%s: within noise" % part)
        if ("by first steps" in part.replace("all by first steps", "", bool(unknown))) != \
                (want.first_judged[family] != 0):
            bad.append("%s: by first steps %.0f" % (part, want.first_judged[family]))
        if m and abs(told_ns(m[1]) - ns) > 100 + 1e-3 * abs(ns):
            bad.append("%s: judged %.0f" % (part, ns))
        if ("none by itself" in part) != want.rest[family]:
            bad.append("%s: rest %s" % (part, want.rest[family]))
    return bad


def trial(job):
    shape, plant, seed = job
    runs, steps = SHAPES[shape]
    rnd = random.Random("%d %s %d" % (shape, plant, seed))
    sides, more = draw(rnd, plant, runs, steps)
    by_run = runs > 1
    out = first_out(sides)

    def mean(steps):
        return [sum(s[i] for s in steps) / len(steps) for i in range(ROWS + COMM)]

    samples = [[mean(run[out:]) for run in job] if by_run else job[0][out:] for job in sides]
    want = Expected(samples, by_run, plant == "calls",
                    [mean([s for run in job for s in run]) for job in sides],
                    (steps - out) / steps, [[run[0] for run in job] for job in sides])
    want.step = standing_out(sides, out)
    firsts = [[step_of(run, 0) for run in job] for job in sides]
    want.most = [max((x[2], -x[1]) for x in job if x)[1] * -1 for job in firsts] if out else []
    want.slack = 1.01 + runs # each of them is rounded
    calls = (2, 1) if plant == "calls" else (0, 0)
    with tempfile.TemporaryDirectory() as folder:
        paths = [[os.path.join(folder, "%d-%d.json" % (s, r)) for r in range(runs)]
                 for s in range(2)]
        for side, job, n in zip(paths, sides, calls):
            for path, run in zip(side, job):
                write(path, run, n)
        bad = compare(paths, want, 20000 * (calls[1] - calls[0]))
    named = want.first_named if plant == "warmer" else want.named
    found = sum(m for m, x in zip(more, named) if x) / (sum(more) or 1)
    if plant == "step":
        found = bool(want.step)
    return bad, any(want.named + want.first_named) or any(want.rest) or \
        any(want.first_rest), found


# ---- a job: --pair rank ----

def draw_job(rnd, plant, ranks, steps):
    """[side][rank][step][row]; the rank that is 10 % slower after"""
    who = rnd.randrange(ranks) if plant else None
    mean = [math.exp(rnd.gauss(11.5, 1.2)) for _ in range(ROWS)]
    sides = []
    for side in range(2):
        job = []
        for rank in range(ranks):
            speed = math.exp(rnd.gauss(0, .004)) * (1.1 if side and rank == who else 1)
            # half as slow after: a gain larger than the rank's loss
            warm = [1 if at or plant not in ("first", "warmer") else
                    rnd.uniform(1.5, 2) * (2 if plant == "warmer" and not side else 1)
                    for at in range(steps)]
            job.append([[round(m * speed * w * math.exp(rnd.gauss(0, .01))) for m in mean]
                        + [300000] * COMM for w in warm])
        sides.append(job)
    return sides, who


class ExpectedJob:
    def __init__(self, sides):
        out = first_out(sides)
        before, after = [[run[out:] for run in job] for job in sides]
        steps = len(before[0])
        # their variation is unknown
        self.firsts = [[sum(x[0][:ROWS]) for x in pair] for pair in zip(*sides)]
        self.first = [(a - b) / (steps + 1) if out else 0 for b, a in self.firsts]
        few = math.comb(2 * steps, steps) < 70
        self.ranks = []
        for b, a in zip(before, after):
            v = [[sum(x[:ROWS]) for x in run] for run in (b, a)]
            self.ranks.append(Row(v, [independent(x) for x in v], ROWS))
        squares = sum((x - m) ** 2 for r in self.ranks for v, m in zip(r.v, r.mean) for x in v)
        n = sum(2 * steps - 2 for _ in self.ranks)
        free = sum(r.df for r in self.ranks)
        allowance = 2 * RUN_NOISE ** 2
        for r in self.ranks:
            r.share, r.df = squares / n / r.middle ** 2, free
        p = [r.test((0, 0), allowance, .05 if few else .01, 0) for r in self.ranks]
        self.named = named_of(p, .03)
        diffs = [r.diff for r in self.ranks]
        self.alone = [abs(d - median(diffs)) > abs(d) / 2 for d in diffs]
        self.rows = []
        for r, b, a, named in zip(self.ranks, before, after, self.named):
            rows = [Row([[x[i] for x in run] for run in (b, a)], r.eff) for i in range(ROWS)]
            p = [x.test(pool_of(rows), allowance, .05 if few else .01, .002 * r.middle * few)
                 for x in rows]
            self.rows.append([(x.diff, i) for i, (x, y) in enumerate(zip(rows, named_of(p, .03)))
                              if y and x.diff * r.diff > 0] if named else [])


def compare_job(paths, want):
    bad = []
    command = ["tl-diff", "--pair", "rank"] + paths
    p = subprocess.run(command + ["--table", "diff_ranks", "-c", "+details", "--fail-over",
                                  "rank:0us"], capture_output=True, text=True, check=False)
    got = list(csv.DictReader(p.stdout.splitlines(), delimiter="\t"))
    slower = False
    for n, (g, r, named, rows, first, firsts) in enumerate(zip(
            got, want.ranks, want.named, want.rows, want.first, want.firsts)):
        judged = r.diff if named else 0
        # neither offsets the other
        slower = slower or judged > 0 or first > 0
        top = max(rows, key=lambda x: (abs(x[0]), -x[1])) if rows else None
        if abs(float(g["diff_ns"]) - r.diff) > 1.01 or \
                abs(float(g["judged_ns"]) - judged) > 1.01 or \
                abs(float(g["first_step_ns"] or 0) - first) > 1.01 or \
                (g["row"] or None) != (top and "op%02d" % top[1]) or \
                top and abs(float(g["row_ns"]) - top[0]) > 1.01:
            bad.append("rank %d: %s, not %.1f, %s, %s" % (n, g, r.diff, named, top))
        time = r"([-+.\d]+ [mun]?s)"
        told = [re.search(r"rank %d: compute a step %s to %s \(.*?\), %s ± [.\d]+ [mun]?s beyond noise; "
                          % (n, time, time, time), p.stderr),
                re.search(r"rank %d: first step %s to %s \(.*?\), %s a step \(noise unknown\); "
                          % (n, time, time, time), p.stderr)]
        for m, ns in zip(told, (r.mean + [judged], firsts + [first])):
            if bool(m) != (ns[-1] > 0) or m and any(
                    abs(told_ns(x) - y) > 600 for x, y in zip(m.groups(), ns)):
                bad.append("rank %d: judged %.0f, first %.0f, gate: %s" % (
                    n, judged, first, p.stderr))
    if (p.returncode == 4) != slower:
        bad.append("gate: status %d" % p.returncode)
    first = subprocess.run(command + ["--table", "diff_verdict", "--no-header"], check=True,
                           capture_output=True, text=True).stdout.split("\n")[0]
    most = max((abs(r.diff), -i) for i, r in enumerate(want.ranks) if want.named[i])[1] \
        if any(want.named) else None
    lead = None if most is None else \
        "rank %d%s: compute " % (-most, " alone regressed" if want.alone[-most]
                                 and want.ranks[-most].diff > 0 else " alone improved"
                                 if want.alone[-most] else "") if sum(want.named) == 1 else \
        "%d of %d ranks differ beyond noise, most rank %d: compute " % (
            sum(want.named), len(want.named), -most)
    if lead and not first.startswith(lead) or not lead and "rank" in first:
        bad.append("%s: expected %s" % (first, lead))
    return bad


def trial_job(job):
    shape, plant, seed = job
    ranks, steps = JOBS[shape]
    rnd = random.Random("job %d %s %d" % (shape, plant, seed))
    sides, who = draw_job(rnd, plant, ranks, steps)
    want = ExpectedJob(sides)
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, x) for x in ("before", "after")]
        for path, job in zip(paths, sides):
            os.mkdir(path)
            for rank, run in enumerate(job):
                write(os.path.join(path, "%d.json" % rank), run, 0,
                      {"rank": rank, "world_size": ranks})
        bad = compare_job(paths, want)
    alone = [i for i, x in enumerate(want.named) if x] == [who]
    return bad, any(want.named), alone


def is_too_many(alarms, pairs):
    """more than one in a hundred series of pairs would have at the stated level"""
    most = MOST / 100
    return sum(math.comb(pairs, k) * most ** k * (1 - most) ** (pairs - k)
               for k in range(alarms, pairs + 1)) < .01


def main():
    many = int(sys.argv[1]) if sys.argv[1:] else 0
    only = sys.argv[2:]
    number = 0
    failed = False
    with multiprocessing.Pool(2) as pool:
        for shape, (runs, steps) in enumerate(SHAPES):
            for plant, least in PLANTS.items():
                if only and (plant not in only or shape):
                    continue
                pairs = max(1, many if plant is None else many // 5)
                done = pool.map(trial, [(shape, plant, i) for i in range(pairs)])
                bad = [b for d in done for b in d[0]]
                alarms = 100 * sum(d[1] for d in done) / pairs
                share = 100 * sum(d[2] for d in done) / pairs
                if plant in (None, "jitter", "step", "warm") and is_too_many(
                        sum(d[1] for d in done), pairs):
                    bad.append("alarms: %.1f %%" % alarms)
                # for few pairs, two standard deviations less
                if least and many and share < least[shape] - 100 / math.sqrt(pairs):
                    bad.append("found: %.0f %%" % share)
                number += 1
                failed = failed or bool(bad)
                print("#: %d x %d, %s: %d pairs, %.1f %% differ, %.0f %% of the change named"
                      % (runs, steps, plant or "nothing", pairs, alarms, share))
                print("%sok %d - %d x %d steps, planted: %s"
                      % ("not " if bad else "", number, runs, steps, plant or "nothing"))
                for b in bad[:5]:
                    print("# " + b)
        for shape, (ranks, steps) in enumerate(JOBS):
            for plant in ("rank", "first", "warmer", None):
                if only and (plant not in only or shape):
                    continue
                # with 3 steps the first is judged, and hides the rest
                least = 0 if plant in WARM and steps < 5 else LEAST_JOBS[shape]
                pairs = max(1, many // 5)
                done = pool.map(trial_job, [(shape, plant, i) for i in range(pairs)])
                bad = [b for d in done for b in d[0]]
                alarms = 100 * sum(d[1] for d in done) / pairs
                alone = 100 * sum(d[2] for d in done) / pairs
                if many and plant and alone < least - 100 / math.sqrt(pairs) or \
                        not plant and is_too_many(sum(d[1] for d in done), pairs):
                    bad.append("alarms %.1f %%, alone %.1f %%" % (alarms, alone))
                number += 1
                failed = failed or bool(bad)
                print("#: %d ranks x %d, %s: %d jobs, %.1f %% differ, %.0f %% named alone"
                      % (ranks, steps, plant or "nothing", pairs, alarms, alone))
                print("%sok %d - %d ranks x %d steps, planted: %s"
                      % ("not " if bad else "", number, ranks, steps, plant or "nothing"))
                for b in bad[:5]:
                    print("# " + b)
    print("1..%d" % number)
    return failed


if __name__ == "__main__":
    sys.exit(main())
