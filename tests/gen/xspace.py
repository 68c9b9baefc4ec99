# SPDX-License-Identifier: MIT
"""Writes XPlane files and the HLO modules in them, field by field. Tests make traces
with it, so it shares no code with the readers.

Numbers are those of xplane.proto, hlo.proto and xla_data.proto.
"""
import functools
import json
import math
import re
import struct

TYPES = {"pred": (1, 8), "s8": (2, 8), "s16": (3, 16), "s32": (4, 32), "s64": (5, 64), "u8": (6, 8),
         "u16": (7, 16), "u32": (8, 32), "u64": (9, 64), "f16": (10, 16), "f32": (11, 32),
         "f64": (12, 64), "token": (17, 0), "bf16": (16, 16), "f8e5m2": (19, 8), "f8e4m3fn": (20, 8),
         "s4": (21, 4), "u4": (22, 4)}


@functools.lru_cache(1 << 16)
def varint(v):
    v, out = v % 2**64, bytearray()
    while v > 127:
        out.append(v & 127 | 128)
        v >>= 7
    return bytes(out) + bytes([v])


def msg(*fields):
    """A message of (number, value): int, float, str, bytes, ints packed, messages repeated."""
    out = []
    for number, v in fields:
        if v is None or v == [] or v == ():
            continue
        if isinstance(v, (list, tuple)) and not isinstance(v[0], int):
            out.append(msg(*((number, e) for e in v)))
        elif isinstance(v, int):
            out.append(varint(number << 3) + varint(v))
        elif isinstance(v, float):
            out.append(varint(number << 3 | 1) + struct.pack("<d", v))
        else:
            if isinstance(v, str):
                v = v.encode()
            elif not isinstance(v, bytes):
                v = b"".join(varint(e) for e in v)
            out.append(varint(number << 3 | 2) + varint(len(v)) + v)
    return b"".join(out)


# ---- shapes: bf16[2,3]{1,0}, (f32[8]{0},u32[])

def split_tuple(text):
    """The members of a tuple's text."""
    depth, begin, out = 0, 1, []
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if (c == "," and depth == 1) or (c == ")" and depth == 0):
            out.append(text[begin:i])
            begin = i + 1
    return out


def arrays(text):
    """(type, dims) of each array of a shape, nested or not."""
    if text.startswith("("):
        return [a for t in split_tuple(text) for a in arrays(t)]
    m = re.match(r"(\w+)\[([\d,]*)\]", text)
    return [(m[1], [int(d) for d in m[2].split(",") if d])]


