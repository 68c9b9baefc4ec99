#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hlo.py: records of XLA modules, rebuilt from the protos of XPlane files.

usage: hlo.py FILE...
       hlo.py --texts FILE

Each FILE's records, as tl-decode writes them, must match tl-stream(5) for the
instructions that events name: every member, and no instruction more or less. It
prints what it found. With --texts the modules are removed from FILE; the HLO texts
in it must then give the same as the modules.
"""
import itertools
import json
import math
import os
import re
import subprocess
import sys
import tempfile

from xplane import Message, Space, TYPES, fields, load

IDLE = set("""parameter constant tuple get-tuple-element bitcast after-all add-dependency opt-barrier domain
partition-id replica-id async-update async-done all-gather-done all-reduce-done collective-permute-done copy-done
recv-done send-done""".split())
ALGORITHMS = ["ALG_UNSET"] + ["ALG_DOT_" + a for a in """ANY_F8_ANY_F8_F32 ANY_F8_ANY_F8_F32_FAST_ACCUM F16_F16_F16
F16_F16_F32 BF16_BF16_BF16 BF16_BF16_F32 BF16_BF16_F32_X3 BF16_BF16_F32_X6 TF32_TF32_F32 TF32_TF32_F32_X3 F32_F32_F32
F64_F64_F64 BF16_BF16_F32_X9""".split()]
FAMILIES = ("all-to-all", "reduce-scatter", "all-gather")


def shape(m):
    kind = TYPES.get(m.one(2), f"type{m.one(2)}")
    if kind == "tuple":
        return f"({','.join(shape(t) for t in m.messages(4))})"
    layout = m.message(5)
    order = ",".join(map(str, layout.ints(1)))
    space = f":S({layout.one(8)})" if layout.one(8) else ""
    return f"{kind}[{','.join(map(str, m.ints(3)))}]" + (f"{{{order}{space}}}" if order or space else "")


def config(text):
    try:
        value = json.loads(text)
        if isinstance(value, dict):
            return value
    except ValueError:
        pass
    return text


def iota(m):
    """[groups,size]<=[dims]T(perm): place the devices, transpose, and cut into rows."""
    size, dims = m.ints(2)[0], m.ints(3)
    perm = m.ints(4) or range(len(dims))
    flat = {at: n for n, at in enumerate(itertools.product(*map(range, dims)))}
    order = []
    for at in itertools.product(*(range(dims[p]) for p in perm)):
        place = [0] * len(dims)
        for value, p in zip(at, perm):
            place[p] = value
        order.append(flat[tuple(place)])
    assert len(order) == math.prod(dims)
    return [order[i:i + size] for i in range(0, len(order), size)]


def groups(m):
    devices = m.message(87)
    lists = devices.messages(1) or m.messages(49)
    if lists:
        return [g.ints(1) for g in lists]
    return iota(devices.message(2)) if 2 in devices else None


def dot(m):
    names = ("lhs_contracting", "rhs_contracting", "lhs_batch", "rhs_batch")
    return {name: m.ints(i) for i, name in enumerate(names, 1)}


def conv(m):
    one = {"input_batch": 7, "input_feature": 8, "kernel_input_feature": 3, "kernel_output_feature": 4,
           "output_batch": 9, "output_feature": 10}
    some = {"input_spatial": 11, "kernel_spatial": 6, "output_spatial": 12}
    return {k: m.one(f) for k, f in one.items()} | {k: m.ints(f) for k, f in some.items()}


def window(m):
    names = ("size", "stride", "padding_low", "padding_high", "window_dilation", "base_dilation", "reversal")
    return [{name: (d.ints(i) or [0])[-1] for i, name in enumerate(names, 1)} for d in m.messages(1)]


class Module:
    def __init__(self, proto):
        m = Message(proto).message(1)
        self.name, self.entry = m.text(1), m.one(6)
        self.computations, self.roots = {}, {}
        for c in m.messages(3):
            self.computations[c.one(5)] = c.messages(2)
            self.roots[c.one(5)] = c.one(6)
        self.all = [i for c in self.computations.values() for i in c]
        self.by_id = {i.one(35): i for i in self.all}
        self.by_name = {i.text(1): i for i in reversed(self.all)}
        self.order = {e.one(1): e.message(2).ints(1) for s in m.messages(7) for e in s.messages(1)}
        self.stack = m.message(17)

    def source(self, meta):
        file, line = meta.text(3), meta.one(4)
        frames = self.stack.messages(4)
        if not file and 0 < meta.one(15) <= len(frames):
            place = self.stack.messages(3)[frames[meta.one(15) - 1].one(1) - 1]
            file, line = self.stack[1][place.one(1) - 1].decode(), place.one(3)
        return f"{file}:{line}" if file and line else file

    def members(self, i, places=None):
        """Members of an instruction; places: where operands of the body at hand are in it."""
        opcode, meta = i.text(2), i.message(7)
        out = {"opcode": opcode, "shape": shape(i.message(3)), "target": i.text(28), "fusion": i.text(11),
               "dimensions": i.ints(14), "groups": groups(i),
               "pairs": [[p.one(1), p.one(2)] for p in i.messages(52)]}
        if places is None:
            out["operands"] = [{"name": o.text(1), "shape": shape(o.message(3))} if o is not None else None
                               for o in (self.by_id.get(n) for n in i.ints(36))]
            out |= {"op_name": meta.text(2), "op_type": meta.text(1), "source": self.source(meta),
                    "deduplicated": meta.text(12)}
        else:
            out["operands"] = [places.get(n) for n in i.ints(36)]
        if places is None or opcode == "custom-call":
            out["config"] = config(i.text(43)) if len(i.text(43)) <= 16384 else None
        for key, field, value in (("dot", 30, dot), ("conv", 16, conv), ("window", 15, window)):
            if field in i:
                out[key] = value(i.message(field))
        exact = i.message(51)
        out["precision"] = [("DEFAULT", "HIGH", "HIGHEST", "PACKED_NIBBLE")[n] for n in exact.ints(1)]
        out["algorithm"] = ALGORITHMS[exact.one(2)] if exact.one(2) else None
        for key, field in (("feature_groups", 50), ("batch_groups", 58)):
            out[key] = i.one(field) if i.one(field) > 1 else None
        out |= {"channel": i.one(26), "global_ids": bool(i.one(71))}
        out = {k: v for k, v in out.items() if v not in (None, "", [], 0, False)}
        if places is not None and opcode == "parameter":
            out["parameter"] = i.one(9)
        return out

    def body(self, i):
        queue = [c for c in dict.fromkeys(i.ints(38)) if c in self.computations]
        root = self.roots[queue[0]] if queue else None
        for c in queue:  # which grows
            for member in self.computations[c]:
                if member.text(2) in ("fusion", "call", "async-start"):
                    queue += [n for n in member.ints(38) if n in self.computations and n not in queue]
        flat = [(c, m) for c in queue for m in self.computations[c]]
        places = {m.one(35): n for n, (c, m) in enumerate(flat)}
        return [self.members(m, places) | ({"root": True} if c == queue[0] and m.one(35) == root else {})
                for c, m in flat]

    def calls(self, ids, seen):
        for c in ids:
            if c not in self.computations or c in seen:
                continue
            seen.add(c)
            for n in self.order.get(c) or [i.one(35) for i in self.computations[c]]:
                i = self.by_id[n]
                if i.text(2) in ("call", "while", "conditional", "async-start"):
                    yield from self.calls(i.ints(38), seen)
                elif i.text(2) not in IDLE:
                    yield i.text(1)

    def record(self, name, i):
        out = {"name": name} | ({"instruction": i.text(1)} if i.text(1) != name else {}) | self.members(i)
        if i.text(2) in ("fusion", "async-start"):
            if self.body(i):
                out["body"] = self.body(i)
        if i.text(2) == "call":
            out["calls"] = list(self.calls(i.ints(38), set()))
        return out

    def meaning(self, names):
        """The instruction of each name, and whether that is a guess."""
        found = {n: (self.by_name[n], False) for n in names if n in self.by_name}
        number = {n: (f, int(m[1] or -1)) for n in names if n not in found for f in FAMILIES
                  if (m := re.fullmatch(re.escape(f) + r"(?:\.(\d+))?", n))}
        for n, (f, _) in number.items():
            start = f"{f}-start{n[len(f):]}"
            if start in self.by_name:
                found[n] = self.by_name[start], False
        for f in FAMILIES:
            left = sorted((k, n) for n, (family, k) in number.items() if family == f and n not in found)
            for ending in ("start", "done"):
                into = sorted((int(m[1] or -1), n) for n in self.by_name
                              if (m := re.fullmatch(rf"{f}-{ending}(?:\.(\d+))?", n)))
                if into:
                    break
            for at, (_, n) in enumerate(left):
                if into:
                    found[n] = self.by_name[into[min(at, len(into) - 1)][1]], True
        return found

    def records(self, names):
        out, wanted = {}, []
        for name, (i, is_guess) in self.meaning(names).items():
            out[name] = self.record(name, i) | ({"guess": True} if is_guess else {})
        for name in names:
            if name not in out and name.startswith("command_buffer"):
                out[name] = {"name": name, "opcode": "command-buffer",
                             "calls": list(self.calls([self.entry], set()))}
        for record in list(out.values()):
            wanted += record.get("calls", [])
        for name in wanted:
            if name not in out:
                out[name] = self.record(name, self.by_name[name])
        return out


def named(space):
    """The instructions of each program that events name."""
    out = {}
    for e in space.events:
        op = e.stats.get("hlo_op")
        if e.plane.name.startswith("/device:TPU") and (m := re.match(r"%(\S+) = ", e.text)):
            op = m[1]
        if op and e.program is not None:
            out.setdefault(e.program, set()).add(op.removeprefix("%"))
    return out


def modules(space):
    for plane in space.planes:
        for key, m in plane.metadata.items() if plane.name == "/host:metadata" else ():
            proto = plane.values(m.messages(5)).get("Hlo Proto")
            number = re.search(r"\((\d+)\)$", m.text(2))
            if proto:
                yield int(number[1]) if number else key % 2**64, Module(proto)


def decoded(path):
    decode = subprocess.run(["tl-decode", "--ndjson", path], stdout=subprocess.PIPE, check=False)
    assert decode.returncode in (0, 3), f"{path}: status {decode.returncode}"
    for line in decode.stdout.decode().splitlines():
        if line.startswith('{"meta":'):
            meta = json.loads(line)["meta"]
            if meta["key"].startswith("hlo "):
                yield int(meta["key"][4:]), meta["value"]


def check(path):
    space = Space(path)
    names, got, bad = named(space), dict(decoded(path)), 0
    found = {}
    for program, module in modules(space):
        if program not in names:
            continue
        want = module.records(names[program])
        record = got.pop(program, {"instructions": []})
        have = {i["name"]: i for i in record["instructions"]}
        missing = sorted(names[program] - set(want))
        if record.get("module") != module.name or sorted(record.get("missing", [])) != missing:
            print(f"{path}: {program}: {record.get('module')}, missing {record.get('missing')}; expected "
                  f"{module.name}, {missing}")
            bad += 1
        for name in sorted(set(want) | set(have)):
            if want.get(name) != have.get(name):
                print(f"{path}: {program}: {name}:\n  {have.get(name)}\n  expected\n  {want.get(name)}")
                bad += 1
        for i in have.values():
            found[i["opcode"]] = found.get(i["opcode"], 0) + 1
    return bad, got, found


def texts(path):
    """(agreeing, members) of records from texts alone."""
    names = named(Space(path))
    want = {p: m.records(names[p]) for p, m in modules(Space(path)) if p in names}
    with tempfile.TemporaryDirectory() as folder:
        less = os.path.join(folder, "less.xplane.pb")
        with open(less, "wb") as f:
            for number, v in fields(load(path)):
                if number != 1 or Message(v).text(2) != "/host:metadata":
                    f.write(varint_bytes(number << 3 | 2) + varint_bytes(len(v)) + v)
        got = {(p, i["name"]): i for p, r in decoded(less) for i in r["instructions"]}
    agree = total = 0
    for p, n in sorted((p, n) for p in want for n in want[p]):
        for key, value in want[p][n].items():
            if key in ("body", "config", "op_name", "op_type", "source", "deduplicated"):
                continue
            total += 1
            agree += got.get((p, n), {}).get(key) == value
            if got.get((p, n), {}).get(key) != value:
                print(f"{n}: {key}: {got.get((p, n), {}).get(key)}, not {value}")
    return agree, total


def varint_bytes(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def main(paths):
    if paths[0] == "--texts":
        print(*texts(paths[1]))
        return 0
    failed = 0
    for path in paths:
        bad, extra, found = check(path)
        failed += bad
        print(path.rsplit("/", 1)[1], " ".join(f"{k} {v}" for k, v in sorted(found.items())),
              *(f"and {k} from texts" for k in sorted(extra)))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
