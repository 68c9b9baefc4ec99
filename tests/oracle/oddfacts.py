#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""oddfacts.py: the facts behind tables of a trace, computed from kineto.py's events in
the plainest way: which GPU work is selected, its owner, what overlaps it, and the step,
annotation and module of its launch.
"""
import fnmatch
import re
import statistics
from collections import defaultdict

import kineto
import timeline
import windows

STEP = re.compile(r"ProfilerStep#(\d+)")
KIND = {"kernel": "kernel", "mtia_ccp_events": "kernel", "gpu_memcpy": "memcpy",
        "gpu_memset": "memset"}
CATEGORIES = {"aten::mm": "GEMM", "aten::copy_": "elementwise",
              "aten::native_layer_norm": "NORM_fwd", "aten::sum": "reduce"}


def busy(events):
    return sum(b - a for a, b in timeline.union((g.ts, g.end) for g in events))


def above(e):
    while e.parent is not None:
        e = e.parent
        yield e


def first(items):
    return next(iter(items), None)


def device(g):
    return g.arg("device") if "device" in g.args else g.pid


def stream(g):
    return g.arg("stream") if "stream" in g.args else g.tid


def is_op(e):
    return e.slice and e.cat == "cpu_op" and e.ts is not None


def is_module(e):
    return e.is_frame and e.name.startswith("nn.Module")


def module_of(e):
    return first(a for a in above(e) if is_module(a))


def argument(e, key):
    v = e.args.get(key)
    return v if isinstance(v, (list, dict)) else None


def category(name, kernel):
    if name in CATEGORIES:
        return CATEGORIES[name]
    for prefix in ("triton", "record_param_comms"):
        if name.startswith(prefix):
            return prefix
    if kernel is not None and kernel.startswith("void at::native"):
        for word in ("elementwise", "reduce", "multi_tensor_apply"):
            if word in kernel:
                return word
    return "other"


def share(part, whole):
    return 100 * part / whole if whole else None


def stats(v, name, sums=True):
    out = {"mean": sum(v) / len(v), "median": statistics.median(v),
           "std": statistics.stdev(v) if len(v) > 1 else None, "min": min(v), "max": max(v)}
    if sums:
        out["sum"] = sum(v)
    return {name + "_" + k: x for k, x in out.items()}


class Call:
    """an op, or a launch outside ops, and what it owns"""

    def __init__(self, facts, e, direct, below):
        self.e, self.is_op = e, is_op(e)
        self.work = sorted(direct, key=lambda g: (g.ts, g.id))
        self.direct, self.subtree = busy(direct), busy(below)
        self.category = category(e.name, self.work[0].name if self.work else None)
        self.total = e.end - e.ts if e.ts is not None else 0
        inner, todo = 0, list(e.kids)
        while todo:
            k = todo.pop()
            if is_op(k):
                inner += k.end - k.ts
            elif not k.is_gpu:
                todo += k.kids
        self.self = max(0, self.total - inner)
        module = module_of(e)
        self.module = module.name if module is not None else None
        self.type = re.sub(r"_\d+", "", module.name) if module is not None else "NA"
        self.step = facts.step_at(e.ts, e.pid)
        self.annotation = facts.note_at((e.pid, e.tid), e.ts)
        self.thread = facts.names(e)
        self.beside, self.beside_names, self.beside_share = [], None, None


class Facts:
    def __init__(self, source):
        """source: a path, or the document read from it"""
        t = self.trace = (kineto.Trace(source) if isinstance(source, str)
                          else kineto.Trace(doc=source)).link().tree()
        self.gpu = [g for g in t.gpu if g.ts is not None]
        self.notes = [(e.ts, -e.end, e.id, e) for e in t.events
                      if e.slice and e.cat == "user_annotation" and e.ts is not None]
        threads = {}
        for e in t.events:
            threads.setdefault((e.pid, e.tid), len(threads))
        self.all_steps = windows.windows([
            windows.Note(a, -b, i, e.name, e.pid, threads[e.pid, e.tid])
            for a, b, i, e in self.notes], [
                windows.Work(g.launch.pid, threads[g.launch.pid, g.launch.tid], g.launch.ts, g.end)
                for g in self.gpu if g.launch is not None and g.launch.ts is not None])
        self.first = min((e.ts for e in t.events if e.ts is not None and e.ph in ("X", "B", "E")),
                         default=0)
        self.meta = {}
        for e in t.events:
            if e.ph == "M" and isinstance(first(e.args.values()), (str, int)):
                is_process = e.tid is None or isinstance(e.raw.get("tid"), (list, dict))
                of = e.tid if e.name.startswith("thread") or not is_process else 0
                self.meta[e.name, e.pid, of] = str(first(e.args.values()))

    def names(self, e):
        return tuple(self.meta.get(k, "Unknown") for k in (
            ("process_name", e.pid, 0), ("process_labels", e.pid, 0), ("thread_name", e.pid, e.tid)))

    # ---- windows

    def step_at(self, t, pid):
        if t is None:
            return None
        w = windows.at(self.all_steps, t, pid)
        return None if w is None else "between" if w.number is None else w.number

    def note_at(self, thread, t):
        if t is None:
            return None
        open_ = [n for n in self.notes if not STEP.fullmatch(n[3].name) and n[0] <= t < -n[1]]
        own = [n for n in open_ if (n[3].pid, n[3].tid) == thread]
        return max(own or open_)[3].name if open_ else None

    def when(self, g, o):
        e = g if "by_gpu_time" in o else g.launch
        return ((e.pid, e.tid), e.ts) if e is not None else None

    def steps(self, low, high):
        steps = [w for w in self.all_steps if w.number is not None]
        if low in ("first", "last"):
            low = high = (min if low == "first" else max)(
                (w.number for w in steps), default=-1)
        return [(w.start, w.end, w.pid) for w in steps if low <= w.number <= high]

    def notes_like(self, name, nth):
        all_ = sorted((n for n in self.notes if fnmatch.fnmatchcase(n[3].name, name)),
                      key=lambda n: n[:3])
        return all_[nth - 1:nth] if nth else all_

    def asked_steps(self, o):
        """(start, end, process) of the steps that are selected, by annotations if all of these
        mark steps; None: none are"""
        if "step" in o:
            return self.steps(*o["step"])
        marked = {w.order: (w.start, w.end, w.pid) for w in self.all_steps if w.number is not None}
        notes = self.notes_like(*o["annotation"]) if "annotation" in o else []
        if not notes or any(n[2] not in marked for n in notes):
            return None
        return [marked[n[2]] for n in notes]

    def windows(self, o):
        """lists of windows; one of each list must hold the work"""
        if "step" in o:
            yield self.steps(*o["step"])
        if "annotation" in o:
            yield [(n[0], -n[1], None) for n in self.notes_like(*o["annotation"])]
        if "from" in o:
            yield [(self.first + o["from"], self.first + o["to"], None)]

    def chosen(self, o, names=True):
        """the selected GPU work"""
        tests = [
            ("linked_only", lambda g, _: g.launch is not None),
            ("min_dur", lambda g, v: g.end - g.ts >= v),
            ("kind", lambda g, v: KIND[g.cat] in v),
            ("dev", lambda g, v: device(g) in v),
            ("stream", lambda g, v: stream(g) in v)]
        if names:
            tests.append(("name", lambda g, v: fnmatch.fnmatchcase(g.name, v)))
        windows = list(self.windows(o))
        by_time = "by_gpu_time" in o
        out = []
        for g in self.gpu:
            at = self.when(g, o)
            if (all(test(g, o[k]) for k, test in tests if k in o) and (not windows or (
                    at is not None and all(
                        any(a <= at[1] < b and (p is None or by_time or p == at[0][0])
                            for a, b, p in w) for w in windows)))):
                out.append(g)
        return out

    # ---- owners

    def owner(self, g):
        return first(a for a in above(g) if a.cat == "cpu_op" and a.name != "execute") or g.launch

    def calls(self, o, all_ops=False):
        """by time: launches and ops that own work; all_ops: all ops"""
        direct, below = defaultdict(list), defaultdict(list)
        for g in self.chosen(o, names=False):
            if g.launch is None:
                continue
            if "include_comm" in o or timeline.bucket(g) != "C":
                direct[self.owner(g).id].append(g)
            for a in above(g):
                below[a.id].append(g)
        out = [Call(self, e, direct[e.id], below[e.id]) for e in self.trace.events
               if (e.id in direct or (all_ops and is_op(e)))
               and fnmatch.fnmatchcase(e.name, o.get("name", "*"))]
        return sorted(out, key=lambda c: (c.e.ts is None, c.e.ts or 0, c.e.id))

    # ---- overlap

    def besides(self, o):
        """id -> [(other, shared)], others by id"""
        work = [(g, first(a.id for a in above(g) if a.cat == "cpu_op"))
                for g in self.chosen(o, names=False) if g.end > g.ts]
        out = defaultdict(list)
        for x, op in work:
            for y, other in work:
                shared = min(x.end, y.end) - max(x.ts, y.ts)
                if (shared >= 1000 and x is not y and (op is None or op != other)
                        and (device(x), stream(x)) != (device(y), stream(y))):
                    out[x.id].append((y, shared))
        return out

    def set_beside(self, call, besides):
        whole, covered, by_name = call.direct, 0, {}
        for k in call.work:
            for y, shared in besides[k.id]:
                by_name.setdefault(y.name, []).append(
                    (y, round(shared / whole, 2) if whole else 0))
            covered += sum(b - a for a, b in timeline.union(
                (max(k.ts, y.ts), min(k.end, y.end)) for y, _ in besides[k.id]))
        if not by_name:
            return
        for name, found in by_name.items():
            n = len(found)
            us = round(sum(y.end - y.ts for y, _ in found) / n / 1000, 2)
            call.beside.append((name, stream(found[0][0]), round(us * 1000),
                                round(sum(part for _, part in found) / n, 2)))
        call.beside_names = list(by_name)
        call.beside_share = round(covered / whole, 2) if whole else 0
