# SPDX-License-Identifier: MIT
"""windows.py: the steps of a source by its annotations, computed in the plainest way."""
import json
import re
import statistics
import subprocess
from collections import defaultdict, namedtuple

from phases import fields, is_detailed, is_iteration

PROFILER = re.compile(r"ProfilerStep#(\d+)")
Note = namedtuple("Note", "start end order name pid thread")
# number: None between two steps
Window = namedtuple("Window", "start end number pid order")
# a GPU event: where and when it was launched, and its end
Work = namedtuple("Work", "pid thread launched end")


def of_process(notes, is_profiler):
    """one thread's, by start"""
    out, end, count = [], None, 0
    for n in sorted(notes, key=lambda n: (n.start, -n.end, n.order)):
        if end is not None and n.end <= end:
            continue
        end, count = n.end, count + 1
        if out:
            last = out[-1]
            if is_profiler or last.end > n.start:
                out[-1] = last._replace(end=n.start)
            elif last.end < n.start:
                out.append(Window(last.end, n.start, None, n.pid, n.order))
        number = int(PROFILER.fullmatch(n.name)[1]) if is_profiler else count
        out.append(Window(n.start, n.end, number, n.pid, n.order))
    return out


def launched(notes, work):
    """GPU events that a thread launched in its notes"""
    return sum(any(n.start <= w.launched < n.end for n in notes)
               for w in work if (w.pid, w.thread) == (notes[0].pid, notes[0].thread))


STEPS = ((PROFILER.fullmatch, 2), (is_detailed, 1), (is_iteration, 1), (PROFILER.fullmatch, 1))
ITERATIONS = STEPS[1:3]


def windows(notes, work=(), rules=STEPS):
    """of all processes; if several threads of one have steps, those of the thread that launches
    most, then of the one that begins first"""
    out = []
    for rule, least in rules:
        threads = defaultdict(list)
        for n in notes:
            if rule(n.name):
                threads[n.pid, n.thread].append(n)
        by_pid = {}
        for (pid, _), mine in sorted(threads.items(), key=lambda x: (
                -launched(x[1], work) if len(threads) > 1 else 0,
                min((n.start, -n.end, n.order) for n in x[1]))):
            by_pid.setdefault(pid, mine)
        lists = [of_process(mine, rule == PROFILER.fullmatch) for mine in by_pid.values()]
        out = [w for v in lists for w in v]
        if max((sum(w.number is not None for w in v) for v in lists), default=0) >= least:
            return out
    return out


def inferred(events, tree):
    """steps that tl-tree added; inferred.py and repeat.py check where they are"""
    p = subprocess.run(["tl-cat", "--ndjson", tree], capture_output=True, text=True, check=False)
    ours = [e for e in map(json.loads, p.stdout.splitlines()) if "kind" in e]
    times = {e["id"]: e["ts"] for e in ours if "inst" not in e and "ts" in e}
    base = next((e.ts - times[e.id] for e in events if e.id in times and e.ts is not None), 0)
    return [Window(base + e["ts"], base + e["ts"] + e["dur"], e["args"]["step_num"], e["pid"], e["id"])
            for e in ours if e.get("cat") == "inferred_step"]


def at(steps, time, pid=None):
    """the window around a time; without a pid, of any process"""
    return next((w for w in steps if w.start <= time < w.end and pid in (None, w.pid)), None)


def phases(notes, work):
    """windows of iterations, each with its phase"""
    names = {(n.pid, n.order): n.name for n in notes}
    return [(w, fields(names[w.pid, w.order])["phase"]) for w in windows(notes, work, ITERATIONS)
            if w.number is not None]


def slowest(steps, work):
    """the longest step: on the clock or, if the host only enqueues, on the GPU"""
    times = {}
    for pid in {w.pid for w in steps}:
        mine = sorted(w for w in steps if w.pid == pid and w.number is not None)
        ends = [max((x.end for x in work if x.pid == pid and w.start <= x.launched < w.end),
                    default=None) for w in mine]
        busy = [(w, end) for w, end in zip(mine, ends) if end is not None]
        gpu = [(b[0], b[1] - a[1]) for a, b in zip(busy, busy[1:])]
        wall = [(w, w.end - w.start) for w in mine]
        drain = [end - w.end for w, end in busy]
        is_gpu = gpu and drain[-1] > max(drain[0], 0) and \
            statistics.median(t for _, t in gpu) > 1.05 * statistics.median(
                w.end - w.start for w, _ in gpu)
        times.update(gpu if is_gpu else wall)
    return max(times, key=lambda w: (times[w], -w.start), default=None)
