#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""xplane.py: a slow and simple reader of XPlane files and of the HLO in them.

usage: xplane.py FILE >events.ndjson

It is written from the description of the format and shares nothing with the programs
that it checks. Everything is in memory. An event's id is its number in file order,
over planes, lines and events. Start and end are each rounded once to whole ns, half
up.
"""
import gzip
import json
import re
import struct
import subprocess
import sys

TYPES = dict(zip(range(1, 35), """pred s8 s16 s32 s64 u8 u16 u32 u64 f16 f32 f64 tuple opaque c64 bf16
token c128 f8e5m2 f8e4m3fn s4 u4 f8e4m3b11fnuz f8e5m2fnuz f8e4m3fnuz s2 u2 f8e4m3 f8e3m4 s1 u1 f4e2m1fn
f8e8m0fnu buffer""".split()))
BITS = {"pred": 8, "bf16": 16, "token": 0, "opaque": 0, "buffer": 0, "f4e2m1fn": 4, "c64": 64, "c128": 128}


# ---- protobuf

def varint(data, at):
    v = shift = 0
    while True:
        b = data[at]
        at += 1
        v |= (b & 127) << shift
        shift += 7
        if b < 128:
            return v % 2**64, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            v, at = varint(data, at)
        else:
            n = {1: 8, 5: 4}.get(key & 7)
            if n is None:
                n, at = varint(data, at)
            v, at = data[at:at + n], at + n
        yield key >> 3, v


def signed(v):
    return v - 2**64 if v >= 2**63 else v


class Message(dict):
    """All values of each field, in their order."""

    def __init__(self, data):
        super().__init__()
        for number, v in fields(data):
            self.setdefault(number, []).append(v)

    def one(self, number, default=0):
        return self[number][-1] if number in self else default

    def text(self, number):
        return self.one(number, b"").decode("utf-8", "replace")

    def ints(self, number):
        """Packed or not."""
        out = []
        for v in self.get(number, []):
            if isinstance(v, int):
                out.append(signed(v))
            at = 0
            while not isinstance(v, int) and at < len(v):
                n, at = varint(v, at)
                out.append(signed(n))
        return out

    def messages(self, number):
        return [Message(v) for v in self.get(number, [])]

    def message(self, number):
        return Message(self.one(number, b""))


# ---- planes

class Event:
    def __init__(self, ident, plane, line, name, stats, m, base):
        self.id, self.plane, self.line, self.name, self.stats = ident, plane, line, name, stats
        self.start_ps = signed(m.one(2)) + line.start * 1000
        self.dur_ps = signed(m.one(3))
        self.ts = (self.start_ps - base * 1000 + 500) // 1000
        self.end = (self.start_ps + self.dur_ps - base * 1000 + 500) // 1000
        self.dur = self.end - self.ts

    @property
    def corr(self):
        return self.stats.get("correlation_id")

    @property
    def program(self):
        """As an unsigned number; some places have it signed."""
        p = self.stats.get("program_id")
        return None if p is None else p % 2**64


class Line:
    def __init__(self, m):
        self.id, self.name, self.start = m.one(1), m.text(2), signed(m.one(3))
        self.tid = (m.one(10) or m.one(1)) % 2**32
        self.thread = m.text(11) or self.name
        self.events = []


class Plane:
    def __init__(self, m):
        self.id, self.name = m.one(1), m.text(2)
        names = {}
        for entry in m.messages(5):
            names[entry.one(1)] = entry.message(2).text(2)
        self.names = names
        self.metadata = {signed(e.one(1)): e.message(2) for e in m.messages(4)}
        self.stats = self.values(m.messages(6))
        self.lines = [(Line(l), l) for l in m.messages(3)]

    def values(self, stats):
        out = {}
        for s in stats:
            v = None
            for number in (2, 3, 4, 5, 6, 7):
                if number in s:
                    raw = s.one(number)
                    v = (struct.unpack("<d", raw)[0] if number == 2 else raw if number in (3, 6) else
                         signed(raw) if number == 4 else raw.decode("utf-8", "replace") if number == 5 else
                         self.names.get(raw, ""))
            out[self.names.get(s.one(1), f"#{s.one(1)}")] = v
        return out

    @property
    def device(self):
        m = re.fullmatch(r"/device:[GT]PU:(\d+)", self.name)
        return int(m[1]) if m else None

    @property
    def pid(self):
        return 701 if self.name == "/host:CPU" else 1 + self.id


def load(path):
    with open(path, "rb") as f:
        data = f.read()
    if data[:2] == b"\x1f\x8b":
        return gzip.decompress(data)
    if data[:4] == b"\x28\xb5\x2f\xfd":
        return subprocess.run(["zstd", "-dc", path], check=True, capture_output=True).stdout
    return data


class Space:
    def __init__(self, path):
        m = Message(load(path))
        self.hostname = m.text(4)
        self.planes = [Plane(p) for p in m.messages(1)]
        starts = [l.start for p in self.planes for l, raw in p.lines if 4 in raw]
        # an epoch is no offset from the session's start
        base = min(starts, default=0) if max(starts, default=0) > 10**17 else 0
        task = [p.stats for p in self.planes if p.name == "Task Environment"]
        self.base = task[0].get("profile_start_time", base) if task else base
        self.events, self.modules = [], {}
        for plane in self.planes:
            self.read(plane, base)
        self.by_corr = {}
        for e in self.events:
            if e.plane.name == "/host:CPU" and e.corr:
                self.by_corr.setdefault(e.corr, e)

    def read(self, plane, base):
        if plane.name == "/host:metadata":
            for key, m in plane.metadata.items():
                proto, named = plane.values(m.messages(5)).get("Hlo Proto"), re.search(r"\((\d+)\)$", m.text(2))
                if proto:  # the key is the program's id in older files only
                    self.modules[int(named[1]) if named else key % 2**64] = Module(proto)
        for line, raw in plane.lines:
            for e in raw.messages(4):
                if 5 in e:
                    continue  # a sum without time
                meta = plane.metadata.get(signed(e.one(1)), Message(b""))
                stats = plane.values(meta.messages(5)) | plane.values(e.messages(4))
                name = stats.get("step_name") or meta.text(4) or meta.text(2)
                event = Event(len(self.events), plane, line, name, stats, e, base)
                event.text = meta.text(2)
                line.events.append(event)
                self.events.append(event)
        plane.lines = [l for l, _ in plane.lines]

    def device_planes(self):
        return [p for p in self.planes if p.device is not None and any(l.events for l in p.lines)]

    def launch(self, e):
        return self.by_corr.get(e.corr) if e.corr else None

    def instruction(self, e):
        """By the event's own stats, else by its launch; for a TPU by its text."""
        text = re.match(r"%(\S+) = ", e.text)
        if text and e.program in self.modules:
            return self.modules[e.program].instructions.get(text[1])
        for of in (e, self.launch(e)):
            if of is not None and "hlo_op" in of.stats and of.program in self.modules:
                return self.modules[of.program].instructions.get(of.stats["hlo_op"])
        return None


