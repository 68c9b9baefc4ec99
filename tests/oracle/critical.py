#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""critical.py: tl-critical against an independent and slow program, written from the
definition of its graph: classes of names by regular expressions, longest paths by
relaxing all edges until nothing changes. It compares real traces, large ones by
windows: the path event by event, lengths for several what-ifs, and slack. An event may
grow by its slack, but by no more.
"""
import bisect
import functools
import json
import os
import random
import re
import subprocess
import sys

from worked import LARGE, table, traces

LONG, STALL = 1000000, 100000
WHOLE = 20000  # events; larger traces are compared by windows
KINDS = ("kernel", "depend", "queue", "block", "peer", "thread", "launch", "host", "source")
SOURCE, SINK = ("source",), ("sink",)
NEVER = float("-inf")

CALLS = [(c, re.compile(p)) for c, p in (
    ("sync", r"^(cuda|hip)(Device|Stream|Event|Thread)Synchronize|^cu(Ctx|Stream|Event)Synchronize"
             r"|^hipCtxSynchronize"),
    ("poll", r"^(cuda|hip|cu)(Stream|Event)Query"),
    ("copy_block", r"^(cuda|hip)Memcpy(2D|3D|ToSymbol|FromSymbol|ToArray|FromArray|Peer)?$"
                   r"|^hipMemcpyWithStream$"
                   r"|^(cu|hip)Memcpy(HtoD|DtoH|DtoD|HtoA|AtoH|AtoA|AtoD|DtoA)?(_v2)?$"
                   r"|^(cuda|hip)Memset(2D|3D)?$"),
    ("module_load", r"^(cu|hip)(Module|Library)(Load|Unload|Get)|^cuda(Library|GetFuncBySymbol)"
                    r"|^cuFuncLoad|^__(cuda|hip)Register|^cuLink"
                    r"|^(cuda|hip|cu)(Init|SetDevice|CtxCreate|DevicePrimaryCtxRetain)|^nvrtc|^hiprtc"),
    ("host_alloc", r"^(cuda|hip)(Host(Alloc|Malloc|Register|Unregister|Free)|MallocHost|FreeHost)"
                   r"|^cuMem(HostAlloc|HostRegister|HostUnregister|AllocHost|FreeHost)"),
    ("alloc", r"^(cuda|hip)(Malloc|Free)|^(cuda|hip)Mem(Pool|Create|Map|Unmap|Release|AddressReserve"
              r"|AddressFree|SetAccess)|^cuMem(Alloc|Free|Create|Map|Unmap|Release|AddressReserve"
              r"|AddressFree|SetAccess|Pool)"),
    ("graph_build", r"^(cuda|hip|cu)(Graph(?!Launch)|Stream(Begin|End)Capture|StreamUpdateCapture)"),
    ("init", r"^(cuda|hip)(StreamCreate|StreamDestroy|DeviceGetStreamPriorityRange|EventCreate"
             r"|DeviceEnablePeerAccess|DeviceCanAccessPeer|IpcOpen|DeviceReset)"
             r"|^cu(StreamCreate|IpcOpen)"),
    ("launch_call", r"[Ll]aunch|^(cuda|hip)Mem(cpy|set).*Async|^cuMem(cpy|set).*Async|^runFunction"))]
ABOVE = [(c, re.compile(p)) for c, p in (
    ("gc", r"^Python GC|<built-in function collect>|collect of module"),
    ("profiler", r"torch/(profiler|autograd/profiler)[^:]*: (?!__call__|wrap)|_KinetoProfile"
                 r"|built-in method (_disable_profiler|_enable_profiler|_prepare_profiler)"),
    ("compile", r"torch/_dynamo/(convert_frame|symbolic_convert|output_graph|variables/|codegen"
                r"|backends)|torch/_inductor/(compile_fx|graph|scheduler|lowering|ir|codegen/"
                r"|async_compile|codecache|select_algorithm|fx_passes|pattern_matcher)[^:]*: "
                r"(?!__call__|run|current_callable)|triton/compiler/(code_generator|compiler)[^:]*: "
                r"(compile|make_ir|ast_to_ttir|visit)|triton/backends/[^:]*compiler\.py\(\d+\): make_"
                r"|triton/(testing\.py|runtime/(build\.py|autotuner[^:]*: (_bench|benchmark)))"
                r"|triton_heuristics[^:]*: (benchmark|autotune|precompile|coordinate)"
                r"|torch/fx/experimental/proxy_tensor|^(inductor_|compile_fx|dynamo_timed"
                r"|backend_compile|async_compile|PyCodeCache|entire_frame_compile|create_aot_dispatcher)"
                r"|iopenFind|cudnnFind|ptxas"),
    ("data", r"DataLoader|torch/utils/data/|data_worker|pin_memory\.py|^#?enumerate\("
             r"|torchvision/(datasets|transforms|io)|(^|/)PIL/|datasets/arrow|webdataset"
             r"|^data_?load(ing|er)?\b|## ?data|(load|get|fetch)_batch"),
    ("io", r"torch/serialization\.py|safetensors|built-in method (read|write|readinto|flush) of _io"
           r"|built-in function open"),
    ("optimizer", r"^Optimizer\.|torch/optim/|apex/optimizers|clip_grad|GradScaler|amp/grad_scaler"),
    ("comm_host", r"torch::distributed::reducer|torch\.distributed\.ddp\.reducer|^c10d::|^nccl:|^rccl:"
                  r"|^gloo:|ProcessGroup|torch/distributed/(distributed_c10d|fsdp)|^record_param_comms"))]
FINAL = ("gc", "profiler", "compile", "data", "io")
FREE = re.compile(r"(cuda|hip)Free$|cuMemFree(_v2)?$")
DDP = re.compile(r"(DistributedDataParallel|FullyShardedDataParallel)\.|FSDP")
AUTOGRAD_OP = re.compile(r"^autograd::|Backward\d*$|^torch::autograd")
AUTOGRAD_PY = re.compile(r"run_backward|_engine_run_backward|_execution_engine")
WAIT = re.compile(r"built-in method ((acquire|__enter__) of _thread\.|(poll|select|control) of select\."
                  r"|get of _queue|(recv|recv_bytes|accept) of)|built-in function (sleep|select|wait)\b"
                  r"|(^|/)(threading|queue|selectors)\.py\(\d+\): "
                  r"(wait|get|join|_wait_for_tstate_lock|select|acquire)|sched_yield")
COMM = re.compile("nccl|rccl|cross_device_reduce", re.I)
HOST = ("op", "runtime", "driver", "python", "annotation")
GPU = ("kernel", "memcpy", "memset")


class Event:
    """of the host or the GPU"""

    def __init__(self, e):
        self.s, self.e, self.uid = e["ts"], e["ts"] + e["dur"], e["id"]
        self.name, self.kind = e["name"], e["kind"]
        self.is_call = self.kind in ("runtime", "driver")
        self.up, self.is_overlay = None, False
        self.made, self.waits = [], False
        self.launch, self.is_older = None, False

    def order(self):
        return (self.s, -self.e, self.uid)


def first(patterns, name):
    return next((c for c, p in patterns if p.search(name)), None)


@functools.lru_cache(None)
def classes_above(name):
    return frozenset(c for c, p in ABOVE if p.search(name))


class Recording:
    """events of hosts and GPUs in a trace"""

    def __init__(self, trace):
        text = subprocess.run(["tl-cat", trace], capture_output=True, check=False).stdout
        text = text.decode("utf-8", "replace").rstrip("\n")
        raw = json.loads("[%s]" % text.replace("\n", ","))  # faster than line by line
        self.first = 0
        for r in raw:
            if "source" in r:
                self.first = int(r["source"]["facts"].get("first", self.first))
        raw = [e for e in raw if "id" in e]
        self.nsources = len({e.get("src") for e in raw})
        self.odd = any("inst" in e for e in raw)
        timed = [e for e in raw if all(k in e for k in ("ts", "dur", "name")) and
                 "duplicate" not in e.get("flags", [])]
        gpus = [e for e in timed if e["kind"] in GPU]
        rows = {(e.get("pid"), e.get("tid")) for e in gpus}
        self.threads, self.overlays = {}, {}
        by_uid = {}
        for e in timed:
            where = (e.get("pid"), e.get("tid"))
            if e["kind"] not in HOST or where == (0, 0) or (e["kind"] == "python" and where in rows):
                continue
            v = Event(e)
            v.thread = where
            v.corr = e.get("corr")
            self.threads.setdefault(where, []).append(v)
            if v.is_call:
                by_uid[v.uid] = v
        self.gpus = []
        numbers = [v.corr for v in by_uid.values() if isinstance(v.corr, int)]
        for e in gpus:
            k = Event(e)
            k.is_older = (isinstance(e.get("corr"), int) and bool(numbers)
                          and e["corr"] < min(numbers))
            k.stream = (e.get("dev"), e.get("gpu_stream"))
            k.launch = by_uid.get(e.get("launch")) if "unlinked" not in e.get("flags", []) else None
            if k.launch:
                k.launch.made.append(k)
            self.gpus.append(k)
        self.gpus.sort(key=Event.order)
        for i, k in enumerate(self.gpus):
            k.place = i
        self.rows = [e for e in timed if e["kind"] == "sync"]
        self.calls = {v.corr: v for v in by_uid.values() if not v.made and isinstance(v.corr, int)}
        for where in self.threads:
            self.nest(where)
        self.classify()
        self.segments = {t: self.cut(v) for t, v in self.threads.items()}

    def nest(self, where):
        stack, overlays, overlays_all = [], [], []
        self.threads[where].sort(key=Event.order)
        for v in self.threads[where]:
            while stack and stack[-1].e <= v.s:
                stack.pop()
            own = [] if v.is_call else [v.name]
            if stack and v.e > stack[-1].e:
                if v.kind == "annotation":
                    v.is_overlay = True
                    overlays.append(v)
                    overlays_all.append(v)
                    continue
                v.e = stack[-1].e
            v.up = stack[-1] if stack else None
            overlays = [o for o in overlays if o.e > v.s]
            v.above = frozenset().union(v.up.above if v.up else (), *map(
                classes_above, [o.name for o in overlays] + own))
            stack.append(v)
        self.overlays[where] = {v.uid for v in overlays_all}
        self.threads[where] = [v for v in self.threads[where] if not v.is_overlay]

    def classify(self):
        first_launch = {}
        for k in self.gpus:
            if k.launch and k.kind == "kernel":
                a = first_launch.get(k.name)
                if a is None or k.launch.s < a.s:
                    first_launch[k.name] = k.launch
        for events in self.threads.values():
            for v in events:
                found = v.above | (classes_above(v.name) if v.is_call else set())
                place = next((c for c, _ in ABOVE if c in found), None)
                if v.is_call:
                    v.cause = self.call_class(v, first_launch)
                    if v.cause in ("launch_call", "runtime", "poll") and place in FINAL:
                        v.cause = place
                elif place:
                    v.cause = place
                elif DDP.match(v.name):
                    v.cause = "comm_host"
                elif v.kind == "op":
                    v.cause = "autograd" if AUTOGRAD_OP.search(v.name) else "op"
                elif v.kind == "python":
                    v.cause = ("autograd" if AUTOGRAD_PY.search(v.name) else
                               "wait" if WAIT.search(v.name) else "python")
                else:
                    v.cause = "annotated"

    @staticmethod
    def call_class(v, first_launch):
        is_long = v.e - v.s >= LONG
        c = first(CALLS, v.name)
        if c is None:
            return "init" if is_long else "runtime"
        if c != "launch_call":
            return c
        if is_long and "emcpy" in v.name or any(
                k.kind == "memcpy" and "DtoH" in k.name and "Pageable" in k.name for k in v.made):
            return "copy_block"
        if is_long and len(v.made) == 1 and v.made[0].kind == "kernel" and \
                first_launch[v.made[0].name] is v:
            return "module_load"
        return c

    @staticmethod
    def chain(events):
        """(time, node, what is open until then) of a thread, in order"""
        stack, out = [], []
        for v in events:
            while stack and stack[-1].e <= v.s:
                top = stack.pop()
                out.append((top.e, ("end", top), top))
            out.append((v.s, ("start", v), stack[-1] if stack else None))
            stack.append(v)
        while stack:
            top = stack.pop()
            out.append((top.e, ("end", top), top))
        return out

    def cut(self, events):
        segments, at = [], None
        for t, _, owner in self.chain(events):
            if owner is not None and t > at:
                if segments and segments[-1][2] is owner and segments[-1][1] == at:
                    segments[-1] = (segments[-1][0], t, owner)
                else:
                    segments.append((at, t, owner))
            at = t
        return segments

    def gaps(self):
        """(start, end, before, after) on all devices"""
        end, prev = None, None
        for k in self.gpus:
            if k.e <= k.s:
                continue
            if prev is not None and k.s > end:
                yield end, k.s, prev, k
            if prev is None or k.e > end:
                end, prev = k.e, k


def is_rest(v):
    return v is None or v.cause in ("wait", "annotated") or (
        v.cause == "autograd" and v.kind == "python")


class Graph:
    """edges between nodes of a window"""

    def __init__(self, rec, w0, w1, mains):
        self.rec, self.w0, self.w1 = rec, w0, w1
        self.at = {SOURCE: w0, SINK: w1}
        self.edges = []  # (from, to, kind, least, owner)
        for v in [v for t in rec.threads.values() for v in t] + rec.gpus:
            if w0 <= v.s <= w1:
                self.at["start", v] = v.s
            if v.e <= w1 and (v.s >= w0 or v.e > w0):
                self.at["end", v] = v.e
        self.awaited()
        self.launching = {k.launch.thread for k in rec.gpus if k.launch}
        order = sorted(rec.threads, key=lambda t: (
            -sum(len(v.made) for v in rec.threads[t]),
            -sum(v.kind != "python" for v in rec.threads[t]), str(t[0]), str(t[1])))
        for t in order:
            self.thread(t, order, min(mains[t], w1) if t in mains else None)
        self.gpu()
        self.drop()
        self.bind()

    def edge(self, a, b, kind, least, owner):
        self.edges.append((a, b, kind, least, owner))

    # what waits for GPU work

    def block(self, k, call):
        """the call waits for the end of k, or for what of it lies before its own"""
        if call.e < k.e < call.e + STALL and k.s <= call.e:
            self.edge(("start", k), ("end", call), "kernel", call.e - k.s, k)
        else:
            self.edge(("end", k), ("end", call), "block", 0, call)

    def frees(self, launched):
        """a call that frees device memory goes on when all work before it is done"""
        for v in [v for events in self.rec.threads.values() for v in events]:
            if v.is_call and v.cause == "alloc" and FREE.match(v.name) and self.w0 <= v.e <= self.w1:
                done = [(k.e, k.place, k) for k in launched if k.launch.s < v.s]
                end, _, k = max(done, default=(0, 0, None))
                if k and v.s < end <= v.e:
                    self.edge(("end", k), ("end", v), "block", v.e - end, v)
                    self.edge(("start", v), ("end", v), "host", v.e - end, v)
                    v.waits = True

    def stalls(self):
        """a GPU stream that rests although it has work waits for another one"""
        free = {}
        for k in self.rec.gpus:
            since = [free[k.stream]] if k.stream in free else []
            since += [k.launch.e] if k.launch else []
            free[k.stream] = max(k.e, free.get(k.stream, k.e))
            if not since or k.s - max(since) < STALL:
                continue
            others = [(g.e, g.place, g) for g in self.rec.gpus if 0 <= k.s - g.e < STALL
                      and g.stream[0] == k.stream[0] and g.stream[1] != k.stream[1]]
            if others:
                self.edge(("end", max(others)[2]), ("start", k), "depend", 0, max(others)[2])

    def awaited(self):
        rec = self.rec
        launched = [k for k in rec.gpus if k.launch]
        told = set()
        has_waits = False

        def last_on(stream, t):
            c = [k for k in launched if k.stream == stream and k.launch.s <= t]
            return max(c, key=lambda k: (k.launch.s, k.place)) if c else None

        for row in rec.rows:
            a = row.get("args", {})
            call = rec.calls.get(row.get("corr"))
            has_waits |= (row["name"] == "Stream Wait Event" and
                          a.get("wait_on_cuda_event_record_corr_id", -1) >= 0)
            if call is None or row["name"] not in ("Stream Sync", "Event Sync", "Stream Wait Event"):
                continue
            stream = (row.get("dev"), row.get("gpu_stream"))
            if row["name"] == "Stream Sync":
                src = last_on(stream, call.s - 1)
            else:
                record = rec.calls.get(a.get("wait_on_cuda_event_record_corr_id", -1))
                src = last_on((row.get("dev"), a.get("wait_on_stream")), record.s) if record else None
            if src is None:
                continue
            if row["name"] != "Stream Wait Event":
                self.block(src, call)
                told.add(call)
                call.waits = True
                continue
            c = [k for k in launched if k.stream == stream and k.launch.thread == call.thread
                 and k.launch.s >= call.s]
            if c and src.stream != stream:
                k = min(c, key=lambda k: (k.launch.s, k.place))
                self.edge(("end", src), ("start", k), "depend", 0, src)
        for events in rec.threads.values():
            for v in events:
                v.waits |= v.cause in ("sync", "copy_block")
                if not v.is_call or v.cause not in ("sync", "poll") or v in told or \
                        not self.w0 <= v.e <= self.w1:
                    continue
                everything = re.search("DeviceSync|CtxSync|ThreadSync", v.name)
                c = [(k.e, i, k) for i, k in enumerate(rec.gpus) if k.launch and k.launch.s < v.s
                     and (everything or k.e <= v.e)]
                k = max(c, default=(0, 0, None))[2]
                if k and (everything or k.e >= v.s):
                    self.block(k, v)
                    v.waits = True
        self.frees(launched)
        for k in launched:
            if k.launch.cause == "copy_block":
                self.block(k, k.launch)
        if not has_waits:
            self.stream_waits(launched)
            self.stalls()
        for a, b, prev, k in rec.gaps():
            r = k.launch
            if r and r is not prev.launch and r.e <= a and b - r.e >= 30000 and \
                    prev.stream[1] != k.stream[1] and 10000 <= b - a < 100000:
                self.edge(("end", prev), ("start", k), "depend", 0, prev)

    def stream_waits(self, launched):
        rec = self.rec
        for t, events in rec.threads.items():
            waits = [v.s for v in events if v.is_call and not v.made and "StreamWaitEvent" in v.name]
            if not waits:
                continue
            last = {}
            mine = [k for k in launched if k.launch.thread == t]
            for k in sorted(mine, key=lambda k: (k.launch.s, k.place)):
                before = [w for w in waits if w <= k.launch.s]
                prev, last[k.stream] = last.get(k.stream), k.launch.s
                if not before or (prev is not None and prev >= before[-1]):
                    continue
                c = [(g.e, i, g) for i, g in enumerate(rec.gpus) if g.launch
                     and g.launch.s < before[-1] and g.e <= k.s]
                if c and max(c)[2].stream != k.stream and k.s - max(c)[0] < STALL:
                    self.edge(("end", max(c)[2]), ("start", k), "depend", 0, max(c)[2])

    # threads

    def thread(self, t, order, until):
        """until: when the window waits for it no longer"""
        last, last_t = SOURCE, self.w0
        nodes = Recording.chain(self.rec.threads[t])
        at_end = next(((n, o) for time, n, o in nodes if until is not None and time > until),
                      (None, None))
        for time, node, owner in nodes + [(until, None, None)]:
            if until is not None and node is at_end[0]:
                if until >= last_t:
                    self.host(t, order, last, last_t, SINK, until, at_end[1])
                until = None
            if node is None or time > self.w1:
                break
            if node not in self.at:
                continue
            self.host(t, order, last, last_t, node, time, owner)
            last, last_t = node, time

    def host(self, t, order, last, last_t, node, time, owner):
        least = time - last_t
        if owner is not None and owner.waits:
            least = 0
        else:
            done = self.handed_over(t, order, last_t, time, owner)
            if done:
                self.edge(done, node, "thread", 0, None)
                least = 0
        self.edge(last, node, "host", least, owner)

    def handed_over(self, t, order, x, y, owner):
        for_data = owner is not None and owner.cause == "data" and \
            owner.kind != "annotation" and "__next__" in owner.name
        if not for_data and not is_rest(owner):
            return None
        says = for_data or (owner is not None and (
            owner.cause == "wait" or owner.kind == "python"))
        best, latest = None, x
        for u in order[:256]:
            if u == t:
                continue
            segments = self.rec.segments[u]
            launches = u in self.launching

            def takes(v, launches=launches):
                return not is_rest(v) and not (for_data and v.cause != "data") and (
                    launches or says or v.cause not in ("sync", "poll"))

            near = range(bisect.bisect_left(segments, x, key=lambda s: s[1]),
                         bisect.bisect_right(segments, y, key=lambda s: s[0]))
            if not says and y - x < 100000:
                continue
            if not says and 2 * sum(
                    min(y, s[1]) - max(x, s[0]) for s in segments[near.start:near.stop]
                    if s[1] > x and s[0] < y and not is_rest(s[2])) < y - x:
                continue
            busy = [i for i in near if segments[i][0] < y < segments[i][1]
                    and takes(segments[i][2])]
            if busy:
                i = busy[0]
                if segments[i][0] > latest:
                    node = self.begins(segments, i)
                    best, latest = (node, segments[i][0]) if node else (best, latest)
                continue
            done = [i for i in near if x < segments[i][1] <= y and takes(segments[i][2])]
            if done and segments[done[-1]][1] > latest:
                node = self.ends(segments, done[-1])
                best, latest = (node, segments[done[-1]][1]) if node else (best, latest)
        return best

    @staticmethod
    def begins(segments, i):
        s, _, v = segments[i]
        if v.s == s:
            return ("start", v)
        if i > 0 and segments[i - 1][1] == s and segments[i - 1][2].e == s:
            return ("end", segments[i - 1][2])
        return None

    @staticmethod
    def ends(segments, i):
        _, e, v = segments[i]
        if v.e == e:
            return ("end", v)
        if i + 1 < len(segments) and segments[i + 1][0] == e and segments[i + 1][2].s == e:
            return ("start", segments[i + 1][2])
        return None

    # the GPU

    def gpu(self):
        rec = self.rec
        least = {}
        for a, _, _, k in rec.gaps():
            r = k.launch
            if r and r.s > a and k.s >= r.s and k.s - r.e < STALL:
                least[r.name] = min(least.get(r.name, k.s - r.s), k.s - r.s)
        prev, seen, last = {}, set(), {}
        for k in rec.gpus:
            if k.e >= self.w0 and k.s <= self.w1 and (k.e > self.w0 or k.s >= self.w0):
                a = ("start", k) if k.s >= self.w0 else SOURCE
                b = ("end", k) if k.e <= self.w1 else SINK
                self.edge(a, b, "kernel", self.at[b] - self.at[a], k)
            if k.stream in prev:
                self.edge(("end", prev[k.stream]), ("start", k), "queue", 0, prev[k.stream])
            prev[k.stream] = k
            if k.launch and (k.launch, k.stream) not in seen:
                seen.add((k.launch, k.stream))
                self.edge(("start", k.launch), ("start", k), "launch", least.get(k.launch.name, 0),
                          k.launch)
            if ("end", k) in self.at and k.e >= last.get(k.stream, k).e:
                last[k.stream] = k
        for k in last.values():
            self.edge(("end", k), SINK, "queue", 0, k)

    # longest paths

    def drop(self):
        at = self.at
        self.edges = [e for e in self.edges if e[0] in at and e[1] in at
                      and at[e[1]] - at[e[0]] >= e[3]]
        led_to = {e[1] for e in self.edges}
        for n in at:
            if n not in led_to and n != SOURCE:
                self.edge(SOURCE, n, "source", at[n] - self.w0, None)
        self.edges.sort(key=lambda e: (at[e[0]], at[e[1]]))
        self.place = {n: i for i, n in enumerate(at)}
        self.pairs = [(self.place[e[0]], self.place[e[1]]) for e in self.edges]

    def bind(self):
        """index of the edge that each node waits for longest"""
        self.via, best = {}, {}
        for i, e in enumerate(self.edges):
            key = (-(self.at[e[0]] + e[3]), KINDS.index(e[2]))
            if e[1] not in best or key < best[e[1]]:
                best[e[1]] = key
                self.via[e[1]] = i
        self.residual = [0] * len(self.edges)
        for n, i in self.via.items():
            a, b, _, least, _ = self.edges[i]
            self.residual[i] = self.at[b] - self.at[a] - least
        self.weight = [e[3] + r for e, r in zip(self.edges, self.residual)]

    def relaxed(self, edges, start):
        """how far each node is, by its place: relaxes all edges until nothing changes"""
        far, changed = [NEVER] * len(self.place), True
        far[self.place[start]] = 0
        while changed:
            changed = False
            for a, b, w in edges:
                w += far[a]
                if w > far[b]:
                    far[b] = w
                    changed = True
        return far

    def longest(self, weight):
        """to each node"""
        return self.relaxed([(a, b, w) for (a, b), w in zip(self.pairs, weight)], SOURCE)

    def tails(self):
        """from each node to the sink"""
        return self.relaxed([(b, a, w) for (a, b), w in zip(self.pairs, self.weight)][::-1], SINK)

    def path(self):
        out, n = [], SINK
        while n != SOURCE:
            out.append(self.via[n])
            n = self.edges[self.via[n]][0]
        return out[::-1]

    def what_if(self, factor, residuals=True):
        """length, with factor(event) in millionths"""
        w = [(-(-e[3] * factor(e[4]) // 1000000) if e[2] in ("host", "kernel", "block") and e[4] else e[3])
             + (r if residuals else 0) for e, r in zip(self.edges, self.residual)]
        return self.length(w)

    def length(self, weight):
        return self.longest(weight)[self.place[SINK]]

    def slack(self):
        """of each event, and its edge with the least"""
        far, tail, out = self.longest(self.weight), self.tails(), {}
        for i, (_, _, kind, least, owner) in enumerate(self.edges):
            a, b = self.pairs[i]
            if (kind in ("host", "kernel") or kind == "block" and least) and owner is not None and tail[b] > NEVER:
                s = self.w1 - self.w0 - far[a] - self.weight[i] - tail[b]
                if owner not in out or s < out[owner][0]:
                    out[owner] = (s, i)
        return out


def bound(e):
    _, b, kind, _, owner = e
    if kind == "kernel":
        return ("copy" if owner.kind == "memcpy" else
                "communication" if COMM.search(owner.name) else "compute")
    if kind == "launch":
        return "launch_latency"
    if kind == "source":
        return "queued_before" if b != SINK and (b[1].launch or b[1].is_older) else "none"
    if kind == "host" or (owner is not None and hasattr(owner, "cause")):
        return "between_ops" if owner is None or owner.cause == "annotated" else owner.cause
    return "between_ops"


def rows_of(graph):
    """the path as in critical_events"""
    rows = []
    for i in graph.path():
        a, b, kind, least, owner = e = graph.edges[i]
        rest = graph.residual[i]
        who = owner if owner is not None else b[1] if b != SINK else None
        if kind == "host" and least + rest == 0:
            continue
        label = ("" if rest == 0 else "stall" if rest >= STALL else
                 "gap" if kind in ("queue", "depend") else "latency")
        last = rows[-1] if rows else None
        if last and kind == last[1] == "host" and owner is not None and last[7] is owner and \
                not rest and not last[6]:
            last[4] += least
            continue
        rows.append([graph.at[a], kind, bound(e), who.uid if who else None, least + rest, rest,
                     label, owner])
    return [tuple(r[:7]) for r in rows]


def windows(rec, trace):
    """options, start, end, threads"""
    steps = table(["tl-steps", trace]) or []
    by_uid = {v.uid: t for t, events in rec.threads.items() for v in events}
    markers = {s.get("uid") for s in steps}
    for t in rec.threads:  # those that outlast their parent are not nested
        by_uid.update({u: t for u in markers if u not in by_uid and u in rec.overlays.get(t, ())})
    busy = [k for k in rec.gpus if k.e > k.s]
    # what verdicts count begins without a head that was not recorded
    verdict = (table(["tl-idle", "--table", "idle_window", trace]) or [None])[0]
    if not steps:
        return
    start = min([s["ts_ns"] for s in steps] + [k.s for k in busy])
    end = max([s["ts_ns"] + s["wall_ns"] for s in steps] + [k.e for k in busy])
    if busy and verdict:
        start += verdict.get("head_ns") or 0
        if end - start != verdict["window_ns"]:
            raise ValueError("tl-idle has another window")
    sums = table(["tl-steps", "--table", "steps_summary", trace]) or []
    ends = {}
    for s in steps:
        ends[s.get("pid")] = max(ends.get(s.get("pid"), 0), s["ts_ns"] + s["wall_ns"])
    mains = {by_uid.get(s.get("uid")): ends[s.get("pid")] for s in steps if s["what"] == "step"}
    if any(s.get("repeat_calls") for s in sums):  # no annotations: of the first launch
        first_step = min(s["ts_ns"] for s in steps)
        calls = [(k.launch.s, k.uid, k.launch.thread) for k in rec.gpus
                 if k.launch is not None and k.launch.s >= first_step]
        mains = {min(calls)[2]: max(ends.values())} if calls else {}
    n = sum(len(v) for v in rec.threads.values()) + len(rec.gpus)
    if n <= WHOLE:
        yield [], start, end, mains
        return
    for part in (3,):
        length = max((end - start) * WHOLE // n // 4, 1000)
        a = start + (end - start) // 8 * part
        b = min(a + length, end)
        main = mains
        if not mains and b < end:
            main = {max(rec.threads, default=None, key=lambda t: (
                sum(len(v.made) for v in rec.threads[t]),
                sum(v.kind != "python" for v in rec.threads[t]))): b}
        yield ["--from", "%dns" % (a - rec.first), "--to", "%dns" % (b - rec.first)], a, b, main


def check(rec, trace, options, graph):
    bad = []
    call = ["tl-critical", *options]
    want = rows_of(graph)
    got = [(r["ts_ns"], r["kind"], r["bound"], r.get("uid"), r["time_ns"], r["residual_ns"],
            r.get("residual") or "") for r in
           table(call + ["--table", "critical_events", trace]) or []]
    if got != want:
        i = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
        bad.append("path of %d, not %d; at %d %s, not %s" % (
            len(got), len(want), i, got[i:i + 1], want[i:i + 1]))
    whole = graph.w1 - graph.w0
    if sum(r[4] for r in want) != whole or graph.length(graph.weight) != whole:
        bad.append("the path is not as long as the window")
    mix = {}
    for r in table(call + ["--by", "bound", trace]) or []:
        mix[r["bound"]] = mix.get(r["bound"], 0) + r["time_ns"]
    mine = {}
    for i in graph.path():
        e, rest = graph.edges[i], graph.residual[i]
        label = "stall" if rest >= STALL else "gap" if e[2] in ("queue", "depend") else "latency"
        for word, ns in ((bound(e), e[3]), (label, rest)):
            if ns:
                mine[word] = mine.get(word, 0) + ns
    if mix != mine:
        bad.append("by bound %s, not %s" % (mix, mine))
    gpus = set(rec.gpus)
    for what, factor in (
            ("*=1", lambda v: 1000000),
            ("gpu:*=0", lambda v: 0 if v in gpus else 1000000),
            ("host:*=0.5", lambda v: 1000000 if v in gpus else 500000),
            ("gpu:*=2", lambda v: 2000000 if v in gpus else 1000000),
            ("*=0.123456", lambda v: 123456)):
        row = [r for r in table(call + ["--what-if", what, trace]) if r["bound"] == "total"][0]
        want = (whole, graph.what_if(factor), graph.what_if(factor, False))
        got = tuple(row[c] for c in ("before_ns", "after_ns", "after_no_gaps_ns"))
        if got != want:
            bad.append("%s: %s, not %s" % (what, got, want))
    return bad + check_slack(call + [trace], graph)


def check_slack(call, graph):
    bad, slack = [], graph.slack()
    path = [graph.edges[i] for i in graph.path()]
    on_path = {e[4] for e in path if e[2] in ("host", "kernel") or e[2] == "block" and e[3]}
    own = {}
    for e in graph.edges:
        if e[2] in ("host", "kernel"):
            own[e[4]] = own.get(e[4], 0) + e[3]
    want = {v.uid: s for v, (s, _) in slack.items() if v not in on_path and own[v] > 0}
    got = {r["uid"]: r["slack_ns"] for r in table(call + ["--table", "slack"]) or []}
    if got != want:
        odd = [u for u in {*got, *want} if got.get(u) != want.get(u)]
        bad.append("slack of %d events; of %s %s, not %s" % (
            len(odd), odd[0], got.get(odd[0]), want.get(odd[0])))
    some = sorted(((v.uid, s, i) for v, (s, i) in slack.items()), key=lambda x: x[0])
    whole = graph.w1 - graph.w0
    for uid, s, i in random.Random(1).sample(some, min(2, len(some))):
        for more in (s, s + 1):
            w = list(graph.weight)
            w[i] += more
            length = graph.length(w)
            if length != whole + more - s:
                bad.append("event %s may grow by %d, but then it is %d" % (uid, s, length - whole))
    return bad


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.environ["TL_DATA"]
    n, failed, tree = 0, False, "critical.tl"
    for trace in traces(root, 700_000, LARGE) if os.path.isdir(root) else [root]:
        rest = os.path.relpath(trace, root)
        if subprocess.run(["tl-tree", trace, "-o", tree], stderr=subprocess.DEVNULL,
                          check=False).returncode not in (0, 3):
            continue  # what no program reads is another test's
        if table(["tl-critical", tree]) is None:
            continue
        rec = Recording(tree)
        if rec.odd or rec.nsources > 1:
            continue
        bad = []
        for options, start, end, mains in windows(rec, tree):
            if start < end:
                bad += ["%s: %s" % (" ".join(options), line) for line in
                        check(rec, tree, options, Graph(rec, start, end, mains))]
        n += 1
        failed |= bool(bad)
        print("%sok %d - %s" % ("not " if bad else "", n, rest), flush=True)
        for line in bad:
            print("# " + line[:400])
    print("1..%d" % n)
    return failed


sys.exit(main())
