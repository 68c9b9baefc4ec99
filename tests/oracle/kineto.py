#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kineto.py: a slow and simple reader of Chrome/Kineto traces, as an oracle.

It shares nothing with the programs that it checks. It is written from the
descriptions of the format, in plain Python, for clarity only.

Rules
-----
Identity.  An event's id is its index in `traceEvents` (or in the bare array).

Time.  `ts` and `dur` are decimal texts of microseconds. start = ts and end =
ts + dur, each rounded once to whole ns (half away from zero); a missing or
negative dur is 0 (flag `clamped`). Nothing passes through a double. NaN and
Infinity are null.

Names.  A string of decimal digits equals the integer (pid, tid, ids). The
categories of 2021 (Operator, Runtime, Kernel, Memcpy, Memset) are cpu_op,
cuda_runtime, kernel, gpu_memcpy, gpu_memset; an Operator named ProfilerStep#...
is a user_annotation. Only slices (X, or a B with its E) are host or GPU work.
B/E: per (pid, tid), in file order, an E closes the innermost open B; the pair
is one slice with the id of the B, args of both; both have the flag `paired`. A B
without E: duration 0, flag `unclosed`. An E alone is only an event.

Classes.  LAUNCH = cuda_runtime cuda_driver xpu_runtime xpu_driver
privateuse1_runtime privateuse1_driver mtia_runtime hpu_op glow_runtime;
op/launch = cpu_op and LAUNCH; GPU = kernel gpu_memcpy gpu_memset
mtia_ccp_events; a frame is a python_function.

Duplicates.  GPU events with equal (device, stream, ts, dur, name, correlation):
all but the first are dropped (flag `duplicate`).

Launch -> GPU.  Key: `correlation` if any LAUNCH event has it, whatever its name,
else `External id`. By correlation: a launch owns all GPU events of its
correlation (file order). Calls that launch nothing (NO_LAUNCH) own none. Calls of
one correlation that overlap or start together on one thread are one. The others
are ordered by ts. The nth event belongs to the nth call if there are as many calls
as GPU events, none is a graph's, all events are on one (device, stream), each call
ends by the start of the next and starts by that of its event, and no two events
start together. Else an event belongs to the first call if it starts between that
and the second, and to none otherwise. By External id: the flow rule.
The flow rule (also --flow-links, then with the key of the first launch only and
the category names as written): cudaGraphLaunch and hipGraphLaunch own all GPU
events of their key; others go by the last `s` and `f` of ac2g with that id to the
last event with (f.pid, f.tid, key), if it is a GPU event.

Forward <-> backward.  Per sequence number, in order of first appearance: W =
first event named autograd::engine::evaluate_function:...; F = the one with the
greatest ts (first of equals) among the others that are not on W's (pid, tid).
W.fwd = F, F.bwd += W. Without F: the `fwdbwd` flow, from the cpu_op that starts
at the `f` up to its wrapper, and from the cpu_op that starts at the `s`. If
wrappers of one number have different non-zero `Fwd thread id`s and the number
is used on several forward threads, each (Fwd thread id, number) has its own W,
and the flow comes first.
If W runs a CppNode<X> and F, found by number N, is an op of aten::, F is replaced.
Candidates are ops without number that start on F's thread after F and before the
first op with a number > N. The one whose name shares most words with X wins, at
least two; then the fewest other words, then the first. Without any, F stays.

Tree, first step: ops and launches, per (pid, tid), in order (ts, -end, id):
  pop while e.ts >= top.end;
  while e.end > top.end: o = top.end - e.ts; if o < 1000 ns pop top (also the
  last one, e is then a root), else discard e (it is not pushed);
  parent = top; push.
Second step: frames are inserted and never displace an op. All host events
in the same order, one stack per (pid, tid):
  an op/launch that was not discarded: pop while e.ts >= top.end; then, while top
  is a frame with top.end < e.end, or an op other than e's parent of the first
  step: pop; parent = top; push.
  a frame f: pop while f.ts >= top.end; then, while f.end > top.end: o = top.end
  - f.ts; if o >= 1000 ns discard f; if top is an op/launch and a later
  op/launch (in the order) descends from it in the first step's tree: discard f;
  else pop top. parent = top; push.
Third step: GPU events are children of their launch, after its host children, in
file order. A discarded launch still owns its GPU events and is in the tail.