# ---- HLO

def shape_text(m):
    kind = TYPES.get(m.one(2), str(m.one(2)))
    if kind == "tuple":
        return "(" + ",".join(map(shape_text, m.messages(4))) + ")"
    dims = ",".join(map(str, m.ints(3)))
    layout = "{" + ",".join(map(str, m.message(5).ints(1))) + "}" if 5 in m and m.message(5).ints(1) else ""
    return f"{kind}[{dims}]{layout}"


def arrays(m):
    """(type, dims) of all arrays of a shape."""
    if TYPES.get(m.one(2)) == "tuple":
        return [a for t in m.messages(4) for a in arrays(t)]
    return [(TYPES.get(m.one(2), "?"), m.ints(3))]


def bits(kind):
    return BITS.get(kind) or int(re.match(r"[a-z]*?(\d+)", kind)[1])


def nbytes(array_list):
    total = 0
    for kind, dims in array_list:
        n = 1
        for d in dims:
            n *= d
        total += (n * bits(kind) + 7) // 8
    return total


class Instruction:
    def __init__(self, m, computation):
        self.message, self.computation = m, computation
        self.name, self.opcode = m.text(1), m.text(2)
        self.shape, self.arrays = shape_text(m.message(3)), arrays(m.message(3))
        meta = m.message(7)
        self.op_type, self.op_name = meta.text(1), meta.text(2)
        self.source = (meta.text(3), meta.one(4)) if meta.text(3) else None
        self.frame = meta.one(15)
        self.target, self.config = m.text(28), m.text(43)
        self.id, self.operand_ids, self.called_ids = m.one(35), m.ints(36), m.ints(38)
        self.operands, self.called, self.is_root = [], [], False


class Module:
    """Instructions by name, of all computations."""

    def __init__(self, proto):
        m = Message(proto).message(1)
        self.name, self.instructions, self.computations = m.text(1), {}, {}
        for c in m.messages(3):
            members = [Instruction(i, c.one(5)) for i in c.messages(2)]
            by_id = {i.id: i for i in members}
            for i in members:
                i.is_root = i.id == c.one(6)
                i.operands = [by_id[o] for o in i.operand_ids if o in by_id]
            self.computations[c.one(5)] = members
            self.instructions.update((i.name, i) for i in members)
        index = m.message(17)
        files, places = index.get(1, []), index.messages(3)
        frames = index.messages(4)
        for i in self.instructions.values():
            i.called = [self.computations[c] for c in i.called_ids if c in self.computations]
            if i.source is None and 0 < i.frame <= len(frames):
                place = places[frames[i.frame - 1].one(1) - 1]
                i.source = (files[place.one(1) - 1].decode(), place.one(3))


def main(path):
    for e in Space(path).events:
        print(json.dumps({"id": e.id, "name": e.name, "ts": e.ts, "dur": e.dur, "plane": e.plane.name,
                          "line": e.line.thread}))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
