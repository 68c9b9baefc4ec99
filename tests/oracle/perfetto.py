#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perfetto.py: tl-decode's reading of Perfetto's protobuf traces.

    perfetto.py FILE SLICES.csv | perfetto.py FIRST LAST | perfetto.py --seeds DIR

The slices of FILE must be those of the table. Or, for each seed from FIRST to LAST,
it draws a trace: processes, threads, tracks below them, sequences with interned
names and their own clocks, packed and lost packets, ends in the order of their
begins, slices with times in arguments, counters, GPU work. An encoder in this file
writes it, and tl-decode must return what was drawn. --seeds writes small ones, for
the fuzzer.
"""
import csv
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import zlib


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def num(field, n):
    return varint(field << 3) + varint(n)


def text(field, s):
    b = s.encode() if isinstance(s, str) else s
    return varint(field << 3 | 2) + varint(len(b)) + b


def fixed(field, b):
    return varint(field << 3 | 1) + b


class Sequence:
    """A writer: its interned names, and its clock."""

    def __init__(self, trace, number):
        self.trace, self.number = trace, number
        self.rnd = trace.rnd
        self.own_clock = self.rnd.random() < .7
        self.interns = self.rnd.random() < .8
        self.now, self.fresh = 0, True
        self.start()

    def start(self):
        self.names = {1: {}, 2: {}, 3: {}, 29: {}, 24: {}}
        self.offset = self.rnd.randrange(0, 1000000)
        self.fresh = True

    def packet(self, payload, ts=None):
        """with all that was interned since the last one"""
        out = b""
        if self.fresh:
            flags, self.fresh = 1, False
            if self.own_clock:
                out += text(59, num(58, 64))
                self.now = 1000 + self.offset
                out += text(6, text(1, num(1, 6) + num(2, self.now))
                            + text(1, num(1, 64) + num(2, self.now - self.offset)
                                   + num(3, 1)))
        else:
            flags = 2
        if ts is not None:
            if self.own_clock and ts >= self.now:
                out += num(8, ts - self.now)
                self.now = ts
            elif self.own_clock:
                out += num(8, ts) + num(58, 6)
            else:
                out += num(8, ts)
        if self.new:
            out += text(12, self.new)
            self.new = b""
        self.trace.packets.append(out + num(10, self.number) + num(13, flags) + payload)

    new = b""

    def name(self, what, s):
        """the number of a name"""
        names = self.names[what]
        if s not in names:
            names[s] = len(names) + 1
            self.new += text(what, num(1, names[s]) + text(2, s))
        return names[s]

    def rename(self, old, new):
        """gives the number of a key to another key"""
        names = self.names[3]
        if old in names and new not in names:
            names[new] = names.pop(old)
            self.new += text(3, num(1, names[new]) + text(2, new))

    def annotation(self, key, v, may_be_json=False):
        out = num(1, self.name(3, key)) if self.interns else text(10, key)
        if may_be_json and isinstance(v, (dict, list)) and self.rnd.random() < .5:
            return out + text(9, json.dumps(v))
        return out + self.value(v)

    def value(self, v):
        if isinstance(v, bool):
            return num(2, v)
        if isinstance(v, int):
            return num(3 if v >= 0 else 4, v)
        if isinstance(v, float):
            return fixed(5, struct.pack("<d", v))
        if isinstance(v, dict):
            return b"".join(text(11, self.annotation(k, x)) for k, x in v.items())
        if isinstance(v, list):
            return b"".join(text(12, self.value(x)) for x in v)
        return num(17, self.name(29, v)) if self.rnd.random() < .3 else text(6, v)

    def event(self, kind, track, ts, name=None, cat=None, args=None, more=b""):
        out = num(9, kind) + num(11, track)
        if name is not None:
            out += num(10, self.name(2, name)) if self.interns else text(23, name)
        if cat:
            out += num(3, self.name(1, cat)) if self.interns else text(22, cat)
        for k, v in (args or {}).items():
            out += text(4, self.annotation(k, v, may_be_json=True))
        self.packet(text(11, out + more), ts)


class Trace:
    def __init__(self, seed):
        self.rnd = random.Random(seed)
        self.packets, self.expected, self.tracks = [], [], {}
        self.uuid = 10

    def describe(self, uuid, parent=None, name=None, process=None, thread=None, counter=None):
        out = num(1, uuid)
        out += num(5, parent) if parent is not None else b""
        out += text(2, name) if name else b""
        out += text(3, num(1, process) + text(6, "process %d" % process)) if process else b""
        out += text(4, num(1, thread[0]) + num(2, thread[1])) if thread else b""
        out += text(8, counter) if counter is not None else b""
        self.packets.append(text(60, out))

    def track(self):
        """(uuid, pid, tid) of a new one"""
        self.uuid += 10
        pid = self.rnd.randrange(1, 4)
        self.describe(self.uuid, process=pid)
        how = self.rnd.randrange(3)
        if how == 0:
            self.describe(self.uuid + 1, self.uuid, thread=(pid, self.uuid))
            return self.uuid + 1, pid, self.uuid
        self.describe(self.uuid + 1, self.uuid, name="track")
        if how == 1:
            return self.uuid + 1, pid, self.uuid + 1
        self.describe(self.uuid + 2, self.uuid + 1, name="below")
        return self.uuid + 2, pid, self.uuid + 2

    def args(self):
        rnd = self.rnd
        values = [7, -3, 2**63 + 5, 1.5, "text", "ünï", True, [1, [2, "x"]], {"a": 1, "b": [2.5]}]
        return {k: rnd.choice(values) for k in rnd.sample(["k1", "k2", "k3", "k4"], 2)}

    def expect(self, track, ts, dur, name, cat, args):
        self.expected.append((ts, dur, name, cat, args, track[1], track[2]))

    def nested(self, q, track, at, depth):
        """a slice and its contents; returns the time after it"""
        name, cat, args = "n%d" % self.rnd.randrange(5), self.rnd.choice(["", "app"]), self.args()
        begin = at
        q.event(1, track[0], at, name, cat, args)
        at += self.rnd.randrange(0, 50)
        for _ in range(self.rnd.randrange(0, 3) if depth < 4 else 0):
            at = self.nested(q, track, at, depth + 1) + self.rnd.randrange(1, 50)
        at += self.rnd.randrange(1, 50)
        more = {"end": 1} if self.rnd.random() < .2 else {}
        q.event(2, track[0], at, args=more)
        self.expect(track, begin, at - begin, name, cat, {**args, **more})
        return at

    def alike(self, q, track, at):
        """slices with the same annotations, for a while, inside one with them"""
        rnd = self.rnd
        keys = rnd.sample(["k1", "k2", "k3", "k4", "device", "correlation"], 4)
        values = {k: rnd.choice([[7, -3, 2**40], ["text", "t", "ünï"], [[1] * 60, [2] * 70],
                                 [[[5], 2], {"a": [1]}], [1, "one"], [True, False]]) for k in keys}
        def args():
            return {k: rnd.choice(values[k]) for k in keys}
        spans = []
        for i in range(20):
            if i == 12:
                q.rename(keys[1], "k5")
                keys[1], values["k5"] = "k5", values[keys[1]]
            cat, mine = rnd.choice(["app", "lib"]), args()
            q.event(1, track[0], at, "alike", cat, mine)
            spans.append((at, cat, mine))
            at += rnd.randrange(1, 90)
            for begin, kind, what in [spans.pop()] if i % 5 != 1 else []:
                q.event(2, track[0], at)
                self.expect(track, begin, at - begin, "alike", kind, what)
                at += 1
        while spans:
            begin, cat, mine = spans.pop()
            q.event(2, track[0], at)
            self.expect(track, begin, at - begin, "alike", cat, mine)
            at += 1
        return at

    def in_order(self, q, track, at):
        """begins, then their ends in the same order"""
        spans, end = [], at
        for _ in range(self.rnd.randrange(2, 5)):
            begin = end
            end = begin + self.rnd.randrange(5, 90)
            spans.append((begin, end))
        for b, _ in spans:
            q.event(1, track[0], b, "run", "app")
        for b, e in spans:
            q.event(2, track[0], e)
            self.expect(track, b, e - b, "run", "app", {})
        return end

    def telling(self, q, track, at):
        """kernels with their times in arguments, out of order, some overlapping"""
        for _ in range(self.rnd.randrange(1, 4)):
            begin, dur = at + self.rnd.randrange(100), self.rnd.randrange(1, 200)
            args = {"begin_ns": begin, "end_ns": begin + dur, "delta_ns": dur,
                    "corr_id": self.rnd.randrange(9), "stream_ID": 3, "agent": "Agent-2"}
            q.event(1, track[0], at, "kern", "kernel_dispatch", args)
            q.event(2, track[0], at + 1)
            self.expect(track, begin, dur, "kern", "kernel_dispatch", {**args, "device": 2})
        return at + 400

    def stage(self, q, at):
        dur = self.rnd.randrange(1, 500)
        spec = self.rnd.choice(["Kernel", "Memcpy", "Memset", "EventRecord"])
        q.packet(text(53, num(2, dur) + num(11, 1) + num(13, 5) + num(14, q.name(24, spec))
                      + num(20, q.name(2, "gpu work"))
                      + text(21, text(1, num(1, 2)) + text(2, num(1, 128) + num(2, 2)))
                      + text(6, text(1, "stream id") + text(2, "7"))
                      + text(6, text(1, "correlation") + text(2, "9"))), at)
        self.expected.append((at, dur, "gpu work", spec, {
            "grid": [2, 1, 1], "block": [128, 2, 1], "stream": 7, "correlation": 9,
            "device": 1}, None, 5))
        return at + dur

    def draw(self):
        rnd = self.rnd
        counter = self.uuid + 5
        self.describe(counter, name="memory", counter=num(4, 1024) + num(5, 1))
        sequences = [Sequence(self, i + 1) for i in range(rnd.randrange(1, 4))]
        tracks = [(q, self.track()) for q in sequences for _ in range(rnd.randrange(1, 3))]
        at, total = 2000000, 0
        for _ in range(rnd.randrange(2, 12)):
            q, track = rnd.choice(tracks)
            how = rnd.randrange(7)
            if how <= 1:
                at = self.nested(q, track, at, 0)
            elif how == 2:
                at = self.in_order(q, track, at)
            elif how == 3:
                at = self.telling(q, track, at)
            elif how == 4:
                at = self.stage(q, at)
            elif how == 5:
                at = self.alike(q, track, at)
            else:
                total += 5
                q.event(4, counter, at, more=num(30, 5))
                self.expected.append((at, None, "memory", "", {"value": total * 1024}, None,
                                      counter))
                q.event(3, track[0], at, "mark", "app", {"i": 1})
                self.expect(track, at, None, "mark", "app", {"i": 1})
            at += rnd.randrange(2, 1000)
            if rnd.random() < .1:
                q.start()
        return self.encode()

    def encode(self):
        """some packets packed; some from a sequence that lost its state"""
        out, i = b"", 0
        while i < len(self.packets):
            n = self.rnd.choice([1, 1, 1, 4])
            some = b"".join(text(1, p) for p in self.packets[i:i + n])
            out += some if n == 1 else text(1, text(50, zlib.compress(some)))
            i += n
        if self.rnd.random() < .3:
            lost = text(11, num(9, 3) + num(11, 1) + text(23, "lost"))
            out += text(1, num(8, 5) + num(10, 99) + num(13, 2) + lost)
        return out


def decoded(path):
    p = subprocess.run("tl-decode '%s' | tl-cat" % path, shell=True, capture_output=True,
                       check=False)
    if p.returncode not in (0, 3):  # 3: it warns of what was lost
        raise ValueError(p.stderr.decode())
    events = [json.loads(line) for line in p.stdout.decode().splitlines()]
    return [e for e in events if "id" in e and e["kind"] != "meta"]


def plain(v):
    """an integer beyond 2^53 is a tagged text"""
    return int(v[1:]) if isinstance(v, str) and v.startswith("#") else v


def check_drawn(seed, folder):
    path = os.path.join(folder, "%d.pftrace" % seed)
    trace = Trace(seed)
    with open(path, "wb") as f:
        f.write(trace.draw())
    got = sorted(((e["ts"], e.get("dur"), e["name"], e.get("cat", ""),
                   {k: plain(v) for k, v in e.get("args", {}).items()}, e.get("pid"), e["tid"])
                  for e in decoded(path)), key=str)
    expected = sorted(trace.expected, key=str)
    return ["is %s, drawn %s" % (g, e) for g, e in zip(got, expected) if g != e] + \
        (["%d events, drawn %d" % (len(got), len(expected))] if len(got) != len(expected) else [])


def check_table(path, table):
    with open(table, encoding="utf-8", newline="") as f:
        rows = sorted(csv.DictReader(f),
                      key=lambda r: (int(r["ts_ns"]), int(r["dur_ns"]), r["name"]))
    slices = sorted((e for e in decoded(path) if "dur" in e),
                    key=lambda e: (e["ts"], e["dur"], e["name"]))
    wrong = []
    for r, e in zip(rows, slices):
        args = {k: v for k, v in e.get("args", {}).items() if k not in ("flow_ids", "device")}
        ours = (e["ts"], e["dur"], e.get("cat", ""), e["name"], args)
        theirs = (int(r["ts_ns"]), int(r["dur_ns"]), r["category"], r["name"],
                  json.loads(r["args"]))
        if ours != theirs or (r["pid"] and int(r["pid"]) != e["pid"]) or \
                (r["tid"] and int(r["tid"]) != e["tid"]):
            wrong.append("is %s, in the table %s" % (ours, theirs))
    if len(rows) != len(slices):
        wrong.append("%d slices, in the table %d" % (len(slices), len(rows)))
    return wrong, len(rows)


def main(argv):
    if argv[0] == "--seeds":
        for seed in range(1, 9):
            with open(os.path.join(argv[1], "drawn%d" % seed), "wb") as f:
                f.write(Trace(seed).draw())
        return 0
    if not argv[0].isdigit():
        wrong, n = check_table(*argv)
        what = "%d slices of %s" % (n, os.path.basename(argv[0]))
    else:
        wrong = []
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(int(argv[0]), int(argv[1]) + 1):
                wrong += ["seed %d: %s" % (seed, w) for w in check_drawn(seed, folder)]
        what = "traces drawn from seeds %s to %s" % tuple(argv)
    for w in wrong[:10]:
        print("# " + w[:400])
    print("%sok - %s" % ("not " if wrong else "", what))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