Order.  Prologue: M, user_annotation and gpu_user_annotation, in file order.
Tree: pre-order; roots by (start, -end, id), children in order of creation. Tail,
in file order: all the rest, unlinked GPU events, instants, counters, flows, discarded
events (each with its GPU events directly after it).

Marks.  Recompute: a frame in the tree whose name has both
torch/utils/checkpoint.py and recompute_fn, and all below it. op = nearest
ancestor that is a cpu_op, module = nearest ancestor whose name starts with
nn.Module.

Output: TSV, a line per event in that order: id, section (P, T, X), parent,
launch, fwd, bwd (comma list), flags (comma list), ndesc, ngpu, op, module.
"""
import argparse
import decimal
import gzip
import json
import re
import sys
from collections import defaultdict

import windows

LEGACY = {"Operator": "cpu_op", "Runtime": "cuda_runtime", "Kernel": "kernel",
          "Memcpy": "gpu_memcpy", "Memset": "gpu_memset"}
LAUNCH = frozenset("cuda_runtime cuda_driver xpu_runtime xpu_driver privateuse1_runtime "
                   "privateuse1_driver mtia_runtime hpu_op glow_runtime".split())
GPU = frozenset("kernel gpu_memcpy gpu_memset mtia_ccp_events".split())
ANNOTATIONS = frozenset(("user_annotation", "gpu_user_annotation"))
REF_LAUNCH = frozenset(("cuda_runtime", "cuda_driver"))
REF_GPU = frozenset(("kernel", "gpu_memcpy", "gpu_memset"))
GRAPH = frozenset(("cudaGraphLaunch", "hipGraphLaunch"))
WRAPPER = "autograd::engine::evaluate_function:"
BLEED = 1000

CTX = decimal.Context(prec=2000, rounding=decimal.ROUND_HALF_UP)
ZERO = decimal.Decimal(0)


class BadTrace(Exception):
    pass


def words(name):
    """split at signs, and where upper case follows something else"""
    return [x.lower() for x in re.findall(r"[A-Z]+[a-z0-9]*|[a-z0-9]+", name)]


class Event:
    __slots__ = ("id", "raw", "ph", "cat", "refcat", "name", "args", "pid", "tid", "ts", "end",
                 "slice", "flags", "parent", "kids", "launch", "gpu", "fwd", "bwd", "opparent",
                 "gone", "ndesc", "ngpu", "op", "module", "recompute", "pos", "lastpos")

    def __init__(self, uid, raw):
        self.id = uid
        self.raw = raw
        self.ph = raw.get("ph")
        self.refcat = raw.get("cat")
        self.cat = LEGACY.get(self.refcat, self.refcat) if isinstance(self.refcat, str) else None
        self.name = raw.get("name")
        if not isinstance(self.name, str):
            self.name = "" if self.name is None else str(self.name)
        if self.refcat == "Operator" and self.name.startswith("ProfilerStep#"):
            self.cat = "user_annotation"
        self.args = raw.get("args")
        if not isinstance(self.args, dict):
            self.args = {}
        self.pid = same(raw.get("pid"))
        self.tid = same(raw.get("tid"))
        self.slice = self.ph == "X"
        dur = number(raw.get("dur")) if self.slice else None
        self.ts, self.end = span(raw.get("ts"), dur)
        self.flags = {"clamped"} if dur is not None and dur < 0 else set()
        self.parent = self.launch = self.fwd = self.opparent = self.op = self.module = None
        self.kids = []
        self.gpu = []
        self.bwd = []
        self.gone = self.recompute = False
        self.ndesc = self.ngpu = 0
        self.pos = self.lastpos = -1

    def arg(self, key):
        return same(self.args.get(key))

    @property
    def is_launch(self):
        return self.slice and self.cat in LAUNCH

    @property
    def is_op(self):
        """cpu_op or launch: nested in the first step"""
        return self.slice and (self.cat == "cpu_op" or self.cat in LAUNCH)

    @property
    def is_frame(self):
        return self.slice and self.cat == "python_function"

    @property
    def is_gpu(self):
        return self.slice and self.cat in GPU


NO_LAUNCH = re.compile(
    "(cu|hip).*(Synchronize|Event(Create|Destroy|ElapsedTime|Query|Record)|Get[A-Z]|Free|"
    "Stream(Create|Destroy|IsCapturing|Query|WaitEvent)|Host(Alloc|Register)|Malloc|"
    "Occupancy|PeekAtLastError|SetDevice)")


def one_call(a, b):
    return (a.pid, a.tid) == (b.pid, b.tid) and (
        a.ts == b.ts or (a.ts < b.end and b.ts < a.end))


def owners(calls, events):
    """(call, GPU event) where it is proven, for one correlation"""
    calls = sorted(calls[:1] + [e for e in calls[1:] if not one_call(calls[0], e)],
                   key=lambda e: (e.ts, e.id))
    distinct = calls[:1]
    for e in calls[1:]:
        if not one_call(distinct[-1], e):
            distinct.append(e)
    if len(distinct) == 1:
        return [(distinct[0], g) for g in events]
    by_time = sorted(events, key=lambda g: (g.ts, g.id))
    if (len(by_time) == len(distinct) and
            len({(g.arg("device"), g.arg("stream")) for g in events}) == 1 and
            not any(e.name in ("cudaGraphLaunch", "hipGraphLaunch") for e in distinct) and
            all(e.ts <= g.ts for e, g in zip(distinct, by_time)) and
            all(a.end <= b.ts for a, b in zip(distinct, distinct[1:])) and
            all(a.ts < b.ts for a, b in zip(by_time, by_time[1:]))):
        return list(zip(distinct, by_time))
    return [(distinct[0], g) for g in events if distinct[0].ts <= g.ts < distinct[1].ts]


def same(v):
    """pid, tid or id in a form that compares equal"""
    if isinstance(v, str) and v.isascii() and v.isdigit():
        return int(v)
    if isinstance(v, decimal.Decimal) and v == v.to_integral_value(context=CTX):
        return int(v)
    if isinstance(v, (list, dict)):
        return json.dumps(v, default=str)
    return v


def number(v):
    if isinstance(v, bool) or v is None:
        return None
    if isinstance(v, (int, decimal.Decimal)):
        return v
    if isinstance(v, str):
        try:
            d = decimal.Decimal(v.strip())
        except decimal.InvalidOperation:
            return None
        return d if d.is_finite() else None
    return None


def ns(us):
    if isinstance(us, int):
        return us * 1000
    return int(CTX.multiply(us, 1000).to_integral_value(decimal.ROUND_HALF_UP))


def span(ts, dur):
    ts = number(ts)
    if ts is None:
        return None, None
    if dur is None or dur <= 0:
        t = ns(ts)
        return t, t
    if isinstance(ts, int) and isinstance(dur, int):
        return ts * 1000, (ts + dur) * 1000
    return ns(ts), ns(CTX.add(decimal.Decimal(ts), decimal.Decimal(dur)))


def read_json(data):
    text = data.decode("utf-8-sig")
    opts = {"parse_float": decimal.Decimal, "parse_constant": lambda _: None}
    try:
        return json.loads(text, **opts)
    except ValueError:
        cut = text.rstrip(" \t\r\n")
        if not cut.lstrip().startswith("["):
            raise
    # the closing bracket of a bare array is optional
    return json.loads((cut[:-1] if cut.endswith(",") else cut) + "]", **opts)


class Trace:
    def __init__(self, path=None, doc=None):
        if doc is None:
            with open(path, "rb") as f:
                data = f.read()
            if data[:2] == b"\x1f\x8b":
                data = gzip.decompress(data)
            doc = read_json(data)
        if isinstance(doc, dict):
            raws = doc.get("traceEvents")
            if not isinstance(raws, list):
                raise BadTrace("no traceEvents")
            self.meta = {k: v for k, v in doc.items() if k != "traceEvents"}
        else:
            raws, self.meta = doc, {}
        self.events = [Event(i, r if isinstance(r, dict) else {}) for i, r in enumerate(raws)]
        self.notes = []
        self.step_marks = None
        self.pair()
        self.drop_duplicates()

    # ---- slices

    def pair(self):
        open_ = defaultdict(list)
        for e in self.events:
            if e.ph == "B":
                open_[e.pid, e.tid].append(e)
            elif e.ph == "E" and open_[e.pid, e.tid]:
                b = open_[e.pid, e.tid].pop()
                b.slice = True
                if e.ts is not None and b.ts is not None:
                    b.end = max(b.ts, e.ts)
                if e.args:
                    b.args = {**b.args, **e.args}
                b.flags.add("paired")
                e.flags.add("paired")
        for stack in open_.values():
            for b in stack:
                b.slice = True
                b.flags.add("unclosed")

    def drop_duplicates(self):
        seen = set()
        for e in self.events:
            if e.is_gpu:
                key = (e.arg("device") if "device" in e.args else e.pid,
                       e.arg("stream") if "stream" in e.args else e.tid,
                       e.ts, e.end, e.name, e.arg("correlation"))
                if key in seen:
                    e.flags.add("duplicate")
                seen.add(key)
        self.gpu = [e for e in self.events if e.is_gpu and "duplicate" not in e.flags]

    # ---- launch -> GPU

    def link(self, flow=False):
        """flow: only the reference's rule"""
        for e in self.events:
            e.launch = None
            e.gpu = []
        if flow:
            launches = [e for e in self.events if e.slice and e.refcat in REF_LAUNCH]
            named = [e for e in launches if "launch" in e.name.lower()][:1]
            gpu = [e for e in self.gpu if e.refcat in REF_GPU]
        else:
            launches = [e for e in self.events if e.is_launch]
            named = launches
            gpu = self.gpu
        self.key = "correlation" if any("correlation" in e.args for e in named) else "External id"
        by_key = defaultdict(list)
        for g in gpu:
            if g.arg(self.key) is not None:
                by_key[g.arg(self.key)].append(g)
        if flow or self.key != "correlation":
            self.link_by_flow(launches, gpu, by_key)
        else:
            calls = defaultdict(list)
            for e in launches:
                if e.arg(self.key) in by_key and not NO_LAUNCH.match(e.name):
                    calls[e.arg(self.key)].append(e)
            for key, several in calls.items():
                for e, g in owners(several, by_key[key]):
                    g.launch = e
                for g in by_key[key]:
                    if g.launch is not None:
                        g.launch.gpu.append(g)
        self.launches = launches
        return self

    def link_by_flow(self, launches, gpu, by_key):
        start, finish, at = {}, {}, {}
        for e in self.events:
            if e.refcat == "ac2g" and e.ph in ("s", "f"):
                (start if e.ph == "s" else finish)[same(e.raw.get("id"))] = e
            if self.key in e.args:
                at[e.pid, e.tid, e.arg(self.key)] = e
        ok = set(g.id for g in gpu)
        for e in launches:
            k = e.arg(self.key)
            if e.name in GRAPH:
                targets = by_key.get(k, [])
            elif k in start and k in finish:
                f = finish[k]
                t = at.get((f.pid, f.tid, k))
                targets = [t] if t is not None and t.id in ok else []
            else:
                targets = []
            for g in targets:
                if g.launch is not None:
                    g.launch.gpu.remove(g)
                g.launch = e
                e.gpu.append(g)

    # ---- forward <-> backward

    def link_backward(self):
        for e in self.events:
            e.fwd = None
            e.bwd = []
        seq = {}
        for e in self.events:
            if e.arg("Sequence number") is not None and e.slice:
                seq.setdefault(e.arg("Sequence number"), []).append(e)
        flows = None
        self.bwd_by_flow = 0
        for events in seq.values():
            wrappers = [e for e in events if e.name.startswith(WRAPPER)]
            if not wrappers:
                continue
            first = {}
            for w in wrappers:
                first.setdefault(w.arg("Fwd thread id") or 0, w)
            rest = [e for e in events if not e.name.startswith(WRAPPER)]
            here = {(e.pid, e.tid) for e in rest} - {(w.pid, w.tid) for w in wrappers}
            several = len([t for t in first if t]) > 1 and len(here) > 1
            for w in (first.values() if several else wrappers[:1]):
                if flows is None and several:
                    flows = self.backward_flows()
                f = flows.get(w.id) if several else None
                if f is None and w is wrappers[0]:
                    f = latest([e for e in events if e is not w
                                and (e.pid, e.tid) != (w.pid, w.tid)])
                    f = f and self.custom(w, f)
                if f is None:
                    if flows is None:
                        flows = self.backward_flows()
                    f = flows.get(w.id)
                    self.bwd_by_flow += f is not None
                if f is not None:
                    w.fwd = f
                    f.bwd.append(w)

    def custom(self, w, f):
        """the forward op of a function of an extension"""
        n = w.arg("Sequence number")
        if "CppNode<" not in w.name or not f.name.startswith("aten::") or not isinstance(n, int):
            return f
        ops = [e for e in self.events if e.slice and e.cat == "cpu_op" and e.ts is not None
               and (e.pid, e.tid) == (f.pid, f.tid) and e.ts > f.ts]
        end = min((e.ts for e in ops if isinstance(e.arg("Sequence number"), int)
                   and e.arg("Sequence number") > n), default=float("inf"))
        node = words(w.name.split("CppNode<", 1)[1])
        best = None
        for e in sorted(ops, key=order):
            if e.arg("Sequence number") is not None or e.ts >= end:
                continue
            name = words(e.name)
            shared = sum(x in node for x in name)
            like = (shared, shared - len(name))
            if shared >= 2 and (best is None or like > best[0]):
                best = like, e
        return best[1] if best else f

    def backward_flows(self):
        """wrapper id -> forward op, by the fwdbwd flows (needs the op tree)"""
        starts = defaultdict(list)
        for e in self.events:
            if e.slice and e.cat == "cpu_op":
                starts[e.pid, e.tid, e.ts].append(e)

        def op_at(p):
            ops = starts.get((p.pid, p.tid, p.ts))
            if not ops:
                return None
            ops = sorted(ops, key=order)
            numbered = [e for e in ops if "Sequence number" in e.args]
            return (numbered or ops)[-1]
        s, out = {}, {}
        points = [e for e in self.events if e.refcat == "fwdbwd" and e.ph in ("s", "f")]
        for e in points:
            if e.ph == "s":
                s[same(e.raw.get("id"))] = e
        for p in points:
            if p.ph == "f" and same(p.raw.get("id")) in s:
                w = op_at(p)
                f = op_at(s[same(p.raw.get("id"))])
                while w is not None and not w.name.startswith(WRAPPER):
                    w = w.opparent
                if w is not None and f is not None and f is not w:
                    out.setdefault(w.id, f)
        return out

    # ---- tree

    def tree(self, python=True):
        host = [e for e in self.events if (e.is_op or e.is_frame) and e.ts is not None]
        for e in self.events:
            e.parent = e.opparent = None
            e.kids = []
            e.gone = e.recompute = False
            e.pos = e.lastpos = -1
        host.sort(key=order)
        for i, e in enumerate(host):
            e.pos = e.lastpos = i
        self.nest_ops([e for e in host if e.is_op])
        if python:
            self.insert_frames(host)
        else:
            for e in host:
                e.parent = e.opparent
        self.intree = [e for e in host if (python or e.is_op) and not e.gone]
        for e in self.intree:
            if e.parent is not None:
                e.parent.kids.append(e)
        for e in self.events:
            e.kids = e.kids + e.gpu
            for g in e.gpu:
                g.parent = e
        self.roots = sorted((e for e in self.intree if e.parent is None), key=order)
        self.finish()
        self.link_backward()
        return self

    def nest_ops(self, ops):
        stacks = defaultdict(list)
        for e in ops:
            stack = stacks[e.pid, e.tid]
            while stack and e.ts >= stack[-1].end:
                stack.pop()
            while stack and e.end > stack[-1].end:
                if stack[-1].end - e.ts >= BLEED:
                    e.gone = True
                    break
                stack.pop()
            if e.gone:
                continue
            e.opparent = stack[-1] if stack else None
            stack.append(e)
        for e in reversed(ops):
            if not e.gone and e.opparent is not None:
                e.opparent.lastpos = max(e.opparent.lastpos, e.lastpos)

    def insert_frames(self, host):
        stacks = defaultdict(list)
        for e in host:
            if e.gone:
                continue
            stack = stacks[e.pid, e.tid]
            while stack and e.ts >= stack[-1].end:
                stack.pop()
            if e.is_op:
                while stack and (stack[-1].end < e.end if stack[-1].is_frame
                                 else stack[-1] is not e.opparent):
                    stack.pop()
            else:
                while stack and e.end > stack[-1].end:
                    top = stack[-1]
                    if top.end - e.ts >= BLEED or (top.is_op and top.lastpos > e.pos):
                        e.gone = True
                        break
                    stack.pop()
                if e.gone:
                    continue
            e.parent = stack[-1] if stack else None
            stack.append(e)

    def finish(self):
        """pre-order, marks and counts"""
        self.order = []
        loose = [e for e in self.events if e.gone and e.gpu]
        for root in self.roots + loose:
            todo = [root]
            while todo:
                e = todo.pop()
                if not root.gone:
                    self.order.append(e)
                p = e.parent
                if p is None:
                    e.op = e.module = None
                    e.recompute = recompute_root(e)
                else:
                    e.op = p if p.cat == "cpu_op" else p.op
                    e.module = p if p.name.startswith("nn.Module") else p.module
                    e.recompute = p.recompute or recompute_root(e)
                todo.extend(reversed(e.kids))
        for e in self.events:
            e.ndesc = e.ngpu = 0
        for e in reversed(self.order):
            count_up(e)
        for e in loose:
            for g in e.gpu:
                count_up(g)

    def sections(self):
        inside = set(e.id for e in self.order)
        pro, tail = [], []
        for e in self.events:
            if e.id in inside:
                continue
            if e.ph == "M" or (e.slice and e.cat in ANNOTATIONS):
                pro.append(e)
            elif e.launch is None:
                tail.append(e)
                tail.extend(e.gpu)
        return pro, self.order, tail

    def flags_of(self, e):
        out = set(e.flags)
        if e.is_gpu and e.launch is None and "duplicate" not in out:
            out.add("unlinked")
        if e.gone:
            out.add("discarded")
        if e.recompute:
            out.add("recompute")
        return sorted(out | self.marks().get(e.id, set()))

    def marks(self):
        """of the annotations that mark steps"""
        if self.step_marks is None:
            thread = {}
            for e in self.events:
                thread.setdefault((e.pid, e.tid), len(thread))
            notes = [windows.Note(e.ts, e.end, e.id, e.name, e.pid, thread[e.pid, e.tid])
                     for e in self.events if e.slice and e.ts is not None and
                     e.cat == "user_annotation" and (e.pid, e.tid) != (0, 0)]
            work = [windows.Work(g.launch.pid, thread[g.launch.pid, g.launch.tid],
                                 g.launch.ts, g.end) for g in self.gpu if g.launch is not None]
            steps = [w for w in windows.windows(notes, work) if w.number is not None]
            last = windows.slowest(steps, work)
            self.step_marks = {w.order: {"step", "slowest"} if w == last else {"step"}
                               for w in steps}
        return self.step_marks


