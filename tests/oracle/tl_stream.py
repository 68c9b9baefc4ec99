#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second reader of the binary stream, written from tl-stream(5) alone.

usage: tests/oracle/tl_stream.py [FILE]

Prints the NDJSON form; exits with 1 and a reason if the stream breaks a rule. Naive on
purpose: everything is in memory.
"""
import json
import re
import struct
import sys
import zlib

KINDS = """other op runtime driver python annotation kernel memcpy memset
gpu_annotation sync gpu_event overhead span flow meta instant memory counter
async object sample dump mark slice end""".split()
FLAGS = """unlinked discarded recompute synthetic clamped unclosed paired
duplicate stub untimed step slowest""".split()
MARKS = "linked tree synthetic edited salvaged".split()
SECTIONS = "events prologue tree tail".split()
ROLES = [None, "corr", "ext", "dev", "gpu_stream"]
GROUPS = ["args", "top", "field", "dup", "duptop"]
ON_GPU = "kernel memcpy memset gpu_annotation sync gpu_event".split()
(NULL, FALSE, TRUE, INT, UINT, DEC, NUM, STR, STRX, JSON, JSONX) = range(11)


class Broken(Exception):
    pass


def check(held, why):
    if not held:
        raise Broken(why)


class Body:
    """The bytes of a record."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        check(self.at < len(self.data), "record too short")
        self.at += 1
        return self.data[self.at - 1]

    def varint(self, limit=2**64):
        v = 0
        for i in range(10):
            b = self.byte()
            v |= (b & 0x7f) << 7 * i
            if b < 0x80:
                check(v < limit, "number out of range")
                return v
        raise Broken("varint too long")

    def zigzag(self):
        v = self.varint()
        return v >> 1 if v & 1 == 0 else -(v >> 1) - 1

    def bytes(self, n):
        check(n <= len(self.data) - self.at, "text beyond record")
        self.at += n
        return self.data[self.at - n:self.at]

    def text(self):
        return decode(self.bytes(self.varint()))

    def value(self, kind, strings):
        if kind in (NULL, FALSE, TRUE):
            return kind, None
        if kind == INT:
            return kind, self.zigzag()
        if kind == UINT:
            return kind, self.varint()
        if kind == DEC:
            mant, exp = self.zigzag(), self.zigzag()
            check(abs(mant) < 10**18 and abs(exp) <= 400, "bad decimal")
            return kind, (mant, exp)
        if kind in (NUM, STR, JSON):
            return kind, strings[self.varint(len(strings))]
        return kind, self.text()

    def fact(self):
        key, kind = self.text(), self.varint(11)
        check(kind not in (STR, JSON), "fact with interned text")
        if kind == NUM:
            return key, (kind, self.text())
        return key, self.value(kind, None)


def decode(data):
    return data.decode("utf-8", "surrogatepass")


def wrap(v):
    return (v + 2**63) % 2**64 - 2**63


# ---- NDJSON ----

