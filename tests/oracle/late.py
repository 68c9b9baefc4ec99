# SPDX-License-Identifier: MIT
"""How long the ranks of a real job wait for the late one; speaks TAP.

usage: late.py DATA

From the raw traces, in the plainest way: ranks, their collectives by time, matched
by their number. All screens must have these figures.
"""
import glob
import gzip
import json
import os
import re
import statistics
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

TOGETHER = ("allreduce", None)  # all ranks leave when the last one has come
LATE_NS = 10000


def ns(text):
    return int((Decimal(text) * 1000).to_integral_value())


def is_comm(event):
    return event.get("cat") == "kernel" and "nccl" in event["name"].lower()


def exposed(start, end, compute):
    """Part of this time that no computation of the same rank covers."""
    covered, at = 0, start
    for a, b in compute:
        a, b = max(a, at), min(b, end)
        if a < b:
            covered += b - a
            at = b
    return end - start - covered


def read(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        trace = json.load(file, parse_float=str, parse_int=str)
    gpu = [e for e in trace["traceEvents"] if e.get("ph") == "X" and
           e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    times = [(e, ns(e["ts"]), ns(e["dur"])) for e in gpu]
    compute = sorted((s, s + d) for e, s, d in times
                     if e["cat"] == "kernel" and not is_comm(e))
    own = sorted(((s, d, e["args"].get("Collective name"))
                  for e, s, d in times if is_comm(e)), key=lambda c: c[0])
    return [(s, d, name, exposed(s, s + d, compute)) for s, d, name in own]


class Rank:
    def __init__(self):
        self.cost = self.behind = self.caused = self.late = 0
        self.judged = self.waited = 0
        self.lates = []


def shares(starts):
    """Part of last - median that each rank causes, by its place."""
    n = len(starts)
    order = sorted(range(n), key=lambda r: starts[r])
    at = (starts[order[(n - 1) // 2]] + starts[order[n // 2]]) // 2
    out = [Fraction(0)] * n
    for k, r in enumerate(order):
        if starts[r] > at:
            for q in order[k:]:
                out[q] += Fraction(starts[r] - at, n - k)
            at = starts[r]
    return out, order


def calls(path, name):
    """Host events of this name: place in the file and duration."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        trace = json.load(file, parse_float=str, parse_int=str)
    return [(i, ns(e["dur"])) for i, e in enumerate(trace["traceEvents"])
            if e.get("ph") == "X" and e["name"] == name]


def judge(files):
    ranks = [read(path) for path in files]
    found = [Rank() for _ in files]
    for one in zip(*ranks):
        last = max(c[0] for c in one)
        who = next(r for r, c in enumerate(one) if c[0] == last)
        latency = min(c[1] for c in one)
        wait = [last - s if name in TOGETHER else min(last - s, d)
                for s, d, name, _ in one]
        for r, c in enumerate(one):
            found[r].judged += c[1] if c[2] in TOGETHER else 0
        found[who].caused += sum(wait)
        found[who].behind += min(
            min(last - c[0] for r, c in enumerate(one) if r != who),
            max(w for r, w in enumerate(wait) if r != who))
        others = sorted(w for r, w in enumerate(wait) if r != who)
        half = len(others) // 2
        late = others[half] if len(others) % 2 else \
            Fraction(others[half - 1] + others[half], 2)
        if late < LATE_NS or late < Fraction(latency, 20):
            continue
        found[who].late += 1
        found[who].lates.append(late)
        for r, w in enumerate(wait):
            found[r].waited += w
        part, order = shares([last - w for w in wait])
        middle = one[order[(len(one) - 1) // 2]][3]
        above = sum(part)
        seen = min(Fraction(1), max(Fraction(0), Fraction(middle) / above))
        for r, p in enumerate(part):
            found[r].cost += p * seen
    return found, [len(r) for r in ranks]


class Tap:
    def __init__(self):
        self.n = 0
        self.failed = False

    def result(self, good, text, *why):
        self.n += 1
        self.failed |= not good
        print("%sok %d - %s" % ("" if good else "not ", self.n, text))
        for line in why if not good else ():
            print("# %s" % (line,))


def rows(*command):
    done = subprocess.run(list(command) + ["--format", "ndjson"], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    out = [json.loads(line) for line in done.stdout.splitlines()]
    return [r for r in out if "table" not in r and "end" not in r]


def table(name, files):
    return {r["rank"]: r for r in rows(
        "tl-collective", "--table", name, "-c", "+details", *files)}


def screen(*command):
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    return " ".join(done.stdout.decode().split())


def words(value):
    """A time as on the screens."""
    return "%.3f ms" % (value / 1e6) if value >= 1e6 else "%.1f us" % (value / 1e3)


def bars(tap, name, files):
    """Bars, and what the line above leaves out, add up to the steps."""
    steps, bad = {}, []
    for row in rows("tl-steps", *files):
        steps[row["rank"]] = steps.get(row["rank"], 0) + row["wall_ns"]
    windows = {r["rank"]: r for r in rows("tl-idle", "--steps", "--table", "idle_window",
                                          *files)}
    head = max(w["head_ns"] for w in windows.values())
    text = screen("tl-report", "--width", "100", *files)
    found = re.findall(r" (\d+) \[[^]]*\] +([0-9.]+) ms", text)
    for rank, ms in found:
        window = windows[int(rank)]
        want = steps[int(rank)] - window["head_ns"] - window["missing_ns"]
        if "%.3f" % (want / 1e6) != ms:
            bad.append("rank %s: %s ms, not %s" % (rank, ms, want))
    if len(found) != len(files):
        bad.append("%d bars" % len(found))
    says = "the time before the first GPU event (at most %s)" % words(head)
    if (says in text) != (head > 0):
        bad.append("not said: " + says)
    tap.result(not bad, name + ": the bars are the steps, but for what is said", *bad)


def job(tap, name, files):
    found, counts = judge(files)
    cause = table("straggler_cause", files)
    bad = []
    for r, rank in enumerate(found):
        row = cause[r]
        if abs(row["cost_ns"] - rank.cost) > len(files) * counts[r]:
            bad.append("rank %d: cost %s, is %s" % (r, float(rank.cost), row["cost_ns"]))
        for column, value in (("times_late", rank.late),
                              ("behind_next_ns", rank.behind),
                              ("caused_wait_ns", rank.caused)):
            if row[column] != value:
                bad.append("rank %d: %s %s, is %s" % (r, column, value, row[column]))
    tap.result(not bad, name + ": straggler_cause", *bad)

    bad = []
    for r, row in table("straggler_summary", files).items():
        if row["gain_ns_high"] != found[r].behind:
            bad.append("rank %d: gain %s, is %s" % (
                r, found[r].behind, row["gain_ns_high"]))
        if (row["judged_ns_total"], row["collectives_all"]) != (found[r].judged, counts[r]):
            bad.append("rank %d: %s" % (r, row))
    tap.result(not bad, name + ": straggler_summary", *bad)

    most = max(range(len(found)), key=lambda r: found[r].cost)
    verdict = rows("tl-collective", "--table", "nccl_verdict", *files)[0]
    tap.result(verdict["rank"] == most and
               abs(verdict["cost_ns"] - found[most].cost) <= len(files) * counts[most] and
               verdict["gain_ns_high"] == found[most].behind,
               name + ": the verdict is about the one that costs most", verdict)

    # each division rounds down, the screen rounds to half of its last digit
    slack = len(files) * counts[most] + 500
    waits = max(range(len(found)), key=lambda r: found[r].waited)
    steps = [r["wall_ns"] for r in rows("tl-steps", *files) if r["rank"] == waits]
    of_steps = 100 * float(found[most].cost) / sum(steps)
    on_time = "If it came on time, the job would end at most %s earlier" % words(found[most].behind)
    late = "It is late by %.3f ms (median) in %d of %d collectives" % (
        statistics.median(found[most].lates) / 10 ** 6, found[most].late, counts[most])
    for program, text, more in (
            ("tl-collective", verdict["text"], late),
            ("tl-report", screen("tl-report", *files), late),
            ("tl-advise", screen("tl-advise", "--text", *files), "")):
        m = re.search(r"ank (\d+) arrives late[^.]*\. Its part of the median rank's exposed "
                      r"waiting is ([0-9.]+) (ms|us), ([0-9.]+) % of (the|\d+) steps?"
                      r"(?: on rank (\d+))?\. ", text)
        good = m and int(m[1]) == most and \
            abs(float(m[2]) * {"ms": 1e6, "us": 1e3}[m[3]] - found[most].cost) <= slack and \
            abs(float(m[4]) - of_steps) <= 0.051 and \
            (m[5], m[6]) in (("the", None), (str(len(steps)), str(waits))) and \
            text[m.end():].startswith(on_time) and more in text
        tap.result(good, "%s: the sentence of %s" % (name, program), text[:900],
                   "%d: %s, %.3f %% on rank %d" % (
                       most, words(found[most].cost), of_steps, waits), on_time, more)

    bars(tap, name, files)

    costs = rows("tl-critical", "--job", "--table", "critical_ranks", *files)
    worst = max(costs, key=lambda r: r["loss_ns"])
    text = screen("tl-critical", "--job", "--table", "critical_ranks", "--format", "table",
                  "--width", "400", *files)
    m = re.match(r"rank (\d+)'s host costs the job ([0-9.]+ [mu]s) \(([0-9.]+) % of the "
                 r"window\)\. (.+) costs most: ([0-9.]+ [mu]s); all its calls together take "
                 r"([0-9.]+ [mu]s) longer than the median \(e\.g\. uid (\d+)\)\.", text)
    sums = [calls(path, m[4]) if m else [] for path in files]
    total = [sum(d for _, d in one) for one in sums]
    tap.result(m and int(m[1]) == worst["rank"] and m[2] == words(worst["loss_ns"]) and
               m[3] == "%.1f" % worst["loss_percent"] and
               m[5] == words(worst["by_ns"]) and worst["by_ns"] <= worst["loss_ns"],
               name + ": tl-critical's sentence is its costliest row", text[:400], worst)
    # calls inside it can only reduce the row's own time
    tap.result(m and int(m[7]) in dict(sums[worst["rank"]]) and
               m[6] == words(worst["excess_ns"]) and
               worst["excess_ns"] <= max(total[worst["rank"]], 1),
               name + ": the event is one of those calls, and all of them last that long",
               m and m[0], total)

    loss = [r["loss_ns"] for r in costs]
    gain = next(r for r in rows("tl-advise", *files) if r["rule"] == "late_host")
    tap.result(gain["gain_ns_low"] <= loss[most] <= found[most].behind ==
               gain["gain_ns_high"],
               name + ": tl-critical's loss is within what tl-advise says is gained",
               loss, gain)


def main():
    tap = Tap()
    for name in ("multirank_cifar_mi300x_4r", "multirank_dlrm_v100_8r"):
        files = sorted(glob.glob(os.path.join(sys.argv[1], name, "*.json.gz")),
                       key=lambda p: int(re.findall(r"\d+", os.path.basename(p))[0]))
        job(tap, name, files)
    print("1..%d" % tap.n)
    return tap.failed


if __name__ == "__main__":
    sys.exit(main())
