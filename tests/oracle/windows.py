# SPDX-License-Identifier: MIT
"""windows.py: the steps of a source by its annotations, worked out in the plainest way."""
import re
from collections import defaultdict, namedtuple

PROFILER = re.compile(r"ProfilerStep#(\d+)")
SERVING = re.compile(
    r"execute_\d+_context_\d+\(sq\d+sk\d+sqsq\d+sqsk\d+\)"
    r"_generation_\d+\(sq\d+sk\d+sqsq\d+sqsk\d+\)"
    r"|execute_context_\d+\(\d+\)_generation_\d+\(\d+\)"
    r"|step\[(EXTEND|DECODE|MIXED)\b([^\]]*sqsq=\d+[^\]]*\]|\s+bs=\d+(\s+toks=\d+)?\])"
    r"|(prefill|decode)\[.*\]"
    r"|execute_diffusion_\d+_\d+x\d+")
Note = namedtuple("Note", "start end order name pid thread")
Window = namedtuple("Window", "start end number pid")  # number: None between two steps


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
                out.append(Window(last.end, n.start, None, n.pid))
        number = int(PROFILER.fullmatch(n.name)[1]) if is_profiler else count
        out.append(Window(n.start, n.end, number, n.pid))
    return out


def windows(notes):
    """of all processes; of several threads of one the first has its steps"""
    out = []
    for rule, least in ((PROFILER.fullmatch, 2), (SERVING.match, 1), (PROFILER.fullmatch, 1)):
        threads = defaultdict(list)
        for n in notes:
            if rule(n.name):
                threads[n.pid, n.thread].append(n)
        by_pid = {}
        for (pid, _), mine in sorted(threads.items(), key=lambda x: x[0][1]):
            by_pid.setdefault(pid, mine)
        lists = [of_process(mine, rule == PROFILER.fullmatch) for mine in by_pid.values()]
        out = [w for v in lists for w in v]
        if max((sum(w.number is not None for w in v) for v in lists), default=0) >= least:
            return out
    return out


def at(steps, time, pid=None):
    """the window that holds a time; of any process when there is no pid"""
    return next((w for w in steps if w.start <= time < w.end and pid in (None, w.pid)), None)
