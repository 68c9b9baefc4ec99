# SPDX-License-Identifier: MIT
"""tl-decode --salvage of damaged traces, against their undamaged events.

usage: salvage.py cut-json | cut-packed | flip | rocprof | garbage  SEED COUNT
       salvage.py file TRACE.json.gz COUNT

A small trace is made here, damaged in many ways, and decoded. The oracle knows
where each event begins and ends in the text, so it knows which are undamaged.
Prints errors, one line each.
"""
import gzip
import json
import os
import random
import re
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor

IDS = re.compile(rb'"mark":(\d+)')


def trace(n, kind="chrome"):
    """The text, and the place where each event ends."""
    rng = random.Random(7)
    out, ends = [], []
    out.append('{\n  "schemaVersion": 1,\n  "deviceProperties": [\n    '
               '{"id": 0, "name": "AMD \\"X\\" [1]{2}"}],\n  "traceEvents": [')
    if kind == "bare":
        out = ["["]
    size = len(out[0])
    for i in range(n):
        args = {"mark": i, "Input Dims": [[i, 2], [], [[3]]],
                "Input type": ["float", "a\"b", "]}, {"], "x": {"y": {}}}
        event = {"ph": "X", "cat": rng.choice(["cpu_op", "kernel"]),
                 "name": rng.choice(["aten::mm", "é\\ \"q\" ]}", "f<{[,\n"]),
                 "pid": 1, "tid": rng.choice([2, "t"]),
                 "ts": 1000 + i * 10.5, "dur": 5.25, "args": args}
        if i % 3 == 1:
            del event["args"]["x"], event["dur"]
        if i % 5 == 4:  # args first: its mark precedes its end
            event = {"args": event.pop("args"), **event}
        text = json.dumps(event, ensure_ascii=i % 2 == 0,
                          indent=4 if i % 4 == 0 else None)
        text = ("," if i else "") + ("\n  " if i % 2 else " ") + text
        out.append(text)
        size += len(text.encode())
        ends.append(size)
    out.append("\n]" if kind == "bare" else
               '\n  ],\n  "traceName": "x.json",\n  "displayTimeUnit": "ms"\n}\n')
    return "".join(out).encode(), ends


def salvage(data, *more):
    """Exit status, marks of the events, messages."""
    p = subprocess.run(["tl-decode", "--salvage", "--ndjson", *more],
                       input=data, capture_output=True, check=False)
    return p.returncode, [int(m) for m in IDS.findall(p.stdout)], p.stderr


def each(jobs, check):
    with ThreadPoolExecutor(2) as pool:
        for problem in pool.map(check, jobs):
            if problem:
                print(problem)


def expect(what, data, count, may_be_whole=False):
    """Only the first count events come out, and the status says so."""
    rc, got, err = salvage(data)
    want = list(range(count))
    if got != want:
        return f"{what}: {len(got)} events instead of {count}: {err[-300:]!r}"
    if rc != (3 if count else 1) and not (rc == 0 and may_be_whole):
        return f"{what}: exit status {rc} with {count} events"
    if rc and b"stdin: " not in err:
        return f"{what}: says nothing: {err!r}"
    return None