def quote(s):
    s = json.dumps(s, ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", lambda m: "\\u%04x" % ord(m[0]), s)


def integer(v):
    return str(v) if abs(v) < 2**53 else f'"#{v}"'


def decimal(mant, exp):
    digits = str(abs(mant))
    if exp >= 0:
        digits += f"e{exp}"
    else:
        digits = digits.rjust(1 - exp, "0")
        digits = digits[:exp] + "." + digits[exp:]
    return ("-" if mant < 0 else "") + digits


def show(value):
    kind, v = value
    if kind in (NULL, FALSE, TRUE):
        return ("null", "false", "true")[kind]
    if kind == INT:
        return integer(v)
    if kind == UINT:
        return f'"#{v}"'
    if kind == DEC:
        return decimal(*v)
    if kind == NUM:
        return quote("#" + v)
    if kind in (STR, STRX):
        return quote("#" + v if v.startswith("#") else v)
    return v


def bits(v, words):
    names = [words[i] if i < len(words) else f"bit{i}"
             for i in range(32) if v >> i & 1]
    return "[" + ",".join(f'"{n}"' for n in names) + "]"


def line(pairs, opening="{"):
    return opening + ",".join(f"{quote(k)}:{v}" for k, v in pairs) + "}"


def key_of(value):
    """What identifies a thread, device or link: an int, a str or None."""
    kind, v = value
    if kind == INT:
        return v
    if kind == DEC:
        mant, exp = v
        whole = mant * 10**exp if exp >= 0 else \
            mant // 10**-exp if mant % 10**-exp == 0 else None
        if whole is not None and -2**63 <= whole < 2**63:
            return whole
        while mant % 10 == 0:
            mant, exp = mant // 10, exp + 1
        return decimal(mant, exp)
    if kind == UINT:
        return str(v)
    if kind in (NUM, STR):
        if re.fullmatch("-?[0-9]+", v) and -2**63 <= int(v) < 2**63:
            return int(v)
        return v
    return None


def key_value(key):
    return (INT, key) if isinstance(key, int) else (STR, key)


def default_role(group, key, kind):
    """Roles that the key alone determines."""
    if group == "field":
        return ROLES.index(key) if key in ROLES else 0
    if group != "args":
        return 0
    if key == "correlation":
        return 1
    if key in ("External id", "external id"):
        return 2
    if key == "device" and kind in ON_GPU:
        return 3
    if key == "stream" and kind in ON_GPU:
        return 4
    if key == "sycl queue" and kind in ("kernel", "memcpy", "memset"):
        return 4
    return 0


def uid(ref):
    return integer(ref[0]) if ref[1] == 0 else f'"{ref[0]}.{ref[1]}"'


def keys_of(entries, flags, track):
    """dev and its like: from the first entry with the role and a key."""
    keys = {}
    for role in range(1, 5):
        found = [k for e, v in entries if e[3] == role
                 for k in [key_of(v)] if k is not None]
        keys[role] = found[0] if found else None
    if flags & 2 and keys[3] is None:
        keys[3] = track[1] and key_of(track[1])
    if flags & 4 and keys[4] is None:
        keys[4] = track[2] and key_of(track[2])
    return keys


class Reader:
    def __init__(self, out):
        self.out = out
        self.strings, self.shapes, self.tracks = [], [], []
        self.has_header = self.ended = False
        self.nevents = self.nsources = 0
        self.nnamed = 0
        self.chain = 0

    def read(self, data):
        check(data[:4] == b"\x89TLS", "no stream")
        check(data[4:8] == b"\x01\r\n\n", "other version, or damaged")
        at = 8
        while at < len(data):
            check(not self.ended, "bytes behind the end")
            check(data[at:at + 4] == b"TLBK", "no block")
            check(at + 16 <= len(data), "cut off")
            length, crc, _ = struct.unpack("<III", data[at + 4:at + 16])
            check(length <= 2**29, "block too long")
            payload = data[at + 16:at + 16 + length]
            check(len(payload) == length, "cut off")
            check(zlib.crc32(payload) == crc, "checksum of a block")
            self.block(Body(payload))
            self.chain = zlib.crc32(struct.pack("<I", crc), self.chain)
            at += 16 + length
        check(self.ended, "cut off: no end record")

    def block(self, b):
        self.next_id = self.ts = 0
        while b.at < len(b.data):
            check(not self.ended, "a record behind the end")
            kind = b.byte()
            body = Body(b.bytes(b.varint()))
            check(self.has_header or kind == 8, "no header first")
            known = {1: self.string, 2: self.clear, 3: self.shape,
                     4: self.track, 5: self.source, 6: self.meta,
                     7: self.section, 8: self.header, 15: self.end,
                     16: self.event}.get(kind)
            if known:
                known(body)
            else:
                check(kind & 0x80, "unknown record")

    def put(self, pairs):
        self.out.append(line(pairs))

    def header(self, b):
        check(not self.has_header, "second header")
        self.has_header = True
        marks = b.varint(2**32 - 1)
        prov = []
        for _ in range(b.varint(2**20)):
            program, version, args = b.text(), b.text(), b.text()
            prov.append(line([("program", quote(program)),
                              ("version", quote(version)), ("args", args)]))
        self.put([("tl", "1"), ("marks", bits(marks, MARKS)),
                  ("prov", "[" + ",".join(prov) + "]")])

    def string(self, b):
        self.strings.append(decode(b.data))

    def clear(self, _):
        self.strings, self.shapes, self.tracks = [], [], []

    def shape(self, b):
        kind, phase, has = b.varint(2**32 - 1), b.varint(256), b.varint(2**13)
        flags, cat = b.varint(256), b.varint(len(self.strings) + 1)
        check(has & 2, "shape without track")
        entries = []
        for _ in range(b.varint(4097)):
            key = self.strings[b.varint(len(self.strings))]
            code, group, role = b.varint(11), b.varint(5), b.varint(2**32 - 1)
            if role > 4 or group > 2:
                role = 0
            entries.append((key, code, GROUPS[group], role))
            if group == 0:
                flags |= 1
        self.shapes.append((KINDS[kind] if kind < len(KINDS) else "other",
                            phase, has, flags,
                            self.strings[cat - 1] if cat else None, entries))

    def source_no(self, b):
        src = b.varint(2**24)
        check(src <= 2**16 + self.nnamed, "source far beyond those before")
        self.nnamed += 1
        return src

    def track(self, b):
        parts = [self.source_no(b)]
        for _ in range(2):
            kind = b.varint(12)
            parts.append(b.value(kind - 1, self.strings) if kind else None)
        self.tracks.append(parts)

    def source(self, b):
        src, final = self.source_no(b), b.varint(2)
        facts = [b.fact() for _ in range(b.varint(2**20))]
        self.nsources += final
        self.put([("source", line([
            ("src", str(src)), ("final", ("false", "true")[final]),
            ("facts", line([(k, show(v)) for k, v in facts]))]))])

    def meta(self, b):
        src, after = self.source_no(b), b.varint(2)
        key, value = b.fact()
        self.put([("meta", line([
            ("src", str(src)), ("after", ("false", "true")[after]),
            ("key", quote(key)), ("value", show(value))]))])

    def section(self, b):
        self.put([("section", quote(SECTIONS[b.varint(4)]))])

    def end(self, b):
        marks, events = b.varint(2**32 - 1), b.varint()
        sources, chain = b.varint(2**32 - 1), b.varint(2**32)
        check(chain == self.chain, "checksum of the stream")
        check((events, sources) == (self.nevents, self.nsources), "counts")
        self.ended = True
        self.put([("end", line([
            ("events", str(events)), ("sources", str(sources)),
            ("marks", bits(marks, MARKS))]))])

    def event(self, b):
        shape = self.shapes[b.varint(len(self.shapes))]
        kind, phase, has, flags, cat, wanted = shape
        eid = self.next_id + b.zigzag()
        check(0 <= eid < 2**62, "id out of range")
        self.next_id = eid + 1
        self.nevents += 1
        if has & 4:
            self.ts = wrap(self.ts + b.zigzag())
        inst = b.varint(2**32 - 1) if has & 1 else 0
        track = self.tracks[b.varint(len(self.tracks))]
        ts = self.ts
        pairs = [("id", integer(eid))]
        if has & 1:
            pairs.append(("inst", str(inst)))
        pairs += [("src", str(track[0])), ("kind", quote(kind))]
        dur = b.varint(2**63) if has & 8 else None
        check((has & 4 and ts) + (dur or 0) < 2**63, "end out of range")
        name = self.strings[b.varint(len(self.strings))] if has & 16 else None
        marks = b.varint(2**32 - 1) if has & 32 else None
        depth = b.varint(2**32 - 1) if has & 64 else None

        def ref():
            v = b.varint()
            diff = v >> 1
            diff = diff >> 1 if diff & 1 == 0 else -(diff >> 1) - 1
            check(0 <= eid - diff < 2**62, "reference out of range")
            return eid - diff, b.varint(2**32 - 1) if v & 1 else inst
        refs = [ref() if has & 1 << bit else None for bit in range(7, 11)]
        counts = [b.varint() if has & 1 << bit else None for bit in (11, 12)]
        entries = [(e, b.value(e[1], self.strings)) for e in wanted]

        if cat is not None:
            pairs.append(("cat", quote(cat)))
        if name is not None:
            pairs.append(("name", quote(name)))
        if has & 4:
            pairs.append(("ts", integer(ts)))
        if dur is not None:
            pairs.append(("dur", integer(dur)))
        for i, word in (1, "pid"), (2, "tid"):
            if track[i] is not None:
                pairs.append((word, show(track[i])))
        keys = keys_of(entries, flags, track)
        for role in (3, 4, 1, 2):
            if keys[role] is not None:
                pairs.append((ROLES[role], show(key_value(keys[role]))))
        for i, word in (1, "launch"), (0, "parent"), (2, "fwd"), (3, "bwd"):
            if refs[i] is not None:
                pairs.append((word, uid(refs[i])))
        for v, word in ((depth, "depth"), (counts[0], "ndesc"),
                        (counts[1], "ngpu")):
            if v is not None:
                pairs.append((word, integer(v)))
        if marks is not None:
            pairs.append(("flags", bits(marks, FLAGS)))
        if phase:
            pairs.append(("ph", quote(chr(phase))))
        self.put(pairs + self.groups(kind, flags, entries) +
                 self.odd_flags(kind, flags, entries, track, keys))

    @staticmethod
    def groups(kind, flags, entries):
        pairs, roles = [], []
        for group in dict.fromkeys(e[2] for e, _ in entries):
            members = [(e[0], show(v)) for e, v in entries if e[2] == group]
            if group.startswith("dup"):
                text = "[" + ",".join(
                    f"[{quote(k)},{v}]" for k, v in members) + "]"
            else:
                text = line(members)
            pairs.append((group, text))
        if flags & 1 and not any(e[2] == "args" for e, _ in entries):
            pairs.append(("args", "{}"))
        for group in "field", "args", "top":
            odd = [(e[0], quote(ROLES[e[3]]) if e[3] else "null")
                   for e, _ in entries if e[2] == group and
                   e[3] != default_role(group, e[0], kind)]
            if odd:
                roles.append((group, line(odd)))
        return pairs + ([("roles", line(roles))] if roles else [])

    @staticmethod
    def odd_flags(kind, flags, entries, track, keys):
        bare = keys_of(entries, 0, track)
        return [(word, "true")
                for bit, role, word in ((2, 3, "dev_pid"),
                                        (4, 4, "stream_tid"))
                if flags & bit and (bare[role] is not None or
                                    keys[role] is None or
                                    kind not in ON_GPU)]


def main():
    file = open(sys.argv[1], "rb") if len(sys.argv) > 1 else sys.stdin.buffer
    reader = Reader([])
    try:
        reader.read(file.read())
    except (Broken, UnicodeDecodeError) as e:
        sys.exit(f"tl_stream: {e}")
    text = "".join(f"{each}\n" for each in reader.out)
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))


main()