def count_up(e):
    if e.parent is not None:
        e.parent.ndesc += 1 + e.ndesc
        e.parent.ngpu += e.ngpu + (1 if e.launch is not None else 0)


def order(e):
    return e.ts, -e.end, e.id


def latest(events):
    best = None
    for e in events:
        if e.ts is not None and (best is None or e.ts > best.ts):
            best = e
    return best


def recompute_root(e):
    return (e.is_frame and not e.gone and "torch/utils/checkpoint.py" in e.name
            and "recompute_fn" in e.name)


def rows(trace):
    for mark, part in zip("PTX", trace.sections()):
        for e in part:
            yield (e.id, mark, uid(e.parent), uid(e.launch), uid(e.fwd),
                   ",".join(str(b.id) for b in e.bwd), ",".join(trace.flags_of(e)),
                   e.ndesc, e.ngpu, uid(e.op), uid(e.module))


def uid(e):
    return "" if e is None else e.id


def main(argv=None):
    ap = argparse.ArgumentParser(description="the tree of a Kineto trace, as TSV")
    ap.add_argument("--no-python", action="store_true", help="leave Python frames out")
    ap.add_argument("--flow-links", action="store_true", help="the reference's flow rule only")
    ap.add_argument("--roots", action="store_true", help="print the roots in order, nothing else")
    ap.add_argument("--stats", action="store_true", help="print counts, nothing else")
    ap.add_argument("trace")
    a = ap.parse_args(argv)
    t = Trace(a.trace).link(a.flow_links).tree(not a.no_python)
    try:
        if a.roots:
            for e in t.roots:
                print(e.id)
        elif a.stats:
            print("events %d gpu %d linked %d roots %d discarded %d duplicates %d key %s"
                  % (len(t.events), len(t.gpu), sum(g.launch is not None for g in t.gpu),
                     len(t.roots), sum(e.gone for e in t.events),
                     sum("duplicate" in e.flags for e in t.events), t.key))
            print("backward links %d, by flow %d, recompute %d"
                  % (sum(e.fwd is not None for e in t.events), t.bwd_by_flow,
                     sum(e.recompute for e in t.events)))
            for n in t.notes[:5]:
                print("note:", n)
        else:
            print("id\tsection\tparent\tlaunch\tfwd\tbwd\tflags\tndesc\tngpu\top\tmodule")
            for r in rows(t):
                print(*r, sep="\t")
    except BrokenPipeError:
        sys.stderr.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
