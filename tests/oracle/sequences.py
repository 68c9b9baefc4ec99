#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sequences.py: tl-kernels --sequences against plain Python on the raw JSON.

    sequences.py [FIRST LAST | TRACE...]

For each seed from FIRST up to LAST (1 to 60) a trace of kernels drawn from a few
names, in which parts recur. Runs are found by listing all that repeat, and the
heaviest are taken one after the other; what ran below an op by nesting; what one
kernel would not write and read by sizes of arguments and of results, written down
here for a few ops. All cells must agree, and no sequence save more than its kernels
and gaps take. Of a TRACE that is given only its runs, with a memory so fast that gaps
alone count, and bytes of runs between ops that are known here.
"""
import collections
import gzip
import heapq
import json
import os
import random
import re
import sys
import tempfile

from worked import table

LONG = 1000000
COMM = ("nccl", "rccl", "cross_device_reduce")
CALLS = ("cuda_runtime", "cuda_driver", "hip_runtime", "Runtime")
KINDS = ("kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset")


def ns(us):
    whole, _, part = ("%s" % us).partition(".")
    return int(whole) * 1000 + int((part + "000")[:3] or 0)


class Event:
    def __init__(self, uid, e):
        self.uid, self.name, self.cat = uid, e["name"], e.get("cat")
        self.start = ns(e["ts"])
        self.end = self.start + ns(e.get("dur", 0))
        self.tid, self.args = (e["pid"], e["tid"]), e.get("args", {})
        self.corr = self.args.get("correlation")
        self.is_kernel = self.cat in ("kernel", "Kernel")


SIZES = {"float": 4, "int": 4, "long int": 8, "double": 8, "c10::Half": 2,
         "c10::BFloat16": 2, "bool": 1}
SAME = ("aten::silu", "aten::gelu", "aten::sigmoid", "aten::native_layer_norm",
        "aten::relu", "aten::clamp_min_", "aten::clamp_min", "aten::rsqrt", "aten::neg")
PAIRS = ("aten::mul", "aten::add", "aten::add_", "aten::mul_", "aten::div")
UNKNOWN = object()  # not written down here
KNOWN, NO_OP, ONE_OP, PARTS, NO_SHAPES, NO_TYPES, NO_MODEL, NO_READS = range(8)


def elems(dims):
    n = 1
    for d in dims:
        n *= d
    return n


def tensors(op):
    """(argument, bytes) of the tensors, None of an unknown type"""
    types, strides = op.args["Input type"], op.args.get("Input Strides", [])
    for i, dims in enumerate(op.args["Input Dims"]):
        if types[i] in ("Scalar", "ScalarList"):
            continue
        leaves = dims if dims and isinstance(dims[0], list) else [dims]
        for k, leaf in enumerate(leaves):
            size = SIZES.get(types[i])
            if not leaf and size is None:
                continue
            steps = strides[i] if i < len(strides) else []
            if leaves is dims:
                steps = steps[k] if k < len(steps) else []
            if len(steps) != len(leaf):
                steps = [1] * len(leaf)
                reach = None
            else:
                reach = 1 + sum((d - 1) * abs(st) for d, st in zip(leaf, steps))
            n = elems(d for d, st in zip(leaf, steps) if st)
            yield i, None if size is None else size * (reach if reach and 0 < reach < n else n)


def result(op):
    """bytes of what the op returns; None: it has no model"""
    if op.name.startswith("other"):
        return None
    dims, types = op.args["Input Dims"], op.args["Input type"]
    size = [SIZES.get(t) for t in types]
    if op.name == "aten::_softmax":
        to_float = op.args["Concrete Inputs"][2] == "True"
        return elems(dims[0]) * (4 if to_float else size[0]) if size[0] else None
    if op.name in ("aten::copy_", "aten::fill_") or op.name in SAME and not any(dims[1:2]):
        return elems(dims[0]) * size[0] if size[0] else None
    if op.name == "aten::silu" and any(dims[1:2]):
        return elems(dims[0]) * size[1] if size[1] else None
    if op.name == "triton_poi_fused_mul_0":
        return elems(dims[1]) * size[1] if size[1] else None
    if None in dict(tensors(op)).values():
        return None if op.name in PAIRS + ("aten::mm",) else UNKNOWN
    if op.name in PAIRS and dims[0] == dims[1] and types[0] == types[1]:
        return elems(dims[0]) * (size[2] if any(dims[2:3]) else size[0])
    if op.name in PAIRS and not any(dims[1:]) and types[1] in ("Scalar", "double"):
        return elems(dims[0]) * size[0]
    if op.name == "aten::mm" and len(dims) == 2:
        return dims[0][0] * dims[1][1] * size[0]
    if op.name == "aten::addmm":
        return dims[1][0] * dims[2][1] * size[1]
    if op.name == "aten::bmm":
        return dims[0][0] * dims[0][1] * dims[1][2] * size[0]
    return UNKNOWN


def operands(op):
    """how many arguments the op reads, from which on; None: not known"""
    if op.name in ("aten::copy_", "aten::fill_"):
        return range(1, 9)
    if op.name in SAME and op.name != "aten::native_layer_norm" or op.name == "aten::_softmax":
        return range(0, 1)
    if op.name in PAIRS + ("aten::mm", "aten::bmm"):
        return range(0, 2)
    if op.name in ("aten::addmm", "aten::native_layer_norm"):
        return range(0, 3)
    return UNKNOWN


def moved(op):
    """all bytes of an op that is drawn"""
    part = dict(tensors(op))
    if op.name == "triton_poi_fused_mul_0":  # what it takes where it may write it
        return 2 * part[0] + part[1]
    return sum(part[i] for i in operands(op) if i in part) + result(op)


class Again:
    """what one kernel would neither write nor read again"""

    def __init__(self, events):
        calls = {}
        for e in events:
            if e.cat in CALLS and e.corr is not None:
                calls.setdefault(e.corr, e)
        lanes = collections.defaultdict(list)
        for e in events:
            if e.cat == "cpu_op" or e.cat in CALLS:
                lanes[e.tid].append(e)
        above = {}  # of a call: the ops around it, outermost first
        for lane in lanes.values():
            stack = []
            for e in sorted(lane, key=lambda e: (e.start, -e.end, e.uid)):
                while stack and stack[-1].end <= e.start:
                    stack.pop()
                if e.cat == "cpu_op":
                    stack.append(e)
                else:
                    above[e] = list(stack)
        self.owner, self.below = {}, collections.defaultdict(list)
        for e in events:
            if e.cat in KINDS and e.corr in calls:
                ops = above.get(calls[e.corr], [])
                for op in ops:
                    self.below[op].append(e)
                if ops:
                    self.owner[e] = ops[-1]

    def is_whole(self, op, work):
        return len(work) == len(self.below[op]) and all(
            e.is_kernel and self.owner.get(e) is op
            and not any(c in e.name.lower() for c in COMM) for e in work)

    def between(self, place, i, rate):
        """(what is lacking, bytes, ns) between i - 1 and i; UNKNOWN: not written down here"""
        a, b = place[i - 1], place[i]
        p, q = self.owner.get(a), self.owner.get(b)
        if not p or not q:
            return NO_OP, 0, 0
        if p is q:
            return ONE_OP, 0, 0
        first = place[max(0, i - len(self.below[p])):i]
        second = place[i:i + len(self.below[q])]
        if not self.is_whole(p, first) or not self.is_whole(q, second):
            return PARTS, 0, 0
        if "Input Dims" not in q.args or "Input Dims" not in p.args:
            return NO_SHAPES, 0, 0
        size = result(p)
        if size is UNKNOWN:
            return UNKNOWN, 0, 0
        if size is None:
            return NO_MODEL, 0, 0
        lack, read = self.read(q, size)
        if lack != KNOWN or not read:
            return lack, 0, 0
        return KNOWN, size + read, self.ns(p, first, size, rate) + self.ns(q, second, read, rate)

    def read(self, q, size):
        reads, list_ = operands(q), list(tensors(q))
        if q.name.startswith("triton"):  # the first of several is read
            reads = range(0, 1)
            if size not in [n for i, n in list_ if i in reads] and size in dict(list_).values():
                return NO_READS, 0
        elif q.name.startswith("other"):
            reads = range(0, 99)
            if size in dict(list_).values():
                return NO_READS, 0
        elif reads is UNKNOWN:
            return (UNKNOWN if size in dict(list_).values() else KNOWN), 0
        here = [n for i, n in list_ if i in reads]
        if size in here:
            return KNOWN, size
        return (NO_TYPES if None in here else KNOWN), 0

    @staticmethod
    def ns(op, work, part, rate):
        if not rate:
            return 0
        dur = sum(e.end - e.start for e in work)
        return int(min(part / rate, dur * (part / moved(op))))


def add_again(row, again, place, rate):
    """place: what follows each other; of another GPU stream or kind there is nothing"""
    for i in range(1, len(place)):
        a, b = place[i - 1], place[i]
        if not a.is_kernel or not b.is_kernel \
                or a.args.get("stream") != b.args.get("stream"):
            continue
        lack, n, ns_ = again.between(place, i, rate)
        if lack is UNKNOWN:
            row["is_known"] = False
            continue
        row["pairs"][lack] += 1
        if lack == KNOWN:
            row["spared_bytes_sum"] = (row["spared_bytes_sum"] or 0) + n
            row["saved_ns_sum"] += ns_


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as f:
        events = json.load(f, parse_float=str)
    events = events["traceEvents"] if isinstance(events, dict) else events
    return [Event(i, e) for i, e in enumerate(events) if e.get("ph") == "X" and "ts" in e]


def runs(events, least, most, again, rate):
    """[(names, places)], the heaviest first; a place is a list of kernels"""
    lanes = collections.defaultdict(list)
    for e in sorted((e for e in events if e.cat in KINDS), key=lambda e: (e.start, e.uid)):
        lanes[(e.args.get("device"), e.args.get("stream"))].append(e)
    text, kernels, weight = [], [], []
    for lane in lanes.values():
        for i, e in enumerate(lane):
            if not e.is_kernel or any(c in e.name.lower() for c in COMM):
                continue
            behind = lane[i + 1] if i + 1 < len(lane) else None
            gap = max(0, behind.start - e.end) if behind else None
            is_end = behind is None or gap >= LONG or not behind.is_kernel or \
                any(c in behind.name.lower() for c in COMM)
            text.append(e.name)
            kernels.append(e)
            weight.append(None if is_end else gap + again.between([e, behind], 1, rate)[2])
    n = len(text)
    # symbols up to a break
    room = [1] * n
    for i in range(n - 2, -1, -1):
        room[i] = 1 if weight[i] is None else room[i + 1] + 1
    found = []
    for length in range(least, most + 1):
        groups = collections.defaultdict(list)
        for i in range(n):
            if room[i] >= length:
                groups[tuple(text[i:i + length])].append(i)
        for places in groups.values():
            if len(places) < 2:
                continue
            right = {text[p + length] if room[p] > length else p for p in places}
            left = {("", p) if p == 0 or weight[p - 1] is None else (text[p - 1], 0)
                    for p in places}
            if (length < most and len(right) == 1) or len(left) == 1:
                continue
            period = min(b - a for a, b in zip(places, places[1:]))
            found.append((period if least <= period < length else length, places))
    taken = [False] * n

    def free(length, places):
        end, chosen, sum_ns = 0, [], 0
        for p in places:
            if p < end or any(taken[p:p + length]):
                continue
            end = p + length
            chosen.append(p)
            sum_ns += sum(weight[p:p + length - 1])
        return chosen, (-sum_ns, -len(chosen) * (length - 1), places[0], -length)

    heap = []
    for i, (length, places) in enumerate(found):
        chosen, key = free(length, places)
        if len(chosen) >= 2:
            heap.append((key, i))
    heapq.heapify(heap)
    out = []
    while heap and len(out) < 1000:
        was, i = heapq.heappop(heap)
        length, places = found[i]
        chosen, key = free(length, places)
        if len(chosen) < 2:
            continue
        if key != was:
            heapq.heappush(heap, (key, i))
            continue
        for p in chosen:
            taken[p:p + length] = [True] * length
        out.append((tuple(text[chosen[0]:chosen[0] + length]),
                    [kernels[p:p + length] for p in chosen]))
    return out


def run_rows(events, least, most, again, rate):
    calls = {}
    for e in events:
        if e.cat in CALLS and e.corr is not None:
            calls.setdefault(e.corr, e)
    rows = {}
    for names, places in runs(events, least, most, again, rate):
        row = rows.setdefault(" | ".join(names), {
            "length": len(names), "count": 0, "gap_ns_sum": 0, "launch_ns_sum": None,
            "dur_ns_sum": 0, "saved_ns_sum": 0, "spared_bytes_sum": None, "is_known": True,
            "pairs": [0] * 8})
        for place in places:
            row["count"] += 1
            row["dur_ns_sum"] += sum(k.end - k.start for k in place)
            add_again(row, again, place, rate)
            for a, b in zip(place, place[1:]):
                row["gap_ns_sum"] += max(0, b.start - a.end)
                row["saved_ns_sum"] += max(0, b.start - a.end)
                if b.corr in calls and b.corr != a.corr:
                    row["launch_ns_sum"] = (row["launch_ns_sum"] or 0) \
                        + calls[b.corr].end - calls[b.corr].start
    return rows


def op_rows(events, prefix, least, again, rate):
    """work below the outermost ops whose name has this prefix"""
    ops = [e for e in events if e.cat == "cpu_op" and e.name.startswith(prefix)]
    roots = [o for o in ops if not any(
        p is not o and p.tid == o.tid and p.start <= o.start and o.end <= p.end
        and (p.start, -p.end, p.uid) < (o.start, -o.end, o.uid) for p in ops)]
    gpu = collections.defaultdict(list)
    for e in events:
        if e.cat in KINDS:
            gpu[e.corr].append(e)
    rows = {}
    for root in roots:
        calls = [e for e in events if e.cat == "cuda_runtime" and e.tid == root.tid
                 and root.start <= e.start < root.end]
        below = sorted(((k, c) for c in calls for k in gpu[c.corr]),
                       key=lambda x: (x[0].start, x[0].uid))
        if len(below) < least:
            continue
        row = rows.setdefault((root.name, " | ".join(k.name for k, _ in below)), {
            "length": len(below), "count": 0, "gap_ns_sum": 0, "launch_ns_sum": 0,
            "dur_ns_sum": 0, "op_ns_sum": 0, "saved_ns_sum": 0, "spared_bytes_sum": None,
            "is_known": True, "pairs": [0] * 8})
        row["count"] += 1
        row["op_ns_sum"] += root.end - root.start
        row["dur_ns_sum"] += sum(k.end - k.start for k, _ in below)
        add_again(row, again, [k for k, _ in below], rate)
        end, call = below[0][0].start, below[0][1]
        for k, c in below:
            row["gap_ns_sum"] += max(0, k.start - end)
            row["saved_ns_sum"] += max(0, k.start - end)
            end = max(end, k.end)
            if c is not call:
                row["launch_ns_sum"] += c.end - c.start
            call = c
    return rows


def arguments(rnd):
    """an op and its arguments; most neighbours have the same sizes"""
    n, m, kind = rnd.choice([64, 64, 64, 32]), rnd.choice([16, 16, 8]), \
        rnd.choice(["float", "float", "c10::Half"])
    shape = [n, m]
    name = rnd.choice(["aten::mul", "aten::silu", "aten::copy_", "aten::mm", "aten::add", "other",
                       "aten::_softmax", "aten::fill_", "triton_poi_fused_mul_0"])
    more = {"aten::mm": [[m, m]], "aten::mul": [shape], "aten::add": [shape, []],
            "aten::copy_": [rnd.choice([shape, []]), []], "aten::_softmax": [[], []],
            "aten::fill_": [[]], "triton_poi_fused_mul_0": [shape, []]}.get(name, [])
    if name in ("aten::mul", "aten::silu") and rnd.random() < .3:
        more.append(shape)  # where the result goes
    args = {"Input Dims": [shape] + more,
            "Input type": [kind] + [kind if d else "Scalar" for d in more]}
    if rnd.random() < .5:
        args["Input Strides"] = [[d[1], 1] if d else [] for d in args["Input Dims"]]
        if rnd.random() < .2 and args["Input Strides"][0]:
            args["Input Strides"][0] = [0, 1]
    if name == "aten::_softmax":
        args["Concrete Inputs"] = ["", "-1", rnd.choice(["True", "False"])]
    if name.startswith("triton"):
        args["Concrete Inputs"] = ["", "", str(n * m)]
    if rnd.random() < .1:
        args["Input type"] = ["?" for _ in args["Input Dims"]]
    return name, args if rnd.random() < .9 else {}


def drawn(seed):
    rnd = random.Random(seed)
    parts = [[rnd.randrange(6) for _ in range(rnd.randrange(1, 7))] for _ in range(4)]
    events, host, corr = [], 0, 0
    gpu = {7: 0, 8: 0}

    def add(cat, name, tid, start, dur, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": 1 if tid < 7 else 0,
                       "tid": tid, "ts": start / 1000, "dur": dur / 1000, "args": args})

    for _ in range(rnd.randrange(3, 30)):
        stream, begin = rnd.choice([7, 7, 7, 8]), host
        host += 1000
        for symbol in rnd.choice(parts):
            op_start, nkernels = host - 100, rnd.choice([1, 1, 1, 1, 2])
            for part in range(nkernels):
                corr += 1
                name = ("copy", "nccl_all")[rnd.randrange(2)] if rnd.random() < .04 \
                    else "k%d_%d" % (symbol, part)
                length = rnd.choice([rnd.randrange(1000, 9000)] * 30 + [3 * LONG])
                add("cuda_runtime", "cudaLaunchKernel", 1, host, length, correlation=corr)
                if part == 1 and rnd.random() < .3:
                    add("cpu_op", "other::part", 1, host - 50, length + 100)
                host += length + 500
                start = max(host, gpu[stream]) + rnd.choice([0, 0, rnd.randrange(5000)])
                took = rnd.randrange(500, 5000)
                add("gpu_memcpy" if name == "copy" else "kernel", name, stream, start, took,
                    device=0, stream=stream, correlation=corr)
                gpu[stream] = start + took
            if rnd.random() < .8:
                owner, args = arguments(rnd)
                add("cpu_op", owner, 1, op_start, host - 400 - op_start, **args)
        if rnd.random() < .8:
            add("cpu_op", rnd.choice(["my::a", "my::b", "other"]), 1, begin, host - begin)
            if rnd.random() < .5:
                add("cpu_op", "my::inner", 1, begin + 100, host - begin - 200)
        host += 1000
    rnd.shuffle(events)
    return {"traceEvents": events}


def reasons(pairs):
    """numbers of the reasons that there are, and of all pairs"""
    return [n for n in pairs[1:] if n], sum(pairs) if any(pairs[1:]) else None


def counts(text):
    found = re.findall(r"(?:^|; )(\d+)(?: of (\d+) pairs?)?: ", text or "")
    return [int(n) for n, _ in found], int(found[0][1]) if found else None


def differences(rows, expected, key):
    ours = {key(r): r for r in rows}
    for k in sorted(set(ours) | set(expected)):
        if k not in ours or k not in expected:
            yield "%s: only %s" % (k, "ours" if k in ours else "in Python")
        else:
            for c, v in expected[k].items():
                if c == "is_known" or \
                        (c in ("spared_bytes_sum", "pairs") and not expected[k]["is_known"]):
                    continue
                if c == "pairs":
                    v, is_equal = reasons(v), counts(ours[k]["spared_reason"]) == reasons(v)
                    c = "spared_reason"
                else:
                    is_equal = ours[k][c] == v
                if not is_equal:
                    yield "%s: %s is %s, in Python %s" % (k, c, ours[k][c], v)
    if len(ours) != len(rows):
        yield "a row twice"


def check(path, is_drawn, rnd, folder):
    rate = rnd.choice([.5, 1, 4]) if is_drawn else 0
    with open(os.path.join(folder, "arch.json"), "w", encoding="ascii") as f:
        f.write(json.dumps({"name": "drawn", "mem_bw_gbps": rate or 1e30, "peak_tflops": {}}))
    argv = ["tl-kernels", "--sequences", "--arch", f.name, path]
    events = load(path)
    again = Again(events)
    least, most = (2, 8) if rnd.random() < .5 else (rnd.randrange(2, 5), rnd.randrange(4, 20))
    limits = ["--min-length", str(least), "--max-length", str(most)]
    rows, expected = table(argv + limits) or [], run_rows(events, least, most, again, rate)
    wrong = list(differences(rows, expected, lambda r: r["sequence"]))
    wrong += ["more is saved than it takes" for r in rows
              if r["saved_ns_sum"] > r["gap_ns_sum"] + r["dur_ns_sum"]]
    if rows != sorted(rows, key=lambda r: -r["saved_ns_sum"]):
        wrong.append("rows are not in order")
    if is_drawn:
        rows = table(argv + ["--op", "my::*"]) or []
        wrong += differences(rows, op_rows(events, "my::", 2, again, rate),
                             lambda r: (r["under"], r["sequence"]))
    return wrong, len(rows), sum(bool(r["is_known"] and r["spared_bytes_sum"])
                                 for r in expected.values())


def main(argv):
    bad = nrows = nagain = 0
    rnd = random.Random(1)
    if argv and not argv[0].isdigit():
        todo = [(path, None) for path in argv]
    else:
        first, last = (int(a) for a in argv) if argv else (1, 60)
        todo = [(None, seed) for seed in range(first, last + 1)]
    with tempfile.TemporaryDirectory() as folder:
        for path, seed in todo:
            if path is None:
                path = os.path.join(folder, "%d.json" % seed)
                with open(path, "w", encoding="ascii") as f:
                    f.write(json.dumps(drawn(seed)))
            wrong, n, again = check(path, seed is not None, rnd, folder)
            nrows += n
            nagain += again
            for w in wrong[:5]:
                print("# %s: %s" % (path if seed is None else "seed %d" % seed, w[:300]))
            bad += bool(wrong)
    bad += nagain == 0
    print("%sok 1 - sequences of %d traces, %d rows, %d that read again; %d traces differ"
          % ("not " if bad else "", len(todo), nrows, nagain, bad))
    print("1..1")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