def size(text):
    """Bytes of all arrays of a shape."""
    return sum(math.prod(d) * TYPES[t][1] // 8 for t, d in arrays(text))


def shape(text):
    if text.startswith("("):
        return msg((2, 13), (4, [shape(t) for t in split_tuple(text)]))
    kind, dims = arrays(text)[0]
    layout = re.search(r"\{([\d,]*)\}", text)
    order = [int(d) for d in layout[1].split(",") if d] if layout else []
    return msg((2, TYPES[kind][0]), (3, dims), (5, msg((1, order)) if layout else None))


# ---- HLO

COLLECTIVES = "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute"


class Instr:
    """An instruction. `body` has those of the called computation, the root last."""

    def __init__(self, name, opcode, shape_text, operands=(), **more):
        self.name, self.opcode, self.shape, self.operands = name, opcode, shape_text, list(operands)
        self.body = more.pop("body", [])
        self.more = more
        self.op_name = more.get("op_name", "")

    def text(self):
        operands = ", ".join(f"{o.shape} %{o.name}" for o in self.operands)
        return f"%{self.name} = {self.shape} {self.opcode}({operands})"

    def dump(self, is_root):
        """Its line in XLA's dump; a wrapper is written as its content. Some versions omit operands' shapes."""
        inner = next((i for i in self.body if i.opcode in COLLECTIVES), self)
        wrapped = (self.operands[0] if self.opcode == "async-done" else self).body[-1:]
        opcode = self.opcode.replace("async", wrapped[0].opcode) if wrapped and "async" in self.opcode else self.opcode
        short = sum(map(ord, self.name)) % 2
        operands = ", ".join((f"/*index={n}*/" if n == 5 else "") + ("" if short else o.shape + " ") + "%" + o.name
                             for n, o in enumerate(self.operands)) or str(self.more.get("number", ""))
        m, out = inner.more, [f"%{self.name} = {self.shape.replace(',(', ', (')} {opcode}({operands})"]
        iota = m.get("iota")
        if iota:
            g, d, dims, *perm = *iota[0], *iota[1:]
            out.append(f"replica_groups=[{g},{d}]<=[{','.join(map(str, dims))}]" +
                       (f"T({','.join(map(str, perm[0]))})" if perm else ""))
        elif "groups" in m:
            out.append("replica_groups={" + ",".join("{" + ",".join(map(str, g)) + "}" for g in m["groups"]) + "}")
        if "pairs" in m:
            out.append("source_target_pairs={" + ",".join(f"{{{a},{b}}}" for a, b in m["pairs"]) + "}")
        out += [f"{k}={m[v]}" for k, v in (("channel_id", "channel"),) if v in m]
        out += ["use_global_device_ids=true"] if m.get("global_ids") else []
        out += ["dimensions={" + ",".join(map(str, m["dims"])) + "}"] if "dims" in m else []
        out += [f'custom_call_target="{m["target"]}"'] if "target" in m else []
        config = self.more.get("config", "")
        out += ["backend_config=" + (config if config[:2] in ("{}", '{"') else json.dumps(config))] if config else []
        source, line = self.more.get("source", "train.py:1").split(":")
        out.append(f'metadata={{op_name="{self.op_name}" source_file="{source}" source_line={line} '
                   f'scheduling_name="{self.name}"}}')
        return "  " + "ROOT " * is_root + ", ".join(out)

    def proto(self, frames, called):
        m = self.more
        op_type = self.op_name.rsplit("/", 1)[-1] or None
        source = m.get("source", "train.py:1").split(":")
        line = int(source[1])
        where = [(15, frames(source[0], line))] if line % 2 else [(3, source[0]), (4, line)]
        window = [msg(*enumerate(w, 1)) for w in m.get("window", [])]
        pairs = [msg((1, a), (2, b)) for a, b in m.get("pairs", [])]
        iota = m.get("iota")
        groups = [msg((1, g)) for g in m.get("groups", [])] if not iota else []
        devices = iota and msg((2, msg(*zip((1, 2, 3, 4), (*iota[0], *iota[1:])))))
        return msg((1, self.name), (2, self.opcode), (3, shape(self.shape)),
                   (7, msg((1, op_type), (2, self.op_name or None), *where)), (9, m.get("number")),
                   (11, m.get("kind")), (13, m.get("index")), (14, m.get("dims")),
                   (15, msg((1, window)) if window else None), (16, conv_numbers(m.get("conv"))),
                   (26, m.get("channel")), (28, m.get("target")), (30, dot_numbers(m.get("dot"))),
                   (35, self.id), (36, [o.id for o in self.operands]), (38, called),
                   (43, m.get("config")), (49, groups), (50, m.get("feature_groups")),
                   (52, pairs), (58, m.get("batch_groups")), (71, m.get("global_ids")), (87, devices))


def conv_numbers(c):
    return c and msg(*((n, c[k]) for n, k in (
        (7, "input_batch"), (8, "input_feature"), (11, "input_spatial"), (3, "kernel_input_feature"),
        (4, "kernel_output_feature"), (6, "kernel_spatial"), (9, "output_batch"),
        (10, "output_feature"), (12, "output_spatial"))))


def dot_numbers(d):
    return d and msg(*((n, d[k]) for n, k in (
        (1, "lhs_contracting"), (2, "rhs_contracting"), (3, "lhs_batch"), (4, "rhs_batch"))))


class Frames:
    """The module's index of source lines; ids count from 1."""

    def __init__(self):
        self.files, self.places = [], []

    def __call__(self, name, line):
        if name not in self.files:
            self.files.append(name)
        place = (self.files.index(name) + 1, line)
        if place not in self.places:
            self.places.append(place)
        return self.places.index(place) + 1

    def proto(self):
        return msg((1, self.files), (2, ["train_step"]),
                   (3, [msg((1, f), (2, 1), (3, l), (4, 5)) for f, l in self.places]),
                   (4, [msg((1, i + 1)) for i in range(len(self.places))]))


class Module:
    """A module; `entry` has the instructions of its entry computation, the root last."""

    def __init__(self, name, program, entry):
        self.name, self.program, self.entry = name, program, entry

    def dump(self):
        """XLA's dump; bodies, except those of wrappers, are computations before it."""
        out = [f"HloModule {self.name}, is_scheduled=true, entry_computation_layout={{()->f32[]}}\n"]
        for i in self.entry:
            if i.body and "async" not in i.opcode:
                out.append(f"%{i.name}_computation (p: f32[]) -> f32[] {{")
                out += [b.dump(b is i.body[-1]) for b in i.body] + ["}\n"]
        out.append("ENTRY %main (p: f32[]) -> f32[] {")
        return "\n".join(out + [i.dump(i is self.entry[-1]) for i in self.entry] + ["}", ""])

    def proto(self):
        frames, done = Frames(), []

        def computation(name, instructions, is_fusion=False):
            called = {}
            for i in instructions:
                if i.body:
                    called[i] = [computation(i.name + "_computation", i.body, i.opcode == "fusion")]
            number = len(done) + 1
            for at, i in enumerate(instructions):
                i.id = number << 32 | at
            done.append(msg((1, name), (2, [i.proto(frames, called.get(i)) for i in instructions]),
                            (5, number), (6, instructions[-1].id), (7, int(is_fusion) or None)))
            return number

        main = computation("main", self.entry)
        return msg((1, msg((1, self.name), (2, "main"), (6, main), (3, done), (5, self.program),
                           (17, frames.proto()))))


# ---- XPlane

class Plane:
    """Lines of events, followed by the tables of names, as XLA writes them."""

    def __init__(self, name, ident=0):
        self.name, self.id, self.lines, self.events, self.stats = name, ident, [], {}, {}
        self.facts = []

    def line(self, ident, name, start_ns=0, display=None):
        line = {"id": ident, "name": name, "display": display, "start": start_ns, "events": []}
        self.lines.append(line)
        return line

    def stat_id(self, name):
        return self.stats.setdefault(name, len(self.stats) + 1)

    def stat(self, name, v):
        """Texts are references, as XLA interns them; a pair is (field, value)."""
        if isinstance(v, tuple):
            field, v = v
        elif isinstance(v, str):
            field, v = 7, self.stat_id(v)
        else:
            field = 2 if isinstance(v, float) else 6 if isinstance(v, bytes) else 4
        return msg((1, self.stat_id(name)), (field, v))

    def named(self, name, display=None, stats=(), key=None):
        """The id of an event's metadata."""
        stats = tuple(stats.items()) if isinstance(stats, dict) else stats
        return self.events.setdefault((name, display, stats), key or len(self.events) + 1)

    def event(self, line, name, start_ps, dur_ps, stats=(), **metadata):
        self.put(line, self.named(name, **metadata), start_ps, dur_ps, stats)

    def put(self, line, ident, start_ps, dur_ps, stats):
        line["events"].append(msg((1, ident), (2, start_ps - line["start"] * 1000), (3, dur_ps),
                                  (4, [self.stat(k, v) for k, v in dict(stats).items()])))

    def proto(self):
        lines = [msg((1, l["id"]), (2, l["name"]), (3, l["start"]), (11, l["display"]), (4, l["events"]))
                 for l in self.lines]
        events = [msg((1, i), (2, msg((1, i), (2, name), (4, display),
                                      (5, [self.stat(k, v) for k, v in stats]))))
                  for (name, display, stats), i in self.events.items()]
        facts = [self.stat(k, v) for k, v in self.facts]
        names = [msg((1, i), (2, msg((1, i), (2, name)))) for name, i in self.stats.items()]
        return msg((1, self.id or None), (2, self.name), (3, lines), (4, events), (5, names), (6, facts))


def space(planes, hostname):
    return msg((1, [p.proto() for p in planes]), (4, hostname))