def cut_json(_seed, count):
    for kind in ("chrome", "bare"):
        data, ends = trace(6, kind)
        step = max(1, len(data) // count)
        legal = {"bare": True}.get(kind, False)

        def check(at, data=data, ends=ends, kind=kind, legal=legal):
            n = sum(e <= at for e in ends)
            rest = data[:at].rstrip()
            whole = at >= len(data.rstrip()) or legal and n and (
                rest.endswith(b",") or len(rest) == ends[n - 1])
            return expect(f"{kind} cut at {at}", data[:at], n, whole)
        each(range(1, len(data) + 1, step), check)


def prefix_events(plain, ends):
    return sum(e <= len(plain) for e in ends)


def inflated(data, bits):
    """What zlib recovers from a cut file, byte by byte."""
    z, out = zlib.decompressobj(bits), b""
    try:
        out = z.decompress(data)
    except zlib.error:
        pass
    return out


def cut_packed(_seed, count):
    """Poorly compressed, so that cuts fall on all sorts of places."""
    data, ends = trace(60)
    packed = gzip.compress(data, 6)

    def check_gzip(at):
        return expect(f"gzip cut at {at}", packed[:at],
                      prefix_events(inflated(packed[:at], 31), ends),
                      at == len(packed))
    each(sorted({1 + i * (len(packed) - 1) // count for i in range(count)}
                - {1}), check_gzip)
    zst = subprocess.run(["zstd", "-q", "--format=zstd"], input=data,
                         capture_output=True, check=True).stdout

    def check_zstd(at):
        plain = subprocess.run(["zstd", "-qdc"], input=zst[:at],
                               capture_output=True, check=False).stdout
        return expect(f"zstd cut at {at}", zst[:at],
                      prefix_events(plain, ends), at == len(zst))
    each(range(4, len(zst), max(1, len(zst) // (count // 8))), check_zstd)


def spans(ends):
    return list(zip([0] + ends[:-1], ends))


def flip(seed, count):
    """Events outside the change remain; there are no more than before."""
    data, ends = trace(14)
    packed = gzip.compress(data)

    def check(i):
        r = random.Random(seed * 1000003 + i)
        if i % 4 == 3:
            at = r.randrange(4, len(packed))
            bad = bytearray(packed)
            bad[at] ^= 1 << r.randrange(8)
            rc, got, err = salvage(bytes(bad))
            if rc not in (0, 1, 3) or len(got) > len(ends):
                return f"gzip flip {i} at {at}: {rc}, {len(got)}, {err!r}"
            return None
        at = r.randrange(len(data))
        bad = bytearray(data)
        bad[at] = r.choice(b'"{}[],:\\ \n\0x0\xff') if i % 2 else (
            bad[at] ^ 1 << r.randrange(8))
        rc, got, err = salvage(bytes(bad))
        whole = [n for n, (a, b) in enumerate(spans(ends))
                 if not a <= at < b + 1]
        if rc not in (0, 3):
            return f"flip {i} at {at}: {rc} {err!r} {bytes(bad[at-20:at+20])}"
        missing = [n for n in whole if n not in got]
        if missing or len(got) > len(ends):
            return (f"flip {i} at {at}: missing {missing}, got "
                    f"{len(got)}: {bytes(bad[max(0, at - 30):at + 30])}")
        return None
    each(range(count), check)


def garbage(seed, count):
    """Garbage between events: all others stay."""
    data, ends = trace(14)

    def check(i):
        r = random.Random(seed * 999983 + i)
        k = r.randrange(len(ends) - 1)
        junk = r.choice([
            b"\0" * r.randrange(1, 5000), b'{"', b"}", b"]", b"[", b',"', b"{",
            b'{"a":', b'{"a":{"b":[', b"\xff\xfe", b'"x":', b",,", b",]",
            bytes(r.randrange(256) for _ in range(r.randrange(1, 60))),
            data[ends[k] + 5:ends[k] + 5 + r.randrange(1, 60)]])
        where = ends[k]
        bad = data[:where] + junk + data[where:]
        rc, got, err = salvage(bad)
        if rc not in (0, 3) or not set(range(len(ends))) <= set(got):
            missing = set(range(len(ends))) - set(got)
            return f"garbage {junk[:40]!r} behind {k}: {rc} {missing} {err!r}"
        return None
    each(range(count), check)


def rocprof(_seed, count):
    """Cut anywhere: the records before the cut."""
    def record(i):
        return {"size": 1, "kind": 11, "operation": 0, "thread_id": 4,
                "correlation_id": {"internal": i, "external": 0},
                "start_timestamp": 1000 + i, "end_timestamp": 2000 + i,
                "mark": i}
    out, ends, n = "", [], 0
    out = ('{"rocprofiler-sdk-tool":[{"metadata":{"pid":3},"agents":[],'
           '"strings":{"buffer_records":[]},"kernel_symbols":[],'
           '"buffer_records":{')
    for b, buffer in enumerate(["kernel_dispatch", "hip_api", "empty"]):
        out += ("," if b else "") + f'"{buffer}":['
        for k in range(0 if b == 2 else 5):
            out += ("," if k else "") + "\n" + json.dumps(record(n))
            ends.append(len(out))
            n += 1
        out += "]"
    out += "}}]}\n"
    data = out.encode()
    step = max(1, len(data) // count)
    each(range(1, len(data), step),
         lambda at: expect(f"rocprof cut at {at}", data[:at],
                           sum(e <= at for e in ends), at >= len(data) - 1))

    def damaged(k):
        bad = bytearray(data)
        at = ends[k] - 20
        bad[at:at + 6] = b'"}{]["'
        rc, got, err = salvage(bytes(bad))
        want = [i for i in range(n) if i != k]
        if rc != 3 or got != want:
            return f"rocprof record {k} damaged: {rc} {got} {err!r}"
        return None
    each(range(n), damaged)


def event_ends(data):
    """Where each event of a real trace ends, by Python's reader."""
    text = data.decode("latin-1")  # so that characters are bytes
    decoder, ends = json.JSONDecoder(strict=False), []
    at = 0 if text.lstrip().startswith("[") else text.index('"traceEvents"')
    at = text.index("[", at) + 1
    more = re.compile(r"[\s,]*(?=\{)")
    while m := more.match(text, at):
        at = decoder.raw_decode(text, m.end())[1]
        ends.append(at)
    return ends


def ids(data, *more):
    p = subprocess.run(["tl-decode", *more], input=data, capture_output=True,
                       check=False)
    out = subprocess.run(["tl-cat", "--tsv", "-F", "id", "--no-header"],
                         input=p.stdout, capture_output=True, check=False)
    return p.returncode, [int(i) for i in out.stdout.split()]


def cut_file(path, count):
    """A real trace, cut: its whole events before the cut, unchanged."""
    with open(path, "rb") as f:
        packed = f.read()
    ends = event_ends(gzip.decompress(packed))
    rc, whole = ids(packed)
    if rc != 0 or not whole:
        print(f"{path}: status {rc}, {len(whole)} events")
    for at in range(len(packed) // count, len(packed), len(packed) // count):
        n = prefix_events(inflated(packed[:at], 31), ends)
        want = [i for i in whole if i < n]
        rc, got = ids(packed[:at], "--salvage")
        if got != want or rc != (3 if want else 1):
            print(f"cut at {at}: status {rc}, {len(got)} events of {len(want)}")


def main():
    if sys.argv[1] == "file":
        cut_file(sys.argv[2], int(sys.argv[3]))
        return
    os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0")
    {"cut-json": cut_json, "cut-packed": cut_packed, "flip": flip,
     "garbage": garbage, "rocprof": rocprof}[sys.argv[1]](
         int(sys.argv[2]), int(sys.argv[3]))


main()
